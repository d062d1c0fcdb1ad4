"""Operators that are wrong in kind: a leg says so in a line, and a trace can always be told."""

import math
from typing import Any

import msgspec
import pytest
from judged import broken_rules
from msgspec.structs import replace
from operators import Changed, changed

from asyncwait.conformance.evidence import Run, scenario_of
from asyncwait.conformance.harness import play
from asyncwait.spec import OpenOperator, Record, Statistics, Watermark
from asyncwait.spec.scenario import Leg, Scenario, SinkTook, trace_from_json

SCENARIO = scenario_of("0: a@1 b@2; a: gives a1; b: 40 gives b1")


def leg_of(operator: Any, scenario: Scenario = SCENARIO) -> Leg:
    trace = play(operator, scenario)
    assert trace_from_json(msgspec.json.encode(trace)) == trace
    return trace.legs[0]


def putting_out(output: Any) -> OpenOperator:
    class Other(Changed):
        async def __anext__(self) -> Any:
            await super().__anext__()
            return output

    return changed(Other)


WRAP = ", expected an element of the stream; wrap results in Record"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (None, f"None (NoneType){WRAP}"),
        (Record, f"<class 'asyncwait.spec.Record'> (StructMeta){WRAP}"),
        (
            Watermark("soon"),  # type: ignore[arg-type]
            f"{Watermark('soon')} (Watermark): ",  # type: ignore[arg-type]
        ),
    ],
)
def test_what_is_no_element_is_said_in_a_line(output: Any, text: str) -> None:
    text = f"the operator put out {text}"
    leg = leg_of(putting_out(output))

    assert (leg.ending.how, leg.ending.error) == ("failed", "NotAnElement")
    assert leg.ending.detail.startswith(text)
    assert not any(isinstance(event, SinkTook) for event in leg.events)
    assert broken_rules(Run(SCENARIO, play(putting_out(output), SCENARIO))) == {
        "ELEM-3": [leg.ending.detail]
    }


def with_figures(figures: Any) -> OpenOperator:
    class WithFigures(Changed):
        def statistics(self) -> Any:
            return figures

    return changed(WithFigures)


@pytest.mark.parametrize(
    ("figures", "detail"),
    [
        ({"in_flight": 0.5}, "statistics().in_flight is 0.5 (float), expected a whole number"),
        ({"oldest": "old"}, "statistics().oldest is 'old' (str), expected a number of seconds"),
        ({"oldest": math.nan}, "statistics().oldest is nan (float), expected a number of seconds"),
    ],
)
def test_figures_that_are_none_fail_the_leg_in_which_they_are_read(
    figures: dict[str, Any], detail: str
) -> None:
    operator = with_figures(Statistics(**figures))

    read = leg_of(operator, replace(SCENARIO, figures_at=(20,))).ending

    assert (read.how, read.at, read.detail) == ("failed", 20, detail)
    assert leg_of(operator).ending.how == "finished"
