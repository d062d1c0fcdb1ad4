"""What is left of the processes that a test has started, known by their environment."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows and adopts orphans")
"""Elsewhere what leaves the session of its child is left over, and nothing tells of it."""

SECONDS = 30.0


def carrying(mark: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def wait_until_gone(mark: str) -> None:
    wait_until(lambda: not carrying(mark))


def wait_until(is_so: Callable[[], bool]) -> None:
    give_up = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < give_up
        time.sleep(0.01)  # The end of another process sends no event.
