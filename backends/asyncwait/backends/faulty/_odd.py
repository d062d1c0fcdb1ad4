"""Sound operators that are unlike the others: no rule may convict them."""

from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.backends.faulty._gallery import Variation
from asyncwait.backends.faulty.sound import (
    GivesEachRecordATask,
    KeepsItsBooksInAThread,
    ParksEachRecord,
    RoundsDeadlinesToTicks,
    RunsOnCallbacks,
    SpeaksThroughChannels,
    WorksOnlyWhenAsked,
    WorksThroughQueues,
)
from asyncwait.reference import Entry, Operator, Output, RecordEntry, UnorderedQueue
from asyncwait.spec import Barrier, Element, Snapshot


class EmitsInBatches(Output):
    """Lets finish what may in an instant, hands it out in a row, and then frees all its slots."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._batch: list[Entry] = []
        self._free = self._on_taken
        self._on_taken = self._batch.append

    @property
    def slots(self) -> int:
        return super().slots + len(self._batch)

    async def take(self) -> Element:
        element = await super().take()
        self._end_batch()
        return element

    async def _wait_for_news(self) -> None:
        self._end_batch()
        self._news = news = anyio.Event()
        try:
            await news.wait()
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
        finally:
            self._news = None

    def _end_batch(self) -> None:
        if self._begun is None and self._queue.peek_ready() is None:
            for entry in self._batch:
                self._free(entry)
            self._batch.clear()


class _NoticesTheConsumer(Operator):
    """Knows whether the consumer waits, and looks again at what it waits for when that begins."""

    # A second reader is told of its mistake while the first still waits.
    _n_asking = 0

    @property
    def _is_asked(self) -> bool:
        return self._n_asking > 0

    async def __anext__(self) -> Element:
        self._n_asking += 1
        self._post(_nothing)
        try:
            return await super().__anext__()
        finally:
            self._n_asking -= 1

    async def _until_asked(self) -> None:
        while not self._is_asked:
            await self._main.run_one()


class AdmitsLazily(_NoticesTheConsumer):
    """Reads the source, and calls the function, only while the consumer waits."""

    async def _process_input(self) -> None:
        await self._until_asked()
        await super()._process_input()

    async def _next_arrived(self) -> bool:
        await self._until_asked()
        self._source.proceed()
        return await super()._next_arrived()

    def _leave_backlog(self) -> None:
        self._backlog.popleft()

    def _has_room(self) -> bool:
        return self._is_asked and super()._has_room()


class TakesSnapshotsLazily(_NoticesTheConsumer):
    """Lets a barrier, and what is behind it, wait until the consumer has taken what is ready."""

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        await self._until_asked()
        await super()._process_barrier(barrier)


class EmitsOnlyWhenAsked(Operator):
    """Gets a mail for each element that the consumer wants, and hands it out in its turn."""

    _turn: anyio.Event | None = None

    async def __anext__(self) -> Element:
        if not self._is_stopped:
            self._turn = anyio.Event()
            self._post(self._turn.set)
            await self._turn.wait()
        return await super().__anext__()

    _is_stopped = False

    def _stop(self) -> None:
        super()._stop()
        self._is_stopped = True
        if self._turn is not None:
            self._turn.set()


class EmitsTheLatestFirst(UnorderedQueue):
    """Hands out of a segment what was decided last: a stack, not a queue."""

    def completed(self, entry: RecordEntry) -> None:
        self._segment_of[entry].ready.appendleft(entry)


class LeavesSilentRecordsToTheConsumer(Operator):
    """Frees the slot of a record without results when the consumer comes by, not before."""

    def _release_empty(self) -> None:
        self._output.tell()


def _nothing() -> None:
    """Be a mail, so that the operator looks again at what it waits for."""


ODD: tuple[Variation, ...] = (
    Variation(EmitsInBatches),
    Variation(AdmitsLazily),
    Variation(TakesSnapshotsLazily),
    Variation(EmitsOnlyWhenAsked, loop="trio"),
    Variation(EmitsTheLatestFirst),
    Variation(LeavesSilentRecordsToTheConsumer),
    Variation(GivesEachRecordATask),
    Variation(WorksThroughQueues),
    Variation(RunsOnCallbacks),
    Variation(KeepsItsBooksInAThread),
    Variation(RoundsDeadlinesToTicks),
    Variation(WorksOnlyWhenAsked),
    Variation(SpeaksThroughChannels, loop="trio"),
    Variation(ParksEachRecord, loop="trio"),
)
