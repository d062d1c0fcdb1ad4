"""Arguments of limits, calls that never begin, and costs; the rules of LIMIT tell the rest."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from counting import Counting, run
from operators import PLAIN_FORMS

from asyncwait.backends.services import (
    Adaptive,
    Budget,
    Cost,
    CostTooLarge,
    CostUnknown,
    Hedge,
    InFlight,
    Limit,
    Limits,
    RedisLimits,
    StandIns,
)
from asyncwait.spec import CallFailed, InvalidConfig, Retry

NUMBER = "a call is unknown: expected a number >= 0 as the cost of 1, got "


def test_costs_are_told_by_unit() -> None:
    async def fn(value: int) -> Cost[int]:
        return Cost(value, {"USD": 0.5})

    limits = [
        Limit(cost=lambda _: 1, up_to=100, per=60, unit="tokens"),
        Budget(1.0, "USD", then="stop"),
    ]
    assert run(fn, range(9), limits=limits) == [0, 1]


def test_numbers_of_others_are_costs_too() -> None:
    costs: list[Any] = [Decimal(2), Fraction(5, 2)]
    limits = [Limit(cost=lambda value: costs[value], up_to=5, per=1)]
    assert run(Counting(), range(2), limits=limits) == [0, 1]


@pytest.mark.parametrize(
    ("limit", "cause", "said"),
    [
        (
            Limit(cost=lambda _: 11, up_to=10, per=1, unit="tokens"),
            CostTooLarge,
            "a call for 1 costs 11 tokens, and 10 are allowed in 1 s: it would never begin",
        ),
        (Limit(cost=lambda _: "a lot", up_to=9, per=1), CostUnknown, f"{NUMBER}'a lot'"),
        (Limit(cost=lambda _: -1, up_to=9, per=1), CostUnknown, f"{NUMBER}-1"),
        (Limit(cost=len, up_to=9, per=1), CostUnknown, "`cost` of Limit raised TypeError"),
        (InFlight(9, weight=len), CostUnknown, "`weight` of InFlight raised TypeError"),
        (InFlight(9, weight=lambda _: 10**400), CostUnknown, NUMBER),
        (InFlight(9, by=len), CostUnknown, "`by` of a limit raised TypeError"),
    ],
    ids=["large", "text", "negative", "cost", "weight", "infinite", "by"],
)
@pytest.mark.parametrize("operator", PLAIN_FORMS)
def test_an_error_says_why_a_call_never_begins(
    limit: Any, cause: type, said: str, operator: str
) -> None:
    service = Counting()
    with pytest.raises(CallFailed) as raised:
        run(service, [1], wait=PLAIN_FORMS[operator]["ordered"], limits=[limit], retry=Retry())
    assert type(raised.value.__cause__) is cause
    assert operator == "reference" or said in str(raised.value)
    assert (raised.value.attempts, service.came) == (1, [])


SOUND: dict[Any, dict[str, Any]] = {
    run: {"fn": Counting(), "values": []},
    StandIns: {"fn": Counting()},
    RedisLimits: {"url": "redis://x", "name": "model", "limits": [Limit(calls=1, per=1)]},
}
"""Arguments that are right, where some are needed."""


@pytest.mark.parametrize(
    ("kind", "given", "name"),
    [
        (Limit, {"per": 1}, "Limit.calls"),
        (Limit, {"calls": 1, "cost": len, "up_to": 2, "per": 1}, "Limit.calls"),
        (Limit, {"calls": 0, "per": 1}, "Limit.calls"),
        (Limit, {"calls": 1, "per": 0}, "Limit.per"),
        (Limit, {"calls": 1, "per": 1, "latency": -1}, "Limit.latency"),
        (Limit, {"cost": float, "up_to": 0, "per": 1}, "Limit.up_to"),
        (Limit, {"up_to": 1, "per": 1}, "Limit.cost"),
        (Limit, {"calls": 1, "cost": float, "per": 1}, "Limit.cost"),
        (InFlight, {"calls": True}, "InFlight.calls"),
        (Adaptive, {"most": 0}, "Adaptive.most"),
        (Budget, {"amount": 0}, "Budget.amount"),
        (Budget, {"amount": 1, "unit": ""}, "Budget.unit"),
        (Budget, {"amount": 1, "cost": float}, "Budget.cost"),
        (Budget, {"amount": 1, "path": ""}, "Budget.path"),
        (Budget, {"amount": 1, "then": "go on"}, "Budget.then"),
        (Budget, {"amount": 1, "exists": 1}, "Budget.exists"),
        (Limits, {"limits": []}, "limits"),
        (StandIns, {"fn": len}, "fn"),
        (StandIns, {"hedge": 0.5}, "hedge"),
        (Hedge, {"after": 0}, "Hedge.after"),
        (Hedge, {"after": "p100"}, "Hedge.after"),
        (Hedge, {"after": "95"}, "Hedge.after"),
        (Hedge, {"after": True}, "Hedge.after"),
        (Hedge, {"at_most": 0}, "Hedge.at_most"),
        (Hedge, {"at_most": 2}, "Hedge.at_most"),
        (RedisLimits, {"url": "here"}, "url"),
        (RedisLimits, {"name": ""}, "name"),
        (RedisLimits, {"limits": []}, "limits"),
        (RedisLimits, {"limits": [Budget(1, path="/nowhere/budget")]}, "Budget.path"),
        (RedisLimits, {"limits": [Budget(1, "USD")]}, "Budget.cost"),
        (run, {"limits": []}, "limits"),
        (run, {"limits": InFlight(1)}, "limits"),
        (run, {"limits": [Retry()]}, r"limits\[0\]"),
        (run, {"limits": [Budget(9, exists=True)]}, "Budget.exists"),
        *(
            (run, {"limits": [limit], "wait": PLAIN_FORMS["reference"]["ordered"]}, "limits")
            for limit in (Adaptive(), Budget(2, path="costs"))
        ),
    ],
)
def test_a_wrong_argument_is_refused_by_name(kind: Any, given: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^{name} must be "):
        kind(**SOUND.get(kind, {}) | given)
