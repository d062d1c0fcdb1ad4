"""The quick suite as cases, for what plays it in its own process, and what plays less of it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from unittest.mock import patch

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Example
from asyncwait.conformance.generation import QUICK, _shapes, generate, shapes
from asyncwait.conformance.running import _served
from asyncwait.conformance.verdict import Case
from asyncwait.conformance.verifying import _verify
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario, needs

FEW = {"ORD-1", "ORD-3", "WM-1", "END-8", "END-12", "COPY-1"}


def few_examples() -> tuple[Example, ...]:
    return tuple(example for example in EXAMPLES if FEW.intersection(example.rules))


def each_rule_once(can: Iterable[Capability] = ALL_CAPABILITIES) -> tuple[Example, ...]:
    """Return an example about each rule, for verdicts that are green with nothing untested."""
    first: dict[str, str] = {}
    for example in sorted(EXAMPLES, key=lambda example: len(needs(example.scenario) - {*can})):
        for rule in example.rules:
            first.setdefault(rule, example.name)
    names = {*first.values()}
    return tuple(e for e in EXAMPLES if e.name in names or FEW.intersection(e.rules))


def small_drawn(
    count: int, seed: int
) -> tuple[tuple[tuple[str, Scenario], ...], tuple[Scenario, ...]]:
    with patch.object(_shapes, "LARGEST", 5):
        return tuple(shapes(count, seed)), generate(count, seed)


@contextmanager
def playing(examples: Sequence[Example]) -> Iterator[None]:
    with (
        patch.object(_verify, "EXAMPLES", tuple(examples)),
        patch.object(_verify, "_drawn", small_drawn),
        patch.object(_served, "cores", lambda: 1),
    ):
        yield


def quick_cases(count: int = QUICK, seed: int = 0, about: str = "") -> Iterator[Case]:
    for example in sorted(EXAMPLES, key=lambda example: about not in example.rules):
        yield Case(example.name, example.scenario, example.scenario, about=example.rules)
    drawn = (*_whole(count, seed), *((str(n), each) for n, each in enumerate(_small(count, seed))))
    for name, scenario in drawn:
        yield Case(name, scenario, scenario, generated=True)


@cache
def _whole(count: int, seed: int) -> tuple[tuple[str, Scenario], ...]:
    return tuple(shapes(count, seed))


@cache
def _small(count: int, seed: int) -> tuple[Scenario, ...]:
    return generate(count, seed)
