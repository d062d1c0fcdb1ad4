"""Each test in here runs on every shipped operator and on both loops, on virtual clocks."""

import pytest
from operators import EVERY, OPERATORS, anyio_backend

__all__ = ["anyio_backend"]


def pytest_configure(config: pytest.Config) -> None:
    line = "all_profiles: it runs on the operators that have all profiles, and not on the emitter"
    config.addinivalue_line("markers", line)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "open_operator" in metafunc.fixturenames:
        is_limited = metafunc.definition.get_closest_marker("all_profiles") is not None
        chosen = OPERATORS if is_limited else EVERY
        metafunc.parametrize("open_operator", chosen.values(), ids=chosen)
