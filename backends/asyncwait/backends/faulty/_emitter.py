"""What the design with an emitter breaks in its naive form: the bugs of Flink before 1.10."""

from collections.abc import Callable
from typing import Any

from asyncwait.backends.emitter import (
    CheckpointLock,
    Checkpoints,
    Emitter,
    Entry,
    Intake,
    KeyOrderedQueue,
    Reader,
    Records,
    Timers,
    UnorderedQueue,
)
from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.spec import Stored, WatermarkStatus


class WaitsForRoomUnderTheLock(Intake):
    """Holds the lock while it waits for room, and the emission that would make room needs it."""

    async def admit(self) -> bool:
        lock = self._checkpoints.lock
        await lock.run_and_wait(lock.hold)
        try:
            return await super().admit()
        finally:
            lock.release()


class RestoresBeforeItEmits(Intake):
    """Lets nothing out before all is restored, for which a full queue has no room: FLINK-7949."""

    async def restore(self) -> None:
        lock = self._checkpoints.lock
        await lock.run_and_wait(lock.hold)
        await super().restore()
        lock.release()


class ForgetsTheElementOutsideTheQueue(Checkpoints):
    """Stores the queue, and not the element that waits in front of it (SN-7): FLINK-13063."""

    def elements(self) -> tuple[Stored, ...]:
        return self._queue.values()


class RemovesBeforeItEmits(Emitter):
    """Polls where it should peek, and what waits for the consumer is nowhere: FLINK-5638."""

    async def emit_next(self) -> bool:
        entry = await self._queue.peek_blockingly()
        if entry is None:
            return False
        self._queue.poll()
        if entry.outputs:
            await self._outlet.emit(entry)
            self._lock.release()
        return True


class TakesSnapshotsWithoutTheLock(CheckpointLock):
    """Lets a snapshot into an emission: it holds the record whose first results are out."""

    def run(self, step: Callable[[], object]) -> None:
        step()


class StoresCompletedRecordsFirst(UnorderedQueue):
    """Stores what is completed in the first set ahead of what is not, as Flink does: SN-3."""

    def values(self) -> tuple[Stored, ...]:
        rest = (entry for entry in self.entries() if entry not in self._completed)
        return tuple(entry.element for entry in (*self._completed, *rest))


class FailsWithTheNextAnswer(Records):
    """Notes that a call has raised, and wakes nobody, so that the next answer tells: FLINK-6435."""

    _failed: Callable[[], None] | None = None

    def fail(self, entry: Entry, error: BaseException, at: float, *, besides: bool = False) -> None:
        sound = super().fail
        self._failed = self._failed or (lambda: sound(entry, error, at, besides=besides))

    def answer(self, entry: Entry, supply: Callable[[], Any], at: float) -> None:
        if self._failed is not None:
            self._failed()
        super().answer(entry, supply, at)


class TakesNoneForAnEmptyCollection(Records):
    """Completes a record with nothing if its call gives None, as the emitter's design did: CO-7."""

    def collect(self, record: Any, supply: Callable[[], Any]) -> tuple[Any, ...]:
        return super().collect(record, lambda: () if (given := supply()) is None else given)


class FiresForCompletedRecords(Timers):
    """Leaves the timers of completed records running, and late ones fail or ask: FLINK-5652."""

    def cancel(self, entry: Entry) -> None:
        pass


class EndsWithItsReader(Reader):
    """Ends the output with the input, and what is in flight has no way out: FLINK-13491."""

    async def run(self) -> None:
        await super().run()
        self._queue.close()


class LetsStatusesPassTheQueue(Intake):
    """Hands a status out as it comes, ahead of the watermarks and records that are queued: LM-2."""

    async def process(self, element: Any) -> None:
        if isinstance(element, WatermarkStatus):
            self.taken += 1
            self._outlet.put_ahead(element)
        else:
            await super().process(element)


class StoresTheRunningRecordFirst(KeyOrderedQueue):
    """Stores the record of a key that runs ahead of those that are finished and held (KO-12)."""

    def values(self) -> tuple[Stored, ...]:
        entries = self.entries()
        running = [entry for entry in entries if entry.is_called]
        others = [entry for entry in entries if not entry.is_called]
        return tuple(entry.element for entry in (*running, *others))


FAULTY: tuple[Faulty, ...] = (
    Faulty(WaitsForRoomUnderTheLock, rule="END-8"),
    Faulty(RestoresBeforeItEmits, rule="END-8"),
    Faulty(ForgetsTheElementOutsideTheQueue, rule="SNAP-2"),
    Faulty(
        RemovesBeforeItEmits,
        rule="SNAP-2",
        consequence_of=("CAP-1", "what is nowhere frees its slot before it has come out"),
    ),
    Faulty(TakesSnapshotsWithoutTheLock, rule="SNAP-3"),
    Faulty(StoresCompletedRecordsFirst, rule="SNAP-4"),
    Faulty(StoresTheRunningRecordFirst, rule="SNAP-4"),
    Faulty(
        FailsWithTheNextAnswer,
        rule="FAIL-2",
        consequence_of=("RETRY-1", "a failure that nobody is woken by leaves a record that waits"),
    ),
    Faulty(TakesNoneForAnEmptyCollection, rule="RES-3"),
    Faulty(FiresForCompletedRecords, rule="TIME-10"),
    Faulty(EndsWithItsReader, rule="END-1"),
    Faulty(LetsStatusesPassTheQueue, rule="WM-5"),
)
