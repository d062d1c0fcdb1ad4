"""Which of the broken rules explain the others: causes stand before their consequences.

An operator that starts calls in the wrong order also gives results the wrong timestamps: whoever
judges those can't know better. So a slip seldom breaks one rule, and reading the chapters in their
order, one meets a consequence first. What a cause looks like is known from the search for faults in
programs: it is there in most of the runs that fail, and in few of those that don't. Here:

1. Of the rules that are broken, the one fits best for which

       (failing scenarios that break it) ** 2 / (scenarios in which it applied)

   is greatest: the share of the failures that it covers, times the share of its own cases in which
   it is broken. A rule that is broken whenever it applies goes before one that applies everywhere.
   Where two fit alike, the chapters' order stands.
2. The scenarios that break it are explained. The next rule is looked for among the others.
3. A rule that is left without a scenario of its own is explained too.

A MUST is never explained by a SHOULD, which does not decide the verdict.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct


class Cause(Struct, frozen=True):
    """A broken rule that other ones don't explain.

    Args:
        rule: its id.
        explains: ids of rules that are broken only where it, or an earlier cause, is broken.
    """

    rule: str
    explains: tuple[str, ...] = ()


def find_causes(
    together: Collection[frozenset[str]], seen: Mapping[str, int], *ranks: Sequence[str]
) -> tuple[Cause, ...]:
    """Return the rules that explain all failures, those that fit best first.

    Args:
        together: the ids of the rules that are broken, for each scenario in which one is.
        seen: in how many scenarios a rule applied, by its id.
        ranks: the rules that count, in the order of the chapters; all of an earlier rank go before
            those of a later one.
    """
    return tuple(_causes(together, seen, ranks))


def _causes(
    together: Collection[frozenset[str]], seen: Mapping[str, int], ranks: Sequence[Sequence[str]]
) -> Iterator[Cause]:
    counted = [rule for rules in ranks for rule in rules]
    left = [broken & set(counted) for broken in together]
    while counts := Counter(rule for broken in left for rule in broken):
        candidates = next(found for rules in ranks if (found := [r for r in rules if r in counts]))
        best = max(candidates, key=lambda rule: counts[rule] ** 2 / max(seen[rule], counts[rule]))
        left = [broken for broken in left if best not in broken]
        unexplained = {best}.union(*left)
        yield Cause(best, tuple(r for r in counted if r in counts and r not in unexplained))
