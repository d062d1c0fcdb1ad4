"""Cached rows and equal keys, on a clock that jumps."""

import anyio
import pytest
from lookups import Scripted, Timeline, play
from operators import Odd

from asyncwait.backends.lookup import LookupStatistics, open_table
from asyncwait.backends.lookup._lookup import kept_by, tabled
from asyncwait.backends.lookup._requests import Policy
from asyncwait.spec import Cache, CallFailed, Retry

pytestmark = pytest.mark.anyio

A, NEW = ["a"], ["new"]
DOWN = OSError("down")
NAN = float("nan")
NULLS = [None, (1, None), NAN, (1, (2, NAN))]

TIMELINES = {
    "what is kept answers without a request": Timeline(
        [
            *((0, {"rows": {"b": None, "c": ["x", "y"]}}), (0, {"peek": "a"})),
            *((0, ["a", "c", "a"]), (2, {"peek": "a"}), (2.5, ["c", "b", "c"])),
        ],
        [None, (1, [A, ["x", "y"], A]), A, (3.5, [["x", "y"], [], ["x", "y"]])],
        [(0, ["a", "c"]), (2.5, ["b"])],
        {"cache": Cache(10, ttl=60)},
        {"hits": 3, "shared": 1, "loads": 3, "misses": 1},
    ),
    "rows are good from the moment of asking": Timeline(
        [(0, {"takes": 4}), (0, "a"), (9.9, {"peek": "a"}), (10, {"peek": "a"}), (10.5, "a")],
        [(4, A), A, None, (14.5, A)],
        [(0, A), (10.5, A)],
        {"cache": Cache(9, ttl=10)},
    ),
    "the key that was used last stays longest": Timeline(
        [
            *((0, ["a", "b"]), (2, "a"), (3, ["c", "a"])),
            *((5, {"peek": "a"}), (5, {"peek": "b"}), (5, {"peek": "c"}), (6, ["d", "e", "f"])),
        ],
        [(1, [A, ["b"]]), (2, A), (4, [["c"], A]), A, None, ["c"], (7, [["d"], ["e"], ["f"]])],
        [(0, ["a", "b"]), (3, ["c"]), (6, ["d", "e", "f"])],
        {"cache": Cache(2, ttl=60)},
        {"keys": 2, "evictions": 4},
    ),
    "misses are kept as long as that is said": Timeline(
        [(0, {"rows": {"a": None}}), (0, "a"), (2, {"peek": "a"}), (10, {"peek": "a"})],
        [(1, []), [], None],
        [(0, A)],
        {"cache": Cache(9, ttl=60, missing_ttl=10)},
        {"misses": 2},
    ),
    "misses are not kept unless that is said": Timeline(
        [(0, {"rows": {"a": None}}), (0, "a"), (1.5, {"peek": "a"})],
        [(1, []), None],
        [(0, A)],
        {"cache": Cache(9, ttl=60)},
    ),
    "a hit late in the life of its rows has them read again": Timeline(
        [
            *((0, "a"), (5, {"rows": {"a": NEW}}), (6, {"peek": "a"}), (6.1, {"peek": "a"})),
            *((8, {"peek": "a"}), (9, {"trouble": DOWN}), (13, ["a", "a"]), (15, {"peek": "a"})),
        ],
        [(1, A), A, A, NEW, (13, [NEW, NEW]), NEW],
        [(0, A), (6, A), (13, A)],
        {"cache": Cache(9, ttl=10, refresh_ahead=0.5)},
        {"refreshes": 2, "hits": 6, "requests": 3, "failed_requests": 1},
    ),
    "old rows come in place of a failure, but not for ever": Timeline(
        [
            *((0, "a"), (2, {"trouble": DOWN}), (10, "a"), (12, {"takes": 99}), (13, "a")),
            *((17, {"takes": 1}), (18, "b"), (32, "a")),
        ],
        [
            *((1, A), (11, A), (16, A), (19, "key 'b': the call failed: OSError('down')")),
            (33, "key 'a': the call failed: OSError('down')"),
        ],
        [(0, A), (10, A), (13, A), "cancelled", (18, ["b"]), (32, A)],
        {"cache": Cache(9, ttl=10, stale_if_error=20), "timeout": 3},
        {"loads": 3, "stale": 2},
    ),
    "old rows come before any retry": Timeline(
        [(0, "a"), (1, {"trouble": DOWN}), (1.5, "a"), (3, {"takes": 99}), (4, "a")],
        [(1, A), (2.5, A), (7, A)],
        [(0, A), (1.5, A), (4, A), "cancelled"],
        {"cache": Cache(9, ttl=1, stale_if_error=99), "retry": Retry(attempt_timeout=3)},
    ),
    "a key that no row can have is never asked for": Timeline(
        [(0, [*NULLS, 1]), *((2, {"peek": key}) for key in NULLS)],
        [(1, [[], [], [], [], [1]]), [], [], [], []],
        [(0, [1])],
        {"cache": Cache(9, 60, 60)},
        {"null_keys": 8, "loads": 1, "misses": 0, "keys": 1},
    ),
}


@pytest.mark.parametrize("name", TIMELINES)
async def test_what_is_kept_comes_in_its_time(name: str) -> None:
    await play(Scripted(), TIMELINES[name])


async def test_figures_tell_of_requests() -> None:
    table = Scripted()

    async with open_table(table) as opened:
        assert opened.statistics() == LookupStatistics()
        await opened.get_many([1, 2, 3])
        table.takes = 3
        await opened.get(4)
        figures = opened.statistics()

    assert (figures.requests, figures.mean_batch, figures.max_batch) == (2, 2.0, 3)
    assert figures.latency_p50 == pytest.approx(2)
    assert figures.latency_p99 == pytest.approx(2.98)


async def test_keys_may_stand_for_many_rows() -> None:
    cache, policy = Cache(10, ttl=60), Policy(None, None, None, None)
    table, store = Scripted(b=None), kept_by(cache)
    first, second = (tabled(table, cache, policy, store) for _ in range(2))

    await first.open()
    assert await first.outcomes(["a", "b", None], [3, 2, 4]) == [("a",), (), ()]
    await first.close()
    await second.open()
    assert await second.outcomes(["a", None], [5, 6]) == [("a",), ()]
    await second.close()

    assert table.asked == [(0, ["a", "b"])]
    one, two = first.statistics(), second.statistics()
    assert (one.rows, one.loads, one.shared, one.null_keys, one.misses) == (9, 2, 3, 4, 2)
    assert (two.rows, two.hits, two.loads, two.null_keys, two.misses) == (11, 5, 0, 6, 0)


async def test_a_key_that_has_no_hash_is_refused() -> None:
    table = Scripted()

    async with open_table(table) as opened:
        with pytest.raises(CallFailed, match=r"^key \['a'\]: .*TypeError\("):
            await opened.get_many(["b", ["a"]])

    assert table.asked == []


async def test_keys_that_can_not_be_compared_are_different() -> None:
    async with open_table(Scripted(), cache=Cache(2, 60, refresh_ahead=0.1)) as opened:
        for number in range(3):
            keys = [Odd(1), "a", Odd(2), Odd(1)]
            assert await opened.get_many(keys) == [(key,) for key in keys]
            assert await opened.get(Odd(number)) == (Odd(number),)
            await anyio.sleep(10)
