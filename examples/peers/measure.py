"""Holds every operator of the matrix to the suite, and writes what comes out to `measured.json`.

python examples/peers/measure.py
python examples/peers/measure.py flink pyflink

Without names it measures whatever is installed here. The rows of all others stay as they were,
each with its version and date. `peer_pages.py` makes the pages of it.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from measured import Measured, all_measured, hush, write
from peers import ROWS, Peer

sys.path += [str(Path(__file__).resolve().parents[2] / "tests" / "support")]

from flink_defects import drawn

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import REAL_SECONDS, Broken, Served, adapted, open_backend
from asyncwait.conformance.verdict import Case, Failure, Verdict, failures_of
from asyncwait.conformance.verifying import Coverage, Search, verify
from asyncwait.spec.rules import rules_for
from asyncwait.spec.scenario import Scenario, scenarios_to_json

HERE = Path(__file__).resolve().parent

GENERATED = 300
"""Scenarios beside the examples of the rules and the shapes."""

PLAYED = 150
"""Scenarios in which a smaller failure of a rule is looked for: no clock decides what is found."""


JAVA_SECONDS = 60.0
"""How long a scenario may take of what starts a Java, which a busy machine does slowly."""


def is_installed(peer: Peer) -> bool:
    """Say whether an operator can be measured; on standard error, if it can't."""
    try:
        version_of(peer)
        version(peer.needs or "asyncwait")
    except (PackageNotFoundError, FileNotFoundError) as error:
        print(f"{peer.name}: stays as it was, as this is not installed: {error}", file=sys.stderr)
        return False
    return True


def version_of(peer: Peer) -> str:
    """Return its version."""
    if peer.package == "Python":
        return ".".join(platform.python_version_tuple()[:2])
    if peer.package == "Node":
        return subprocess.check_output(["node", "--version"], text=True).strip().lstrip("v")  # noqa: S607
    if peer.is_program:
        manifest = HERE / "javascript" / "node_modules" / peer.package / "package.json"
        return str(json.loads(manifest.read_bytes())["version"])
    return version(peer.package)


def measure(peer: Peer) -> Measured | None:
    """Verify an operator, and look for the smallest failure of each rule that it breaks.

    Returns:
        None if there is no verdict; standard error says why.
    """
    os.chdir(HERE / "javascript" if peer.is_program else HERE)
    hush()
    patience = JAVA_SECONDS if peer.needs else REAL_SECONDS
    verdict = verify(peer.backend, Coverage(GENERATED, shrinks=False, patience=patience))
    if verdict.errors:
        print(f"{verdict.line}\n{verdict.errors[0]}", file=sys.stderr)
        return None
    with open_backend(peer.backend, jobs=1, patience=patience) as backend:
        found = dict(smallest(backend, verdict))
    told = told_of(peer, verdict, found)
    print(f"{told.name}: {told.line}", file=sys.stderr)
    return told


def told_of(peer: Peer, verdict: Verdict, found: Mapping[str, Failure]) -> Measured:
    """Return what is written down."""
    status = {result.rule.id: result.status for result in verdict.results}
    return Measured(
        name=peer.name,
        version=version_of(peer),
        date=datetime.now(tz=UTC).date().isoformat(),
        line=verdict.line.removeprefix(f"{peer.backend}: ").capitalize(),
        scenarios=verdict.scenarios,
        status={rule: said for rule, said in status.items() if said != "not-applicable"},
        broken={result.rule.id: result.broken for result in verdict.failed},
        causes={rule: cause.rule for cause in verdict.causes for rule in cause.explains},
        smallest={
            rule: scenarios_to_json((failure.case.planned,)).decode()
            for rule, failure in found.items()
        },
        drawn={}
        if peer.is_replayed
        else {rule: "\n".join(drawn(failure)) for rule, failure in found.items()},
    )


def smallest(backend: Served, verdict: Verdict) -> Iterator[tuple[str, Failure]]:
    """Yield each rule that is broken with the smallest failure that is found."""
    played = ends = 0

    def play(scenario: Scenario) -> Mapping[str, Failure]:
        nonlocal played
        played += 1
        return broken_by(backend, scenario)

    smaller = Search(lambda candidates: map(play, candidates), lambda: played >= ends)
    for result in verdict.failed:
        # What hangs on the order of a set, say, may not be seen again.
        again = (play(failure.case.scenario).get(result.rule.id) for failure in result.failures)
        if first := next(filter(None, again), None):
            ends = played + PLAYED
            yield result.rule.id, smaller.smallest(result.rule.id, first)


def broken_by(backend: Served, scenario: Scenario) -> Mapping[str, Failure]:
    """Play a scenario as far as the backend can, and return the failures by their rules."""
    case = Case("shrunk", scenario, adapted(scenario, backend.capabilities), generated=True)
    (run,) = backend.play([case.scenario])
    if isinstance(run, Broken):
        return {}
    checks = {rule: CHECKS[rule] for rule in rules_for(backend.capabilities)}
    return failures_of(case, run, judge(case.scenario, run, checks))


def main(names: list[str]) -> None:
    """Measure, and write the file; print verdicts on standard error."""
    known = [row.name for row in ROWS]
    if unknown := sorted({*names} - {*known}):
        raise SystemExit(f"no row is named {', '.join(unknown)}: give some of {', '.join(known)}")
    there = [row for row in ROWS if (row.name in names or not names) and is_installed(row)]
    # What starts a Java takes the machine for itself.
    with ProcessPoolExecutor(1 if any(row.needs for row in there) else None) as pool:
        new = {each.name: each for each in pool.map(measure, there) if each is not None}
    before = {each.name: each for each in all_measured()}  # only now: another run may have ended
    found = {**before, **new}
    write([found[row.name] for row in ROWS if row.name in found])
    if len(new) < len(there):
        raise SystemExit("of some there is no verdict; their rows stay as they were")


if __name__ == "__main__":
    main(sys.argv[1:])
