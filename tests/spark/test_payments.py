"""The run in `examples/payments`: streams on Spark are killed half-way, and started again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(__file__).parents[2] / "examples" / "payments" / "run.py"


@pytest.mark.timeout(600)
def test_a_stream_that_was_killed_pays_for_nothing_twice() -> None:
    """The command compares scores, their order and the log of the service: nothing is wrong."""
    options = ["--seconds", "3", "--way", "carry"]
    env = {**os.environ, "PYTHONPATH": str(COMMAND.parent)}  # Python may be told not to look there
    done = subprocess.run(
        [sys.executable, str(COMMAND), *options],
        env=env,
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    figures = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines()[1:])
    come = figures["payments in"]
    expected = {"scores out once": come, "out twice": "0", "lost": "0"}
    expected |= {"paid for once": come, "paid for twice": "0"}
    assert int(come) >= 3 * 20
    assert {name: figures[name] for name in expected} == expected
    assert "carry: killed with " in done.stderr
