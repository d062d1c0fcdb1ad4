"""Histories that the checks read: of one leg, and of all legs of a trace."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, TypeVar

from msgspec import Struct

from asyncwait.conformance.judging._calls import Outcome, may_be_overloaded_at, outcome
from asyncwait.conformance.judging._decide import REFUSALS, Asked
from asyncwait.conformance.judging._kept import Kept, kept
from asyncwait.conformance.judging._link import SnapshotOut, snapshots_out
from asyncwait.conformance.judging._observe import (
    NEVER,
    Call,
    Facts,
    Item,
    Output,
    identity_of,
    key_of,
)
from asyncwait.conformance.judging._rest import Rest, lost, rests
from asyncwait.spec import InvalidConfig, Record
from asyncwait.spec.scenario import (
    Ending,
    Event,
    Scenario,
    SinkLeft,
    SourceAsked,
    SourceEnded,
    Trace,
    identity,
)

_T = TypeVar("_T")


class LegHistory(Facts, frozen=True, eq=False, dict=True):
    """One leg, indexed: its facts, and what follows from them.

    Args:
        outputs: the elements that the consumer took, in order, each with its input.
        overloaded_at: ms, when too many calls were abandoned; NEVER if the leg did not fail for
            this reason.
        tells_what: the trace determines the decision on each record.
    """

    items: tuple[Item, ...]
    outputs: tuple[Output, ...]
    extra_calls: tuple[Call, ...]
    untimely_handlers: tuple[Asked, ...]
    overloaded_at: float
    tells_what: bool

    @property
    def tells_when(self) -> bool:
        """Whether the trace determines when the operator could notice each event."""
        return self.tells_what and not self.blocks

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of the leg, in order."""
        return self.observed.events

    @cached_property
    def batches(self) -> Sequence[Sequence[Call]]:
        """The batches, each with its calls, in the order of their start."""
        if self.scenario.batch is None:
            return []
        shared = groupby(self.calls, key=lambda call: call.batch)
        return [tuple(calls) for batch, calls in shared if batch is not None]

    @cached_property
    def kept(self) -> Kept:
        """Possible contents of the cache at each moment."""
        return kept(self)

    @property
    def started(self) -> Sequence[Call]:
        """All calls of records, and loads for no record."""
        return (*self.calls, *self.background)

    @property
    def ending(self) -> Ending:
        """The end of the leg."""
        return self.observed.ending

    @property
    def end_at(self) -> float:
        """When the leg ended, in ms."""
        return self.observed.ending.at

    @property
    def ran_to_its_end(self) -> bool:
        """Whether the consumer saw the end of the stream."""
        return self.ending.how == "finished"

    @property
    def may_stop(self) -> bool:
        """Whether a budget may end the stream before the end of its input."""
        return any(each.kind == "budget" for each in self.scenario.limits)

    def may_be_left_out(self, item: Item) -> bool:
        """Whether a spent budget may leave out a record, so that it has no call."""
        return self.may_stop and item.call is None

    @property
    def ordered(self) -> bool:
        """Whether the operator is in ordered mode."""
        return self.observed.mode == "ordered"

    @property
    def key_ordered(self) -> bool:
        """Whether the operator is in key-ordered mode."""
        return self.observed.mode == "key-ordered"

    @property
    def was_refused(self) -> bool:
        """Whether the operator refused an option before any work."""
        is_refused = (self.ending.how, self.ending.error) == ("failed", InvalidConfig.__name__)
        is_first = not (self.calls or self.seen(SourceAsked) or self.ending.unchanged)
        return is_refused and is_first

    @property
    def capacity(self) -> int:
        """The operator's capacity in this leg."""
        return self.observed.capacity

    @property
    def room(self) -> int:
        """Largest number of elements in flight: `max_held` finished ones need no room."""
        return self.capacity + (self.scenario.max_held or 0)

    @property
    def timeout(self) -> float:
        """The operator's timeout, in ms; NEVER for none."""
        return NEVER if self.scenario.timeout is None else self.scenario.timeout

    @cached_property
    def overtaken(self) -> Mapping[Call, float]:
        """Calls that still ran when the next attempt at their record began, with that time in ms.

        The operator abandoned these calls by then, and knows it at once. In callback form nothing
        can end a call.
        """
        if self.scenario.retry is None or self.scenario.form == "callback":
            return {}
        both = (pair for item in self.records for pair in pairwise(item.attempts))
        return {
            before: call.at
            for before, call in both
            if before.runs_before(call.seq) and not self.has_left(before, call)
        }

    def has_left(self, before: Call, call: Call) -> bool:
        """Whether a record had left the load of `before` when `call` began: the load may run on."""
        is_cancelled = -1 < before.cancelled_seq < call.seq
        return self.scenario.cache is not None and before.limit <= call.at and not is_cancelled

    def deadline(self, item: Item) -> float:
        """Return the deadline of `item`, in ms."""
        return NEVER if item.call is None else item.call.deadline

    def due(self, item: Item) -> float:
        """Return when the loop notices the deadline of `item` at the latest, in ms."""
        return self.noticed(self.deadline(item))

    def outcome(self, call: Call, number: int) -> Outcome | None:
        """Return the outcome of the attempt with this 1-based number; None if it has no outcome."""
        return outcome(self, call, number)

    @property
    def records(self) -> Sequence[Item]:
        """The records among the items."""
        return self.of(Record)

    @cached_property
    def _by_kind(self) -> Mapping[type, Sequence[Item]]:
        by_kind: dict[type, list[Item]] = defaultdict(list)
        for item in self.items:
            by_kind[type(item.element)].append(item)
        return by_kind

    def of(self, kind: type) -> Sequence[Item]:
        """Return the items of a kind, in input order: `leg.of(Watermark)`."""
        return self._by_kind.get(kind, ())

    @cached_property
    def pairs_of_keys(self) -> Sequence[tuple[Item, Item]]:
        """Pairs of consecutive records that have the same key; empty unless in key-ordered mode."""
        last: dict[Hashable, Item] = {}
        pairs = []
        for item in self.records if self.key_ordered else ():
            key = key_of(item)
            if key in last:
                pairs.append((last[key], item))
            last[key] = item
        return pairs

    @cached_property
    def behind_of_key(self) -> frozenset[Item]:
        """Records behind another record with the same key; empty unless in key-ordered mode."""
        return frozenset(item for _, item in self.pairs_of_keys)

    @cached_property
    def _fences(self) -> tuple[Sequence[int], Sequence[Item]]:
        fences = [item for item in self.items if item.is_fence]
        return [item.pos for item in fences], fences

    def fence_before(self, item: Item) -> Item | None:
        """Return the last fence before `item`; None if no fence is."""
        places, fences = self._fences
        number = bisect_left(places, item.pos)
        return fences[number - 1] if number else None

    @cached_property
    def barriers(self) -> Sequence[Item]:
        """The items that ask for a Snapshot."""
        return [item for item in self.items if item.checkpoint_id is not None]

    @cached_property
    def named(self) -> frozenset[Item]:
        """Records that the leg's error may mean: all records with the identity of the named one."""
        if self.ending.record is None:
            return frozenset()
        named, number = identity_of(self.ending.record), self.ending.number
        if number is not None and self.scenario.tells_apart:
            return frozenset(self.records[number : number + 1])
        return frozenset(item for item in self.records if item.identity == named)

    @cached_property
    def fail_at(self) -> float:
        """When the first failure was decided, in ms; NEVER for none."""
        return min((item.decided_at for item in self.records if item.wrong), default=NEVER)

    @cached_property
    def left_at(self) -> float:
        """When the consumer left before the end, in ms, also if closing failed; NEVER otherwise."""
        return min((event.at for _, event in self.seen(SinkLeft)), default=NEVER)

    @cached_property
    def over_at(self) -> float:
        """When the operator was over: it failed, or its consumer left; NEVER if neither happened.

        In that very instant other events may have happened or not.
        """
        gone = self.ending.how in {"failed", "left", "crashed"}
        gone_at = self.end_at if gone else self.interrupted_at
        return min(self.fail_at, self.overloaded_at, gone_at, self.left_at)

    @cached_property
    def interrupted_at(self) -> float:
        """When an error that ends the program was raised, in ms; NEVER without one.

        A coroutine may raise it long after its record was decided; a late completion of a record
        raises nothing. All later events are clean-up.
        """
        if self.ending.how != "interrupted":
            return NEVER
        ends = [c.ended for c in self.started if c.step.error == self.ending.error]
        if self.scenario.form == "callback":
            ends = []
        raised = [end.at for end in ends if end is not None and end.how == "raised"]
        source = self.source_ended
        if self.scenario.source_error == "interrupt" and source and source.raised:
            raised.append(source.at)
        return min(raised, default=self.end_at)

    @cached_property
    def may_be_over_at(self) -> float:
        """When the operator may have been over at the earliest.

        It may notice that too many calls run on while its consumer does something else.
        """
        knows = self.scenario.form == "callback" or self.ending.how == "finished"
        overloaded = NEVER if knows else may_be_overloaded_at(self)
        is_told = any(rest.waiting and rest.at > overloaded for rest in self.rests)
        refused = (item.at for item in self.records if self._may_be_refused(item))
        return min(self.over_at, *refused, NEVER if is_told else overloaded)

    def _may_be_refused(self, item: Item) -> bool:
        """Whether a limit may have failed a record, at any time since it was read."""
        if item.wrong:
            return item.cause in REFUSALS
        is_untold = self.ending.how in {"left", "crashed"} and bool(self.scenario.limits)
        return is_untold and item.decided_at == NEVER

    @property
    def source_ended(self) -> SourceEnded | None:
        """The end of the source; None if it did not end."""
        return next((event for _, event in reversed(self.seen(SourceEnded))), None)

    @cached_property
    def strays(self) -> Mapping[str, Sequence[Output]]:
        """Records that came out though no record gave them, by the identity of their value."""
        strays: dict[str, list[Output]] = defaultdict(list)
        for output in self.outputs:
            if output.item is None and isinstance(output.element, Record):
                strays[identity(output.element.value)].append(output)
        return strays

    @cached_property
    def untimely_at(self) -> Mapping[str, Sequence[float]]:
        """When the handler was asked though no record was due, in ms, by the value's identity."""
        asked: dict[str, list[float]] = defaultdict(list)
        for request in self.untimely_handlers:
            asked[identity(request.value)].append(request.at)
        return asked

    @cached_property
    def snapshots(self) -> tuple[SnapshotOut, ...]:
        """The Snapshots among the outputs."""
        return snapshots_out(self.items, self.outputs)

    @cached_property
    def lost(self) -> frozenset[int]:
        """Places of records that were never called although a later record was."""
        return lost(self, self.items)

    @cached_property
    def rests(self) -> tuple[Rest, ...]:
        """The moments at which the clock moved."""
        stopped_at = min(self.fail_at, self.interrupted_at)
        return rests(self, self.items, self.snapshots, stopped_at)

    @cached_property
    def waits(self) -> Sequence[Rest]:
        """The moments of rest at which the consumer waits for an operator that has not failed."""
        return [rest for rest in self.rests if rest.waiting and not rest.failed]

    @cached_property
    def _answers(self) -> dict[Callable[["LegHistory"], Any], Any]:
        return {}

    def once(self, question: "Callable[[LegHistory], _T]") -> _T:
        """Return `question(leg)`, computed once for all checks."""
        if question not in self._answers:
            self._answers[question] = question(self)
        return self._answers[question]  # type: ignore[no-any-return]


class History(Struct, frozen=True, eq=False):
    """A whole trace, indexed."""

    scenario: Scenario
    trace: Trace
    legs: tuple[LegHistory, ...]
