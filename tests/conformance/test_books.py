"""The suites of carried calls and hedges: rules, and runs of sound lanes, hosts and functions."""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import islice
from typing import Any

import pytest

from asyncwait.backends.faulty.carry import FAULTY_CARRY
from asyncwait.backends.faulty.hedge import hedged
from asyncwait.backends.streams import CallTable, Lane
from asyncwait.conformance import carry, hedge
from asyncwait.conformance.carry import CARRY_CHECKS, SINKS, Batch, Calls, Plan, play_plan
from asyncwait.conformance.hedge import HEDGE_CHECKS, play_hedges
from asyncwait.spec.carry import Row, Terms
from asyncwait.spec.rules import carry_rules, hedge_rules

play_sound = partial(play_plan, lane_class=Lane, table_class=CallTable)
BOOKS: dict[str, tuple[Any, ...]] = {
    "carry": (carry_rules, CARRY_CHECKS, play_sound, carry.random_plans),
    "hedge": (hedge_rules, HEDGE_CHECKS, partial(play_hedges, hedged=hedged), hedge.random_plans),
}

each_book = pytest.mark.parametrize("book", BOOKS)


def convicted(book: str, plans: Iterable[Any], **options: Any) -> list[object]:
    _, checks, play, _ = BOOKS[book]
    judged = ((checks.judge(play(plan, **options)).broken, plan) for plan in plans)
    return [(broken, plan) for broken, plan in judged if broken]


@pytest.mark.sampled(100)
@pytest.mark.parametrize("seed", range(100))
def test_sound_lanes_are_never_convicted_in_random_runs(seed: int) -> None:
    assert convicted("carry", carry.random_plans(1_000, seed)) == []


@pytest.mark.sampled(100)
@pytest.mark.parametrize("part", range(100))
def test_sound_lanes_bear_every_placement_of_troubles(part: int) -> None:
    assert convicted("carry", islice(carry.small_plans(2), part, None, 100)) == []


@pytest.mark.sampled(10)
@pytest.mark.parametrize("part", range(10))
def test_sound_hedges_are_never_convicted_in_small_runs(part: int) -> None:
    assert convicted("hedge", islice(hedge.small_plans(), part, None, 10)) == []


@pytest.mark.sampled(20)
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("seed", range(10))
def test_sound_hedges_are_never_convicted_in_random_runs(seed: int, loop: str) -> None:
    assert convicted("hedge", hedge.random_plans(200, seed), loop=loop) == []


@each_book
def test_every_rule_applies_to_random_runs(book: str) -> None:
    rules, checks, play, random_plans = BOOKS[book]
    applied = Counter[str]()
    for plan in random_plans(300, 7):
        for rule, judged in checks.judge(play(plan)).by_rule.items():
            applied[rule] += judged.applied

    assert [rule for rule in rules() if not applied[rule]] == []


@each_book
def test_the_same_seed_gives_the_same_runs(book: str) -> None:
    _, _, play, random_plans = BOOKS[book]
    first, again, other = (list(random_plans(20, seed)) for seed in (5, 5, 6))

    assert first == again
    assert first != other
    assert play(first[0]).events == play(again[0]).events


def lost_or_doubled(sink: str, name: str = "") -> set[str]:
    """Return how the output is wrong if a program dies when its sink has the batch.

    Args:
        sink: its kind.
        name: of a faulty lane; without it, a sound one.
    """
    terms = Terms("1", "unordered", budget=1)
    rows = tuple((0, Row(record)) for record in (b"a", b"b", b"c"))
    calls = {b"a": Calls((0,)), b"b": Calls((2,)), b"c": Calls((0, 9))}
    first, second = Batch(rows), Batch(timer=True, troubles=("host killed", "dies late"))
    late = Batch(rows, troubles=("dies late", "host killed"))
    plans = [Plan(terms, sink, batches, calls) for batches in ((first, second), (late,))]  # type: ignore[arg-type]
    faulty = next((each for each in FAULTY_CARRY if each.name == name), None)
    made = (faulty.lane_class, faulty.table_class) if faulty else (Lane, CallTable)
    broken = {rule for plan in plans for rule in CARRY_CHECKS.judge(play_plan(plan, *made)).broken}
    return broken & {"CARRY-1", "CARRY-2"}


@pytest.mark.parametrize("sink", SINKS)
def test_two_phases_bear_any_sink(sink: str) -> None:
    assert lost_or_doubled(sink) == set()


def test_one_phase_loses_and_doubles_where_a_sink_runs_a_batch_that_it_has() -> None:
    one_phase = "emits-what-is-finished-now"

    assert lost_or_doubled("ignores", one_phase) == {"CARRY-1", "CARRY-2"}
    assert lost_or_doubled("skips", one_phase) == set()
