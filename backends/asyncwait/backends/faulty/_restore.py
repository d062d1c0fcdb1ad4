"""REST: operators that restore wrongly."""

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import Operator
from asyncwait.spec import Record, Stored, Watermark, WatermarkStatus


class RestoresTheRestLast(Operator):
    """Restores what there is room for, and the rest when the input has ended."""

    async def _restore(self) -> None:
        fits = self._config.capacity
        self._later = self._stored[fits:]
        self._stored = self._stored[:fits]
        await super()._restore()

    async def _drain(self) -> None:
        self._stored = self._later
        await super()._restore()
        await super()._drain()


class TimesRestoredCallsFromTheRestore(Operator):
    """Counts the time of stored records from the restore, not from each one's own call."""

    async def _restore(self) -> None:
        self._restored_at: float | None = self._timers.now()
        await super()._restore()
        self._restored_at = None

    def _deadline_after(self, timeout: float) -> float:
        if self._restored_at is None:
            return super()._deadline_after(timeout)
        return self._restored_at + timeout


class RestoresRecordsOnly(Operator):
    """Restores the records of a snapshot, and loses the fences between them."""

    async def _restore(self) -> None:
        self._stored = tuple(element for element in self._stored if isinstance(element, Record))
        await super()._restore()


class MakesUpWatermarks(Operator):
    """Restores each record with a watermark of its time, known or not, much like Flink's KO-11."""

    async def _restore(self) -> None:
        with_watermarks: list[Stored] = []
        for element in self._stored:
            with_watermarks.append(element)
            if isinstance(element, Record) and element.timestamp is not None:
                with_watermarks.append(Watermark(element.timestamp))
        self._stored = tuple(with_watermarks)
        await super()._restore()


class RestoresBeyondCapacity(Operator):
    """Calls everything stored at once, and asks for room only when new input comes."""

    _restoring = True

    async def _restore(self) -> None:
        await super()._restore()
        self._restoring = False

    def _has_room(self) -> bool:
        return self._restoring or super()._has_room()


class RestoresOnlyWhatFindsRoom(Operator):
    """Fills a queue of fixed size from the snapshot, and drops what does not fit in."""

    async def _restore(self) -> None:
        self._stored = self._stored[: self._config.capacity]
        await super()._restore()


class StoresWhatHasLeft(Operator):
    """Does not clear state when its record has left, so that it is stored again: Flink's KO-12."""

    _kept: tuple[Stored, ...] = ()

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        present = super()._in_flight_elements()
        gone = (element for element in self._kept if element not in present)
        self._kept = (*gone, *present)
        return self._kept


class RestoresKeyByKey(Operator):
    """Restores watermarks first, and records key by key, much like Flink's KO-11."""

    async def _restore(self) -> None:
        self._stored = tuple(sorted(self._stored, key=lambda e: str(getattr(e, "key", ""))))
        await super()._restore()


class RestoresNoStatuses(Operator):
    """Restores records and watermarks, and forgets that a status is stored, too."""

    async def _restore(self) -> None:
        self._stored = tuple(e for e in self._stored if not isinstance(e, WatermarkStatus))
        await super()._restore()


class RestoresFromTheEnd(Operator):
    """Takes stored elements off their end, as a list gives them cheaply."""

    async def _restore(self) -> None:
        self._stored = self._stored[::-1]
        await super()._restore()


class RestoresEqualRecordsOnce(Operator):
    """Restores a record once that is stored several times, or that is equal across types."""

    async def _restore(self) -> None:
        stored: list[Stored] = []
        for element in self._stored:
            if not isinstance(element, Record) or element not in stored:
                stored.append(element)
        self._stored = tuple(stored)
        await super()._restore()


class HasRoomForAllThatWasStored(Operator):
    """Makes its queue as large as the snapshot, if that is larger than the capacity."""

    async def _restore(self) -> None:
        self._size = max(len(self._stored), self._config.capacity)
        await super()._restore()

    def _has_room(self) -> bool:
        return len(self._queue) + self._output.slots < self._size


FAULTY: tuple[Faulty, ...] = (
    Faulty(RestoresTheRestLast, rule="REST-1"),
    Faulty(RestoresEqualRecordsOnce, rule="REST-1"),
    Faulty(TimesRestoredCallsFromTheRestore, rule="REST-2"),
    Faulty(RestoresRecordsOnly, rule="REST-3"),
    Faulty(MakesUpWatermarks, rule="REST-3"),
    Faulty(RestoresNoStatuses, rule="REST-3"),
    Faulty(RestoresBeyondCapacity, rule="REST-4"),
    Faulty(HasRoomForAllThatWasStored, rule="REST-4"),
    Faulty(RestoresOnlyWhatFindsRoom, rule="REST-5"),
    Faulty(StoresWhatHasLeft, rule="REST-6"),
    Faulty(RestoresKeyByKey, rule="REST-7"),
    Faulty(RestoresFromTheEnd, rule="REST-7"),
)
