"""Many deadlines: close together, all at once, very soon and very late."""

from typing import Any

import anyio
import pytest
from operators import SIDE_BY_SIDE, Source, failure_of, read_all, read_timed, seconds_now

from asyncwait.spec import (
    MODES,
    CallTimedOut,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Watermark,
)

pytestmark = pytest.mark.anyio

YEAR = 365 * 24 * 3600.0


class Service:
    """Never answers, but for values that are to be answered; notes handlers and cancellations.

    Args:
        answers: seconds by value.
    """

    def __init__(self, answers: dict[Any, float] | None = None) -> None:
        self.answers = answers or {}
        self.asked: list[tuple[float, Any]] = []
        self.cancelled: list[tuple[float, Any]] = []

    async def __call__(self, value: Any) -> list[Any]:
        """Answer, or wait for the cancellation."""
        try:
            await anyio.sleep(self.answers.get(value, 10**12))
        except anyio.get_cancelled_exc_class():
            self.cancelled.append((seconds_now(), value))
            raise
        return [value]

    def timeout(self, value: Any) -> list[Any]:
        """Note it, and reply."""
        self.asked.append((seconds_now(), value))
        return [("late", value)]


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
@pytest.mark.parametrize("gap", [0.001, 0.002, 0.003, 0.005])
async def test_each_of_many_deadlines_is_kept_to_the_millisecond(
    open_operator: OpenOperator, mode: Mode, gap: float
) -> None:
    """Handlers are asked, and calls cancelled, each at its own deadline and in order."""
    fn = Service()
    count = 200
    script = [item for number in range(count) for item in (f"{number}", gap)]

    async with open_operator(OperatorConfig(mode, 500, 0.04), fn, Source(*script)) as results:
        out = await read_timed(results)
        figures = results.statistics()

    expected = [(round(0.04 + number * gap, 6), f"{number}") for number in range(count)]
    assert fn.asked == expected
    assert fn.cancelled == expected
    assert out == [(when, ("late", value)) for when, value in expected]
    assert (figures.timeouts, figures.abandoned) == (count, 0)


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
async def test_hundreds_of_deadlines_at_once(open_operator: OpenOperator, mode: Mode) -> None:
    """In one instant, in the order of the calls, and what answered in time is left alone."""
    answers = {f"{number}": 1.0 for number in range(0, 400, 2)}
    fn = Service(answers)
    script = [f"{number}" for number in range(400)]

    async with open_operator(OperatorConfig(mode, 400, 3), fn, Source(*script)) as results:
        out = await read_timed(results)

    late = [value for value in script if value not in answers]
    assert fn.asked == [(3, value) for value in late]
    assert sorted(fn.cancelled) == sorted(fn.asked)
    answered = [value for _, value in out if isinstance(value, str)]
    assert sorted(answered) == sorted(answers)
    assert [value for _, value in out if value not in answers] == [("late", v) for v in late]
    assert out[0][0] == 1
    assert out[-1] == (3, ("late", "399"))
    assert [when for when, _ in out[1:200]] == [3 if mode == "ordered" else 1] * 199


@pytest.mark.parametrize("limit", [0.001, 0.003, 2])
@pytest.mark.parametrize("capacity", [1, 7])
async def test_more_deadlines_than_capacity_come_in_waves(
    open_operator: OpenOperator, capacity: int, limit: float
) -> None:
    """Each record has its full time from its own call on, however short that is."""
    fn = Service()

    script = [f"{number}" for number in range(50)]
    config = OperatorConfig("ordered", capacity, limit)
    async with open_operator(config, fn, Source(*script)) as results:
        await read_all(results)

    assert fn.asked == [
        (round(limit * (1 + number // capacity), 6), f"{number}") for number in range(50)
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gives", [None, "text", ValueError("handler")], ids=repr)
async def test_of_equal_deadlines_the_first_may_fail_and_the_second_is_not_asked(
    open_operator: OpenOperator, mode: Mode, gives: Any
) -> None:
    """What fails first ends it: nothing comes out, and nobody else is asked or told."""
    asked: list[str] = []

    def handler(value: str) -> Any:
        asked.append(value)
        if value != "a":
            return [value]
        if isinstance(gives, Exception):
            raise gives
        return gives

    fn: Any = Service()
    fn.timeout = handler
    async with open_operator(OperatorConfig(mode, 9, 2), fn, Source("a", "b", "c")) as results:
        error: Any = await failure_of(results)
        assert await failure_of(results) is error

    assert error.record == Record("a")
    assert asked == ["a"]
    assert seconds_now() == 2


@pytest.mark.parametrize("mode", MODES)
async def test_of_equal_deadlines_the_second_may_fail_after_the_first_has_replied(
    open_operator: OpenOperator, mode: Mode
) -> None:
    """The failure is decided in the same instant, and names its own record."""

    def handler(value: str) -> Any:
        return [value] if value == "a" else None

    fn: Any = Service()
    fn.timeout = handler
    out: list[Any] = []
    async with open_operator(OperatorConfig(mode, 9, 2), fn, Source("a", "b", "c")) as results:
        with pytest.raises(CallTimedOut) as caught:  # noqa: PT012 - what comes before may come
            while True:
                out.append(await anext(results))

    assert caught.value.record == Record("b")
    assert out in ([], [Record("a")])


@pytest.mark.parametrize("limit", [0.001, 0.0015, 1, 10**7])
async def test_a_timeout_may_be_a_millisecond_or_months(
    open_operator: OpenOperator, limit: float
) -> None:
    """It is not rounded."""
    fn = Service({"b": limit / 2})

    config = OperatorConfig("ordered", timeout=limit)
    async with open_operator(config, fn, Source("b", "a")) as results:
        assert await anext(results) == Record("b")
        assert anyio.current_time() == pytest.approx(limit / 2)
        assert await anext(results) == Record(("late", "a"))
        assert anyio.current_time() == pytest.approx(limit)


@pytest.mark.parametrize("limit", [YEAR, 300 * YEAR, 2.0**63, 1e300, 10**400, float("inf"), None])
async def test_a_timeout_may_be_years_or_never(open_operator: OpenOperator, limit: Any) -> None:
    """It is not turned into something sooner."""
    fn = Service({"a": YEAR / 4, "b": YEAR / 3})

    config = OperatorConfig("ordered", timeout=limit)
    async with open_operator(config, fn, Source("a", "b")) as results:
        assert await read_all(results) == ["a", "b"]

    assert anyio.current_time() == pytest.approx(YEAR / 3)
    assert fn.asked == []


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
async def test_deadlines_are_kept_behind_fences_and_by_finished_records(
    open_operator: OpenOperator, mode: Mode
) -> None:
    """What is decided and waits for its turn, or for a reader, is in nobody's way."""
    fn = Service({"a": 6, "c": 1})
    source = Source("a", Watermark(1), 0.001, "b", 0.001, "c", Watermark(2), 0.001, "d")

    async with open_operator(OperatorConfig(mode, 20, 4), fn, source) as results:
        await anyio.sleep(9)
        assert fn.asked == [(4, "a"), (4.001, "b"), (4.003, "d")]
        out = await read_all(results)

    assert out[:2] == [("late", "a"), Watermark(1)]
    assert out[-2:] == [Watermark(2), ("late", "d")]
    assert sorted(map(str, out[2:4])) == ["('late', 'b')", "c"]


async def test_an_answer_in_the_instant_of_the_deadline_counts_or_does_not(
    open_operator: OpenOperator,
) -> None:
    """Either is legal, and each record has one outcome."""
    fn = Service({f"{number}": 3.0 for number in range(50)})

    script = [f"{number}" for number in range(50)]
    async with open_operator(OperatorConfig("ordered", 50, 3), fn, Source(*script)) as results:
        out = await read_all(results)
        figures = results.statistics()

    assert [each[1] if isinstance(each, tuple) else each for each in out] == script
    assert figures.timeouts == len(fn.asked) == sum(isinstance(each, tuple) for each in out)
