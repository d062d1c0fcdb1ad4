"""Small operators of plain asyncio conform to what they declare, and their broken twins don't."""

from pathlib import Path

import pytest

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.spec.rules import rules

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MANY, FEW = Coverage(200), Coverage(1, shrinks=False)

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples, and this process tells its children where they are."""
    monkeypatch.syspath_prepend(EXAMPLES)


def test_every_example_is_verified() -> None:
    """A new one has a line in the table below."""
    names = {f"{path.stem}:backend" for path in EXAMPLES.glob("*.py")}

    assert names == {"sliding_window:backend", "as_completed:backend", "deadlines:backend"}


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("sliding_window:backend", "conformant: core, ordered, copies"),
        ("as_completed:backend", "conformant: core, unordered, copies"),
        ("deadlines:backend", "conformant: core, ordered, timeouts, copies"),
    ],
)
def test_an_operator_that_has_little_conforms_in_that(name: str, claim: str) -> None:
    """Every rule that applies was seen to hold, and it seems to have nothing besides."""
    verdict = verify(name, MANY)

    passed, apart = verdict.count("pass"), verdict.count("not-applicable")
    assert verdict.line == f"{name}: {claim} ({passed} rules pass, {apart} not-applicable)"
    assert passed + apart == len(rules())
    assert passed >= 37


@pytest.mark.parametrize(
    ("name", "rule", "claim"),
    [
        ("twins:in_its_turn", "FAIL-2", "not conformant: core, ordered"),
        ("twins:mixing", "ELEM-5", "not conformant: core, unordered"),
        ("twins:waiting_for_clean_up", "TIME-2", "not conformant: core, ordered, timeouts"),
    ],
)
def test_its_broken_twin_is_convicted(name: str, rule: str, claim: str) -> None:
    """By the rule that it breaks, in the examples alone."""
    verdict = verify(name, FEW)

    assert verdict.claim == claim
    assert rule in {result.rule.id for result in verdict.failed}


def test_what_is_declared_and_not_there_is_a_failure() -> None:
    """A window that only says it has deadlines breaks the rules about them first."""
    verdict = verify("twins:deaf_to_timeouts", FEW)

    assert verdict.claim == "not conformant: core, ordered, timeouts"
    assert verdict.failed[0].rule.area == "TIME"
