"""The run in `examples/airports` on Spark: its driver is killed half-way, and started again."""

import pytest
from example_modules import run_example


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
