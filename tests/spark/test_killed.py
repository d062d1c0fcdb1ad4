"""Jobs whose workers and drivers are killed, in processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "killed.py"


@pytest.mark.timeout(300)
def test_a_killed_job_loses_nothing_and_pays_for_little_twice() -> None:
    """Two workers, and two drivers; the script says how it went."""
    command = [sys.executable, str(SCRIPT), "--kills", "2", "--rows", "300"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in told] == ["workers", "drivers"]
    assert all("300 rows, each once and in order" in line for line in told)
