"""Faulty mailboxes: each breaks one rule of MBX, which convicts it by name."""

from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace

from asyncwait.backends.faulty.mailbox._gallery import FOUND, FaultyMailbox, processor_with
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.rules import mailbox_rules

for _module in ("ends", "loop", "mails"):
    import_module(f"{__name__}._{_module}")

FAULTY_MAILBOXES: tuple[FaultyMailbox, ...] = tuple(
    sorted(FOUND, key=lambda each: [*mailbox_rules()].index(each.rule))
)
"""All faulty mailboxes, in the order of their rules."""

OPEN = SimpleNamespace(**{each.change.__name__: each.open_processor for each in FAULTY_MAILBOXES})
"""Openers by class name: `asyncwait verify --mailbox` takes `...:OPEN.NAME`."""


def gallery() -> Mapping[str, FaultyMailbox]:
    """Return all faulty mailboxes by the name that `asyncwait verify --mailbox` takes."""
    return {f"{__name__}:OPEN.{each.change.__name__}": each for each in FAULTY_MAILBOXES}


__all__ = ["FAULTY_MAILBOXES", "OPEN", "FaultyMailbox", "gallery", "processor_with"]

claim_exports(__name__)
