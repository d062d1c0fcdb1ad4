"""The modules of an example, which import each other by their plain names, and its command."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@contextmanager
def modules_of(name: str) -> Iterator[None]:
    folder = EXAMPLES / name
    names = [path.stem for path in folder.glob("*.py")]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for each in names:
            sys.modules.pop(each, None)
        yield
        for each in names:
            sys.modules.pop(each, None)


def run_example(name: str, *options: str, seconds: float) -> subprocess.CompletedProcess[str]:
    command = EXAMPLES / name / "run.py"
    beside = {**os.environ, "PYTHONPATH": str(command.parent)}  # Python may be told not to look.
    return subprocess.run(
        [sys.executable, str(command), *options],
        env=beside,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
