"""A session of Spark Connect: the driver is another process, which knows no SparkContext here."""

import subprocess
import sys
from pathlib import Path

import connect_job
import pytest


@pytest.mark.timeout(300)
def test_a_connect_session_does_what_others_do(tmp_path: Path) -> None:
    """But it does not tell how many tasks there are at a time, so that has to be said."""
    command = [sys.executable, connect_job.__file__, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "True",
        "['rows    100 of 100 done, 100 in, 100 out', 'calls   100 calls', 'tasks   2 done']",
        (
            "max_tasks must be given: this session does not tell how many tasks run at a time, "
            "got None (NoneType)"
        ),
        "100",
    ]
