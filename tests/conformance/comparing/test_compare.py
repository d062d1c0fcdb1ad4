"""What a difference is: a tie, a known departure, or neither."""

import pytest
from msgspec.structs import replace

from asyncwait.conformance._comparing import Comparison, Pair, Side, compare_runs
from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.expected_failures import ExpectedFailure
from asyncwait.conformance.harness import play
from asyncwait.conformance.verdict import Case
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    SinkTook,
    Trace,
)

SOUND = Side.of("sound", ALL_CAPABILITIES, {})
KNOWN = Side.of("known", ALL_CAPABILITIES, {"ORD-2": (ExpectedFailure("it is late"),)})
SCENARIO = scenario_of("0: a b; a: 40 gives; b: 40 gives x")
CASE = Case("one", SCENARIO, SCENARIO)
RUN = play(open_operator, SCENARIO)


def late(trace: Trace, by: float) -> Trace:
    (leg,) = trace.legs
    events = [
        replace(event, at=event.at + by) if isinstance(event, SinkTook) else event
        for event in leg.events
    ]
    ending = replace(leg.ending, at=leg.ending.at + by)
    return Trace((replace(leg, events=tuple(events), ending=ending),))


def pair_of(first: Trace, second: Trace, *sides: Side) -> Pair:
    one, other = sides or (SOUND, SOUND)
    return compare_runs(CASE, first, second, (one, other))


def test_equal_runs_are_equal() -> None:
    assert pair_of(late(RUN, 40), late(RUN, 40)).kind == "equal"


def test_what_breaks_a_rule_and_is_not_known_for_it_is_unexplained() -> None:
    pair = pair_of(late(RUN, 40), RUN)

    assert pair.kind == "unexplained"
    assert pair.why[0].startswith("sound breaks ORD-2 at 40 ms: Record 'b' (input 1) is decided")
    first, second = pair.marks(("one", "two"))
    assert first.text == "only one: nothing"
    assert second.text == "only two: finished; Record 'x'"


def test_what_differs_behind_a_known_departure_is_explained_by_it() -> None:
    pair = pair_of(RUN, late(RUN, 40), SOUND, KNOWN)

    assert (pair.kind, pair.why) == ("explained", ("it is late",))
    assert (pair.ties, pair.departures) == (0, 2)


def test_what_differs_while_both_keep_all_rules_is_a_tie() -> None:
    scenario = scenario_of("unordered; 0: a b; a b: 40 gives *")
    run = play(open_operator, scenario)
    (leg,) = run.legs
    out = [event for event in leg.events if isinstance(event, SinkTook)]
    swapped = {out[0]: out[1], out[1]: out[0]}
    events = tuple(swapped.get(event, event) if event in out else event for event in leg.events)
    case = Case("two", scenario, scenario)

    pair = compare_runs(case, run, Trace((replace(leg, events=events),)), (SOUND, SOUND))

    assert (pair.kind, pair.ties, pair.departures) == ("tie", 1, 0)


@pytest.mark.parametrize(
    ("pairs", "errors", "code"),
    [
        ([(RUN, RUN)], [], 0),
        ([(RUN, RUN)], ["it died"], 3),
        ([(RUN, late(RUN, 40))], ["it died"], 1),
    ],
)
def test_the_exit_code_says_whether_all_is_explained(
    pairs: list[tuple[Trace, Trace]], errors: list[str], code: int
) -> None:
    comparison = Comparison(("one", "two"))
    for pair in pairs:
        comparison.add(pair_of(*pair))
    for error in errors:
        comparison.fail(CASE, error)

    assert comparison.exit_code == code
