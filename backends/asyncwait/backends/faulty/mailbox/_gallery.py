"""What a variation of a mailbox is: one class, whose name and docstring say what it does."""

from collections.abc import Callable
from typing import cast

from msgspec import Struct

from asyncwait.backends.faulty._gallery import T, name_of, sentence_of
from asyncwait.reference import MailboxExecutor, MailboxProcessor, TaskMailbox
from asyncwait.spec.mailbox import DefaultAction, Loop, OpenProcessor, Processor


class FaultyMailbox(Struct, frozen=True):
    """A sound mailbox with one small change to its mechanism.

    Args:
        rule: id of the rule that has to convict it; others may do so too.
        change: a subclass of the reference's mailbox, executor or processor, which takes its place.
    """

    rule: str
    change: type

    @property
    def name(self) -> str:
        """What it does, in words joined by hyphens."""
        return name_of(self.change)

    @property
    def sentence(self) -> str:
        """What it does, or which bug it re-creates, in a sentence."""
        return sentence_of(self.change)

    @property
    def open_processor(self) -> OpenProcessor:
        """The function that opens such a mailbox."""
        return processor_with(self.change)


FOUND: list[FaultyMailbox] = []
"""All that were found by now."""


def breaks(rule: str) -> Callable[[T], T]:
    """Put a class into the gallery, which breaks a rule."""

    def put(change: T) -> T:
        FOUND.append(FaultyMailbox(rule, change))
        return change

    return put


def processor_with(change: type) -> OpenProcessor:
    """Return what opens a processor with `change` in place of what it is derived from.

    Args:
        change: a processor, an executor, or else a mailbox.
    """

    def open_processor(loop: Loop, default_action: DefaultAction) -> Processor:
        if issubclass(change, MailboxProcessor):
            return change(loop, default_action)
        if issubclass(change, MailboxExecutor):
            changed = type(change.__name__, (MailboxProcessor,), {"executor_class": change})
            processor: Processor = changed(loop, default_action)
            return processor
        return MailboxProcessor(loop, default_action, cast("type[TaskMailbox]", change)(loop))

    return open_processor
