"""Makes the pages on peers of what was measured: `peers.md` and a page for each, for the site."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

from measured import Measured, all_measured

sys.path += [str(Path(__file__).resolve().parents[2] / "tests" / "support")]

from flink_runs import run_of
from smallest_failures import evidence

from asyncwait.conformance._words import counted
from asyncwait.conformance.running import StreamBackend, load_backend
from asyncwait.conformance.verdict import Failure
from asyncwait.spec.rules import areas, rules
from asyncwait.spec.scenario import scenarios_from_json

INTRODUCTION = (Path(__file__).parent / "introduction.md").read_text(encoding="utf-8")
TRIES = 20
"""Of a scenario, until it shows what it shows now and then."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield each page, with where it stands among the docs."""
    # Of errors that nobody has asked a task for; whatever they mean, a rule says it.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    for each in all_measured():
        yield f"peers/{each.name}.md", "\n".join(page(each))
    yield "peers.md", "\n".join(overview(all_measured()))


def shown(backend: StreamBackend, rule: str, scenario: str) -> Failure:
    """Play a scenario until it breaks a rule, as it did when it was measured.

    Raises:
        StopIteration: it does not any more.
    """
    (planned,) = scenarios_from_json(scenario.encode())
    runs = (run_of(backend, planned).broken for _ in range(TRIES))
    return next(broken[rule] for broken in runs if rule in broken)


def overview(all_measured: list[Measured]) -> Iterator[str]:
    """Yield the lines of the page on all peers."""
    yield INTRODUCTION
    yield "## Areas"
    yield ""
    yield "Rules that hold, of those that apply: a peer is held to what it claims, and to the core."
    yield ""
    yield from table("area", all_measured, areas_of(all_measured))
    yield "## Rules"
    yield ""
    yield (
        "**broken**: the peer promises it, and it does not hold. broken: it does not hold, and "
        "nobody has promised it. (ID): broken only where ID is, or a rule that explains more."
    )
    yield ""
    yield from table("rule", all_measured, rules_of(all_measured))


def table(
    first: str, all_measured: list[Measured], rows: Iterator[tuple[str, ...]]
) -> Iterator[str]:
    """Yield a table with a column for each peer."""
    links = [f"[{each.peer.title}](peers/{each.peer.name}.md)" for each in all_measured]
    yield f"| {first} | {' | '.join(links)} |"
    yield "|---" * (len(links) + 1) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def areas_of(all_measured: list[Measured]) -> Iterator[tuple[str, ...]]:
    """Yield the rows: an area, and how many of its rules hold."""
    for area in areas().values():
        cells = tuple(_held(each, area.id) for each in all_measured)
        if any(cells):
            yield f"{area.id} {area.title}", *cells
    yield "scenarios", *(f"{each.scenarios:,}" for each in all_measured)
    yield "version", *(each.version for each in all_measured)


def _held(measured: Measured, area: str) -> str:
    of_area = [measured.status[rule.id] for rule in rules().values() if rule.area == area]
    applying = [status for status in of_area if status != "not-applicable"]
    passed = applying.count("pass")
    return f"{passed}/{len(applying)}" if applying else ""


def rules_of(all_measured: list[Measured]) -> Iterator[tuple[str, ...]]:
    """Yield the rows: a rule that somebody breaks, and who does."""
    for rule in rules().values():
        cells = tuple(_said(each, rule.id) for each in all_measured)
        if any(rule.id in each.smallest for each in all_measured):
            yield f"{rule.id} {rule.title}", *cells


def _said(measured: Measured, rule: str) -> str:
    status = measured.status[rule]
    if status == "fail" and rule not in measured.smallest:
        return "now and then"
    if status != "fail":
        return {"pass": "holds", "not-applicable": ""}.get(status, status)
    cause = measured.cause(rule)
    word = "**broken**" if rule in measured.peer.promised else "broken"
    return word if cause == rule else f"{word} ({cause})"


def page(measured: Measured) -> Iterator[str]:
    """Yield the lines of the page on one peer."""
    peer = measured.peer
    yield f"# {peer.title}"
    yield ""
    yield f"{measured.line}."
    yield ""
    module = peer.backend.split(":")[0]
    yield (
        f"{peer.package} {measured.version}, by [`{module}.py`](../../examples/peers/{module}.py); "
        "the commands below are given in its folder. How it was measured, and who else was, stands "
        "on [the page on all peers](../peers.md)."
    )
    yield ""
    yield "What it promises, and the rules in which that would show:"
    yield ""
    for promise, where in peer.promises.items():
        yield f"* {promise}: {'; '.join(_kept(measured, rule) for rule in where)}."
    yield ""
    yield "What it does otherwise by design:"
    yield ""
    yield from (f"* {each}" for each in (*peer.otherwise, peer.varies) if each)
    yield ""
    backend = load_backend(peer.backend)
    assert isinstance(backend, StreamBackend)
    for rule, scenario in measured.smallest.items():
        yield from section(measured, rule, shown(backend, rule, scenario))


def _kept(measured: Measured, rule: str) -> str:
    if measured.status[rule] != "fail":
        return f"{rule} holds"
    where = measured.peer.outside.get(rule)
    return f"{rule} is **broken**" if where is None else f"{rule} is broken {where}"


def section(measured: Measured, rule: str, failure: Failure) -> Iterator[str]:
    """Yield the lines on one rule."""
    book, cause = rules()[rule], measured.cause(rule)
    yield f"## {rule}: {book.title}"
    yield ""
    yield book.sentence
    yield ""
    where = counted(measured.broken[rule], "scenario")
    yield f"Broken in {where}{_why(measured, rule, cause)}."
    yield ""
    yield from evidence(measured.peer.backend, failure)


def _why(measured: Measured, rule: str, cause: str) -> str:
    promised = "; promised" if rule in measured.peer.promised else "; not promised"
    return promised if cause == rule else f"{promised}; explained by {cause} and what is above it"
