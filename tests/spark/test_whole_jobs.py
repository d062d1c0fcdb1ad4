"""Whole jobs: the pages in this process; a cluster, Spark Connect and two examples apart."""

import os
import re
import subprocess
import sys
import time
from ast import literal_eval
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import connect_job
import pytest
import standalone
from example_modules import run_example
from pages import blocks_of, run
from streams import feed, score, two_lanes, until

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.conformance._streams import sunk

DOCS = Path(__file__).resolve().parents[2] / "docs"
TUTORIAL, LOOKUP = DOCS / "tutorials" / "dataframe.md", DOCS / "lookup.md"
STREAMS = DOCS / "streams.md"
WITHIN = 500.0
"""Seconds; on a machine with nothing else to do it takes twenty."""


def test_the_tutorial_prints_what_it_says(spark: EmbeddedSpark) -> None:
    blocks = [block for section in blocks_of(TUTORIAL).values() for block in section]
    names: dict[str, Any] = {"__name__": "__main__"}  # functions travel by value

    printed = [run(block, TUTORIAL, names) for block in blocks]

    assert printed == [block.printed for block in blocks]


def test_the_section_on_lookup_joins_prints_what_it_says(spark: EmbeddedSpark) -> None:
    (block,) = blocks_of(LOOKUP)["Join a DataFrame"]

    assert run(block, LOOKUP, {"__name__": "__main__"}) == block.printed


@pytest.mark.timeout(400)
def test_the_page_on_streams_shows_what_runs(
    spark: EmbeddedSpark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # A block writes a file.
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    feed(tmp_path / "in", 0, range(5))

    names: dict[str, Any] = {
        "spark": spark.session,
        "events": spark.session.readStream.schema("id long, time timestamp").json(
            str(tmp_path / "in")
        ),
        "score": score,
        "out": str(tmp_path / "out"),
        "checkpoint": str(tmp_path / "checkpoint"),
    }
    first, *others = [
        block
        for section in blocks_of(STREAMS).values()
        for block in section
        if block.language == "python"
    ]
    with ExitStack() as ending:
        ending.enter_context(two_lanes(spark))
        run(first, STREAMS, names)
        query = names["query"]
        ending.callback(query.stop)
        until(lambda: sum(table.num_rows for table in sunk(tmp_path / "out")) == 5, query)
        for block in others:
            run(block, STREAMS, names)
    rows = (row for table in sunk(tmp_path / "out") for row in table.to_pylist())

    assert sorted((row["id"], row["score"]) for row in rows) == [
        (each, each / 2) for each in range(5)
    ]
    assert names["counts"].columns == ["window", "count"]


def calls(folder: Path) -> int:
    notes = folder / "calls"
    return len(notes.read_text().split()) if notes.exists() else 0


@pytest.mark.sampled(3, of="killed jobs")
@pytest.mark.timeout(1_200)
def test_a_job_goes_on_when_a_worker_is_killed(tmp_path: Path) -> None:
    with standalone.standalone(tmp_path) as cluster:
        command = [sys.executable, standalone.__file__, cluster.url, str(tmp_path)]
        with (tmp_path / "job.log").open("wb") as log:
            job = subprocess.Popen(command, stdout=log, stderr=log)
        over = time.monotonic() + WITHIN
        while calls(tmp_path) < 300:
            assert job.poll() is None, (tmp_path / "job.log").read_text()
            assert time.monotonic() < over
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


@pytest.mark.sampled(3, of="killed jobs")
@pytest.mark.timeout(300)
def test_a_job_that_was_killed_finds_what_was_completed() -> None:
    options = ["--airports", "200", "--on", "spark", "--capacity", "10"]
    done = run_example("airports", *options, seconds=280)

    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.strip("│ ").split("│") for line in done.stdout.splitlines() if "│" in line]
    figures = {name.strip(): figure.strip() for name, figure in lines}
    assert (figures["airports"], figures["rows"]) == ("200", "200")
    assert int(figures["answers completed twice"]) <= 10
    assert int(figures["found in the journal"]) >= 90
    assert "200 of 200 done" in done.stderr


@pytest.mark.sampled(3, of="killed jobs")
@pytest.mark.timeout(1200)
def test_a_stream_that_was_killed_pays_for_nothing_twice() -> None:
    done = run_example("payments", "--seconds", "3", "--way", "carry", seconds=1150)

    assert done.returncode == 0, done.stdout + done.stderr
    figures = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines()[1:])
    come = figures["payments in"]
    expected = {"scores out once": come, "out twice": "0", "lost": "0"}
    expected |= {"paid for once": come, "paid for twice": "0"}
    assert int(come) >= 3 * 20
    assert {name: figures[name] for name in expected} == expected
    assert "carry: killed with " in done.stderr
