"""What random scenarios with failure handlers look like: any other, in which calls fail at times.

As for retries, chance is given one of its own.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from asyncwait.conformance.generation._random import TICK, Chance
from asyncwait.spec.scenario import Handler, Plan, Scenario, Step

_KINDS = ["reply", "raise", "reply", "misreturn", "raise", "never"]
_ERRORS = ["ValueError"] * 3 + ["", "Unpicklable", "StopIteration", "RetryAfter", "CancelledError"]
_MISRETURNS = ["none", "none", "text", "number", "broken"]
_COUNTS = [1, 1, 1, 0, 2]
_DOES: list[Any] = ["reply"] * 6 + ["none", "raise", "misreturn"]
_BLOCKS = [0] * 14 + [TICK]
_RARELY = [False] * 5 + [True]
_LATE = [None] * 4 + [
    *(Handler("none"), Handler("none")),
    *(Handler("raise", error="ValueError"), Handler("misreturn", error="text")),
]
"""What a timeout handler does instead, so that the failure handler is asked."""


def with_failure_handlers(chance: Chance, scenario: Scenario) -> Scenario:
    """Return a scenario in which calls of another one fail, and somebody has results instead."""
    kinds = [kind for kind in _KINDS if kind != "never" or scenario.timeout is not None]
    # What is completed and then raises is a failure of its own: no attempt follows.
    throws = _RARELY if scenario.form == "callback" and scenario.retry is None else [False]
    plans = tuple(_failing(chance, plan, kinds, throws) for plan in scenario.plans)
    handled = scenario.handled and chance.choice([True, True, False])
    return replace(scenario, failures_handled=True, handled=handled, plans=plans)


def _failing(chance: Chance, plan: Plan, kinds: Sequence[str], throws: Sequence[bool]) -> Plan:
    steps = tuple(_step(chance, step, kinds, throws) for step in plan.steps)
    results = tuple(f"{plan.value}-{part}?" for part in range(chance.choice(_COUNTS)))
    match chance.choice(_DOES):
        case "raise":
            failure = Handler("raise", error=chance.choice(["ValueError", ""]))
        case "misreturn":
            failure = Handler("misreturn", error=chance.choice(_MISRETURNS))
        case "none":
            failure = Handler("none")
        case _:
            failure = Handler("reply", results, blocks=chance.choice(_BLOCKS))
    handler = chance.choice(_LATE) or plan.handler
    return replace(plan, steps=steps, handler=handler, failure=failure)


def _step(chance: Chance, step: Step, kinds: Sequence[str], throws: Sequence[bool]) -> Step:
    """Return what a call does instead, or all the same; what it gave, it completes with."""
    match chance.choice(kinds):
        case "raise":
            at_once = step.after == 0 and not step.thread and chance.choice(throws)
            error = chance.choice(_ERRORS)
            return replace(step, does="raise", error=error, swallow=False, throws=at_once)
        case "misreturn":
            error = chance.choice(_MISRETURNS)
            return replace(step, does="misreturn", error=error, swallow=False, throws=False)
        case "never":
            return Step("never", clean_up=step.clean_up)
        case _:
            return step
