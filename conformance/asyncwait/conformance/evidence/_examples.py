"""Format of examples: a name with its rules, below it a sentence, and then the scenario.

    name-of-one: RULE-1, RULE-2
        A sentence, or several: the text after the last full stop is the scenario.
        capacity 2; 0: a b; a: 40 gives a1
    name-of-the-next: RULE-3 in both modes
        This entry makes an ordered example and an unordered one.
        0: a

`_scenarios` explains the notation of a scenario.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.evidence._entries import entries
from asyncwait.conformance.evidence._scenarios import scenario_of
from asyncwait.spec.scenario import Scenario

_IN_BOTH = " in both modes"


class Example(Struct, frozen=True):
    """A hand-written scenario."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    scenario: Scenario


def example(about: str, sentence: str, told: str = "", /, **fields: Any) -> Example:
    """Return an example of "name: RULE-1, RULE-2", a sentence, and the text of a scenario.

    Raises:
        ValueError: the scenario is not in its notation; the message names the example.
    """
    name, _, rules = about.partition(": ")
    try:
        return Example(name, tuple(rules.split(", ")), sentence, scenario_of(told, **fields))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def examples(text: str) -> tuple[Example, ...]:
    """Return the examples in `text`, in the format of this module's docstring.

    Raises:
        ValueError: `text` has no example, or an example has no sentence or no valid scenario.
    """
    return tuple(each for about, below in entries(text) for each in _read(about, below))


def _read(about: str, below: list[str]) -> tuple[Example, ...]:
    sentence, _, planned = " ".join(below).rpartition(". ")
    if not sentence:
        raise ValueError(f"{about}: no sentence stands below it")
    ordered = example(about.removesuffix(_IN_BOTH), f"{sentence}.", planned)
    if not about.endswith(_IN_BOTH):
        return (ordered,)
    unordered = replace(ordered.scenario, mode="unordered")
    return ordered, replace(ordered, name=f"{ordered.name}-unordered", scenario=unordered)
