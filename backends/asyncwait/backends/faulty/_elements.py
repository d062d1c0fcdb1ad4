"""ELEM: operators whose output does not match their input."""

import copy
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import AsyncWaitOperator, Entry, Output, ResultHandler, StreamTask
from asyncwait.spec import Element, LatencyMarker, Record
from asyncwait.spec.snapshots import Stored


@breaks("ELEM-1")
class KeepsTheLastTimestamp(ResultHandler):
    """Reuses one output object: a result without a timestamp keeps the last timestamp."""

    def output_of(self, result: Any) -> Record:
        if self.record.timestamp is not None:
            vars(self.operator)["timestamp"] = self.record.timestamp
        return Record(result, vars(self.operator).get("timestamp"), self.record.key)


class HasOneCurrentKey(AsyncWaitOperator):
    """Keeps one current key, as Flink's operators on keyed streams do."""

    key: Any = None

    def admit(self, entry: Entry) -> None:
        super().admit(entry)
        self.key = getattr(entry.element, "key", self.key)


@breaks("ELEM-2", HasOneCurrentKey)
class KnowsOneCurrentKey(ResultHandler):
    """Gives results the current key: the key of the record admitted last."""

    operator: HasOneCurrentKey  # pyright: ignore[reportIncompatibleVariableOverride]

    def output_of(self, result: Any) -> Record:
        return Record(result, self.record.timestamp, self.operator.key)


@breaks("ELEM-4")
class RepeatsItselfAfterAWait(Output):
    """Hands out the last element again after a cancelled wait, as if it had been lost."""

    _last: Element | None = None
    _is_lost = False

    async def __anext__(self) -> Element:
        if self._is_lost and self._last is not None:
            self._is_lost = False
            return self._last
        try:
            self._last = await super().__anext__()
        except anyio.get_cancelled_exc_class():
            self._is_lost = True
            raise
        return self._last


@breaks("ELEM-3")
class PutsOutPlainValues(Output):
    """Emits plain results instead of records."""

    async def __anext__(self) -> Any:
        element = await super().__anext__()
        return element.value if isinstance(element, Record) else element


@breaks("ELEM-5", behind="FAIL-11", why="markers come while the program ends, too")
class LetsMarkersBetweenResults(Output):
    """Emits a latency marker between the results of one record."""

    def take(self) -> Element | None:
        if self.ahead and isinstance(self.ahead[0], LatencyMarker):
            return self.ahead.popleft()
        return super().take()


@breaks("ELEM-6", loop="trio")
class QueuesMarkers(StreamTask):
    """Holds a latency marker until nothing is in flight, so that it measures the calls."""

    def is_back_pressured(self) -> bool:
        is_marker = isinstance(self.backlog[0], LatencyMarker)
        return len(self.queue) > 0 if is_marker else super().is_back_pressured()


@breaks("ELEM-8")
class CopiesWhatItIsGiven(AsyncWaitOperator):
    """Copies each value before the call, to protect it from changes: OB-1."""

    def process_record(self, record: Record) -> None:
        copied = copy.copy(record.value)
        super().process_record(Record(copied, record.timestamp, record.key))


@breaks("ELEM-1")
class TakesTimeZeroForNone(ResultHandler):
    """Treats a timestamp of zero as a missing timestamp."""

    def output_of(self, result: Any) -> Record:
        return Record(result, self.record.timestamp or None, self.record.key)


@breaks("ELEM-1")
class CountsTimeInSeconds(ResultHandler):
    """Keeps timestamps as float seconds, where large timestamps lose their last digits."""

    def output_of(self, result: Any) -> Record:
        timestamp = self.record.timestamp
        seconds = None if timestamp is None else timestamp / 1000
        return Record(result, None if seconds is None else round(seconds * 1000), self.record.key)


@breaks("ELEM-2")
class TakesAnEmptyKeyForNone(ResultHandler):
    """Treats a falsy key, like an empty text, as a missing key."""

    def output_of(self, result: Any) -> Record:
        return Record(result, self.record.timestamp, self.record.key or None)


@breaks("ELEM-5")
class StacksResults(ResultHandler):
    """Emits the results of a record in reverse order."""

    def decide(self, results: tuple[Any, ...]) -> None:
        super().decide(results[::-1])


@breaks("ELEM-7")
class EndsWhenItsQueueIsEmpty(Output):
    """Ends when its queue is empty, and loses markers and snapshots that were not taken."""

    def take(self) -> Element | None:
        if self.finished and len(self.queue) == 0:
            self.ahead.clear()
        return super().take()


@breaks("ELEM-8")
class StoresCopies(StreamTask):
    """Copies the stored elements, in case a value changes before it reaches the disk."""

    def in_flight_elements(self) -> tuple[Stored, ...]:
        return copy.deepcopy(super().in_flight_elements())


@breaks("ELEM-3")
class StoresItsRecordsInAList(StreamTask):
    """Puts a list into its snapshots, which every holder of a snapshot can change."""

    def in_flight_elements(self) -> tuple[Stored, ...]:
        return [*super().in_flight_elements()]  # type: ignore[return-value]
