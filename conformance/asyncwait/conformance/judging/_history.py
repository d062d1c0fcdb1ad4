"""A leg as the checks see it: which output belongs to which input, and what was decided when.

The links rest on two facts. First calls start in input order, so the k-th call of a value belongs
to the k-th record with that value (where that is broken, ORD-4 says so). And results carry their
record's timestamp and key. Records that are alike in all of this are interchangeable, and the
earliest takes the earliest output, which is the assignment that any legal trace allows.

One thing stays open: of two such records, both answered in the instant of their deadline, the
handler may have been asked for either. Then there are several ways to explain a trace, and it is
legal if one of them is.
"""

import math
from collections import defaultdict
from functools import cached_property
from itertools import combinations, islice
from typing import Any

from asyncwait.conformance.judging._items import NEVER, Call, Item, Output
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Event,
    HandlerAsked,
    Leg,
    Scenario,
    SinkTook,
    SourceEnded,
    Taken,
    identity,
)


class LinkedLeg:
    """One leg, indexed.

    Args:
        scenario: whose leg it is.
        leg: what was observed.
        began_at: ms of the scenario's time at which the leg begins.
        way: which of the possible explanations to choose; see `ways`.
    """

    def __init__(self, scenario: Scenario, leg: Leg, began_at: float = 0, way: int = 0) -> None:
        self.ways = 1
        """How many ways there are to tell records apart that are alike: any may be the truth."""
        self._way = way
        self.scenario = scenario
        self.leg = leg
        self.began_at = began_at
        self.ordered = leg.mode == "ordered"
        self.capacity = leg.capacity
        self.timeout: float = NEVER if scenario.timeout is None else scenario.timeout
        self.items: list[Item] = []
        self.calls: list[Call] = []
        self.extra_calls: list[Call] = []
        self.outputs: list[Output] = []
        self.source_ended_at = NEVER
        self.source_raised = False
        self.untimely_handlers: list[HandlerAsked] = []
        self._read_inputs_and_calls()
        self.records = [item for item in self.items if item.is_record]
        self._link_calls()
        self._link_handlers()
        self.end_at: float = leg.ending.at
        self.overloaded_at = self._overloaded_at()
        """When there were too many abandoned calls; NEVER if the leg did not fail by them."""
        for item in self.records:
            self._decide(item)
        self.fail_at = min((i.decided_at for i in self.records if i.wrong), default=NEVER)
        self._link_outputs()

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that was observed in this leg."""
        return self.leg.events

    def deadline(self, item: Item) -> float:
        """Return when `item` has to be decided at the latest."""
        return NEVER if item.call is None else item.call.at + self.timeout

    @cached_property
    def over_at(self) -> float:
        """When the operator was through: it failed, or its consumer left. NEVER if it was not.

        In that very instant everything else may have happened, or not.
        """
        gone = self.leg.ending.how in {"failed", "left", "crashed"}
        return min(self.fail_at, self.overloaded_at, self.end_at if gone else NEVER)

    @cached_property
    def snapshots(self) -> list[Output]:
        """The snapshots among the outputs."""
        return [output for output in self.outputs if isinstance(output.element, Snapshot)]

    @cached_property
    def ran_to_its_end(self) -> bool:
        """Whether the consumer saw the end of the stream."""
        return self.leg.ending.how == "finished"

    def _read_inputs_and_calls(self) -> None:
        restored = self.leg.restored
        for element in restored.in_flight if restored else ():
            self.items.append(Item(len(self.items), element, None, 0.0, -1))
        ordinals: dict[str, int] = defaultdict(int)
        by_number: dict[int, Call] = {}
        for seq, event in enumerate(self.leg.events):
            match event:
                case Taken():
                    given = self.scenario.inputs[event.index].element
                    self.items.append(Item(len(self.items), given, event.index, event.at, seq))
                case CallStarted():
                    key = identity(event.value)
                    step = self.scenario.step(event.value, ordinals[key])
                    ordinals[key] += 1
                    call = Call(event.call, event.value, event.at, seq, step)
                    by_number[event.call] = call
                    self.calls.append(call)
                case CallCancelled():
                    by_number[event.call].cancelled_at = event.at
                case CallEnded():
                    call = by_number[event.call]
                    call.ended, call.ended_at, call.ended_seq = event, event.at, seq
                case SinkTook():
                    self.outputs.append(Output(event.element, event.at, seq))
                case SourceEnded():
                    self.source_ended_at, self.source_raised = event.at, event.raised
                case _:
                    pass

    def _overloaded_at(self) -> float:
        """Return the first deadline after which more than `capacity` late calls ran on."""
        if self.leg.ending.error != "TooManyAbandonedCalls" or self.scenario.form == "callback":
            return NEVER
        late = sorted((call.at + self.timeout, call.ended_at) for call in self.calls)
        for at, _ in late:
            if sum(since <= at < until for since, until in late) > self.capacity:
                return at
        return NEVER

    def _link_calls(self) -> None:
        waiting: dict[str, list[Item]] = defaultdict(list)
        for item in reversed(self.records):
            assert isinstance(item.element, Record)
            waiting[identity(item.element.value)].append(item)
        for call in self.calls:
            same = waiting[identity(call.value)]
            if same:
                same.pop().call = call
            else:
                self.extra_calls.append(call)

    def _link_handlers(self) -> None:
        asked: dict[tuple[float, str], list[tuple[int, HandlerAsked]]] = defaultdict(list)
        for seq, event in enumerate(self.leg.events):
            if isinstance(event, HandlerAsked):
                asked[event.at, identity(event.value)].append((seq, event))
        for requests in asked.values():
            items = self._timed_out_items(requests[0][1], len(requests))
            for item, (seq, event) in zip(items, requests, strict=False):
                item.asked_at, item.decided_seq = event.at, seq
            self.untimely_handlers += [event for _, event in requests[len(items) :]]

    def _timed_out_items(self, asked: HandlerAsked, count: int) -> list[Item]:
        """Return the records that the handler is asked for: due now, and undecided till now.

        Of more that are alike it may be any; rather those whose call gives nothing, then rather
        those whose own results never come out.
        """
        due = [item for item in self.records if self._may_be_due(item, asked)]
        likely = sorted(due, key=self._likely_answered)
        chosen = self._choose(likely, min(count, len(due)))
        return sorted(chosen, key=lambda item: item.pos)

    def _choose(self, alike: list[Item], count: int) -> list[Item]:
        """Choose `count` of several records that may each be meant, the likeliest first."""
        options = math.comb(len(alike), count)
        self.ways *= options
        self._way, choice = divmod(self._way, options)
        return list(next(islice(combinations(alike, count), choice, None)))

    def _may_be_due(self, item: Item, asked: HandlerAsked) -> bool:
        call = item.call
        if call is None or item.asked_at != NEVER or self.deadline(item) != asked.at:
            return False
        answered = call.ended is not None and call.ended.how != "cancelled"
        same = identity(call.value) == identity(asked.value)
        return same and not (answered and call.ended_at < asked.at)

    def _likely_answered(self, item: Item) -> int:
        """Rank a record by what came out: its call's results speak against its handler's.

        An error that names the record speaks for it, if it is one that the handler brings.
        """
        assert isinstance(item.element, Record)
        handler = self.scenario.handler(item.element.value)
        ended = None if item.call is None else item.call.ended
        if handler and handler.does != "reply" and self.leg.ending.record == item.element:
            return -1
        if ended is None or ended.how == "cancelled" or ended.at > self.deadline(item):
            return 0
        return 2 if self._came_out(item.element, ended.results) else 1

    def _came_out(self, source: Record, results: tuple[Any, ...]) -> bool:
        wanted = [Record(value, source.timestamp, source.key) for value in results]
        return any(output.element in wanted for output in self.outputs)

    def _decide(self, item: Item) -> None:
        """Find the outcome of a record: its own call's, or its deadline's."""
        call = item.call
        if call is None:
            return
        deadline = self.deadline(item)
        ended = call.ended
        own = ended is not None and ended.how != "cancelled" and call.ended_at <= deadline
        if item.asked_at == NEVER and min(deadline, call.ended_at) > self.overloaded_at:
            return
        if (
            item.asked_at != NEVER
            or (not own and deadline <= self.end_at)
            or (own and item is self._blamed)
        ):
            self._decide_by_deadline(item, deadline)
        elif own and ended is not None:
            item.decided_at, item.decided_seq = call.ended_at, call.ended_seq
            if ended.how == "returned":
                item.results = ended.results
            else:
                item.wrong = expected_error(call.step.does, call.step.error)

    @cached_property
    def _blamed(self) -> Item | None:
        """The record that failed at its deadline though its call answered in that instant."""
        ending = self.leg.ending
        if ending.error != "CallTimedOut" or self.scenario.handled:
            return None
        named = [i for i in self.records if i.element == ending.record and i.call is not None]
        if any(i.call.ended_at > self.deadline(i) <= ending.at for i in named):  # type: ignore[union-attr]
            return None
        tied = [i for i in named if i.call.ended_at == self.deadline(i)]  # type: ignore[union-attr]
        return next(iter(self._choose(tied, min(1, len(tied)))), None)

    def _decide_by_deadline(self, item: Item, deadline: float) -> None:
        assert isinstance(item.element, Record)
        item.timed_out = True
        item.decided_at = deadline
        handler = self.scenario.handler(item.element.value)
        if handler is not None and handler.does == "reply":
            item.results = handler.results
        elif handler is not None and handler.does == "misreturn" and handler.error != "none":
            item.wrong = expected_error(handler.does, handler.error)
        else:
            item.wrong = "CallTimedOut"

    def _link_outputs(self) -> None:
        open_item: Item | None = None
        torn: list[Item] = []
        for output in self.outputs:
            element = output.element
            if open_item is not None:
                if self._is_next_part(open_item, output):
                    self._attach(open_item, output)
                    if open_item.emitted_at != NEVER:
                        open_item = None
                    continue
                output.trouble = "torn"
                torn.append(open_item)
                open_item = None
            if isinstance(element, Record):
                rest = next((item for item in torn if self._is_next_part(item, output)), None)
                item = rest or self._match(output, element)
                if item is None:
                    output.trouble = self._strange(element)
                else:
                    self._attach(item, output)
                    open_item = None if item.emitted_at != NEVER else item
            elif not isinstance(element, Snapshot):
                self._link_passed_on(output)

    def _is_next_part(self, item: Item, output: Output) -> bool:
        element, results = output.element, item.results or ()
        part = len(item.outputs)
        return (
            isinstance(element, Record)
            and part < len(results)
            and is_same(element.value, results[part])
        )

    def _attach(self, item: Item, output: Output) -> None:
        output.item, output.part = item, len(item.outputs)
        if not item.outputs:
            item.first_seq = output.seq
        item.outputs.append(output)
        if len(item.outputs) >= len(item.results or ()):
            item.emitted_at, item.emitted_seq = output.at, output.seq

    def _match(self, output: Output, element: Record) -> Item | None:
        """Find the record whose first result this is: the right timestamp and key if possible."""
        candidates = [
            item
            for item in self.records
            if not item.outputs
            and item.results
            and is_same(item.results[0], element.value)
            and item.decided_seq < output.seq
        ]
        for item in candidates:
            source = item.element
            assert isinstance(source, Record)
            if source.timestamp == element.timestamp and source.key == element.key:
                return item
        return candidates[0] if candidates else None

    def _strange(self, element: Record) -> str:
        known = any(element.value in (item.results or ()) for item in self.records)
        return "repeated" if known else "invented"

    def _link_passed_on(self, output: Output) -> None:
        same = [item for item in self.items if item.element == output.element]
        free = [item for item in same if not item.outputs]
        if free:
            self._attach(free[0], output)
        elif not output.trouble:
            output.trouble = "repeated" if same else "invented"


def is_same(value: Any, other: Any) -> bool:
    """Whether two results are equal and of the same type: 1 is not True."""
    return type(value) is type(other) and bool(value == other)


def expected_error(does: str, error: str) -> str:
    """Return the canonical name of the error that a planned outcome must become."""
    if does == "misreturn" and error != "broken":
        return "InvalidResult"
    return "CallFailed"
