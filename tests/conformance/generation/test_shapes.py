"""Shapes reach what small scenarios do not; the small scope leaves nothing out."""

import msgspec
import pytest

from asyncwait.conformance.generation import LARGEST, QUICK, SHAPES, shape, shapes, small_scenarios
from asyncwait.spec import Barrier, Record, Watermark
from asyncwait.spec.scenario import Scenario

each_shape = pytest.mark.parametrize("name", SHAPES)


def largest(name: str) -> list[Scenario]:
    return [shape(name, LARGEST, seed) for seed in range(12)]


@each_shape
def test_a_shape_belongs_to_its_size_and_seed(name: str) -> None:
    assert shape(name, 50, 3) == shape(name, 50, 3)
    assert shape(name, 50, 3) != shape(name, 50, 4)


@each_shape
def test_a_smaller_size_is_a_smaller_scenario(name: str) -> None:
    assert len(shape(name, 5, 0).inputs) < len(shape(name, LARGEST, 0).inputs)
    assert len(shape(name, 1, 0).inputs) <= 30


def test_deep_ones_crash_up_to_eight_times() -> None:
    deep = largest("deep")

    assert {len(scenario.crashes) for scenario in deep} == {8}
    assert {crash.mode for s in deep for crash in s.crashes} == {None, "ordered", "unordered"}


def test_flaky_ones_are_repeated_within_milliseconds() -> None:
    flaky = largest("flaky")

    assert {retry.initial for s in flaky if (retry := s.retry)} == {3, 6, 9, 30}
    assert {step.does for s in flaky for p in s.plans for step in p.steps} >= {"raise", "never"}
    assert any(step.clean_up for s in flaky for p in s.plans for step in p.steps)


def test_every_shape_goes_with_the_small_scenarios() -> None:
    quick = [name.split()[0] for name, _ in shapes(QUICK, seed=0)]

    assert set(quick) == set(SHAPES)
    assert len(quick) == 248
    assert len(list(shapes(20, seed=0))) == len(SHAPES)


def test_the_small_scope_is_covered_without_repetition() -> None:
    small = list(small_scenarios())
    keyed = [s for s in small if s.mode == "key-ordered" and s.retry is None]
    repeated = [s for s in small if s.retry is not None]
    batched = [s for s in small if s.batch is not None]

    assert len(small) == 113_456
    assert (len(keyed), len(repeated), len(batched)) == (26_480, 57_648, 24_188)
    assert len({msgspec.json.encode(scenario) for scenario in small}) == len(small)
    assert {len(scenario.inputs) for scenario in small} == {0, 1, 2, 3}
    assert {type(t.element) for s in small for t in s.inputs} == {Record, Watermark, Barrier}
