"""Naive emitters: re-creations of bugs of Flink before 1.10."""

from collections.abc import Callable
from typing import Any

from asyncwait.backends.emitter import (
    CheckpointLock,
    Emitter,
    Entry,
    Intake,
    Reader,
    Records,
    Timers,
    UnorderedQueue,
)
from asyncwait.backends.faulty._gallery import breaks
from asyncwait.spec import WatermarkStatus
from asyncwait.spec.snapshots import Stored


@breaks("END-8")
class WaitsForRoomUnderTheLock(Intake):
    """Holds the lock while it waits for room, so the emitter that would make room is blocked."""

    async def admit(self) -> bool:
        await self.lock.run_and_wait(self.lock.hold)
        try:
            return await super().admit()
        finally:
            self.lock.release()


@breaks("END-8")
class RestoresBeforeItEmits(Intake):
    """Emits nothing before all is restored, for which a full queue has no room: FLINK-7949."""

    async def restore(self) -> None:
        await self.lock.run_and_wait(self.lock.hold)
        await super().restore()
        self.lock.release()


@breaks("SNAP-2")
class ForgetsTheElementOutsideTheQueue(Intake):
    """Stores the queue without the element that waits in front of it (SN-7): FLINK-13063."""

    def in_flight(self) -> tuple[Stored, ...]:
        return self.queue.values()


@breaks("SNAP-2", behind="CAP-1", why="what is nowhere frees its slot before it has come out")
class RemovesBeforeItEmits(Emitter):
    """Removes an element from the queue before it is emitted: no snapshot holds it: FLINK-5638."""

    async def emit_next(self) -> bool:
        entry = await self._queue.peek_blockingly()
        if entry is None:
            return False
        self._queue.poll()
        if entry.outputs:
            await self._outlet.emit(entry)
            self._lock.release()
        return True


@breaks("SNAP-3")
class TakesSnapshotsWithoutTheLock(CheckpointLock):
    """Takes a snapshot during an emission, which stores a record whose results are partly out."""

    def run(self, step: Callable[[], object]) -> None:
        step()


@breaks("SNAP-4")
class StoresCompletedRecordsFirst(UnorderedQueue):
    """Stores the completed records of the first set before the others, as Flink does: SN-3."""

    def values(self) -> tuple[Stored, ...]:
        rest = (entry for entry in self.entries() if entry not in self._completed)
        return tuple(entry.element for entry in (*self._completed, *rest))


@breaks("FAIL-2")
class FailsWithTheNextAnswer(Records):
    """Stores the error of a call, and reports it only with the next answer: FLINK-6435."""

    _failed: Callable[[], None] | None = None

    def fail(self, entry: Entry, error: BaseException) -> None:
        sound = super().fail
        self._failed = self._failed or (lambda: sound(entry, error))

    def answer(self, entry: Entry, returned: Any) -> None:
        if self._failed is not None:
            self._failed()
        super().answer(entry, returned)


@breaks("RES-3")
class TakesNoneForAnEmptyCollection(Records):
    """Completes a record without results if its call returns None, as Flink's emitter did: CO-7."""

    def collect(self, record: Any, returned: Any) -> tuple[Any, ...]:
        return super().collect(record, () if returned is None else returned)


@breaks("TIME-10", behind="TIME-1", why="a record that is decided is asked for, and never due")
class FiresForCompletedRecords(Timers):
    """Keeps the timers of completed records, which then fail or call handlers: FLINK-5652."""

    def cancel(self, entry: Entry) -> None:
        pass


@breaks("END-1")
class EndsWithItsReader(Reader):
    """Ends the output with the input, and loses the records in flight: FLINK-13491."""

    async def run(self) -> None:
        await super().run()
        self._queue.close()


@breaks("WM-5")
class LetsStatusesPassTheQueue(Intake):
    """Emits a status at once, ahead of the queued watermarks and records: LM-2."""

    async def process(self, element: Any) -> None:
        if isinstance(element, WatermarkStatus):
            self.outlet.put_ahead(element)
        else:
            await super().process(element)
