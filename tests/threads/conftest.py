"""The tests in here run real threads on real clocks: they wait for events, and hardly for time."""

import sys
from collections.abc import Iterator

import pytest
from blocking import WAITS, Gated, ours
from remains import wait_until


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=list(WAITS))
def mode(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def fn() -> Iterator[Gated]:
    """A function whose calls wait to be let go; in the end all are."""
    gated = Gated()
    yield gated
    gated.open_all()


@pytest.fixture(autouse=True)
def nothing_left(fn: Gated) -> Iterator[None]:
    yield
    fn.open_all()
    wait_until(lambda: not ours())


@pytest.fixture
def hasty_switches() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)
