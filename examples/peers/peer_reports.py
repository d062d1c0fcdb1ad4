"""What is most worth a report upstream, as text that is ready to be filed."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from measured import Measured

from asyncwait.spec.rules import rules

SAID: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (Path(__file__).with_name("peer_reports.toml")).read_text(encoding="utf-8")
)
"""By package or row, and by rule: what its own documentation says."""

MOST = 3


def reports_of(measured: Measured, shown: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of the reports on a peer.

    Args:
        measured: what was found.
        shown: gives the timeline of a rule that is broken.
    """
    said = SAID.get(measured.name, SAID.get(measured.peer.package, {}))
    worth = [rule for rule in said if rule in measured.smallest][:MOST]
    if worth:
        yield from ("## Worth a report { #reports }", "", "As text that is ready to be filed.", "")
    for rule in worth:
        yield f'??? quote "{rules()[rule].title}"'
        yield from ("", "    ````markdown")
        lines = "\n".join(report(measured, rule, said[rule], shown(rule))).split("\n")
        yield from (f"    {line}".rstrip() for line in lines)
        yield from ("    ````", "")


def report(measured: Measured, rule: str, documented: str, timeline: str) -> Iterator[str]:
    """Yield the lines of one report."""
    peer, book = measured.peer, rules()[rule]
    violation = next((line for line in timeline.split("\n") if ">>>" in line), "").partition(">>>")[
        2
    ]
    yield f"# {peer.title.replace('`', '')}: {violation.strip()}"
    yield from ("", f"{peer.package} {measured.version}. The smallest case I know of:", "")
    yield from (
        "```text",
        timeline,
        "```",
        "",
        "Columns are milliseconds, input, calls, output.",
        "",
    )
    yield from ("To play it again, in `examples/peers` of asyncwait:", "", "```")
    yield from (f"asyncwait play {peer.command} '{measured.smallest[rule]}'", "```", "")
    yield from (f"What the documentation says: {documented or 'nothing of this.'}", "")
    yield f"What I would expect: {book.sentence} {book.why} (Rule {rule} of asyncwait.)"
