"""The run in `examples/payments`: streams on Spark are killed half-way, and started again."""

import pytest
from example_modules import run_example


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
