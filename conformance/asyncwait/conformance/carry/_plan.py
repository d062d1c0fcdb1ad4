"""Plans of a run of lanes: batches, troubles, and the behaviour of calls."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from random import Random
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from asyncwait.spec import Mode
from asyncwait.spec.carry import Row, Terms

Sink: TypeAlias = Literal["skips", "ignores", "repeats"]
"""Reaction of a sink to a batch that it already has: it skips the run; it ignores the output; it
takes the output again."""

Trouble: TypeAlias = Literal[
    "host killed",
    "moved",
    "other order",
    "new version",
    "answer lost",
    "killed amid",
    "dies early",
    "dies late",
    "twin gives output",
    "twin gives state",
    "twin elsewhere",
    "late visit amid",
    "late visit after",
    "other lanes",
]
"""Troubles of a batch: the first four precede an attempt, each other one has its own attempt.

The lane goes to the other host, and misses visits on this one; the rows come in another order; the
answer of a host is lost; a task is killed while its host works; the program dies before the sink
has the batch, or after it; two attempts run at a time, and one gives the output, the other the
state; an abandoned attempt at the previous batch visits the host late; while records are in flight,
the program starts again with another lane for each record.
"""

TROUBLES: tuple[Trouble, ...] = get_args(Trouble)
BETWEEN: frozenset[Trouble] = frozenset({"host killed", "moved", "other order", "new version"})
MODES: tuple[Mode, ...] = get_args(Mode)
SINKS: tuple[Sink, ...] = get_args(Sink)


class Calls(Struct, frozen=True):
    """The calls of a record.

    Args:
        takes: durations of successive calls, repeated from the first.
        fails: number of calls that fail before the first success.
    """

    takes: tuple[int, ...] = (0,)
    fails: int = 0


class Batch(Struct, frozen=True):
    """A micro-batch.

    Args:
        rows: pairs of a lane's number and a row.
        timer: fires in each lane that is not empty, after its rows.
        troubles: those of the failing attempts, in order, before the batch succeeds.
    """

    rows: tuple[tuple[int, Row], ...] = ()
    timer: bool = False
    troubles: tuple[Trouble, ...] = ()


class Plan(Struct, frozen=True):
    """A run: batches, and the behaviour of their calls.

    Args:
        terms: the terms of all visits; each trouble "new version" changes the version.
        sink: takes the output.
        batches: the first batches; empty batches follow until all records are out.
        calls: the calls of each record.
    """

    terms: Terms
    sink: Sink
    batches: tuple[Batch, ...]
    calls: Mapping[bytes, Calls]


def lane_name(at: int) -> str:
    """Return the name of a lane."""
    return f"lane {at}"


def random_plans(count: int, seed: int) -> Iterator[Plan]:
    """Yield `count` plans, always the same for a seed."""
    rng = Random(seed)
    for _ in range(count):
        yield _random_plan(rng)


def _random_plan(rng: Random) -> Plan:
    records = [bytes([letter]) for letter in b"abcd"[: rng.randint(2, 4)]]
    keys = {record: rng.choice((b"k", b"l")) for record in records}
    times = {record: rng.choice((None, 0, 4, 9)) for record in records}
    lanes = rng.choice((1, 1, 2))

    def batch() -> Batch:
        drawn = rng.choices(records, k=rng.choice((0, 1, 2, 2, 3)))
        troubles = rng.choices(TROUBLES, k=rng.choice((0, 0, 1, 1, 2, 3)))
        rows = tuple(
            (rng.randrange(lanes), Row(record, keys[record], times[record])) for record in drawn
        )
        return Batch(rows, rng.random() < 0.5, tuple(troubles))  # noqa: PLR2004 - even odds

    calls = {
        record: Calls(
            tuple(rng.choice((0, 1, 2, 4, 9)) for _ in range(rng.randint(1, 3))),
            rng.choice((0, 0, 0, 1, 2)),
        )
        for record in records
    }
    terms = Terms(
        "1",
        rng.choice(MODES),
        rng.choice((1, 2, 3, 9)),
        rng.choice((0, 1, 2)),
        rng.choice((None, 0, 4, 6)),
    )
    batches = tuple(batch() for _ in range(rng.randint(1, 4)))
    return Plan(terms, rng.choice(SINKS), batches, calls)


SHAPES: tuple[tuple[str, ...], ...] = (
    ("a",),
    ("ab",),
    ("aa",),
    ("ab", "c"),
    ("ab", "a"),
    ("a", "", "a"),
)
"""The records of each batch of a small plan."""

SLOW_FIRST = {b"a": Calls((4, 1)), b"b": Calls((1,)), b"c": Calls((6,))}
FAILS_FIRST = {b"a": Calls((1, 4), 1), b"b": Calls((0,)), b"c": Calls((2,), 1)}

SMALL_TIMES = {b"a": 0, b"b": 10, b"c": 0}
"""Times of the records: slow records are old, too."""

SMALL_TERMS: tuple[tuple[Mapping[bytes, Calls], int, int | None], ...] = (
    (SLOW_FIRST, 1, None),
    (SLOW_FIRST, 9, None),
    (SLOW_FIRST, 9, 5),
    (FAILS_FIRST, 1, None),
    (FAILS_FIRST, 9, None),
)
"""Calls, capacity and skew."""


def small_plans(most_troubles: int) -> Iterator[Plan]:
    """Yield every placement of up to `most_troubles` troubles in small runs, the smallest first."""
    for number in range(most_troubles + 1):
        for shape in SHAPES:
            yield from _placed(shape, number)


def _placed(shape: Sequence[str], number: int) -> Iterator[Plan]:
    # One more batch, without rows: it emits the results of the last batch with rows.
    places = [(at, trouble) for at in range(len(shape) + 1) for trouble in TROUBLES]
    two_lanes = (False, True) if len(shape) == 1 else (False,)
    variants = product(MODES, SINKS, SMALL_TERMS, two_lanes)
    for mode, sink, (calls, capacity, skew), apart in variants:
        for chosen in combinations(places, number):
            batches = tuple(
                _small(rows, apart, tuple(trouble for place, trouble in chosen if place == at))
                for at, rows in enumerate((*shape, ""))
            )
            yield Plan(Terms("1", mode, capacity, 1, skew), sink, batches, calls)


@cache
def _small(letters: str, apart: bool, troubles: tuple[Trouble, ...]) -> Batch:  # noqa: FBT001
    records = [bytes([letter]) for letter in letters.encode()]
    rows = (
        (lane, Row(record, b"k", SMALL_TIMES[record]))
        for record in records
        for lane in range(1 + apart)
    )
    return Batch(tuple(rows), timer=True, troubles=troubles)
