"""Files that anybody may have made are read within bounds, or refused in a line."""

import os
from pathlib import Path

import pytest
from outside import run

READERS = {
    "vectors": ("vectors", "run", "reference-asyncio", "FILE"),
    "expected failures": ("verify", "reference-asyncio", "--expected-failures", "FILE"),
    "report": ("report", "FILE"),
    "trace": ("play", "--judge", "FILE", "the-last-finishes-first"),
    "scenario": ("play", "reference-asyncio", "FILE"),
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate(4 << 30)
    return {"pipe": pipe, "device": Path("/dev/zero"), "large": large}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_no_file_is_waited_for_or_fills_the_memory(
    files: dict[str, Path], reader: str, kind: str
) -> None:
    arguments = [each.replace("FILE", str(files[kind])) for each in READERS[reader]]

    done = run(*arguments)

    assert done.exit_code == 2, done.output
    assert str(files[kind]) in done.stderr
    assert len(done.stderr.splitlines()) == 1
