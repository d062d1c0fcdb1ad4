"""What an example is: a scenario worth a name."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.spec.scenario import Scenario

P = ParamSpec("P")


class Example(Struct, frozen=True):
    """A hand-written scenario."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    scenario: Scenario


def examples_of(
    make: Callable[P, Scenario],
) -> Callable[Concatenate[str, tuple[str, ...], str, P], Example]:
    """Return what makes an example of its name, rules and sentence, and what `make` is given."""

    def example(
        name: str, rules: tuple[str, ...], sentence: str, /, *args: P.args, **fields: P.kwargs
    ) -> Example:
        return Example(name, rules, sentence, make(*args, **fields))

    return example


example = examples_of(Scenario)
"""An example by its name, the ids of its rules, a sentence, and the fields of its scenario."""


def in_two_modes(ordered: Example) -> tuple[Example, Example]:
    """Return an example in ordered mode, and the same in unordered mode, whose name says so."""
    scenario = replace(ordered.scenario, mode="unordered")
    return ordered, replace(ordered, name=f"{ordered.name}-unordered", scenario=scenario)
