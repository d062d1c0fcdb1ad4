"""What the tests of the suite share."""

from collections.abc import Iterator

import pytest
import suite

from asyncwait.conformance.evidence import Example
from asyncwait.conformance.generation import QUICK, generate
from asyncwait.spec.scenario import Scenario


@pytest.fixture
def few_examples() -> Iterator[tuple[Example, ...]]:
    """What is verified in this process is verified by these, which are about a few rules.

    Most tests of verifying ask for such a rule and what becomes of it, not for all scenarios.
    """
    few = suite.few_examples()
    with suite.playing(few):
        yield few


@pytest.fixture(scope="session")
def quick_scenarios() -> tuple[Scenario, ...]:
    return generate(QUICK, 0)


@pytest.fixture(autouse=True)
def no_step_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
