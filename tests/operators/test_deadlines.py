"""Deadlines that no scenario has: a millisecond, and none."""

from math import inf
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Source, read_timed

from asyncwait.spec import OpenOperator, OperatorConfig

pytestmark = pytest.mark.anyio

MONTHS = 120 * 24 * 3600.0


class Service:
    def __init__(self, answers: dict[Any, float]) -> None:
        self.answers = answers

    async def __call__(self, value: Any) -> list[Any]:
        await anyio.sleep(self.answers.get(value, 10**12))
        return [value]

    def timeout(self, value: Any) -> list[Any]:
        return [("late", value)]


@pytest.mark.parametrize("limit", [0.001, 0.0015, 1, 10**7, 2.0**63, 1e300, 10**400, inf, None])
async def test_a_timeout_may_be_a_millisecond_or_never(
    open_operator: OpenOperator, limit: Any
) -> None:
    lasts = MONTHS if limit is None or limit > MONTHS else limit
    fn = Service({"b": lasts / 2} if lasts < MONTHS else {"b": lasts / 2, "a": lasts})

    async with open_operator(
        OperatorConfig("ordered", timeout=limit), fn, Source("b", "a")
    ) as results:
        out = await read_timed(results)

    assert [when for when, _ in out] == pytest.approx([lasts / 2, lasts], abs=1e-6)
    assert [value for _, value in out] == ["b", "a" if lasts == MONTHS else ("late", "a")]
