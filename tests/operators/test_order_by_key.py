"""Order by key on every shipped operator: who is called when, and what comes out in which order."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from operators import Source, read_timed

from asyncwait.spec import InvalidKey, OpenOperator, OperatorConfig, Record, Watermark

pytestmark = pytest.mark.anyio


async def feed(*elements: Record | Watermark) -> AsyncIterator[Record | Watermark]:
    """Give these, all at once."""
    for element in elements:
        yield element


def keyed(*pairs: tuple[str, Any]) -> AsyncIterator[Record | Watermark]:
    """Give records with values and keys."""
    return feed(*(Record(value, key=key) for value, key in pairs))


class Timed:
    """Takes a second for each letter of the value, and notes when it is called."""

    def __init__(self) -> None:
        self.began: dict[str, int] = {}
        self.since = anyio.current_time()

    async def __call__(self, value: str) -> list[str]:
        """Note the call, and last so long."""
        self.began[value] = round(anyio.current_time() - self.since)
        await anyio.sleep(len(value))
        return [value]


async def values_of(results: Any) -> list[Any]:
    """Read to the end; a watermark is its time."""
    return [
        element.value if isinstance(element, Record) else element.timestamp
        async for element in results
    ]


async def test_each_key_has_a_line_of_its_own(open_operator: OpenOperator) -> None:
    """Of x three are called one after the other, y waits for none of them."""
    fn, source = Timed(), keyed(("aaa", "x"), ("b", "x"), ("cc", "y"), ("d", "x"))

    async with open_operator(OperatorConfig("key-ordered"), fn, source) as results:
        came = await values_of(results)

    assert fn.began == {"aaa": 0, "cc": 0, "b": 3, "d": 4}
    assert came == ["cc", "aaa", "b", "d"]


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (0, False), (2, 2.0), (None, None), (["x", 1], ["x", 1.0]), ({"k": []}, {"k": []})],
    ids=str,
)
async def test_keys_that_are_equal_are_one(
    open_operator: OpenOperator, one: Any, other: Any
) -> None:
    """Of different types, or without a hash."""
    fn = Timed()

    config = OperatorConfig("key-ordered")
    async with open_operator(config, fn, keyed(("aa", one), ("b", other))) as results:
        assert await values_of(results) == ["aa", "b"]

    assert fn.began == {"aa": 0, "b": 2}


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, "1"), (None, ""), (-1, -2), (["x"], ("x",)), ([], {}), (float("nan"), float("nan"))],
    ids=str,
)
async def test_keys_that_are_not_equal_are_two(
    open_operator: OpenOperator, one: Any, other: Any
) -> None:
    """However alike they look; -1 and -2 have the same hash."""
    fn = Timed()

    config = OperatorConfig("key-ordered")
    async with open_operator(config, fn, keyed(("aa", one), ("b", other))) as results:
        assert await values_of(results) == ["b", "aa"]

    assert fn.began == {"aa": 0, "b": 0}


async def test_a_watermark_holds_results_and_no_calls(open_operator: OpenOperator) -> None:
    """Behind it the records of x are called in their line, and come out when it has."""
    fn = Timed()
    first, behind = Record("aaaa", key="y"), (Record("b", key="x"), Record("c", key="x"))

    config = OperatorConfig("key-ordered")
    async with open_operator(config, fn, feed(first, Watermark(7), *behind)) as results:
        assert await values_of(results) == ["aaaa", 7, "b", "c"]

    assert fn.began == {"aaaa": 0, "b": 0, "c": 1}


async def test_those_that_wait_for_their_key_are_in_flight(open_operator: OpenOperator) -> None:
    """They take room, and a snapshot holds them."""
    fn = Timed()
    config = OperatorConfig("key-ordered", capacity=2)
    names = "aaaaaaaaa", "b", "c", "d"

    async with open_operator(config, fn, keyed(*((name, "x") for name in names))) as results:
        with anyio.move_on_after(2):
            await anext(results)
        figures = results.statistics()
        results.request_snapshot(1)
        snapshot = await anext(results)

    assert (figures.in_flight, figures.calls) == (2, 1)
    assert [record.value for record in snapshot.in_flight] == ["aaaaaaaaa", "b", "c"]


async def test_a_line_may_be_long(open_operator: OpenOperator) -> None:
    """Each of thousands frees the key for the next, whose call answers at once."""
    count = 5_000

    class AtOnce:
        def async_invoke(self, value: int, result: Any) -> None:
            result.complete([value])

    config = OperatorConfig("key-ordered", capacity=count)
    source = feed(*(Record(number, key="x") for number in range(count)))
    async with open_operator(config, AtOnce(), source) as results:
        assert await values_of(results) == list(range(count))


class Unlike:
    """A key that raises where it is looked up."""

    def __init__(self, *, hashes: bool) -> None:
        self.hashes = hashes

    def __hash__(self) -> int:
        if not self.hashes:
            raise ValueError("no hash")
        return 1

    def __eq__(self, other: object) -> bool:
        raise ValueError("nothing is equal")

    def __repr__(self) -> str:
        return "Unlike()"


@pytest.mark.parametrize(
    ("hashes", "value", "said"), [(False, "a", "no hash"), (True, "b", "nothing is equal")]
)
async def test_a_key_that_can_not_be_looked_up_fails_the_operator(
    open_operator: OpenOperator, value: str, said: str, *, hashes: bool
) -> None:
    """At once, naming the record."""
    source = keyed(("a", Unlike(hashes=hashes)), ("b", Unlike(hashes=hashes)))

    with pytest.raises(InvalidKey) as caught:
        async with open_operator(OperatorConfig("key-ordered"), Timed(), source) as results:
            await values_of(results)

    assert str(caught.value) == (
        f"Record {value!r} (key Unlike()): its key can't be compared with others, as in a dict: "
        f"ValueError({said!r})"
    )
    assert isinstance(caught.value.__cause__, ValueError)


class Row:
    """A key that changes while its record is in flight, as what can be changed and hashed does."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.version = 0

    def __hash__(self) -> int:
        return hash((self.number, self.version))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and hash(self) == hash(other)


async def test_a_key_that_changes_in_flight_is_freed_all_the_same(
    open_operator: OpenOperator,
) -> None:
    """Its record stands where the key stood when it was read, and those behind it go on."""

    async def fn(row: Row) -> list[int]:
        await anyio.sleep(1)
        row.version += 1
        return [row.number]

    rows = [Row(1), Row(1), Row(2), Row(1)]
    source = Source(*(Record(row, key=row) for row in rows))
    async with open_operator(OperatorConfig("key-ordered"), fn, source) as results:
        assert sorted(await read_timed(results)) == [(1, 1), (1, 2), (2, 1), (3, 1)]
