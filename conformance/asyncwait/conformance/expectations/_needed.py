"""Which rules have to be excused, so that nothing is left that speaks against a backend."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from asyncwait.conformance.judging import Violation
from asyncwait.conformance.running import Excuse, Excuses
from asyncwait.conformance.verdict import moment_of, sort_out
from asyncwait.spec.scenario import Scenario


def needed(
    runs: Sequence[tuple[Scenario, Mapping[str, Violation]]],
    excuses: Excuses,
    deciding: Collection[str],
    old: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the ids of few rules that explain everything that counts.

    What comes with an excused violation, or behind it, does not count any more; an entry for it
    would match nothing in the next run. So the rules are taken one by one, each because it is the
    first that counts in some run, those with an entry before those that are first most often.

    Args:
        runs: what was played where something was broken, with the first violation of each rule.
        excuses: those that stay, by the id of the rule.
        deciding: rules whose violations count.
        old: rules that have been excused.
    """
    found: dict[str, tuple[Excuse, ...]] = {}
    wanted = {*deciding, *old}
    while firsts := Counter(_firsts(runs, {**excuses, **found}, wanted)):
        best = min(firsts, key=lambda rule: (rule not in old, -firsts[rule], rule))
        found[best] = (Excuse("needed"),)
    return tuple(found)


def _firsts(
    runs: Iterable[tuple[Scenario, Mapping[str, Violation]]], excuses: Excuses, wanted: set[str]
) -> Iterable[str]:
    """Yield, for each run, the rules among `wanted` that are the first to count."""
    for scenario, broken in runs:
        counting = sort_out(scenario, broken, excuses).findings & wanted
        first = min((moment_of(broken[rule]) for rule in counting), default=None)
        yield from (rule for rule in counting if moment_of(broken[rule]) == first)
