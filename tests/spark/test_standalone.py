"""A cluster with a master and two workers, of which one is killed while a job runs."""

import re
import subprocess
import sys
import time
from ast import literal_eval
from pathlib import Path

import pytest
import standalone_job
from standalone import standalone

WITHIN = 500.0
"""Seconds; on a machine with nothing else to do it takes twenty."""


def calls(folder: Path) -> int:
    notes = folder / "calls"
    return len(notes.read_text().split()) if notes.exists() else 0


@pytest.mark.timeout(1_200)
def test_a_job_goes_on_when_a_worker_is_killed(tmp_path: Path) -> None:
    with standalone(tmp_path) as cluster:
        command = [sys.executable, standalone_job.__file__, cluster.url, str(tmp_path)]
        with (tmp_path / "job.log").open("wb") as log:
            job = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + WITHIN
        while calls(tmp_path) < 300:
            assert job.poll() is None, (tmp_path / "job.log").read_text()
            assert time.monotonic() < until
            time.sleep(0.01)  # A file in which another process writes rings no bell.
        cluster.kill_worker()
        assert job.wait(WITHIN) == 0, (tmp_path / "job.log").read_text()

    rows = literal_eval((tmp_path / "rows").read_text())
    assert rows == [(number, 2 * number) for number in range(1000)]
    assert 1000 <= calls(tmp_path) <= 1000 + 5
    summary = (tmp_path / "summary").read_text()
    assert "1,000 of 1,000 done" in summary
    # What the killed worker has called since its last report nobody knows.
    assert re.search(r"calls +[\d,]+ calls, of which \d+ in 1 attempt that failed", summary)
