"""How examples are written: a name with its rules, below it a sentence, and then the scenario.

    name-of-one: RULE-1, RULE-2
        A sentence, or several: what stands behind the last full stop is the scenario.
        capacity 2; 0: a b; a: 40 gives a1
    name-of-the-next: RULE-3 in both modes
        That makes an ordered example and an unordered one.
        0: a

`_scenarios` explains how a scenario is told.
"""

from typing import Any

from msgspec import Struct

from asyncwait.conformance.evidence._entries import entries
from asyncwait.conformance.evidence._scenarios import scenario_of
from asyncwait.spec import Element
from asyncwait.spec.scenario import Handler, Plan, Scenario, Step, Timed

_IN_BOTH = " in both modes"


class Example(Struct, frozen=True):
    """A hand-written scenario."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    scenario: Scenario


def example(about: str, sentence: str, told: str = "", /, **fields: Any) -> Example:
    """Return an example of "name: RULE-1, RULE-2", a sentence, and a scenario, told as that is.

    Raises:
        ValueError: there is no such scenario; the text names the example.
    """
    name, _, rules = about.partition(": ")
    try:
        return Example(name, tuple(rules.split(", ")), sentence, scenario_of(told, **fields))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def in_two_modes(
    about: str, sentence: str, told: str = "", /, **fields: Any
) -> tuple[Example, Example]:
    """Return the same example in ordered and in unordered mode; the second's name says so."""
    name, _, rules = about.partition(": ")
    ordered = example(about, sentence, told, **fields)
    fields |= {"mode": "unordered"}
    return ordered, example(f"{name}-unordered: {rules}", sentence, told, **fields)


def examples(text: str) -> tuple[Example, ...]:
    """Return the examples that `text` tells, as the docstring of this module shows.

    Raises:
        ValueError: it has none, or one has no sentence or no such scenario.
    """
    return tuple(each for about, below in entries(text) for each in _read(about, below))


def _read(about: str, below: list[str]) -> tuple[Example, ...]:
    sentence, _, planned = " ".join(below).rpartition(". ")
    if about.endswith(_IN_BOTH):
        return in_two_modes(about.removesuffix(_IN_BOTH), f"{sentence}.", planned)
    return (example(about, f"{sentence}.", planned),)


def at(ms: int, *elements: Element) -> tuple[Timed, ...]:
    """Return `elements` as inputs that are all there at the time `ms`."""
    return tuple(Timed(ms, element) for element in elements)


def replies(value: Any, after: int, *results: Any) -> Plan:
    """Return a plan by which each call of `value` gives `results` after so many ms."""
    return Plan(value, (Step(after=after, results=results),))


def raises(value: Any, after: int, error: str = "ValueError") -> Plan:
    """Return a plan by which each call of `value` raises `error` after so many ms."""
    return Plan(value, (Step("raise", after=after, error=error),))


def never(value: Any, *handled: Any) -> Plan:
    """Return a plan by which no call of `value` answers, and its handler gives `handled`."""
    return Plan(value, (Step("never"),), Handler("reply", handled) if handled else Handler("none"))
