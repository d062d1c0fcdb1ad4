"""The run in `examples/http` counts what its service counts. It is real HTTP, in real time."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from programs import of, program

ONES = ("pool", "threads")


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    """Its module `run`."""
    with program("http") as run:
        yield run


@pytest.fixture(scope="module")
def runs(example: Any) -> dict[str, Any]:
    """A small run of each, in which everything occurs."""
    job = of("fetching").Job(60, capacity=20, timeout=1.5, patience=0.6, back_off=0.01)
    behaviour = of("service").Behaviour(
        median=0.005, busy=0.1, failing=0.1, broken=0.05, stuck=0.05, retry_after=0.05
    )
    return {on: example.run(on, job, behaviour) for on in ONES}


@pytest.mark.parametrize("on", ONES)
def test_the_service_has_counted_the_same(on: str, runs: dict[str, Any]) -> None:
    """Calls and retries, answers and what has none, are the same at both ends."""
    assert of("looking").mismatches(runs[on]) == []


@pytest.mark.parametrize("on", ONES)
def test_everything_occurs(on: str, runs: dict[str, Any]) -> None:
    """The comparison says something: there are retries, 429s, errors and cancelled requests."""
    made, figures = runs[on], runs[on].fetched.statistics

    assert figures.retries > 0
    assert made.answered(429)
    assert made.answered(500)
    assert made.late
    assert len(made.fetched.results) == 60


def test_a_request_that_is_stuck_is_given_up(runs: dict[str, Any]) -> None:
    """By the pool at its deadline; in threads the client does it, which leaves none behind."""
    behaviour = runs["pool"].behaviour
    stuck = {number for number in range(60) if behaviour.answer(number, 1).seconds > 1}

    assert stuck
    assert stuck <= runs["pool"].missing("deadline")
    assert stuck <= runs["threads"].late


def test_a_difference_is_told(runs: dict[str, Any]) -> None:
    """A call more than the service has seen, an answer that it never gave, a retry too early."""
    made = runs["pool"]
    fetched, log = made.fetched, made.log
    looking = of("looking")
    good = next(call for call in log if call.status == 200 and call.number not in made.late)
    without = [call for call in log if call != good]
    figures = fetched.statistics
    more = type(figures)(calls=figures.calls + 1, retries=figures.retries)

    lost = looking.mismatches(replace(made, log=without))
    counted = looking.mismatches(replace(made, fetched=replace(fetched, statistics=more)))
    slower = replace(made, behaviour=replace(made.behaviour, retry_after=10))
    early = looking.mismatches(slower)

    assert any(line.startswith(f"pool: calls: {figures.calls} here, ") for line in lost)
    assert any(line.startswith("pool: answers: ") for line in lost)
    assert any(line.startswith(f"pool: calls: {figures.calls + 1} here, ") for line in counted)
    assert any("before the time that the service had told" in line for line in early)


def test_figures_of_a_log(example: Any) -> None:
    """Calls in flight are those that have begun and not ended; a percentile is a value."""
    looking, call = of("looking"), of("service").Call
    log = [call(0, 5.0, 8.0, 200), call(1, 6.0, 7.0, 500), call(2, 7.0, 9.0, 200)]

    assert looking.in_flight(log, 5.0) == [(0.0, 1), (1.0, 2), (2.0, 2), (3.0, 1), (4.0, 0)]
    assert looking.most_in_flight(log) == 2
    assert looking.most_in_flight([]) == 0
    assert [looking.percentile([3, 1, 2], share) for share in (0.5, 0.99)] == [2, 3]


def test_the_command_prints_a_table(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """And exits with 0, as both sides have counted the same."""
    code = example.main(["--requests", "9", "--seed", "3", "--on", "pool"])

    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert "requests " in shown.out
    assert "most calls in flight" in shown.out
    assert "9 of 9 done" in shown.err


def test_a_mismatch_is_an_error(
    example: Any,
    runs: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is told in a line, and the exit code is 1."""
    made = runs["threads"]
    monkeypatch.setattr(example, "run", lambda *_, **__: replace(made, log=made.answered(200)))

    assert example.main(["--on", "threads", "--quiet"]) == 1
    assert capsys.readouterr().err.startswith("error: threads: ")
