"""Each test in here runs on every shipped operator and on both loops, on virtual clocks."""

import pytest
from operators import OPERATORS, anyio_backend

from asyncwait.spec import OpenOperator

__all__ = ["anyio_backend"]


@pytest.fixture(params=OPERATORS)
def open_operator(request: pytest.FixtureRequest) -> OpenOperator:
    """Every shipped operator."""
    return OPERATORS[request.param]
