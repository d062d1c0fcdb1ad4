"""Each test in here runs on both loops, on virtual clocks, and watches every shipped operator."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias

import anyio
import pytest
from operators import PLAIN_FORMS, anyio_backend

from asyncwait.spec import Mode
from asyncwait.toolkit import PlainResults

__all__ = ["anyio_backend"]

OpenSleeping: TypeAlias = Callable[..., AbstractAsyncContextManager[PlainResults[Any]]]


@pytest.fixture(params=PLAIN_FORMS)
def open_sleeping(request: pytest.FixtureRequest) -> OpenSleeping:
    forms = PLAIN_FORMS[request.param]

    async def sleep(seconds: float) -> float:
        await anyio.sleep(seconds)
        return seconds

    def open_form(*values: float, mode: Mode = "ordered", **settings: Any) -> Any:
        return forms[mode](values, sleep, **settings)

    return open_form
