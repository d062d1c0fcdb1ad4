"""Makes the pages of what was measured: `peers.md`, the matrix, and a page for each row."""

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from measured import Measured, all_measured, hush

sys.path += [str(Path(__file__).resolve().parents[2] / "tests" / "support")]

from flink_defects import drawn, run_of

from asyncwait.conformance.running import StreamBackend, load_backend
from asyncwait.spec.rules import areas, rules
from asyncwait.spec.scenario import scenarios_from_json
from asyncwait.spec.texts import counted

INTRODUCTION = (Path(__file__).parent / "introduction.md").read_text(encoding="utf-8")
CHAPTERS = "spec/asyncwait/spec/rules"
TRIES = 20
"""Of a scenario, until it shows what it shows now and then."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield each page, with where it stands among the docs."""
    hush()
    for each in all_measured():
        yield f"peers/{each.name}.md", "\n".join(page(each))
    yield "peers.md", "\n".join(overview(all_measured()))


def shown(measured: Measured, rule: str) -> str:
    """Return what the smallest scenario showed when it was measured; play it where that can be.

    Raises:
        LookupError: it does not break the rule any more, so the peer has to be measured again.
    """
    if rule in measured.drawn:
        return measured.drawn[rule]
    backend = load_backend(measured.peer.backend)
    assert isinstance(backend, StreamBackend)
    (planned,) = scenarios_from_json(measured.smallest[rule].encode())
    for _ in range(TRIES):
        if rule in (broken := run_of(backend, planned).broken):
            return "\n".join(drawn(broken[rule]))
    raise LookupError(
        f"{measured.name} does not break {rule} any more in {TRIES} runs of its scenario; "
        f"measure it again: python examples/peers/measure.py {measured.name}"
    )


def overview(all_measured: list[Measured]) -> Iterator[str]:
    """Yield the lines of the page with the matrix."""
    before, heading, after = INTRODUCTION.partition("## How it is measured")
    yield before
    yield from matrix(all_measured)
    yield from ("", heading + after)


def matrix(all_measured: list[Measured]) -> Iterator[str]:
    """Yield the table: operators are rows, areas columns."""
    chapters = enumerate(areas().values(), 1)
    heads = [f"[{a.id}](../{CHAPTERS}/{n:02}-{a.folder}.md)" for n, a in chapters]
    yield f"| operator | {' | '.join(heads)} | promised | version | measured |"
    yield f"|---{'|---' * len(heads)}|---|---|---|"
    for group, members in groupby(all_measured, lambda each: each.peer.group):
        yield f"| **{group}** |{' |' * (len(heads) + 3)}"
        for each in members:
            yield f"| {' | '.join(row(each))} |"


def row(measured: Measured) -> Iterator[str]:
    """Yield the cells of a row; each number leads to what stands behind it."""
    page = f"peers/{measured.name}.md"
    yield f"[{measured.peer.title}]({page})"
    for area in areas().values():
        told = measured.passed(area.id)
        yield told and f"[{told}]({page}#{area.folder})"
    promised = {rule for rules in measured.peer.promises.values() for rule in rules}
    yield f"{len(promised - measured.broken.keys())}/{len(promised)}" if promised else ""
    yield measured.version
    yield measured.date


def page(measured: Measured) -> Iterator[str]:
    """Yield the lines of the page on one operator."""
    peer = measured.peer
    yield from (f"# {peer.title}", "", f"{measured.line}, in {measured.scenarios:,} scenarios.", "")
    yield from (" ".join(_about(measured)), "")
    if peer.promises:
        yield from ("What it promises, and the rules in which that would show:", "")
        for promise, where in peer.promises.items():
            yield f"* {promise}: {'; '.join(_kept(measured, rule) for rule in where)}."
        yield ""
    if otherwise := [each for each in (*peer.otherwise, peer.varies) if each]:
        yield from ("What it does otherwise by design:", "")
        yield from (f"* {each}" for each in otherwise)
        yield ""
    for area in areas().values():
        yield from section(measured, area.id, area.folder, area.title)


def _about(measured: Measured) -> Iterator[str]:
    peer = measured.peer
    yield f"{peer.package} {measured.version}, measured on {measured.date}"
    if peer.adapter:
        link = f"[`{peer.adapter}`](../../examples/peers/{peer.adapter})"
        yield f"by {link}; commands are given in its folder"
    yield f"with `asyncwait verify {_verified(measured)} --count 300 --no-shrink`."
    if peer.more:
        yield f"More stands on [its page](../{peer.more})."
    yield "How it was measured, and who else was, stands on [the matrix](../peers.md)."


def _verified(measured: Measured) -> str:
    peer = measured.peer
    return peer.command.replace("'exec:", "--exec '") if peer.is_program else peer.backend


def _kept(measured: Measured, rule: str) -> str:
    status = measured.status.get(rule)
    if status != "fail":
        return f"{rule} holds" if status == "pass" else f"{rule} was not to be seen"
    where = measured.peer.outside.get(rule)
    return f"{rule} is **broken**" if where is None else f"{rule} is broken {where}"


def section(measured: Measured, area: str, anchor: str, title: str) -> Iterator[str]:
    """Yield the lines on the rules of one area, if there are any that apply."""
    of_area = [rule.id for rule in rules().values() if rule.area == area]
    said = {rule: measured.status[rule] for rule in of_area if rule in measured.status}
    if not said:
        return
    yield from (f"## {title} {{ #{anchor} }}", "")
    for status, those in groupby(
        sorted(said, key=lambda rule: (said[rule], of_area.index(rule))), said.get
    ):
        yield f"* {status}: {', '.join(those)}"
    yield ""
    for rule in said:
        if rule in measured.smallest:
            yield from failing(measured, rule)


def failing(measured: Measured, rule: str) -> Iterator[str]:
    """Yield the lines on a rule that is broken."""
    yield from (f"### {rule}: {rules()[rule].title}", "", rules()[rule].sentence, "")
    yield f"Broken in {counted(measured.broken[rule], 'scenario')}{_why(measured, rule)}."
    yield from ("", "```text", shown(measured, rule), "```", "")
    yield from (
        "```",
        f"asyncwait play {measured.peer.command} '{measured.smallest[rule]}'",
        "```",
        "",
    )


def _why(measured: Measured, rule: str) -> str:
    cause = measured.cause(rule)
    promised = "; promised" if rule in measured.peer.promised else "; not promised"
    return promised if cause == rule else f"{promised}; explained by {cause} and what is above it"
