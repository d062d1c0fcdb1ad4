"""Holds every peer to the suite, and writes what comes out to `measured.json`.

python examples/peers/measure.py

`peer_pages.py` makes the pages of it.
"""

import logging
import platform
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec
from measured import FILE, Measured
from peers import PEERS, Peer

sys.path += [str(Path(__file__).resolve().parents[2] / "tests" / "support")]

from flink_runs import run_of
from smallest_failures import search

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.running import StreamBackend, load_backend
from asyncwait.conformance.verdict import Failure, Verdict
from asyncwait.spec.scenario import Scenario, scenarios_to_json

GENERATED = 300
"""Scenarios beside the examples of the rules and the shapes."""

PLAYED = 150
"""Scenarios in which a smaller failure of a rule is looked for: no clock decides what is found."""


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
    found = dict(smallest(backend, verdict))
    return Measured(
        name=peer.name,
        version=version_of(peer),
        line=verdict.line.removeprefix(f"{peer.backend}: ").capitalize(),
        scenarios=verdict.scenarios,
        status={result.rule.id: result.status for result in verdict.results},
        broken={result.rule.id: result.broken for result in verdict.failed},
        causes={rule: cause.rule for cause in verdict.causes for rule in cause.explains},
        smallest={
            rule: scenarios_to_json((failure.case.planned,)).decode()
            for rule, failure in found.items()
        },
    )


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


def main() -> None:
    """Measure who is installed, and write it down; say on standard error how far it is."""
    there = [peer for peer in PEERS if is_installed(peer)]
    all_measured: list[Measured] = []
    with ProcessPoolExecutor() as pool:
        for measured in pool.map(measure, there):
            all_measured.append(measured)
            print(f"{measured.name}: {measured.line}", file=sys.stderr)
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(all_measured), indent=1) + b"\n")


if __name__ == "__main__":
    main()
