"""Flink runs in this process: its Java machine starts once, with the first test that needs it."""

from pathlib import Path

import pytest
from outside import Folder

from asyncwait.backends.flink import start_java


@pytest.fixture(scope="session")
def flink() -> None:
    """Flink is there."""
    start_java()


@pytest.fixture
def outside(tmp_path: Path) -> Folder:
    """An empty folder outside the repository."""
    return Folder(tmp_path)
