"""Long runs go on where they were killed, and tell of an operator that loses something."""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from where import ROOT

COMMAND = [sys.executable, str(ROOT / "benchmarks/soak.py")]
SIZE = ["--records", "10000", "--every", "500"]
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    def begin(*parts: str) -> "subprocess.Popen[bytes]":
        page = f"--page={tmp_path}/page.md"
        return subprocess.Popen(
            [*COMMAND, str(tmp_path / "state.jsonl"), *parts, *SIZE, page],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT / "benchmarks")},  # it may be kept off
        )

    return begin


def readings(folder: Path) -> list[dict[str, Any]]:
    state = folder / "state.jsonl"
    text = state.read_bytes() if state.exists() else b""
    lines = map(json.loads, text[: text.rfind(b"\n") + 1].splitlines())
    return [line for line in lines if "done" in line]


def test_a_run_that_is_killed_goes_on_from_its_last_crash(tmp_path: Path, start: Start) -> None:
    with start("pool-asyncio ordered") as killed:
        while len(readings(tmp_path)) < 3:
            assert killed.poll() is None
            time.sleep(0.01)  # the real process writes its state to a file
        killed.kill()
    seen = len(readings(tmp_path))
    with (tmp_path / "state.jsonl").open("ab") as state:
        state.write(b'{"part": "pool-asyn')

    assert start("pool-asyncio ordered").wait() == 0

    noted = readings(tmp_path)
    assert seen < len(noted) == 20
    assert [line["done"] for line in noted] == [*range(500, 10_001, 500)]
    assert len({line["process"] for line in noted}) == 2
    last = noted[-1]
    assert (last["crashes"], last["left"]) == (19, [0, 0, 0])
    assert not any(last[count] for count in ("lost", "twice", "wrong", "disorder"))
    page = (tmp_path / "page.md").read_text()
    assert "1 of 1 parts are finished" in page
    assert "| pool-asyncio ordered | 10,000 | 10,000 | 19 | 0 | 0 | 0 | 0 | 0, 0, 0 |" in page


@pytest.mark.parametrize(
    ("fault", "count"),
    [("restores-only-what-finds-room", "lost"), ("restores-from-the-end", "disorder")],
)
def test_an_operator_that_restores_wrongly_is_told(
    tmp_path: Path, start: Start, fault: str, count: str
) -> None:
    assert start(f"faulty-{fault} ordered").wait() == 1

    assert readings(tmp_path)[-1][count] > 0
    assert "| broken |" in (tmp_path / "page.md").read_text()


def test_a_part_that_fails_is_told_and_the_next_one_is_done(tmp_path: Path, start: Start) -> None:
    assert start("nobody ordered", "pool-asyncio unordered").wait() == 3

    assert "Not begun are `nobody ordered`" in (tmp_path / "page.md").read_text()
    assert readings(tmp_path)[-1]["done"] == 10_000


def test_memory_is_flat_where_it_is_the_same_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from soak import flat

    assert flat([10.0, *[60.0, 61.0] * 20]).endswith("flat")
    assert flat([*itertools.accumulate([60.0, *[0.2] * 40])]).endswith("grows")
    assert flat([60.0] * 8) == "too few readings"
