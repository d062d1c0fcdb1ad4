"""REST: operators that restore wrongly."""

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import End, StreamTask
from asyncwait.spec import Record, Watermark
from asyncwait.spec.snapshots import Stored


@breaks("REST-1")
class RestoresTheRestLast(StreamTask):
    """Restores as many elements as fit, and the others when the input has ended."""

    def restore(self) -> None:
        fits = self.config.capacity
        self._later = self.stored[fits:]
        self.stored = self.stored[:fits]
        super().restore()

    def on_end(self, end: End) -> None:
        self.stored = self._later
        super().restore()
        super().on_end(end)


@breaks("REST-3")
class RestoresRecordsOnly(StreamTask):
    """Restores the records of a snapshot without the fences between them."""

    def restore(self) -> None:
        self.stored = tuple(element for element in self.stored if isinstance(element, Record))
        super().restore()


@breaks("REST-3")
class MakesUpWatermarks(StreamTask):
    """Restores each record with a watermark of its timestamp, much like Flink's KO-11."""

    def restore(self) -> None:
        with_watermarks: list[Stored] = []
        for element in self.stored:
            with_watermarks.append(element)
            if isinstance(element, Record) and element.timestamp is not None:
                with_watermarks.append(Watermark(element.timestamp))
        self.stored = tuple(with_watermarks)
        super().restore()


@breaks("REST-4")
class RestoresBeyondCapacity(StreamTask):
    """Calls all stored records at once, and waits for room only with new input."""

    def is_back_pressured(self) -> bool:
        return self.read > 0 and super().is_back_pressured()


@breaks("REST-5", behind="REST-1", why="what was dropped is not called, which is seen in one leg")
class RestoresOnlyWhatFindsRoom(StreamTask):
    """Restores as many elements as its capacity, and drops the others."""

    def restore(self) -> None:
        self.stored = self.stored[: self.config.capacity]
        super().restore()


@breaks(
    "REST-6", behind="SNAP-3", why="what is stored though it has left is seen before it is restored"
)
class StoresWhatHasLeft(StreamTask):
    """Keeps records in its state after they have left, and stores them again: Flink's KO-12."""

    _kept: tuple[Stored, ...] = ()

    def in_flight_elements(self) -> tuple[Stored, ...]:
        present = super().in_flight_elements()
        gone = (element for element in self._kept if element not in present)
        self._kept = (*gone, *present)
        return self._kept


@breaks("REST-7", behind="WM-1", why="watermarks are restored ahead of the records before them")
class RestoresKeyByKey(StreamTask):
    """Restores watermarks first, and then records key by key, much like Flink's KO-11."""

    def restore(self) -> None:
        self.stored = tuple(sorted(self.stored, key=lambda e: str(getattr(e, "key", ""))))
        super().restore()


@breaks("REST-7", behind="ORD-4", why="what was stored is called from the end as well")
class RestoresFromTheEnd(StreamTask):
    """Restores the stored elements in reverse order."""

    def restore(self) -> None:
        self.stored = self.stored[::-1]
        super().restore()


@breaks("REST-1")
class RestoresEqualRecordsOnce(StreamTask):
    """Restores only one of several equal records."""

    def restore(self) -> None:
        stored: list[Stored] = []
        for element in self.stored:
            if not isinstance(element, Record) or element not in stored:
                stored.append(element)
        self.stored = tuple(stored)
        super().restore()
