"""What a scenario may hold, by names in which a backend says where it is known to break a rule."""

from collections.abc import Callable, Iterator, Mapping

from asyncwait.spec import Barrier, Element, Snapshot, WatermarkStatus
from asyncwait.spec.scenario import Capability, Handler, Scenario, Step, needs


def _elements(scenario: Scenario) -> Iterator[Element]:
    yield from (timed.element for timed in scenario.inputs)
    if scenario.restore is not None:
        yield from scenario.restore.in_flight


def _has(*kinds: type[Element]) -> Callable[[Scenario], bool]:
    return lambda scenario: any(isinstance(each, kinds) for each in _elements(scenario))


def _calls(does: Callable[[Step], object]) -> Callable[[Scenario], bool]:
    return lambda scenario: any(does(step) for plan in scenario.plans for step in plan.steps)


def _raises_a_call(scenario: Scenario) -> bool:
    """Whether a call raises by itself, or by the copy of its value (COPY-4)."""
    steps = [step for plan in scenario.plans for step in plan.steps]
    if any(step.does == "raise" or (step.uncopied and scenario.copies) for step in steps):
        return True
    return any(scenario.is_uncopied(plan.value) for plan in scenario.plans)


def _handles(does: Callable[[Handler], object]) -> Callable[[Scenario], bool]:
    """Ask of the timeout handler of each value that a record may have."""

    def handles(scenario: Scenario) -> bool:
        values = [plan.value for plan in scenario.plans]
        values += [getattr(each, "value", None) for each in _elements(scenario)]
        handlers = map(scenario.handler, values)
        return any(handler is not None and does(handler) for handler in handlers)

    return handles


def _has_a_predicate_that_raises(scenario: Scenario) -> bool:
    retry = scenario.retry
    return retry is not None and "breaks" in {retry.on_error, retry.on_result}


TRAITS: Mapping[str, Callable[[Scenario], bool]] = {
    "a status": _has(WatermarkStatus),
    "a barrier": _has(Barrier, Snapshot),
    "a call that raises": _raises_a_call,
    "a call that raises a cancellation": _calls(lambda step: step.error == "CancelledError"),
    "a call that gives no results": _calls(lambda step: step.does == "misreturn"),
    "results that are used again": lambda scenario: scenario.reuses,
    "a supplier": _calls(lambda step: step.supplied),
    "a handler that gives none": _handles(lambda handler: handler.does == "none"),
    "a predicate that raises": _has_a_predicate_that_raises,
    "a slow consumer": lambda scenario: any(
        step.does in {"pause", "block"} for step in scenario.sink
    ),
    "a handler that fails": _handles(lambda handler: handler.does in {"raise", "misreturn"}),
}
"""By their names."""

KNOWN = (*Capability, *TRAITS)


def has(scenario: Scenario, names: frozenset[str]) -> bool:
    """Whether a scenario needs, or holds, each of `names`: abilities and traits."""
    abilities = names - TRAITS.keys()
    return all(TRAITS[name](scenario) for name in names & TRAITS.keys()) and (
        not abilities or needs(scenario).issuperset(map(Capability, abilities))
    )


def traits_of(scenario: Scenario) -> frozenset[str]:
    """Return the names of all abilities that a scenario needs, and of all that it holds."""
    held = (name for name, is_held in TRAITS.items() if is_held(scenario))
    return frozenset({*map(str, needs(scenario)), *held})
