"""Which of the broken rules explain the others: causes stand before their consequences.

An operator that starts calls in the wrong order also gives results the wrong timestamps: whoever
judges those can't know better. So a slip seldom breaks one rule, and reading the chapters in their
order, one meets a consequence first. Here:

1. Of the rules that are broken, the one fits best that has the most of this, over the scenarios
   that fail (`_Fit`):
   - it is broken in most of them, and in most of those in which it applies: a rule that is broken
     whenever it applies goes before one that applies everywhere;
   - it is broken in their first instant: what comes behind that follows from it;
   - they are what the rule is about: it applies in all of them, its area is broken in all of
     them, and those among them that are examples are examples of it;
   - it says what is wrong, and not only that something does not come in time (`SYMPTOMS`), as
     nothing does that was lost.
   Where two fit alike, the chapters' order stands.
2. The scenarios that break it are covered. The next rule is looked for among the others.
3. A rule that is left without a scenario is explained, unless that may be by chance: where the
   causes cover all scenarios or nearly all, any rule is broken among them, and nothing follows.
4. What is neither is looked through once more in the same way.

A MUST is never explained by a SHOULD, which does not decide the verdict.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

CHANCE = 0.05
"""A rule is explained, if so many scenarios as break it would all be covered less often than so."""

SYMPTOMS = frozenset(
    {"CAP-4", "ELEM-6", "END-2", "END-8", "FAIL-2", "HOLD-1", "KEY-3", "KEY-5", "KEY-6", "KEY-7"}
    | {"ORD-2", "ORD-3", "POLICY-2", "RES-2", "RES-5", "RETRY-4", "SNAP-5", "SNAP-8", "WM-4"}
    | {"WM-7"}
)
"""Rules that say that something comes, or when: whatever keeps it from coming breaks them, too."""


class Cause(Struct, frozen=True):
    """A broken rule that other ones don't explain."""

    rule: str
    explains: tuple[str, ...] = ()


class Failed(Struct, frozen=True):
    """A scenario in which rules are failing."""

    broken: frozenset[str]
    first: frozenset[str]
    applied: frozenset[str]
    about: frozenset[str] = frozenset()


class Failing(Struct, frozen=True):
    """What is known of the rules that are failing."""

    together: Collection[Failed]
    seen: Mapping[str, int]
    judged: int


def find_causes(failing: Failing, *ranks: Sequence[str]) -> tuple[Cause, ...]:
    """Return the rules that explain all failures, those that fit best first."""
    found: list[Cause] = []
    left = [list(rules) for rules in ranks]
    while causes := _causes(failing, left):
        found += causes
        known = {rule for cause in causes for rule in (cause.rule, *cause.explains)}
        left = [[rule for rule in rules if rule not in known] for rules in left]
    return tuple(found)


def _causes(failing: Failing, ranks: Sequence[Sequence[str]]) -> list[Cause]:
    """Return the rules that cover all scenarios in which one of `ranks` is failing."""
    found: list[Cause] = []
    counted = [rule for rules in ranks for rule in rules]
    uncovered = everything = [each for each in failing.together if each.broken & set(counted)]
    total = _count(each.broken for each in everything)
    while uncovered:
        fit = _Fit(uncovered, failing.seen)
        candidates = next(some for rules in ranks if (some := [r for r in rules if fit.broken[r]]))
        best = max(candidates, key=fit)
        uncovered = [each for each in uncovered if best not in each.broken]
        open_rules = {best}.union(*(each.broken for each in uncovered))
        share = (len(everything) - len(uncovered)) / failing.judged
        explained = [r for r in counted if fit.broken[r] and r not in open_rules]
        found.append(Cause(best, tuple(r for r in explained if share ** total[r] < CHANCE)))
    return found


class _Fit:
    """How well a rule explains failures; the larger, the better."""

    def __init__(self, failed: Sequence[Failed], seen: Mapping[str, int]) -> None:
        self.broken = _count(each.broken for each in failed)
        self._all = len(failed)
        self._seen = seen
        self._first = _count(each.first for each in failed)
        self._applied = _count(each.applied for each in failed)
        self._about = _count(each.about for each in failed)
        self._examples = sum(bool(each.about) for each in failed) or 1
        self._areas = _count({_area(rule) for rule in each.broken} for each in failed)

    def __call__(self, rule: str) -> float:
        broken = self.broken[rule]
        shares = self._first[rule] + self._applied[rule] + self._areas[_area(rule)]
        return (
            math.log(broken / self._all)
            + math.log(broken / max(broken, self._seen[rule])) / 2
            + shares / self._all
            + 2 * self._about[rule] / self._examples
            - (rule in SYMPTOMS)
        )


def _count(each: Iterable[Iterable[str]]) -> Counter[str]:
    return Counter(name for names in each for name in names)


def _area(rule: str) -> str:
    return rule.partition("-")[0]
