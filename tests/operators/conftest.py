"""Each test in here runs on every shipped operator and on both loops, on virtual clocks."""

from typing import Any

import pytest
from operators import OPERATORS, virtual_loop

from asyncwait.spec import OpenOperator


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Both loops."""
    return virtual_loop(request.param)


@pytest.fixture(params=OPERATORS)
def open_operator(request: pytest.FixtureRequest) -> OpenOperator:
    """Every shipped operator."""
    return OPERATORS[request.param]
