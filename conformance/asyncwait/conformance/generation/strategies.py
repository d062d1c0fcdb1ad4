"""Random scenarios for property tests: hypothesis makes them, and shrinks those that fail.

    @given(scenarios())
    def test_something(scenario: Scenario) -> None: ...

The suite itself does not use hypothesis: it draws a thousand scenarios in a fifth of a second.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from asyncwait.conformance.generation._generate import LAYERS
from asyncwait.conformance.generation._random import scenario
from asyncwait.spec.scenario import Scenario

__all__ = ["scenarios"]

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]


def scenarios() -> st.SearchStrategy[Scenario]:
    """Return scenarios of every kind."""
    return _scenarios()


@st.composite
def _scenarios(draw: Draw) -> Scenario:
    chance = _Drawn(draw)
    drawn = scenario(chance)
    for layer in LAYERS.values():
        if chance.choice([False, False, True]):
            drawn = layer.put_on(chance, drawn)
    return drawn


class _Drawn:
    """Decisions that hypothesis takes."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def choice(self, options: Sequence[T], /) -> T:
        """Return one of `options`; the first is the simplest."""
        chosen: T = self._draw(st.sampled_from(options))
        return chosen

    def randint(self, least: int, most: int, /) -> int:
        """Return a number from `least` to `most`."""
        number: int = self._draw(st.integers(least, most))
        return number
