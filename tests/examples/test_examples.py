"""Small operators of plain asyncio conform to what they declare."""

from pathlib import Path

import pytest
import sample
import suite

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import declared

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples, and this process tells its children where they are."""
    monkeypatch.syspath_prepend(EXAMPLES)


def test_every_example_is_verified() -> None:
    """A new one has a line in the table below."""
    names = {f"{path.stem}:backend" for path in EXAMPLES.glob("*.py")}

    assert names == {"sliding_window:backend", "as_completed:backend", "deadlines:backend"}


@pytest.mark.sampled(3)
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
    with suite.by_day(declared(claim.removeprefix("conformant: core, ").split(", ")), name):
        verdict = verify(name, Coverage(200 if sample.SEED == sample.WHOLE else 50))

    passed, apart = verdict.count("pass"), verdict.count("not-applicable")
    assert verdict.line == f"{name}: {claim} ({passed} rules pass, {apart} not-applicable)"
    assert passed + apart == len(rules())
    assert passed >= 37
