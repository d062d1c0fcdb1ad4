"""What random scenarios with retries look like: any other, in which calls fail now and then.

Chance is given one of its own for this, so that whatever is drawn here changes nothing elsewhere.
"""

from typing import Any

from msgspec.structs import replace

from asyncwait.conformance.generation._random import TICK, Chance
from asyncwait.spec.scenario import Handler, Plan, PlannedRetry, Scenario, Step

_ATTEMPTS = [3, 2, 3, 4, 2, 3, 1, 9]
_PAUSES = [1, 1, 1, 2, 3, 10]
_CAPS = [60_000, 60_000, 60_000, 2 * TICK, 4 * TICK]
_LIMITS = [None, 1, 2, 3, 5]
_ON_ERROR: list[Any] = ["any"] * 8 + ["some", "asked", "asked", "breaks"]
_ON_RESULT: list[Any] = ["never", "never", "empty", "pair", "pair", "pair", "breaks"]
_JITTER = [0, 0, 0, 0, 50]
_FAILURES = [0, 1, 1, 1, 2, 2, 4]
_ERRORS = ["ValueError", "RetryAfter"] * 4 + ["", "Unpicklable", "StopIteration", "CancelledError"]
_AFTER = [0, 0, 1, 1, 2, 3]
_KINDS = ["raise"] * 4 + ["refused"] * 3 + ["broken"] + ["hangs"] * 4
_SOMETIMES = [False, False, True]
_RARELY = [False] * 5 + [True]


def has_failing_calls(scenario: Scenario) -> bool:
    """Whether a call raises or misreturns: what becomes of that is seen best without retries."""
    steps = (step for plan in scenario.plans for step in plan.steps)
    return any(step.does in {"raise", "misreturn"} for step in steps)


def with_retries(chance: Chance, scenario: Scenario) -> Scenario:
    """Return a scenario in which the calls of another one fail first, and are repeated."""
    limit = chance.choice(_LIMITS)
    retry = PlannedRetry(
        max_attempts=chance.choice(_ATTEMPTS),
        initial=chance.choice(_PAUSES) * TICK,
        multiplier=chance.choice([1, 2, 2, 3]),
        cap=chance.choice(_CAPS),
        jitter=chance.choice(_JITTER),
        attempt_timeout=None if limit is None else limit * TICK,
        on_error=chance.choice(_ON_ERROR),
        on_result=chance.choice(_ON_RESULT),
    )
    plans = tuple(_failing(chance, retry, plan) for plan in scenario.plans)
    return replace(scenario, retry=retry, plans=plans)


def _failing(chance: Chance, retry: PlannedRetry, plan: Plan) -> Plan:
    """Return a plan by which some calls of a value fail before those that it has had."""
    failures = (_failure(chance, retry, plan.value) for _ in range(chance.choice(_FAILURES)))
    steps = tuple(replace(step, throws=False) for step in plan.steps)
    handler = Handler("raise", error="ValueError") if chance.choice(_RARELY) else plan.handler
    return replace(plan, steps=(*failures, *steps), handler=handler)


def _failure(chance: Chance, retry: PlannedRetry, value: Any) -> Step:
    after, supplied = chance.choice(_AFTER) * TICK, chance.choice(_RARELY)
    twice = chance.choice(_RARELY)
    again = chance.choice([0, 1, 2]) * TICK if twice else 0
    told: dict[str, Any] = {
        "supplied": supplied,
        "thread": chance.choice(_RARELY),
        "twice": twice,
        "again": again,
    }
    match chance.choice(_KINDS):
        case "refused" if retry.on_result in {"empty", "pair"}:
            results = (f"{value}-no", f"{value}-never") if retry.on_result == "pair" else ()
            return Step(after=after, results=results, **told)
        case "broken":
            return Step("misreturn", after, error="broken", **told)
        case "hangs" if retry.attempt_timeout is not None:
            return _hanging(chance, retry.attempt_timeout, value)
        case _:
            error = chance.choice(_ERRORS)
            pause = chance.choice([0, 1, 2, 5]) * TICK if error == "RetryAfter" else 0
            return Step("raise", after, error=error, retry_after=pause, **told)


def _hanging(chance: Chance, limit: int, value: Any) -> Step:
    """Return a call that its limit ends, or that answers in the instant of that, or too late."""
    late = limit + chance.choice([0, 1, 3]) * TICK
    clean_up, swallow = chance.choice([0, 0, 1, 3]) * TICK, chance.choice(_SOMETIMES)
    if chance.choice(_SOMETIMES):
        return Step("never", clean_up=clean_up)
    results = (f"{value}-late",)
    return Step(after=late, results=results, clean_up=clean_up, swallow=swallow)
