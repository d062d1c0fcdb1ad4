"""The run in `examples/airports`: real HTTP, a real kill, and hardly a call is completed twice."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module as of
from typing import Any

import pytest
from example_modules import modules_of

AIRPORTS, CAPACITY, LIMIT = 200, 10, 40


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    with modules_of("airports"):
        yield of("run")


@pytest.fixture(scope="module")
def made(example: Any) -> Any:
    job = of("jobs").Job(AIRPORTS, capacity=CAPACITY)
    behaviour = of("weather").Behaviour(median=0.01, failing=0.1, broken=0.03, limit=LIMIT)
    return example.run("pool", job, behaviour)


def test_every_airport_has_its_row_once(made: Any) -> None:
    known, weather = of("jobs").airports(AIRPORTS), of("weather")
    behaviour = weather.Behaviour(broken=0.03)

    assert [tuple(row[:2]) for row in made.result.rows] == known
    for icao, _, temperature, wind, error in made.result.rows:
        right = behaviour.weather(icao)
        assert (error is not None) == behaviour.is_broken(icao)
        assert error or (temperature, wind) == (right["temperature"], right["wind"])


def test_what_was_completed_is_found(made: Any) -> None:
    assert of("figures").mismatches(made) == []
    assert made.completed_twice() <= CAPACITY
    assert made.result.found >= AIRPORTS // 2 - CAPACITY


def test_everything_occurs(made: Any) -> None:
    assert made.answered(429)
    assert made.answered(500)
    assert made.errors


def test_the_command_prints_a_table(example: Any, capfd: pytest.CaptureFixture[str]) -> None:
    code = example.main(["--airports", "100", "--capacity", "2", "--on", "threads"])

    shown = capfd.readouterr()
    assert code == 0, shown.err
    assert "answers completed twice" in shown.out
    assert "threads: killed half-way; it is started again" in shown.err
    assert "threads" in shown.err.splitlines()[-1]


def test_figures_that_differ_are_an_error(
    example: Any, made: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = replace(made, result=replace(made.result, found=0))
    monkeypatch.setattr(example, "run", lambda *_: wrong)

    assert example.main(["--on", "pool"]) == 1
    told = f"error: pool: found in the journal: 0, and not {made.result.found}\n"
    assert capsys.readouterr().err == told
