"""Which failures have to be expected, and how, so that nothing else speaks against a backend."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from asyncwait.conformance.expected_failures import (
    ExpectedFailure,
    ExpectedFailures,
    moment_of,
    sort_out,
    traits_of,
)
from asyncwait.conformance.expected_failures.file._entry import How
from asyncwait.conformance.judging import Violation, kind_of
from asyncwait.conformance.verdict import Case, Tally
from asyncwait.spec.scenario import Scenario

CHANCE = 1e-6
"""What all scenarios have in which a rule is broken is no chance if that were so seldom."""

MOST_EXAMPLES = 50
"""More are not named: it shows nearly wherever it can."""


class Shown(Struct, frozen=True):
    """A way in which a rule is broken, as a run shows it."""

    how: How
    shared: frozenset[str]


def needed(
    runs: Sequence[tuple[Scenario, Mapping[str, Violation]]],
    expected_failures: ExpectedFailures,
    deciding: Collection[str],
    old: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the ids of the rules by which the backend may fail first, so that nothing else counts.

    What comes behind an expected violation does not count any more; an entry for it would match
    nothing in the next run. What comes with one, in the same instant, may come alone with another
    seed: so each of those has an entry, unless one of them has had one before.
    """
    found: set[str] = set()
    for scenario, broken in runs:
        counting = sort_out(scenario, broken, expected_failures).findings & {*deciding, *old}
        first = min(map(moment_of, broken.values()), default=None)
        at_first = {rule for rule in counting if moment_of(broken[rule]) == first}
        found |= at_first.intersection(old) or at_first or counting
    return tuple(sorted(found))


def ways_of(
    tally: Tally, own: ExpectedFailures, rules: Collection[str]
) -> dict[str, tuple[Shown, ...]]:
    """Return in which ways some rules are broken, where that is the first thing that is wrong.

    A way is a kind of finding, and what its scenarios have in common beyond what is common where
    the rule applies. So the same failure in a scenario of another seed is of the same way.
    """
    expected_failures = {**own, **dict.fromkeys(rules, (ExpectedFailure("needed"),))}
    found: dict[str, dict[str, list[Case]]] = {rule: defaultdict(list) for rule in rules}
    for case, broken in tally.broken:
        for rule in sort_out(case.scenario, broken, expected_failures).known.keys() & found.keys():
            found[rule][kind_of(broken[rule].text)].append(case)
    usual = _Usual(tally)
    return {
        rule: tuple(_shown(kind, kinds[kind], usual.shares(rule)) for kind in sorted(kinds))
        for rule, kinds in found.items()
    }


class _Usual:
    """What scenarios have, whether a rule is broken in them or not."""

    def __init__(self, tally: Tally) -> None:
        self._judged = [(traits_of(scenario), rules) for scenario, rules in tally.applied]

    def shares(self, rule: str) -> Mapping[str, float]:
        """Return in which share of those in which a rule applies there is what."""
        having = [traits for traits, rules in self._judged if rule in rules]
        counts = Counter(name for traits in having for name in traits)
        return {name: count / len(having) for name, count in counts.items()}


def _shown(kind: str, cases: Sequence[Case], usual: Mapping[str, float]) -> Shown:
    shared = frozenset.intersection(*(traits_of(case.scenario) for case in cases))
    needs = (name for name in shared if usual.get(name, 0) ** len(cases) < CHANCE)
    seldom = all(case.generated for case in cases)
    names = tuple(dict.fromkeys(case.example for case in cases if case.example))
    examples = names if len(names) <= MOST_EXAMPLES else None
    return Shown(How(kind, tuple(sorted(needs)), seldom, examples), shared)


def merged(old: Iterable[How], shown: Iterable[Shown], *, keeps: bool) -> tuple[How, ...]:
    """Return the ways of an entry after a run: those that show, and those that may in another."""
    ways = {way.finding: way for way in old}
    seen = {each.how.finding: each for each in shown}
    for finding, each in seen.items():
        before = ways.get(finding, each.how)
        both = tuple(name for name in before.needs if name in each.shared)
        named = None
        if before.examples is not None and each.how.examples is not None:
            named = tuple(dict.fromkeys((*before.examples, *each.how.examples)))
        ways[finding] = How(finding, both, before.seldom, named)
    return tuple(way for finding, way in ways.items() if keeps or way.seldom or finding in seen)
