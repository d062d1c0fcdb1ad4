"""The quick suite as cases, for what plays it in its own process beside `asyncwait verify`."""

from collections.abc import Iterator
from functools import cache

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Example
from asyncwait.conformance.generation import QUICK, generate, shapes
from asyncwait.conformance.verdict import Case
from asyncwait.spec.scenario import Scenario

FEW = {"ORD-1", "ORD-3", "WM-1", "END-8", "END-14", "COPY-1"}


def few_examples() -> tuple[Example, ...]:
    """Return examples about a few rules, for what is not about all that is played."""
    return tuple(example for example in EXAMPLES if FEW.intersection(example.rules))


def quick_cases(count: int = QUICK, seed: int = 0, about: str = "") -> Iterator[Case]:
    """Yield what `asyncwait verify --count COUNT --seed SEED` plays, before it is adapted.

    Args:
        count: of generated scenarios.
        seed: of those and of the shapes.
        about: id of a rule whose examples come first.
    """
    for example in sorted(EXAMPLES, key=lambda example: about not in example.rules):
        yield Case(example.name, example.scenario, example.scenario, about=example.rules)
    drawn = (*_shapes(count, seed), *((str(n), each) for n, each in enumerate(_small(count, seed))))
    for name, scenario in drawn:
        yield Case(name, scenario, scenario, generated=True)


@cache
def _shapes(count: int, seed: int) -> tuple[tuple[str, Scenario], ...]:
    return tuple(shapes(count, seed))


@cache
def _small(count: int, seed: int) -> tuple[Scenario, ...]:
    return generate(count, seed)
