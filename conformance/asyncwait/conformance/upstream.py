"""The counterpart here of each test that Apache Flink has of its operator.

`upstream.toml` has the answers; `python -m asyncwait.conformance.upstream` prints the page of them.
"""

import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from importlib import resources
from itertools import groupby
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from asyncwait.spec.exports import claim_exports

Kind: TypeAlias = Literal["any", "capability", "inside"]
"""Operators that a test can run on: any, operators with a capability, or Flink's own."""


class UpstreamTest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test method of upstream, and its counterpart.

    Args:
        asks: the capability that it needs; empty for none, "inside" if only the inside of Flink's
            own operator shows it.
    """

    owner: str
    name: str
    asks: str = ""
    since: str = "2.3"
    runs: int = 1
    rules: str = ""
    examples: str = ""
    departs: str = ""
    note: str = ""

    @property
    def kind(self) -> Kind:
        """The operators that the test can run on."""
        if self.asks == "inside":
            return "inside"
        return "capability" if self.asks else "any"


def upstream_tests() -> tuple[UpstreamTest, ...]:
    """Return all tests, in the order of the file.

    Raises:
        msgspec.ValidationError: a field is unknown, or of the wrong type.
    """
    file = resources.files("asyncwait.conformance").joinpath("upstream.toml")
    owners: Mapping[str, Mapping[str, Mapping[str, Any]]] = tomllib.loads(
        file.read_text(encoding="utf-8")
    )
    return tuple(
        msgspec.convert({"owner": owner, "name": name, **fields}, UpstreamTest)
        for owner, tests in owners.items()
        for name, fields in tests.items()
    )


HEAD = """\
# Upstream's tests

Apache Flink tests its operator, the queues in it, the mailbox under it, the variants by key and by
batch, and what Python makes of them. For each of these tests this page says which rules ask for the
same, and which examples play it; `asyncwait play` plays one of an operator by its name.

A test may need what not every operator has. *Inside* is what only the inside of Flink's own shows:
no operator can be held to that from outside. Where Flink is not followed, the id of what it does is
told, and `departures.md`, beside the rules, has the reason.

Left out are further tests of proposals that were not adopted, and what those of versions before
1.10 have in common with later ones.

This page is generated: `python -m asyncwait.conformance.upstream` prints it. The answers stand in
`upstream.toml`.
"""

COLUMNS = "| test | needs | rules | examples | |\n|---|---|---|---|---|\n"

TOTALS = """
## Totals

| class | tests | on any operator | with a capability | inside |
|---|---|---|---|---|
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
    rules = ", ".join(test.rules.split())
    examples = ", ".join(f"`{example}`" for example in test.examples.split())
    departs = f"departed from: {', '.join(test.departs.split())}" if test.departs else ""
    told = "; ".join(filter(None, (departs, test.note)))
    return f"| {test.name}{since}{times} | {test.asks} | {rules} | {examples} | {told} |\n"


def _sum(owner: str, tests: tuple[UpstreamTest, ...]) -> str:
    kinds = Counter(test.kind for test in tests)
    figures = (len(tests), kinds["any"], kinds["capability"], kinds["inside"])
    return f"| {owner} | {' | '.join(map(str, figures))} |\n"


def _summary(tests: tuple[UpstreamTest, ...]) -> str:
    asked = Counter(test.asks for test in tests if test.kind == "capability")
    capabilities = ", ".join(f"{capability} {number}" for capability, number in asked.most_common())
    runs = sum(test.runs for test in tests)
    return (
        f"\nWith their parameters they are run {runs} times. Capabilities, and how many tests need "
        f"them: {capabilities}.\n"
    )


__all__ = ["UpstreamTest", "upstream_page", "upstream_tests"]

claim_exports(__name__)

if __name__ == "__main__":
    sys.stdout.write(upstream_page())
