"""What an example is: a scenario worth a name."""

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.spec.scenario import Scenario


class Example(Struct, frozen=True):
    """A hand-written scenario."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    scenario: Scenario


def in_two_modes(
    name: str, rules: tuple[str, ...], sentence: str, scenario: Scenario
) -> tuple[Example, Example]:
    """Return an example in ordered mode, and the same in unordered mode, whose name says so."""
    unordered = replace(scenario, mode="unordered")
    return (
        Example(name, rules, sentence, scenario),
        Example(f"{name}-unordered", rules, sentence, unordered),
    )
