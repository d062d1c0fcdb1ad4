"""How examples are written: a plan in one line, and inputs without their repetitions."""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.spec import Element
from asyncwait.spec.scenario import Handler, Plan, Scenario, Step, Timed

P = ParamSpec("P")


class Example(Struct, frozen=True):
    """A hand-written scenario."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    scenario: Scenario


def examples_of(make: Callable[P, Scenario]) -> Callable[Concatenate[str, str, P], Example]:
    """Return what makes an example of "name: RULE-1, RULE-2", a sentence, and what `make` takes."""

    def example(about: str, sentence: str, /, *args: P.args, **fields: P.kwargs) -> Example:
        name, rules = about.split(": ")
        return Example(name, tuple(rules.split(", ")), sentence, make(*args, **fields))

    return example


example = examples_of(Scenario)
"""An example by its name and rules, a sentence, and the fields of its scenario."""


def two_modes_of(make: Callable[P, Example]) -> Callable[P, tuple[Example, Example]]:
    """Return what makes an example as `make` does, and a second in unordered mode."""

    def in_both(*args: P.args, **fields: P.kwargs) -> tuple[Example, Example]:
        ordered = make(*args, **fields)
        scenario = replace(ordered.scenario, mode="unordered")
        return ordered, replace(ordered, name=f"{ordered.name}-unordered", scenario=scenario)

    return in_both


in_two_modes = two_modes_of(example)
"""The same example in ordered and in unordered mode; the name of the second says so."""


def at(ms: int, *elements: Element) -> tuple[Timed, ...]:
    """Return `elements` as inputs that are all there at the time `ms`."""
    return tuple(Timed(ms, element) for element in elements)


def replies(value: Any, after: int, *results: Any) -> Plan:
    """Return a plan by which each call of `value` gives `results` after so many ms."""
    return Plan(value, (Step(after=after, results=results),))


def raises(value: Any, after: int, error: str = "ValueError") -> Plan:
    """Return a plan by which each call of `value` raises `error` after so many ms."""
    return Plan(value, (Step("raise", after=after, error=error),))


def fails(value: Any, times: int, *results: Any, after: int = 0, error: str = "ValueError") -> Plan:
    """Return a plan by which so many calls of `value` raise after so many ms, then one replies."""
    return Plan(value, (*times * (Step("raise", after, error=error),), Step(results=results)))


def never(value: Any, *handled: Any) -> Plan:
    """Return a plan by which no call of `value` answers, and its handler gives `handled`."""
    return Plan(value, (Step("never"),), handler(*handled))


def outlives(value: Any, clean_up: int, late: Any, *handled: Any) -> Plan:
    """Return a plan by which a call of `value` swallows its cancellation and gives `late`."""
    step = Step("never", results=(late,), swallow=True, clean_up=clean_up)
    return Plan(value, (step,), handler(*handled))


def handler(*results: Any) -> Handler:
    """Return a timeout handler that gives `results`, or None where there are none."""
    return Handler("reply", results) if results else Handler("none")
