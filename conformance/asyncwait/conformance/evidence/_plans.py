"""How examples are written: a plan in one line, and inputs without their repetitions."""

from typing import Any

from asyncwait.spec import Element
from asyncwait.spec.scenario import Handler, Plan, Step, Timed


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
