"""Writes the page on upstream's tests: a table for each class of them, and how many there are."""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from asyncwait.conformance.upstream._cases import UpstreamTest, upstream_tests

HEAD = """\
# Upstream's tests

Apache Flink tests its operator, the queues in it, the mailbox under it, the variants by key and by
batch, and what Python makes of them. For each of these tests this page says which rules ask for the
same, and which examples play it; `asyncwait play` plays one of an operator by its name.

A test may need what not every operator has. *Inside* is what only the inside of Flink's own shows:
no operator can be held to that from outside. *To come* is an area of rules that is not there yet.
Where Flink is not followed, the id of what it does is told, and `departures.md`, beside the rules,
has the reason.

Left out are further tests of proposals that were not adopted, and what those of versions before
1.10 have in common with later ones.

This page is generated: `python -m asyncwait.conformance.upstream` prints it. The answers stand in
`cases.toml`.
"""

COLUMNS = "| test | needs | rules | examples | |\n|---|---|---|---|---|\n"

TOTALS = """
## Totals

| class | tests | on any operator | with a capability | inside | to come |
|---|---|---|---|---|---|
"""


def upstream_page() -> str:
    """Return the page."""
    tests = upstream_tests()
    owners = [(owner, tuple(of_it)) for owner, of_it in groupby(tests, key=lambda test: test.owner)]
    tables = (
        f"\n## {owner}\n\n{COLUMNS}{''.join(map(_row, of_owner))}" for owner, of_owner in owners
    )
    sums = (_sum(owner, of_owner) for owner, of_owner in owners)
    return "".join((HEAD, *tables, TOTALS, *sums, _sum("**all**", tests), _summary(tests)))


def _row(test: UpstreamTest) -> str:
    since = f" ({test.since})" if test.since != "2.3" else ""
    times = f", {test.runs} times" if test.runs > 1 else ""
    rules = f"to come: {test.to_come}" if test.to_come else _listed(test.rules.split())
    examples = _listed(f"`{example}`" for example in test.examples.split())
    departs = f"departed from: {_listed(test.departs.split())}" if test.departs else ""
    told = "; ".join(filter(None, (departs, test.note)))
    return f"| {test.name}{since}{times} | {test.asks} | {rules} | {examples} | {told} |\n"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def _sum(owner: str, tests: tuple[UpstreamTest, ...]) -> str:
    kinds = Counter(test.kind for test in tests)
    to_come = sum(bool(test.to_come) for test in tests)
    figures = (len(tests), kinds["any"], kinds["capability"], kinds["inside"], to_come)
    return f"| {owner} | {' | '.join(map(str, figures))} |\n"


def _summary(tests: tuple[UpstreamTest, ...]) -> str:
    asked = Counter(test.asks for test in tests if test.kind == "capability")
    capabilities = _listed(f"{capability} {number}" for capability, number in asked.most_common())
    runs = sum(test.runs for test in tests)
    return (
        f"\nWith their parameters they are run {runs} times. Capabilities, and how many tests need "
        f"them: {capabilities}.\n"
    )
