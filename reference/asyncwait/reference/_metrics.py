"""How a task spends its time."""

from msgspec import Struct

from asyncwait.spec.mailbox import MailboxMetrics


class TaskMetrics(Struct, frozen=True, kw_only=True):
    """How a task spent its time; the figures that the contract asks for are `Statistics`.

    Args:
        idle: seconds without input.
        back_pressured: seconds with input, and without room for it.
        completed: the last checkpoint of which the task was told that it is complete.
        mailbox: mails run, latency and size of the mailbox.
    """

    idle: float
    back_pressured: float
    completed: int | None
    mailbox: MailboxMetrics


class SuspendedTimes:
    """How long a task had nothing to do, and how long no room for what there was to do.

    Flink tells the two apart by what the task waits for, and so do its gauges (its MB-31).
    """

    def __init__(self) -> None:
        self.idle = 0.0
        self.back_pressured = 0.0
        self._since = 0.0
        self._is_idle = True

    def suspend(self, now: float, *, is_idle: bool) -> None:
        """Note that the task has stopped at `now`, in seconds."""
        self._since = now
        self._is_idle = is_idle

    def resume(self, now: float) -> None:
        """Note that the task goes on at `now`, in seconds."""
        if self._is_idle:
            self.idle += now - self._since
        else:
            self.back_pressured += now - self._since
