"""What of the failures in a trace counts: those that a backend is known for hide what they cause.

An operator that lets out a status too early goes on from there as none does that keeps the rules.
So the first instant decides at which anything is wrong in a trace. If a rule is broken then that
the backend is known to break so, in such a scenario, that is what the trace shows, and nothing that
comes with it or behind it counts. If none is, all of it counts.
"""

from collections.abc import Mapping

from msgspec import Struct

from asyncwait.conformance.judging import Violation
from asyncwait.conformance.running import Excuse
from asyncwait.spec.scenario import Scenario


class Sorted(Struct, frozen=True):
    """The rules that are broken in a trace, by what they say of the operator.

    Args:
        findings: ids of those that speak against it.
        known: those that it is known to break, each with the reasons that there may be.
    """

    findings: frozenset[str] = frozenset()
    known: Mapping[str, tuple[str, ...]] = {}


def sort_out(
    scenario: Scenario,
    broken: Mapping[str, Violation],
    excuses: Mapping[str, tuple[Excuse, ...]],
    example: str = "",
) -> Sorted:
    """Sort what is broken in a trace.

    Args:
        scenario: what was played.
        broken: the first violation of each rule that is broken, by its id.
        excuses: what the backend is known to break, by the id of the rule.
        example: the name of the scenario, if it is an example.
    """
    reasons = {
        rule: _reasons(excuses.get(rule, ()), scenario, violation.text, example)
        for rule, violation in broken.items()
    }
    excused = {rule: why for rule, why in reasons.items() if why}
    first = min(map(moment_of, broken.values()), default=None)
    at_first = {rule: why for rule, why in excused.items() if moment_of(broken[rule]) == first}
    if at_first:
        return Sorted(known=at_first)
    return Sorted(frozenset(broken.keys() - excused), excused)


def moment_of(violation: Violation) -> tuple[int, float]:
    """Return the leg of a violation, and when in that leg it is."""
    return violation.leg, violation.at


def _reasons(
    excuses: tuple[Excuse, ...], scenario: Scenario, text: str, example: str
) -> tuple[str, ...]:
    covering = (excuse.reason for excuse in excuses if excuse.covers(scenario, text, example))
    return tuple(dict.fromkeys(covering))
