"""`chain`: two operators, or more, opened as one, with one snapshot for all of them."""

from typing import Any

import anyio
import pytest
from operators import (
    OPERATORS,
    Callbacks,
    Sleeper,
    Source,
    echo,
    failure_of,
    read_all,
    read_timed,
)

from asyncwait.backends.chain import Chain, chain
from asyncwait.spec import (
    Barrier,
    Batch,
    Cache,
    InvalidConfig,
    OpenOperator,
    OperatorConfig,
    Record,
    Snapshot,
    Statistics,
)

pytestmark = [pytest.mark.anyio, pytest.mark.all_profiles]


class Counted(Source):
    read = 0

    async def __anext__(self) -> Any:
        element = await super().__anext__()
        self.read += 1
        return element


class Hooked:
    def __init__(self, name: str, log: list[str]) -> None:
        self._name = name
        self._log = log

    async def __call__(self, value: Any) -> list[Any]:
        return [value]

    def open(self) -> None:
        self._log.append(f"open {self._name}")

    def close(self) -> None:
        self._log.append(f"close {self._name}")


@pytest.mark.parametrize("behind", OPERATORS)
async def test_the_first_reads_only_while_the_second_waits_for_input(
    open_operator: OpenOperator, behind: str
) -> None:
    source = Counted(*(f"a{n}" for n in range(50)))
    configs = OperatorConfig("ordered", 2), OperatorConfig("ordered", 3)
    open_chain = chain(open_operator, OPERATORS[behind])

    async with open_chain(configs, (echo, Callbacks()), source) as results:
        await anyio.sleep(1)
        figures = results.statistics()

    assert 4 <= source.read <= 6
    assert figures.calls == source.read + 3


async def test_functions_are_closed_in_reverse_order(open_operator: OpenOperator) -> None:
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
    context = chain(open_operator, open_operator)(OperatorConfig(), (echo, echo), Source("x"))

    with pytest.raises(RuntimeError, match="not open"):
        await anext(context)
    async with context as results:
        with pytest.raises(RuntimeError, match="entered once"):
            await context.__aenter__()
        assert await read_all(results) == ["x"]
    with pytest.raises(RuntimeError, match="left before"):
        await context.__aexit__(None, None, None)


POOL = OPERATORS["pool"]
PAIR = chain(POOL, POOL)
CONFIG = OperatorConfig()
CACHED = OperatorConfig(cache=Cache(1, 1))


@pytest.mark.parametrize(
    ("name", "action", "given"),
    [
        ("second", chain, (POOL, 3)),
        ("second", chain, (PAIR, POOL)),  # three of them are chain(a, chain(b, c))
        *(("fn", PAIR, (CONFIG, fn, Source())) for fn in (echo, (echo,), (echo, echo, echo))),
        *(("config", PAIR, (it, (echo, echo), Source())) for it in (3, (CONFIG,), (3, CONFIG))),
        ("elements", PAIR, (CONFIG, (echo, echo), [1])),
        *(("restore", PAIR, (CONFIG, (echo, echo), Source(), it)) for it in (3, Snapshot(1, ()))),
        ("fn", PAIR, (CONFIG, (3, echo), Source())),
        *(("cache", PAIR, (it, (echo, echo), Source())) for it in (CACHED, (CONFIG, CACHED))),
    ],
)
def test_what_is_no_chain_is_refused_by_name(name: str, action: Any, given: Any) -> None:
    with pytest.raises(InvalidConfig, match=rf"^({name}|first) must be ") as caught:
        action(*given)

    is_of_one = given[1:2] == ((3, echo),)
    notes = ["that is of the first operator of a chain"] if is_of_one else []
    assert getattr(caught.value, "__notes__", []) == notes


def test_a_chain_says_what_it_is_made_of() -> None:
    one = OPERATORS["pool"]

    assert isinstance(chain(one, one), Chain)
    assert repr(chain(one, chain(one, one))) == (
        "chain(open_operator, chain(open_operator, open_operator))"
    )


@pytest.mark.parametrize("behind", OPERATORS)
async def test_both_may_call_in_batches(open_operator: OpenOperator, behind: str) -> None:
    asked: list[str] = []

    class Twice:
        async def __call__(self, values: list[str]) -> dict[str, Any]:
            asked.append(" ".join(values))
            return {value: OSError() if value == "b" else [value] * 2 for value in values}

        def failure(self, value: str, _: Exception) -> list[str]:
            return [f"{value}!"]

    async def upper(values: list[str]) -> list[list[str]]:
        asked.append(" ".join(values))
        return [[value.upper()] for value in values]

    config = OperatorConfig("ordered", 4, batch=Batch(max_size=3, max_wait=10))
    open_chain = chain(open_operator, OPERATORS[behind])
    async with open_chain(config, (Twice(), upper), Source(*"abc")) as results:
        found = await read_all(results)

    assert found == ["A", "A", "B!", "C", "C"]
    assert asked == ["a b c", "a a b!", "c c"]


async def test_equal_records_of_a_batch_each_have_the_answer_for_their_value(
    open_operator: OpenOperator,
) -> None:
    async def first(values: list[str]) -> dict[str, Any]:
        return {value: iter("xy") if value == "b" else [value] for value in values}

    def torn() -> Any:
        yield "x"
        raise OSError("torn")

    async def tears(values: list[str]) -> dict[str, Any]:
        return {value: torn() for value in values}

    config = OperatorConfig("ordered", 4, batch=Batch(max_size=4, max_wait=10))
    open_chain = chain(open_operator, open_operator)
    single = OperatorConfig("ordered", 4)
    async with open_chain((config, single), (first, echo), Source(*"aabb")) as results:
        assert await read_all(results) == ["a", "a", "x", "y", "x", "y"]
    async with open_chain((config, single), (tears, echo), Source(*"aa")) as results:
        assert "torn" in str(await failure_of(results))
