"""What the tests of the suite share."""

from pathlib import Path

import pytest
from outside import Folder

from asyncwait.conformance.generation import QUICK, generate
from asyncwait.conformance.harness import play
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import Scenario, Trace


@pytest.fixture
def outside(tmp_path: Path) -> Folder:
    """An empty folder outside the repository."""
    return Folder(tmp_path)


@pytest.fixture(scope="session")
def quick_scenarios() -> tuple[Scenario, ...]:
    """The generated scenarios of a quick verification."""
    return generate(QUICK, 0)


@pytest.fixture(scope="session")
def quick_runs(quick_scenarios: tuple[Scenario, ...]) -> list[tuple[Scenario, Trace]]:
    """What the reference does in them."""
    return [(scenario, play(open_operator, scenario)) for scenario in quick_scenarios]


@pytest.fixture(autouse=True)
def no_step_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where GitHub runs the tests, what they verify is no part of its page."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
