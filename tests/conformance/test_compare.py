"""Two backends on the same scenarios: a tie, a known departure, or neither."""

import re

import pytest
from msgspec.structs import replace
from outside import Folder

from asyncwait.conformance._commands._compare import Comparison, Side
from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.expected_failures import ExpectedFailure
from asyncwait.conformance.harness import play
from asyncwait.conformance.running import Broken
from asyncwait.conformance.verdict import Case
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    SinkTook,
    Trace,
)

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


TIED_SCENARIO = scenario_of("unordered; 0: a b; a b: 40 gives *")
TIED_CASE = Case("two", TIED_SCENARIO, TIED_SCENARIO)
TIED = play(open_operator, TIED_SCENARIO)
LATE = late(RUN, 40)


def swapped(trace: Trace) -> Trace:
    (leg,) = trace.legs
    out = [event for event in leg.events if isinstance(event, SinkTook)]
    others = {out[0]: out[1], out[1]: out[0]}
    return Trace((replace(leg, events=tuple(others.get(e, e) for e in leg.events)),))


@pytest.mark.parametrize(
    ("case", "first", "second", "kind", "code"),
    [
        # Equal runs are equal, whatever they break.
        (CASE, LATE, LATE, "equal", 0),
        (CASE, LATE, RUN, "unexplained", 1),
        # The second operator is known to be late.
        (CASE, RUN, LATE, "explained", 0),
        # What differs while both keep all rules is a tie.
        (TIED_CASE, TIED, swapped(TIED), "tie", 0),
        (CASE, RUN, Broken("it died"), "in error", 3),
    ],
)
def test_a_pair_of_runs_is_of_one_kind(
    case: Case, first: Trace, second: Trace | Broken, kind: str, code: int
) -> None:
    known = {"ORD-2": (ExpectedFailure("it is late"),)}
    comparison = Comparison(Side("one", ALL_CAPABILITIES, {}), Side("two", ALL_CAPABILITIES, known))

    comparison.add(case, first, second)

    assert (comparison.kinds, comparison.exit_code) == ({kind: 1}, code)


HASTY = """
import os
from pathlib import Path

from msgspec.structs import replace

from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator as sound
from asyncwait.spec import OperatorConfig


def open_operator(config, fn, elements, restore=None):
    if isinstance(config, OperatorConfig) and config.capacity == 6 and config.mode == "ordered":
        config = replace(config, mode="unordered")
    return sound(config, fn, elements, restore)


MARK = Path(__file__).with_name("mark")


def dies_once(config, *others):
    if not MARK.exists():
        MARK.touch()
        os._exit(9)
    return open_operator(config, *others)


def backend():
    return stream_backend(dies_once)


def known():
    return stream_backend(open_operator, expected_failures={"ORD-1": "six are out of order"})
"""

pytestmark = pytest.mark.usefixtures("few_examples")

SIX = ("--count", "4", "--seed", "39")
"""The first of these scenarios has that capacity."""


def test_a_difference_that_nothing_explains_is_drawn_as_two_timelines(outside: Folder) -> None:
    """With the rule that is broken, and where they first differ; a run without an end is no such.

    Nothing can be said of how that one differs: it is in error.
    """
    outside.write("gate.py", HASTY)

    done = outside.here("compare", "gate:backend", "reference-asyncio", *SIX, "--jobs", "1")

    assert done.code == 1, done.err
    assert "gate:backend: died: " in done.out
    assert re.search(r", [1-9]\d* unexplained, 1 in error$", done.out.splitlines()[-1])
    assert "unexplained: shrunk (" in done.out
    assert "gate:backend breaks ORD-1 at " in done.out
    assert done.out.count("    ms  input                   calls") == 2
    assert ">>> only gate:backend: " in done.out
    assert ">>> only reference-asyncio: " in done.out
    assert "  again: asyncwait play gate:backend " in done.out
    assert "  again: asyncwait play reference-asyncio " in done.out


def test_a_known_departure_explains_what_differs(outside: Folder) -> None:
    outside.write("gate.py", HASTY)

    done = outside.here("compare", "gate:known", "pool-asyncio", *SIX)

    assert "six are out of order" in done.out
    assert done.out.splitlines()[-1].endswith(", 0 unexplained")
    assert done.code == 0, done.out
