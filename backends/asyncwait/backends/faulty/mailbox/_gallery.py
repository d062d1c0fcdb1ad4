"""Variation of a mailbox: one class, whose name and docstring say what it changes."""

from typing import cast

from asyncwait.backends.faulty._gallery import Slip, into
from asyncwait.reference import MailboxExecutor, MailboxProcessor, TaskMailbox
from asyncwait.spec.mailbox import DefaultAction, Loop, OpenProcessor, Processor


class FaultyMailbox(Slip, frozen=True, kw_only=True):
    """A sound mailbox with one small change: to the reference's mailbox, executor or processor."""

    @property
    def open_processor(self) -> OpenProcessor:
        """The function that opens the changed mailbox."""
        return processor_with(self.change)


FOUND: list[FaultyMailbox] = []
"""Every faulty mailbox registered so far."""

breaks = into(FOUND, FaultyMailbox)


def processor_with(change: type) -> OpenProcessor:
    """Return a function that opens a processor with `change` in place of its base.

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
