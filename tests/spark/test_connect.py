"""A session of Spark Connect: the driver is another process, which knows no SparkContext here."""

import os
import subprocess
import sys
from pathlib import Path

import connect_job
import pytest


@pytest.mark.timeout(300)
def test_a_connect_session_does_what_others_do(tmp_path: Path) -> None:
    command = [sys.executable, connect_job.__file__, str(tmp_path)]
    beside = {**os.environ, "PYTHONPATH": str(Path(connect_job.__file__).parent)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=280, check=False, env=beside
    )
    assert done.returncode == 0, done.stderr
    whole, *told, limited, joined = done.stdout.splitlines()
    assert (whole, limited) == ("True", "100")
    assert joined == "['town 0', None, 'town 2']"
    assert "100 of 100 done, " in told[0]
    assert "2 done" in told[0]
    assert told[1].startswith("max_tasks must be given")
