"""Flink runs in this process: its Java machine starts once, with the first test that needs it."""

import pytest

from asyncwait.backends.flink import start_java


@pytest.fixture(scope="session")
def flink() -> None:
    start_java()
