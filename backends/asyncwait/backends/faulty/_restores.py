"""REST: operators that restore wrongly."""

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import Operator
from asyncwait.spec import Record, Stored, Watermark


class NewRecordsBeforeStoredOnes(Operator):
    """What finds no room at first is restored when the input has ended."""

    async def _restore(self) -> None:
        fits = self._config.capacity
        self._later = self._stored[fits:]
        self._stored = self._stored[:fits]
        await super()._restore()

    async def _drain(self) -> None:
        self._stored = self._later
        await super()._restore()
        await super()._drain()


class RestoredCallsShareOneDeadline(Operator):
    """Stored records are timed from the restore, and not each from its own call."""

    async def _restore(self) -> None:
        self._restored_at: float | None = self._timers.now()
        await super()._restore()
        self._restored_at = None

    def _deadline_after(self, timeout: float) -> float:
        if self._restored_at is None:
            return super()._deadline_after(timeout)
        return self._restored_at + timeout


class RestoreDropsWatermarks(Operator):
    """Only records are restored, and the fences between them are lost."""

    async def _restore(self) -> None:
        self._stored = tuple(element for element in self._stored if isinstance(element, Record))
        await super()._restore()


class RestoreMakesUpWatermarks(Operator):
    """Each stored record brings a watermark of its time along, known or not: Flink's U3."""

    async def _restore(self) -> None:
        with_watermarks: list[Stored] = []
        for element in self._stored:
            with_watermarks.append(element)
            if isinstance(element, Record) and element.timestamp is not None:
                with_watermarks.append(Watermark(element.timestamp))
        self._stored = tuple(with_watermarks)
        await super()._restore()


class RestoreIgnoresCapacity(Operator):
    """Everything stored is called at once; room is asked for only when new input comes."""

    _restoring = True

    async def _restore(self) -> None:
        await super()._restore()
        self._restoring = False

    def _has_room(self) -> bool:
        return self._restoring or super()._has_room()


class RestoreDropsWhatFindsNoRoom(Operator):
    """A queue of fixed size is filled from the snapshot, and what does not fit in is dropped."""

    async def _restore(self) -> None:
        self._stored = self._stored[: self._config.capacity]
        await super()._restore()


class StoredOnceIsStoredForEver(Operator):
    """State is not cleared when its record has left, so it is in the next snapshot too.

    Flink's key-ordered operator does this to keys that have turned idle (U1).
    """

    _kept: tuple[Stored, ...] = ()

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        present = super()._in_flight_elements()
        gone = (element for element in self._kept if element not in present)
        self._kept = (*gone, *present)
        return self._kept


class RestoreGoesKeyByKey(Operator):
    """Stored elements are restored grouped by key, as in Flink's key-ordered operator (U3)."""

    async def _restore(self) -> None:
        self._stored = tuple(sorted(self._stored, key=lambda e: str(getattr(e, "key", ""))))
        await super()._restore()


FAULTY: tuple[Faulty, ...] = (
    Faulty(NewRecordsBeforeStoredOnes, rule="REST-1"),
    Faulty(RestoredCallsShareOneDeadline, rule="REST-2"),
    Faulty(RestoreDropsWatermarks, rule="REST-3"),
    Faulty(RestoreMakesUpWatermarks, rule="REST-3"),
    Faulty(RestoreIgnoresCapacity, rule="REST-4"),
    Faulty(RestoreDropsWhatFindsNoRoom, rule="REST-5"),
    Faulty(StoredOnceIsStoredForEver, rule="REST-6"),
    Faulty(RestoreGoesKeyByKey, rule="REST-7"),
)
