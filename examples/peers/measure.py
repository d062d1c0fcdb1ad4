"""Holds every peer to the suite, and writes what comes out: `docs/peers.md` and a page for each.

python examples/peers/measure.py
"""

import logging
import platform
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from msgspec import Struct
from peers import PEERS, Peer

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "support")]

from flink_runs import run_of  # noqa: E402 - it stands there
from smallest_failures import evidence, search  # noqa: E402

from asyncwait.conformance._counted import counted  # noqa: E402
from asyncwait.conformance._verify import Coverage, verify  # noqa: E402
from asyncwait.conformance.running import StreamBackend, load_backend  # noqa: E402
from asyncwait.conformance.verdict import Failure, RuleResult, Verdict  # noqa: E402
from asyncwait.spec.rules import areas, rules  # noqa: E402
from asyncwait.spec.scenario import Scenario  # noqa: E402

DOCS = ROOT / "docs"
GENERATED = 300
"""Scenarios beside the examples of the rules and the shapes."""

PLAYED = 150
"""Scenarios in which a smaller failure of a rule is looked for: no clock decides what is found."""

INTRODUCTION = (Path(__file__).parent / "introduction.md").read_text(encoding="utf-8")


class Measured(Struct, frozen=True):
    """A peer, and what the suite finds.

    Args:
        peer: which.
        verdict: on it.
        smallest: the smallest failure that is found of each rule that it breaks.
    """

    peer: Peer
    verdict: Verdict
    smallest: Mapping[str, Failure]

    def result(self, rule: str) -> RuleResult:
        """Return what the suite says of a rule."""
        return next(result for result in self.verdict.results if result.rule.id == rule)

    def cause(self, rule: str) -> str:
        """Return the rule that explains why this one is broken; its own id if none does."""
        return next((c.rule for c in self.verdict.causes if rule in c.explains), rule)


def is_installed(peer: Peer) -> bool:
    """Say whether a peer can be measured; on standard error, if it can't."""
    try:
        version_of(peer)
    except PackageNotFoundError:
        print(f"{peer.title}: left out; see: pip install --group peers", file=sys.stderr)
        return False
    return True


def version_of(peer: Peer) -> str:
    """Return its version."""
    if peer.package == "Python":
        return ".".join(platform.python_version_tuple()[:2])
    return version(peer.package)


def measure(peer: Peer) -> Measured:
    """Verify a peer, and look for the smallest failure of each rule that it breaks."""
    # Of errors that nobody has asked a task for; whatever they mean, a rule says it.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    verdict = verify(peer.backend, Coverage(GENERATED, shrinks=False))
    if verdict.errors:
        raise SystemExit(f"{verdict.line}\n{verdict.errors[0]}")
    backend = load_backend(peer.backend)
    assert isinstance(backend, StreamBackend)
    return Measured(peer, verdict, dict(smallest(backend, verdict)))


def smallest(backend: StreamBackend, verdict: Verdict) -> Iterator[tuple[str, Failure]]:
    """Yield each rule that is broken with the smallest failure that is found."""
    played = ends = 0

    def play(scenario: Scenario) -> Mapping[str, Failure]:
        nonlocal played
        played += 1
        return run_of(backend, scenario).broken

    smaller = search(play, lambda: played >= ends)
    for result in verdict.failed:
        # What hangs on the order of a set, say, may not be seen again.
        again = (play(failure.case.scenario).get(result.rule.id) for failure in result.failures)
        if first := next(filter(None, again), None):
            ends = played + PLAYED
            yield result.rule.id, smaller.smallest(result.rule.id, first)


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
    yield "scenarios", *(f"{each.verdict.scenarios:,}" for each in all_measured)
    yield "version", *(version_of(each.peer) for each in all_measured)


def _held(measured: Measured, area: str) -> str:
    results = [each for each in measured.verdict.results if each.rule.area == area]
    applying = [each for each in results if each.status != "not-applicable"]
    passed = sum(each.status == "pass" for each in applying)
    return f"{passed}/{len(applying)}" if applying else ""


def rules_of(all_measured: list[Measured]) -> Iterator[tuple[str, ...]]:
    """Yield the rows: a rule that somebody breaks, and who does."""
    for rule in rules().values():
        cells = tuple(_said(each, rule.id) for each in all_measured)
        if any(rule.id in each.smallest for each in all_measured):
            yield f"{rule.id} {rule.title}", *cells


def _said(measured: Measured, rule: str) -> str:
    status = measured.result(rule).status
    if status == "fail" and rule not in measured.smallest:
        return "now and then"
    if status != "fail":
        return {"pass": "holds", "not-applicable": ""}.get(status, status)
    cause = measured.cause(rule)
    word = "**broken**" if rule in measured.peer.promised else "broken"
    return word if cause == rule else f"{word} ({cause})"


def page(measured: Measured) -> Iterator[str]:
    """Yield the lines of the page on one peer."""
    peer, verdict = measured.peer, measured.verdict
    yield f"# {peer.title}"
    yield ""
    yield f"{verdict.line.removeprefix(f'{peer.backend}: ').capitalize()}."
    yield ""
    module = peer.backend.split(":")[0]
    yield (
        f"{peer.package} {version_of(peer)}, by [`{module}.py`](../../examples/peers/{module}.py); "
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
    for rule, failure in measured.smallest.items():
        yield from section(measured, rule, failure)


def _kept(measured: Measured, rule: str) -> str:
    if measured.result(rule).status != "fail":
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
    where = counted(measured.result(rule).broken, "scenario")
    yield f"Broken in {where}{_why(measured, rule, cause)}."
    yield ""
    yield from evidence(measured.peer.backend, failure)


def _why(measured: Measured, rule: str, cause: str) -> str:
    promised = "; promised" if rule in measured.peer.promised else "; not promised"
    return promised if cause == rule else f"{promised}; explained by {cause} and what is above it"


def write(folder: Path, lines: Iterator[str]) -> None:
    """Write a page."""
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def main() -> None:
    """Measure who is installed, and write the pages; say on standard error how far it is."""
    there = [peer for peer in PEERS if is_installed(peer)]
    all_measured: list[Measured] = []
    with ProcessPoolExecutor() as pool:
        for measured in pool.map(measure, there):
            all_measured.append(measured)
            print(measured.verdict.line, file=sys.stderr)
    for each in all_measured:
        write(DOCS / "peers" / f"{each.peer.name}.md", page(each))
    write(DOCS / "peers.md", overview(all_measured))


if __name__ == "__main__":
    main()
