"""Which of the broken rules explain the others: causes stand before their consequences.

An operator that starts calls in the wrong order also gives results the wrong timestamps: whoever
judges those can't know better. So a slip seldom breaks one rule, and reading the chapters in their
order, one meets a consequence first. What a cause looks like is known from the search for faults in
programs: it is there in most of the runs that fail, and in few of those that don't. Here:

1. Of the rules that are broken, the one fits best for which

       (failing scenarios that break it) ** 2 / (scenarios in which it applied)

   is greatest: the share of the failures that it covers, times the share of its own cases in which
   it is failing. A rule that is broken whenever it applies goes before one that applies everywhere.
   Where two fit alike, the chapters' order stands.
2. The scenarios that break it are covered. The next rule is looked for among the others.
3. A rule that is left without a scenario is explained, unless that may be by chance: where the
   causes cover all scenarios or nearly all, any rule is broken among them, and nothing follows.
4. What is neither is looked through once more in the same way.

A MUST is never explained by a SHOULD, which does not decide the verdict.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

CHANCE = 0.05
"""A rule is explained, if so many scenarios as break it would all be covered less often than so."""


class Cause(Struct, frozen=True):
    """A broken rule that other ones don't explain.

    Args:
        rule: its id.
        explains: ids of rules that are broken only where it, or an earlier cause, is failing.
    """

    rule: str
    explains: tuple[str, ...] = ()


class Failing(Struct, frozen=True):
    """What is known of the rules that are failing.

    Args:
        together: their ids, for each scenario in which one is.
        seen: in how many scenarios a rule applied, by its id.
        judged: how many scenarios there are.
    """

    together: Collection[frozenset[str]]
    seen: Mapping[str, int]
    judged: int


def find_causes(failing: Failing, *ranks: Sequence[str]) -> tuple[Cause, ...]:
    """Return the rules that explain all failures, those that fit best first.

    Args:
        failing: what is known of the failures.
        ranks: the rules that count, in the order of the chapters; those of an earlier rank are
            explained by none of a later one.
    """
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
    uncovered = everything = [rules.intersection(counted) for rules in failing.together]
    total = Counter(rule for rules in everything for rule in rules)
    while counts := Counter(rule for rules in uncovered for rule in rules):
        candidates = next(some for rules in ranks if (some := [r for r in rules if r in counts]))
        best = max(candidates, key=lambda r: counts[r] ** 2 / max(failing.seen[r], counts[r]))
        uncovered = [rules for rules in uncovered if best not in rules]
        open_rules = {best}.union(*uncovered)
        share = (len(everything) - len(uncovered)) / failing.judged
        explained = [r for r in counted if r in counts and r not in open_rules]
        found.append(Cause(best, tuple(r for r in explained if share ** total[r] < CHANCE)))
    return found
