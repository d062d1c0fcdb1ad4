"""What the tests of the emitter share: both loops on virtual clocks."""

from typing import Any

import pytest
from operators import virtual_loop


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Both loops, each on a clock of its own that starts at 0 and jumps to the next timer."""
    return virtual_loop(request.param)
