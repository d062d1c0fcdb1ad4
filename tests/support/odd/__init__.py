"""Sound operators, and a mailbox, that are odd: the suite must not fail what is only unusual.

Some are one small change to the mechanism of the reference, others have a mechanism of their own
(`odd.sound`, `odd.mailbox`). No rule may convict any of them.
"""

from contextlib import suppress
from functools import partial

import anyio
import anyio.lowlevel

from asyncwait.backends.faulty import Variation
from asyncwait.reference import (
    MAIN,
    AsyncWaitOperator,
    CancelledCalls,
    InputStatus,
    Mail,
    MailboxClosedError,
    OrderedQueue,
    Output,
    RecordEntry,
    ResultHandler,
    StreamTask,
    UnorderedQueue,
    Watch,
)
from asyncwait.spec import Barrier, Element, Snapshot
from odd.sound import ParksEachRecord

TURNS = 10
"""Turns of the loop that a cancelled call has to end in, at least (TIME-8)."""


class EmitsInBatches(Output):
    """Lets finish what may in an instant, hands it out in a row, and then frees all its slots."""

    def take(self) -> Element | None:
        before = len(self.queue)
        element = super().take()
        self.queue.capacity -= before - len(self.queue)  # until the batch is over
        if not self.queue.begun and self.queue.peek_ready() is None:
            self.end_batch()
        return element

    def end_batch(self) -> None:
        """Free the slots of what was taken."""
        self.queue.capacity = self.task.config.capacity
        self.queue.on_room()

    async def wait_for_news(self) -> None:
        self.news = news = anyio.Event()
        try:
            await news.wait()
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
        finally:
            self.news = None


class _AsksItsTask(Output):
    """Sends its task a mail for each element that the consumer wants."""

    async def __anext__(self) -> Element:
        self.task.post(self.task.resume)
        return await super().__anext__()


class _NoticesTheConsumer(StreamTask):
    """Knows whether the consumer waits, and whether it is to be waited for."""

    def waits_to_be_asked(self) -> bool:
        """Whether the next element is not processed until the consumer waits."""
        return True

    def input_status(self) -> InputStatus:
        status = super().input_status()
        if status is InputStatus.MORE_AVAILABLE and self.output.news is None:
            return InputStatus.NOTHING_AVAILABLE if self.waits_to_be_asked() else status
        return status


class AdmitsLazily(_NoticesTheConsumer):
    """Reads the source, and calls the function, only while the consumer waits."""

    def process_input(self, controller: object) -> None:
        self.let_read()
        super().process_input(controller)

    def let_read(self) -> None:
        if self.output.news is not None:
            super().let_read()


class TakesSnapshotsLazily(_NoticesTheConsumer):
    """Lets a barrier, and what is behind it, wait until the consumer has taken what is ready."""

    def waits_to_be_asked(self) -> bool:
        return isinstance(self.backlog[0], Barrier | Snapshot)


class EmitsOnlyWhenAsked(Output):
    """Gets a mail for each element that the consumer wants, and hands it out in its turn."""

    is_asked = False

    async def __anext__(self) -> Element:
        if self.is_asked:
            raise RuntimeError("another task is waiting for its turn; one can at a time")
        self.is_asked = True
        try:
            await self.turn()
            return await super().__anext__()
        finally:
            self.is_asked = False

    async def turn(self) -> None:
        """Wait for the turn of the consumer; there is none any more when it is over."""
        turn = anyio.Event()
        with suppress(MailboxClosedError):
            mail = self.task.processor.executor(MAIN).submit(_nothing)
            mail.add_done_callback(lambda _: turn.set())  # also when the mailbox is closed
            await turn.wait()


class EmitsTheLatestFirst(UnorderedQueue):
    """Hands out of a segment what was decided last: a stack, not a queue."""

    def make_ready(self, entry: RecordEntry) -> None:
        self.segment_of[entry].ready.insert(int(self.begun), entry)


class LeavesSilentRecordsToTheConsumer(OrderedQueue):
    """Frees the slot of a record without results when the consumer comes by, not before."""

    is_completing = False

    def completed(self, entry: RecordEntry) -> None:
        self.is_completing = True
        super().completed(entry)
        self.is_completing = False

    def drop_empty(self) -> None:
        if not self.is_completing:
            super().drop_empty()


class HandsKeysOnByMail(AsyncWaitOperator):
    """Has the next record of a key called by a mail of its own, behind all that waits already."""

    def free_key(self, handler: ResultHandler) -> None:
        following = None if self.keys is None else self.keys.leave(handler)
        if following is not None:
            self.mailbox.offer(Mail(following.start))


class CountsTurns(CancelledCalls):
    """Grants a cancelled call ten turns of the loop, whatever the clock shows."""

    def watch(self, watch: Watch) -> None:
        watch.looks += 1
        look = self.on_overdue if watch.looks > TURNS else self.watch
        watch.overdue = self.timers.register(self.timers.now(), partial(look, watch))


def _nothing() -> None:
    """Be a mail that is waited for."""


ODD: tuple[Variation, ...] = (
    Variation(EmitsInBatches),
    Variation(AdmitsLazily, also=(_AsksItsTask,)),
    Variation(TakesSnapshotsLazily, also=(_AsksItsTask,)),
    Variation(EmitsOnlyWhenAsked, loop="trio"),
    Variation(EmitsTheLatestFirst),
    Variation(LeavesSilentRecordsToTheConsumer),
    Variation(HandsKeysOnByMail),
    Variation(CountsTurns),
    Variation(ParksEachRecord, loop="trio", is_bound=True),
)
