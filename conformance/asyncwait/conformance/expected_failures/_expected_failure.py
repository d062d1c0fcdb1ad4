"""What a backend is known to fail: the rule, why, and where; and what of a trace counts then.

A scenario is told from others by what it needs and holds (`TRAITS`).

A known failure hides what it causes. An operator that lets out a status too early goes on from
there as none does that keeps the rules. So the first instant decides at which anything is wrong in
a trace. If a rule is broken then that the backend is known to break so, in such a scenario, that is
what the trace shows, and nothing that comes with it or behind it counts. If none is, all of it
counts.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

from asyncwait.conformance.judging import Violation, is_of_kind
from asyncwait.spec import Barrier, Element, InvalidConfig, Snapshot, WatermarkStatus
from asyncwait.spec.scenario import Capability, Handler, Scenario, Step, needs


def _has(*kinds: type[Element]) -> Callable[[Scenario], bool]:
    return lambda scenario: any(isinstance(each, kinds) for each in scenario.elements)


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
        values += [getattr(each, "value", None) for each in scenario.elements]
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

TRAIT_NAMES = (*Capability, *TRAITS)


def has(scenario: Scenario, names: frozenset[str]) -> bool:
    """Whether a scenario needs, or holds, each of `names`: capabilities and traits."""
    capabilities = names - TRAITS.keys()
    return all(TRAITS[name](scenario) for name in names & TRAITS.keys()) and (
        not capabilities or needs(scenario).issuperset(map(Capability, capabilities))
    )


def traits_of(scenario: Scenario) -> frozenset[str]:
    """Return the names of all capabilities that a scenario needs, and of all that it holds."""
    held = (name for name, is_held in TRAITS.items() if is_held(scenario))
    return frozenset({*map(str, needs(scenario)), *held})


Kind: TypeAlias = Literal["regression", "unsupported", "future"]
"""What becomes of it: it is to be mended, it stays, what is missing comes with a later version."""


class ExpectedFailure(Struct, frozen=True, omit_defaults=True):
    """An expected failure: why a rule is known to be broken, where, and how.

    Args:
        reason: why it is.
        needs: names of capabilities that a scenario asks for, and of what is planned in it,
            wherever the rule is broken: in any other scenario it holds.
        seldom: so few scenarios show it that a verification may come across none. Else a rule that
            is not broken at all speaks against the backend: the expected failure is out of date.
        kind: what becomes of it; None where that is not said. The verdict counts them.
        finding: the kind of finding by which the rule is broken, see `kind_of`: any other speaks
            against the backend. Empty for any: `needs` alone says how the backend fails.
        examples: names of the examples that show it, which are the same in each run: it is in no
            other example, whatever that needs. None for any.

    Raises:
        InvalidConfig: a name is unknown, or there is no such kind.
    """

    reason: str
    needs: Collection[str] = frozenset()
    seldom: bool = False
    kind: Kind | None = None
    finding: str = ""
    examples: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "needs", frozenset(self.needs))
        if not set(self.needs) <= set(TRAIT_NAMES):
            expected = f"names of {', '.join(TRAIT_NAMES)}"
            raise InvalidConfig.of("needs", sorted(self.needs), expected)
        if self.kind not in {None, *get_args(Kind)}:
            raise InvalidConfig.of("kind", self.kind, f"one of {', '.join(get_args(Kind))}")

    def covers(self, scenario: Scenario, text: str, example: str = "") -> bool:
        """Whether the rule may be broken in a scenario as a finding says.

        Args:
            scenario: what was played.
            text: of the finding.
            example: the name of the scenario, if it is an example.
        """
        if self.finding and not is_of_kind(text, self.finding):
            return False
        if example and self.examples is not None:
            return example in self.examples
        return has(scenario, frozenset(self.needs))


ExpectedFailures: TypeAlias = Mapping[str, tuple[ExpectedFailure, ...]]
"""By the id of the rule."""

GivenFailures: TypeAlias = Mapping[str, str | ExpectedFailure | Sequence[ExpectedFailure]]
"""By the id of the rule, as the author of a backend gives them: a text is the reason anywhere."""


def expected_failures_of(expected_failures: Any) -> dict[str, tuple[ExpectedFailure, ...]]:
    """Return the expected failures of a backend in one form.

    Raises:
        InvalidConfig: nobody can go by it.
    """
    if not isinstance(expected_failures, Mapping):
        raise _wrong(expected_failures)
    found: dict[str, tuple[ExpectedFailure, ...]] = {}
    for rule, said in expected_failures.items():
        each = (ExpectedFailure(said),) if isinstance(said, str) else said
        each = (each,) if isinstance(each, ExpectedFailure) else each
        fits = isinstance(each, Sequence) and all(isinstance(one, ExpectedFailure) for one in each)
        if not isinstance(rule, str) or not fits or not each:
            raise _wrong(expected_failures)
        found[str(rule)] = tuple(each)
    return found


def _wrong(expected_failures: object) -> InvalidConfig:
    expected = "a mapping of ids of rules to reasons, like {'END-4': 'the reason'}"
    return InvalidConfig.of("expected_failures", expected_failures, expected)


class Sorted(Struct, frozen=True):
    """The rules that are broken in a trace, by what they say of the operator."""

    findings: frozenset[str] = frozenset()
    known: Mapping[str, tuple[str, ...]] = {}


def sort_out(
    scenario: Scenario,
    broken: Mapping[str, Violation],
    expected_failures: Mapping[str, tuple[ExpectedFailure, ...]],
    example: str = "",
) -> Sorted:
    """Sort what is broken in a trace."""
    reasons = {
        rule: _reasons(expected_failures.get(rule, ()), scenario, violation.text, example)
        for rule, violation in broken.items()
    }
    expected = {rule: why for rule, why in reasons.items() if why}
    first = min(map(moment_of, broken.values()), default=None)
    at_first = {rule: why for rule, why in expected.items() if moment_of(broken[rule]) == first}
    if at_first:
        return Sorted(known=at_first)
    return Sorted(frozenset(broken.keys() - expected), expected)


def moment_of(violation: Violation) -> tuple[int, float]:
    """Return the leg of a violation, and when in that leg it is."""
    return violation.leg, violation.at


def _reasons(
    expected_failures: tuple[ExpectedFailure, ...], scenario: Scenario, text: str, example: str
) -> tuple[str, ...]:
    covering = (each.reason for each in expected_failures if each.covers(scenario, text, example))
    return tuple(dict.fromkeys(covering))
