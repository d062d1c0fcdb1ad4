"""The pages on peers: each failure on them is played again, and no rule is missing."""

import json
from pathlib import Path
from typing import Any

import pytest
from sample import some

from asyncwait.conformance import _verify
from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.generation import generate
from asyncwait.spec.rules import rules

PEERS = Path(__file__).resolve().parents[2] / "examples" / "peers"
NAMES = [each["name"] for each in json.loads((PEERS / "measured.json").read_bytes())]

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adapters, and this process tells its children where they are."""
    monkeypatch.syspath_prepend(PEERS)


@pytest.fixture
def listed() -> Any:
    """What was measured, by the name of the peer."""
    import measured  # pyright: ignore[reportMissingImports]

    return {each.name: each for each in measured.all_measured()}


def test_every_peer_is_measured(listed: Any) -> None:
    """In the order of the list."""
    import peers  # pyright: ignore[reportMissingImports]

    assert list(listed) == [peer.name for peer in peers.PEERS] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_its_page_draws_happens(name: str, listed: Any) -> None:
    """Each scenario breaks its rule, now and then at least, and the page draws it."""
    import peer_pages  # pyright: ignore[reportMissingImports]

    text = "\n".join(peer_pages.page(listed[name]))

    for rule, scenario in listed[name].smallest.items():
        assert f"## {rule}: {rules()[rule].title}" in text
        assert f"asyncwait play {listed[name].peer.backend} '{scenario}'" in text
    assert text.count(">>>") >= len(listed[name].smallest)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_no_rule_is_missing(name: str, listed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the examples show broken was measured, and each has its cell in the overview."""
    import peer_pages  # pyright: ignore[reportMissingImports]

    measured = listed[name]
    monkeypatch.setattr(_verify, "EXAMPLES", tuple(some(EXAMPLES, 4, name)))
    monkeypatch.setattr(_verify, "_drawn", lambda count, seed: ((), generate(count, seed)))
    verdict = verify(measured.peer.backend, Coverage(1, shrinks=False))

    assert {result.rule.id for result in verdict.failed} <= set(measured.smallest)
    assert not verdict.errors
    rows = {rule.split()[0]: "**" in said for rule, said in peer_pages.rules_of([measured])}
    assert rows == {rule: rule in measured.peer.promised for rule in measured.smallest}


def test_what_is_promised_are_rules(listed: Any) -> None:
    """By their ids."""
    assert all(each.peer.promised <= set(rules()) for each in listed.values())
