"""ELEM: operators whose output does not belong to their input."""

import copy
from collections import deque
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import Entry, Operator, Outcome, Output, RecordEntry
from asyncwait.spec import Element, LatencyMarker, Record, Stored


class KeepsTheLastTimestamp(Operator):
    """Fills one output object again and again: without a timestamp a result keeps the last one."""

    _timestamp: int | None = None

    def _output_of(self, record: Record, result: Any) -> Record:
        if record.timestamp is not None:
            self._timestamp = record.timestamp
        return Record(result, self._timestamp, record.key)


class KnowsOneCurrentKey(Operator):
    """Gives results the current key, which is that of the record admitted last."""

    _key: Any = None

    def _admit(self, entry: Entry) -> None:
        super()._admit(entry)
        self._key = getattr(entry.element, "key", self._key)

    def _output_of(self, record: Record, result: Any) -> Record:
        return Record(result, record.timestamp, self._key)


class EmitsLateResults(Operator):
    """Emits what a call gave after something else had decided its record."""

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        if entry.outputs is None:
            super()._on_outcome(entry, outcome)
            return
        for result in self._results_of(entry.element, outcome):
            self._output.put_ahead(self._output_of(entry.element, result))


class RepeatsItselfAfterAWait(Output):
    """Takes a wait that was given up for the loss of its last element, and hands that out again."""

    _last: Element | None = None
    _is_lost = False

    async def take(self) -> Element:
        if self._is_lost and self._last is not None:
            self._is_lost = False
            return self._last
        try:
            self._last = await super().take()
        except anyio.get_cancelled_exc_class():
            self._is_lost = True
            raise
        return self._last


class PutsOutPlainValues(Output):
    """Puts out the results as the function gave them, and not as records of the stream."""

    async def take(self) -> Any:
        element = await super().take()
        return element.value if isinstance(element, Record) else element


class LetsMarkersBetweenResults(Output):
    """Lets a latency marker overtake even the rest of a record that was handed out in part."""

    def _next(self) -> Element | None:
        if self._ahead and isinstance(self._ahead[0], LatencyMarker):
            return self._ahead.popleft()
        return super()._next()


class QueuesMarkers(Operator):
    """Lets a latency marker wait until nothing is in flight, so that it measures the calls."""

    async def _process_marker(self, marker: LatencyMarker) -> None:
        while len(self._queue) > 0:
            await self._own.run_one()
        await super()._process_marker(marker)


class MergesEqualMarkers(Operator):
    """Takes a latency marker that equals the last one for the same."""

    _last: LatencyMarker | None = None

    async def _process_marker(self, marker: LatencyMarker) -> None:
        if marker == self._last:
            self._leave_backlog()
        else:
            self._last = marker
            await super()._process_marker(marker)


class CopiesWhatItIsGiven(Operator):
    """Copies each value before it calls the function, so that nobody can change it: OB-1."""

    async def _process_record(self, record: Record) -> None:
        copied = copy.copy(record.value)
        await super()._process_record(Record(copied, record.timestamp, record.key))


class TakesTimeZeroForNone(Operator):
    """Asks whether a timestamp is truthy where it means to ask whether there is one."""

    def _output_of(self, record: Record, result: Any) -> Record:
        return Record(result, record.timestamp or None, record.key)


class CountsTimeInSeconds(Operator):
    """Keeps timestamps as seconds in a float, in which large ones lose their last digits."""

    def _output_of(self, record: Record, result: Any) -> Record:
        seconds = None if record.timestamp is None else record.timestamp / 1000
        return Record(result, None if seconds is None else round(seconds * 1000), record.key)


class TakesAnEmptyKeyForNone(Operator):
    """Gives results a key only if it is truthy: an empty text is one, too."""

    def _output_of(self, record: Record, result: Any) -> Record:
        return Record(result, record.timestamp, record.key or None)


class StacksResults(Output):
    """Takes the results of a record off their end, as a list gives them cheaply."""

    def _next_of(self, entry: Entry) -> Element | None:
        if isinstance(entry, RecordEntry) and entry is not self._begun:
            entry.outputs = deque(reversed(entry.outputs or ()))
        return super()._next_of(entry)


class WakesNobodyForAMarker(Output):
    """Puts a latency marker ahead and tells nobody: it comes out with what is finished next."""

    def put_ahead(self, element: Element) -> None:
        if isinstance(element, LatencyMarker):
            self._ahead.append(element)
        else:
            super().put_ahead(element)


class EndsWhenItsQueueIsEmpty(Output):
    """Ends when nothing is in the queue, and loses what overtook it and was not taken."""

    async def take(self) -> Element:
        if self._finished and not len(self._queue) + self.slots:
            self._ahead.clear()
        return await super().take()


class StoresCopies(Operator):
    """Copies what it stores, lest a value change between the snapshot and its way to the disk."""

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        return copy.deepcopy(super()._in_flight_elements())


FAULTY: tuple[Faulty, ...] = (
    Faulty(KeepsTheLastTimestamp, rule="ELEM-1"),
    Faulty(TakesTimeZeroForNone, rule="ELEM-1"),
    Faulty(CountsTimeInSeconds, rule="ELEM-1"),
    Faulty(KnowsOneCurrentKey, rule="ELEM-2"),
    Faulty(TakesAnEmptyKeyForNone, rule="ELEM-2"),
    Faulty(EmitsLateResults, rule="ELEM-3"),
    Faulty(PutsOutPlainValues, rule="ELEM-3"),
    Faulty(RepeatsItselfAfterAWait, rule="ELEM-4"),
    Faulty(LetsMarkersBetweenResults, rule="ELEM-5"),
    Faulty(StacksResults, rule="ELEM-5"),
    Faulty(QueuesMarkers, rule="ELEM-6", loop="trio"),
    Faulty(WakesNobodyForAMarker, rule="ELEM-6"),
    Faulty(MergesEqualMarkers, rule="ELEM-7"),
    Faulty(EndsWhenItsQueueIsEmpty, rule="ELEM-7"),
    Faulty(CopiesWhatItIsGiven, rule="ELEM-8"),
    Faulty(StoresCopies, rule="ELEM-8"),
)
