"""Faulty mailboxes: each breaks one rule of MBX, which convicts it by name."""

from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace

from asyncwait.backends.faulty.mailbox._gallery import FOUND, FaultyMailbox, processor_with
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.rules import mailbox_rules

for _module in ("asking", "batches", "ending", "loop", "sending"):
    import_module(f"{__name__}._{_module}")

FAULTY_MAILBOXES: tuple[FaultyMailbox, ...] = tuple(
    sorted(FOUND, key=lambda each: [*mailbox_rules()].index(each.rule))
)
"""All of them."""

OPEN = SimpleNamespace(**{each.change.__name__: each.open_processor for each in FAULTY_MAILBOXES})
"""What opens each, by the name of its class: `asyncwait verify --mailbox` takes `...:OPEN.NAME`."""


def gallery() -> Mapping[str, FaultyMailbox]:
    """Return all of them by what `asyncwait verify --mailbox` takes."""
    return {f"{__name__}:OPEN.{each.change.__name__}": each for each in FAULTY_MAILBOXES}


__all__ = ["FAULTY_MAILBOXES", "OPEN", "FaultyMailbox", "gallery", "processor_with"]

claim_exports(__name__)
