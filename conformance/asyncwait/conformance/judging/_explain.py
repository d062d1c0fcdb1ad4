"""From a trace to its explanations: each is a history that the checks can judge.

What the events of a leg say by themselves (`_facts`, `_calls`), and what they leave open (`_ties`),
is the same in all explanations. From an explanation follow the decisions of the records, and from
those what each output belongs to. All of it is values that functions return.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, repeat

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.judging._calls import Calls, Course, link_calls, overloaded_at
from asyncwait.conformance.judging._decide import (
    UNDECIDED,
    Decision,
    Explanation,
    Ties,
    decide,
    find_ties,
)
from asyncwait.conformance.judging._evidence import likeliest
from asyncwait.conformance.judging._leg import History, LegHistory
from asyncwait.conformance.judging._link import Link, link_outputs
from asyncwait.conformance.judging._observe import NEVER, Facts, Input, Item, Output, Took, read_leg
from asyncwait.spec.scenario import Leg, Scenario, Trace


class Reading(Struct, frozen=True, eq=False):
    """What is known of a leg whatever explains it.

    Args:
        facts: what was observed.
        calls: which belong to which record.
        ties: what is left open.
    """

    facts: Facts
    calls: Calls
    ties: Ties


def read(scenario: Scenario, leg: Leg, began_at: float = 0) -> Reading:
    """Read a leg that begins `began_at` ms after its scenario."""
    facts = read_leg(scenario, leg, began_at)
    calls = link_calls(facts)
    return Reading(facts, calls, find_ties(facts, calls))


def explained(reading: Reading, explanation: Explanation) -> LegHistory:
    """Return the leg as it was if `explanation` is the truth."""
    facts, calls = reading.facts, reading.calls
    decisions = decide(facts, calls, reading.ties, explanation)
    links = link_outputs(facts, decisions)
    given: dict[int | None, list[Took]] = defaultdict(list)
    for took, link in zip(facts.took, links, strict=True):
        given[link.pos].append(took)
    items = tuple(
        _item(each, calls.of.get(each.pos), decisions.get(each.pos, UNDECIDED), given[each.pos])
        for each in facts.inputs
    )
    outputs = tuple(map(partial(_output, items), facts.took, links))
    untimely = reading.ties.untimely
    return LegHistory(facts, items, outputs, calls.extra, untimely, overloaded_at(facts))


def _item(given: Input, course: Course | None, decision: Decision, took: Sequence[Took]) -> Item:
    """Put together what became of an input; `took` are its outputs."""
    owed = max(1, len(decision.results or ()))
    first, last = took[:1], took[owed - 1 : owed]
    return Item(
        given.pos,
        given.element,
        given.identity,
        given.index,
        given.at,
        given.seq,
        () if course is None else course.attempts,
        decision.asked_at,
        decision.decided_at,
        decision.decided_seq,
        decision.timed_out,
        decision.results,
        decision.wrong,
        decision.cause,
        decision.failure,
        decision.failure_cause,
        len(took),
        first[0].at if first else NEVER,
        first[0].seq if first else -1,
        last[0].at if last else NEVER,
        last[0].seq if last else -1,
    )


def _output(items: Sequence[Item], took: Took, link: Link) -> Output:
    item = None if link.pos is None else items[link.pos]
    return Output(took.element, took.at, took.seq, item, link.part, link.trouble)


class Way(Struct, frozen=True, eq=False):
    """A trace under one of its explanations.

    Args:
        readings: its legs, whatever explains them.
        settled: the explanation, leg by leg.
        history: what the checks can judge.
    """

    readings: tuple[Reading, ...]
    settled: tuple[Explanation, ...]
    history: History

    def otherwise(self, number: int, explanation: Explanation) -> "Way":
        """Return the trace with the leg `number` explained otherwise."""
        leg = explained(self.readings[number], explanation)
        legs = (*self.history.legs[:number], leg, *self.history.legs[number + 1 :])
        settled = (*self.settled[:number], explanation, *self.settled[number + 1 :])
        return Way(self.readings, settled, replace(self.history, legs=legs))


def explain(scenario: Scenario, trace: Trace) -> Way:
    """Return the likeliest explanation of a trace."""
    readings = tuple(_read_all(scenario, trace))
    settled = tuple(likeliest(each.facts, each.calls, each.ties) for each in readings)
    legs = tuple(map(explained, readings, settled))
    return Way(readings, settled, History(scenario, trace, legs))


def _read_all(scenario: Scenario, trace: Trace) -> Iterator[Reading]:
    """Read all legs; each begins when the one before it was to crash."""
    begin = [0, *accumulate(crash.at for crash in scenario.crashes)]
    later = chain(begin, repeat(begin[-1]))
    for leg, at in zip(trace.legs, later, strict=False):
        yield read(scenario, leg, at)
