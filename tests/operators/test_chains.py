"""`chain`: two operators, or more, opened as one, with one snapshot for all of them."""

from collections import Counter
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operators import (
    OPERATORS,
    SIDE_BY_SIDE,
    Callbacks,
    Sleeper,
    Source,
    echo,
    failure_of,
    read_all,
    read_timed,
    virtual_loop,
)

from asyncwait.backends.chain import Chain, chain
from asyncwait.spec import (
    Barrier,
    CallFailed,
    InvalidConfig,
    InvalidResult,
    LatencyMarker,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
    Statistics,
    Watermark,
    WatermarkStatus,
)

pytestmark = pytest.mark.anyio

BEHIND = list(OPERATORS)


async def twice(value: str) -> list[str]:
    """Take as many seconds as the value says, and give two results."""
    await anyio.sleep(float(value[1:]))
    return [f"{value[0]}1", f"{value[0]}2"]


class Counted(Source):
    """Counts what was read of it."""

    read = 0

    async def __anext__(self) -> Any:
        """Give the next element, and count it."""
        element = await super().__anext__()
        self.read += 1
        return element


class Hooked:
    """A function that notes when it is opened and closed."""

    def __init__(self, name: str, log: list[str]) -> None:
        self._name = name
        self._log = log

    async def __call__(self, value: Any) -> list[Any]:
        """Answer at once."""
        return [value]

    def open(self) -> None:
        """Note it."""
        self._log.append(f"open {self._name}")

    def close(self) -> None:
        """Note it."""
        self._log.append(f"close {self._name}")


@pytest.mark.parametrize("behind", BEHIND)
async def test_what_the_first_puts_out_is_what_the_second_reads(
    open_operator: OpenOperator, behind: str
) -> None:
    """Results keep the timestamp and the key of their record, and everything else goes through."""
    others = [Watermark(1), WatermarkStatus(idle=True), LatencyMarker(0)]
    source = Source(Record("a1", 7, "k"), *others, "b1")
    open_chain = chain(open_operator, OPERATORS[behind])

    async with open_chain(OperatorConfig("ordered", 9), (twice, Sleeper()), source) as results:
        came = [element async for element in results]

    assert [each for each in came if not isinstance(each, LatencyMarker)] == [
        Record("a1", 7, "k"),
        Record("a2", 7, "k"),
        *others[:2],
        Record("b1"),
        Record("b2"),
    ]
    assert LatencyMarker(0) in came
    assert source.log == ["closed"]


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
@pytest.mark.parametrize("behind", BEHIND)
async def test_the_smallest_capacity_lets_everything_through(
    open_operator: OpenOperator, behind: str, mode: Mode
) -> None:
    """Neither operator waits for the other for ever, with fences and silent records among them."""

    async def first(value: int) -> list[int]:
        await anyio.sleep(value % 3)
        return [value] * (value % 4)

    async def second(value: int) -> list[int]:
        await anyio.sleep(value % 5)
        return [] if value % 7 == 0 else [value]

    script = [Watermark(n) if n % 10 == 0 else Record(n) for n in range(100)]
    open_chain = chain(open_operator, OPERATORS[behind])
    config = OperatorConfig(mode, 1)

    async with open_chain(config, (first, second), Source(*script)) as results:
        came = await read_all(results)

    due = [[Watermark(n)] if n % 10 == 0 else [n] * (n % 4) for n in range(100)]
    assert came == [each for some in due for each in some if each not in range(0, 100, 7)]


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("name", OPERATORS)
@settings(max_examples=25, deadline=None)
@given(
    delays=st.lists(st.integers(0, 3), min_size=1, max_size=8),
    at=st.integers(0, 8),
    taken=st.integers(0, 8),
    capacities=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    mode=st.sampled_from(SIDE_BY_SIDE),
)
def test_a_crash_anywhere_loses_nothing_and_repeats_nothing(
    name: str,
    loop: str,
    behind: str,
    *,
    delays: list[int],
    at: int,
    taken: int,
    capacities: tuple[int, int],
    mode: Mode,
) -> None:
    """A snapshot holds what is in either operator, amid the results of a record too."""
    script: list[Any] = [
        f"{letter}{delay}" for letter, delay in zip("abcdefgh", delays, strict=False)
    ]
    due = Counter(f"{each[0]}{number}" for each in script for number in "12")
    first, later = script[:at], script[at:]
    open_chain = chain(OPERATORS[name], OPERATORS[behind])
    configs = tuple(OperatorConfig(mode, capacity) for capacity in capacities)
    functions = (twice, Sleeper())

    async def both_lives() -> list[Any]:
        came: list[Any] = []
        source = Source(*first, Barrier(1), 99, *later)
        async with open_chain(configs, functions, source) as results:
            for _ in range(taken):  # the consumer rests before it goes on
                came.append(await anext(results))
                if isinstance(came[-1], Snapshot):
                    break
            await anyio.sleep(5)
            while not came or not isinstance(came[-1], Snapshot):
                came.append(await anext(results))
        snapshot = came.pop()
        async with open_chain(configs, functions, Source(*later), snapshot) as results:
            return [each.value for each in came] + await read_all(results)

    backend, options = virtual_loop(loop)
    came = anyio.run(both_lives, backend=backend, backend_options=options)

    assert Counter(came) == due
    if mode == "ordered":
        assert came == sorted(came)


@pytest.mark.parametrize("behind", BEHIND)
async def test_the_first_reads_only_while_the_second_waits_for_input(
    open_operator: OpenOperator, behind: str
) -> None:
    """Beyond what both have in flight, and one that waits for room in the second, all is unread."""
    source = Counted(*(f"a{n}" for n in range(50)))
    configs = OperatorConfig("ordered", 2), OperatorConfig("ordered", 3)
    open_chain = chain(open_operator, OPERATORS[behind])

    async with open_chain(configs, (echo, Callbacks()), source) as results:
        await anyio.sleep(1)
        figures = results.statistics()

    assert 4 <= source.read <= 6
    assert figures.calls == source.read + 3


@pytest.mark.parametrize("behind", BEHIND)
async def test_deadlines_at_the_end_of_input_are_waited_for(
    open_operator: OpenOperator, behind: str
) -> None:
    """In both operators, from the first to the last; then it is the end."""

    def late(place: str) -> Any:
        async def fn(value: str) -> list[str]:
            await anyio.sleep_forever()
            return [value]

        fn.timeout = lambda value: [f"{value}, late in the {place}"]  # type: ignore[attr-defined]
        return fn

    open_chain = chain(open_operator, OPERATORS[behind])
    configs = OperatorConfig("ordered", 1, 3), OperatorConfig("ordered", 1, 4)

    async with open_chain(configs, (late("first"), late("second")), Source("a", "b")) as results:
        came = await read_timed(results)

    assert came == [
        (7, "a, late in the first, late in the second"),
        (11, "b, late in the first, late in the second"),
    ]


async def test_a_silent_record_gives_its_room_to_the_next(open_operator: OpenOperator) -> None:
    """Of the first operator, from which nothing comes out then."""
    open_chain = chain(open_operator, open_operator)

    async def fn(value: str) -> list[str]:
        return [] if value.startswith("b") else [value]

    script = ["a1", *["b1"] * 2_000, "c1"]
    async with open_chain(OperatorConfig("ordered", 1), (fn, echo), Source(*script)) as results:
        assert await read_all(results) == ["a1", "c1"]


async def test_the_first_may_have_the_callback_form_and_handlers(
    open_operator: OpenOperator,
) -> None:
    """Each way to have results, for a record, leads to the second operator."""

    def invoke(value: str, result: Any) -> None:
        match value:
            case "one":
                result.complete(["one"])
            case "supplied":
                result.complete_with(lambda: iter(["supplied", "too"]))
            case "failed":
                result.complete_exceptionally(ValueError("no"))

    fn: Any = Callbacks(invoke)
    fn.timeout = lambda value: [value, "late"]
    fn.failure = lambda value, error: [value, str(error.__cause__)]
    source = Source("one", "supplied", "failed", "never")
    open_chain = chain(open_operator, open_operator)

    async with open_chain(OperatorConfig("ordered", 4, 2), (fn, echo), source) as results:
        came = await read_all(results)

    assert came == ["one", "supplied", "too", "failed", "no", "never", "late"]


async def test_the_first_retries_on_its_results(open_operator: OpenOperator) -> None:
    """`on_result` is given what the function gave, as in an operator alone."""
    asked: list[Any] = []
    answers = iter([["x"], ["x", "y"]])

    async def fn(_: str) -> list[str]:
        return next(answers)

    def too_few(results: Any) -> bool:
        asked.append(results)
        return len(results) < 2

    config = OperatorConfig(retry=Retry(on_result=too_few))
    open_chain = chain(open_operator, open_operator)

    async with open_chain((config, OperatorConfig()), (fn, echo), Source("a")) as results:
        assert await read_all(results) == ["x", "y"]

    assert asked == [("x",), ("x", "y")]


async def test_a_failure_of_the_first_comes_after_all_that_came_before(
    open_operator: OpenOperator,
) -> None:
    """And unchanged; what is no collection is called so in the words of every operator."""

    async def fn(value: str) -> Any:
        return [value] if value == "a" else "text"

    open_chain = chain(open_operator, open_operator)

    async with open_chain(OperatorConfig("ordered"), (fn, echo), Source("a", 1, "b")) as results:
        assert await anext(results) == Record("a")
        error = await failure_of(results)

    assert type(error) is InvalidResult
    assert str(error) == (
        "Record 'b': expected an iterable of results, got 'text' (str); "
        "return [] for none and [result] for one"
    )


async def test_a_failure_of_the_second_ends_both(open_operator: OpenOperator) -> None:
    """It comes at once, and the calls of the first are cancelled when the chain is left."""
    first = Sleeper()
    source = Source("a1", "b9", 99)

    async def fn(value: str) -> Any:
        raise ValueError(value)

    open_chain = chain(open_operator, open_operator)
    async with open_chain(OperatorConfig("ordered"), (first, fn), source) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert error.record == Record("a1")
    assert first.cancelled == [(1, "b9")]
    assert source.log == ["cancelled", "closed"]
    assert anyio.current_time() == 1


async def test_functions_are_closed_in_reverse_order(open_operator: OpenOperator) -> None:
    """Of the order in which they were opened; and three operators are a chain in a chain."""
    log: list[str] = []
    functions = Hooked("a", log), (Hooked("b", log), Hooked("c", log))
    open_chain = chain(open_operator, chain(open_operator, open_operator))

    async with open_chain(OperatorConfig(), functions, Source("x")) as results:
        log += await read_all(results)

    assert log == ["open a", "open b", "open c", "x", "close c", "close b", "close a"]
    assert open_chain.links == 3


async def test_where_the_second_does_not_open_the_first_is_left(
    open_operator: OpenOperator,
) -> None:
    """Its function is closed, and the source."""
    log: list[str] = []

    class Broken(Hooked):
        def open(self) -> None:
            raise OSError("no")

    source = Source("x")
    open_chain = chain(open_operator, open_operator)
    with pytest.raises(OSError, match=r"^no$"):
        async with open_chain(OperatorConfig(), (Hooked("a", log), Broken("b", log)), source):
            pass

    assert log == ["open a", "close a"]
    assert source.log == ["closed"]


async def test_a_snapshot_of_three_restores_three(open_operator: OpenOperator) -> None:
    """Each is given what it had in flight: the last one first, as nothing overtakes in a chain."""
    functions = Sleeper(), (Sleeper(), Sleeper())
    open_chain = chain(open_operator, chain(open_operator, open_operator))
    config = OperatorConfig("ordered", 2)
    source = Source("a1", 1, "b1", 1, "c1", 0.5, Barrier(1), 99)

    async with open_chain(config, functions, source) as results:
        snapshot: Any = await anext(results)
        at = anyio.current_time()
    async with open_chain(config, functions, Source("d0"), snapshot) as results:
        after = await read_timed(results)

    held = [part.in_flight for part in (snapshot, snapshot.upstream, snapshot.upstream.upstream)]
    assert held == [(Record("a1"),), (Record("b1"),), (Record("c1"),)]
    assert (at, snapshot.checkpoint_id, snapshot.upstream.upstream.upstream) == (2.5, 1, None)
    assert after == [(3.5, "a1"), (4.5, "b1"), (5.5, "c1"), (5.5, "d0")]


async def test_figures_are_sums(open_operator: OpenOperator) -> None:
    """But the age of the oldest record in flight, which is that of the older one."""
    open_chain = chain(open_operator, open_operator)
    source = Source("a0", 1, "b9", 99)

    async with open_chain(
        OperatorConfig("ordered", 3), (Sleeper(), Callbacks()), source
    ) as results:
        await anyio.sleep(3)
        figures = results.statistics()
    before = open_chain(OperatorConfig(), (echo, echo), Source()).statistics()

    assert figures == Statistics(
        in_flight=2, calls=3, max_in_flight=2, max_held=1, oldest=figures.oldest
    )
    assert figures.oldest == pytest.approx(3)
    assert before == Statistics()


async def test_a_chain_is_entered_and_left_once(open_operator: OpenOperator) -> None:
    """As every operator is, and read while it is open."""
    context = chain(open_operator, open_operator)(OperatorConfig(), (echo, echo), Source("x"))

    with pytest.raises(RuntimeError, match=r"^the chain is not open: use `async with`$"):
        await anext(context)
    async with context as results:
        with pytest.raises(RuntimeError, match=r"^an operator is entered once: "):
            await context.__aenter__()
        assert await read_all(results) == ["x"]
    with pytest.raises(RuntimeError, match=r"^the operator was left before: "):
        await context.__aexit__(None, None, None)


def test_what_is_no_chain_is_refused() -> None:
    """By name and value, with a way out."""
    open_operator = OPERATORS["pool"]
    config, source = OperatorConfig(), Source()
    open_chain = chain(open_operator, open_operator)

    def refused(action: Any, *given: Any) -> str:
        with pytest.raises(InvalidConfig) as caught:
            action(*given)
        return str(caught.value)

    assert refused(chain, open_operator, 3) == (
        "second must be the `open_operator` of a backend, got 3 (int)"
    )
    assert "a single operator: three of them are chain(a, chain(b, c))" in refused(
        chain, open_chain, open_operator
    )
    for fn in (echo, (echo,), (echo, echo, echo)):
        assert "fn must be a pair, one for each operator of the chain" in refused(
            open_chain, config, fn, source
        )
    for wrong in (3, (config,), (3, config)):
        assert "config must be an OperatorConfig, or a pair, one for each" in refused(
            open_chain, wrong, (echo, echo), source
        )
    assert "elements must be an async iterable of elements" in refused(
        open_chain, config, (echo, echo), [1]
    )
    assert refused(open_chain, config, (echo, echo), source, Snapshot(1, ())) == (
        "restore must be a snapshot of a chain of 2, with the others as upstream, got "
        "Snapshot(checkpoint_id=1, in_flight=(), read=None, upstream=None) (Snapshot)"
    )
    with pytest.raises(InvalidConfig) as caught:
        open_chain(config, (3, echo), source)
    assert caught.value.__notes__ == ["that is of the first operator of a chain"]
    assert refused(open_chain, config, (echo, echo), source, 3) == (
        "restore must be a Snapshot or None, got 3 (int)"
    )


def test_a_chain_says_what_it_is_made_of() -> None:
    """In the order of the stream."""
    one = OPERATORS["pool"]

    assert isinstance(chain(one, one), Chain)
    assert repr(chain(one, chain(one, one))) == (
        "chain(open_operator, chain(open_operator, open_operator))"
    )


async def test_the_first_may_hold_results_beyond_its_capacity(open_operator: OpenOperator) -> None:
    """As an operator alone does, where it is told to."""
    first: list[str] = []

    async def fn(value: str) -> list[str]:
        first.append(value)
        await anyio.sleep(9 if value == "a" else 0)
        return [value]

    config = OperatorConfig("ordered", 2, max_held=10)
    source = Source(*"abcdefghijklmnopqrstuvwxyz")
    async with chain(open_operator, open_operator)(config, (fn, echo), source):
        await anyio.sleep(1)

    assert 11 <= len(first) <= 12
