"""The run in `examples/airports`: real HTTP, a real kill, and hardly a call is completed twice."""

import errno
import json
import os
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module as of
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from example_modules import modules_of, said_without

AIRPORTS, CAPACITY, LIMIT = 200, 10, 40


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    with modules_of("airports"):
        yield of("run")


@pytest.fixture(scope="module")
def made(example: Any) -> Any:
    job = of("fetching").Job(AIRPORTS, capacity=CAPACITY)
    behaviour = of("weather").Behaviour(median=0.01, failing=0.1, broken=0.03, limit=LIMIT)
    return of("killing").run("pool", job, behaviour)


def test_every_airport_has_its_row_once(made: Any) -> None:
    known, weather = of("fetching").airports(AIRPORTS), of("weather")
    behaviour = weather.Behaviour(broken=0.03)

    assert [tuple(row[:2]) for row in made.result.rows] == known
    for icao, _, temperature, wind, error in made.result.rows:
        right = behaviour.weather(icao)
        assert (error is not None) == behaviour.is_broken(icao)
        assert error or (temperature, wind) == (right["temperature"], right["wind"])


def test_what_was_completed_is_found(made: Any) -> None:
    assert of("figures").mismatches(made) == []
    assert of("figures").completed_twice(made.log) <= CAPACITY
    assert made.result.found >= AIRPORTS // 2 - CAPACITY


def test_everything_occurs(made: Any) -> None:
    assert made.answered(429)
    assert made.answered(500)
    assert made.errors


def test_no_more_calls_are_served_in_a_second_than_may_be(made: Any) -> None:
    served = Counter(int(call.began) for call in made.log if call.status != 429)
    ranked = sorted(made.log, key=lambda call: (call.icao, call.began))
    early = [
        one
        for one, other in pairwise(ranked)
        if one.icao == other.icao and one.status == 429 and int(one.began) == int(other.began)
    ]

    assert max(served.values()) <= LIMIT
    assert all(call.began <= made.moments.killed for call in early)


def test_figures_of_a_log(example: Any) -> None:
    figures, call = of("figures"), of("weather").Call
    log = [
        call("EDDF", 1.0, 4.0, 200),
        call("KJFK", 2.0, 3.0, 500),
        call("KJFK", 3.0, 5.0, 200),
        call("EDDF", 6.0, 7.0, 200),
        call("LFPG", 6.0, 6.0, 429),
    ]

    assert figures.completed_twice(log) == 1
    assert [figures.under_way(log, at) for at in (0.5, 2.5, 3.0, 5.0, 6.5)] == [0, 2, 2, 0, 1]
    assert of("shown").in_flight(log) == [
        (1.0, 1), (2.0, 2), (3.0, 2), (4.0, 1), (5.0, 0), (6.0, 1), (7.0, 0)
    ]  # fmt: skip


def test_a_difference_is_told(made: Any) -> None:
    told = of("figures").mismatches
    result, log = made.result, made.log
    good = next(row[0] for row in result.rows if row[4] is None)

    rows = told(replace(made, result=replace(result, rows=result.rows[1:])))
    lost = told(replace(made, log=[call for call in log if call.icao != good]))
    found = told(replace(made, result=replace(result, found=result.found + 1)))
    often = told(replace(made, log=[*log, *made.answered(200)]))

    assert rows[0] == f"pool: rows: {AIRPORTS - 1}, and not {AIRPORTS}"
    assert lost[0].startswith("pool: rows with an answer: ")
    assert found == [f"pool: found in the journal: {result.found + 1}, and not {result.found}"]
    assert often[-1].endswith(f" completed twice, of {CAPACITY} that may be")


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
    monkeypatch.setattr(of("killing"), "run", lambda *_, **__: wrong)

    assert example.main(["--on", "pool", "--quiet"]) == 1
    told = f"error: pool: found in the journal: 0, and not {made.result.found}\n"
    assert capsys.readouterr().err == told


def test_a_job_that_fails_is_told(example: Any, tmp_path: Path) -> None:
    killing = of("killing")
    (tmp_path / "result").write_text(json.dumps({"error": "no Java here"}))

    with pytest.raises(killing.Trouble, match=r"^no Java here$"):
        killing._result(tmp_path, 0)
    with pytest.raises(killing.Trouble, match=r"^the job has failed, with exit code 1$"):
        killing._result(tmp_path, 1)


NEEDED = {name: name for name in ("airportsdata", "httpx", "matplotlib")}
NEEDED |= {"rich": "'asyncwait[progress]'", "pyspark": "'asyncwait[spark]'"}


@pytest.mark.parametrize("package", NEEDED)
def test_what_is_missing_is_named(
    example: Any, package: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = f"{package} is not installed; try: pip install {NEEDED[package]}"
    assert said_without(package, example, NEEDED, capsys) == f"error: {told}\n"


def test_a_port_that_is_taken_is_told(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        assert example.main(["--on", "pool", "--port", str(port)]) == 2
    assert capsys.readouterr().err == f"error: port {port}: {os.strerror(errno.EADDRINUSE)}\n"
