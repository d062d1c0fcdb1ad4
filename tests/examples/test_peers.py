"""The pages on peers: each failure on them is played again, and no rule is missing."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from node import NODE
from sample import some

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.generation import generate
from asyncwait.conformance.running import open_backend
from asyncwait.conformance.verifying import Coverage, _verify, verify
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import scenarios_from_json

PEERS = Path(__file__).resolve().parents[2] / "examples" / "peers"
MEASURED = json.loads((PEERS / "measured.json").read_bytes())
NAMES = [each["name"] for each in MEASURED]
REPLAYED = [each["name"] for each in MEASURED if each["smallest"] and not each["drawn"]]

pytestmark = [
    pytest.mark.timeout(300),
    # Some peers drop coroutines that nobody has awaited.
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PEERS)


@pytest.fixture
def listed() -> Any:
    import measured  # pyright: ignore[reportMissingImports]

    return {each.name: each for each in measured.all_measured()}


def test_every_peer_is_measured(listed: Any) -> None:
    import peers  # pyright: ignore[reportMissingImports]

    names = [row.name for row in peers.ROWS]
    assert [name for name in names if name in listed] == NAMES
    assert {row.name for row in peers.ROWS if row.group in {"Python", "JavaScript"}} <= {*listed}
    assert len([each for each in listed.values() if each.peer.promises]) >= 16


@pytest.mark.parametrize("name", NAMES)
def test_what_its_page_draws_happens(name: str, listed: Any) -> None:
    import peer_pages  # pyright: ignore[reportMissingImports]

    text = "\n".join(peer_pages.page(listed[name]))

    for rule, scenario in listed[name].smallest.items():
        assert f"### {rule}: {rules()[rule].title}" in text
        assert f"asyncwait play {listed[name].peer.command} '{scenario}'" in text
    assert text.count(">>>") >= len(listed[name].smallest)


def test_a_program_still_does_what_was_measured(
    listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import measure  # pyright: ignore[reportMissingImports]

    monkeypatch.setenv("PATH", str(NODE.parent), prepend=os.pathsep)
    monkeypatch.chdir(PEERS / "javascript")
    measured = listed["node-readable"]
    with open_backend(measured.peer.backend, jobs=1) as backend:
        for rule, scenario in measured.smallest.items():
            (planned,) = scenarios_from_json(scenario.encode())
            failure = measure.broken_by(backend, planned)[rule]
            assert "\n".join(measure.drawn(failure)) == measured.drawn[rule]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", REPLAYED)
def test_no_rule_is_missing(name: str, listed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = listed[name]
    monkeypatch.setattr(_verify, "EXAMPLES", tuple(some(EXAMPLES, 4, name)))
    monkeypatch.setattr(_verify, "_drawn", lambda count, seed: ((), generate(count, seed)))
    verdict = verify(measured.peer.backend, Coverage(1, shrinks=False))

    assert {result.rule.id for result in verdict.failed} <= set(measured.smallest)
    assert not verdict.errors


def test_the_matrix_adds_up(listed: Any) -> None:
    import peer_pages  # pyright: ignore[reportMissingImports]

    for each in some([*listed.values()], 4, "matrix"):
        cells = re.findall(r"\[(\d+)/(\d+)\]\((.*?)#(.*?)\)", " | ".join(peer_pages.row(each)))
        text = "\n".join(peer_pages.page(each))
        passed = [*each.status.values()].count("pass")
        assert [sum(int(cell[n]) for cell in cells) for n in (0, 1)] == [passed, len(each.status)]
        assert all(f"{{ #{anchor} }}" in text for *_, anchor in cells)


def test_what_is_promised_are_rules(listed: Any) -> None:
    assert all(each.peer.promised <= set(rules()) for each in listed.values())
