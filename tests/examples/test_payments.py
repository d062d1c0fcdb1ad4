"""The parts of `examples/payments` that need no Spark: service, figures, and what is told."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module as of
from typing import Any

import httpx
import pytest
from example_modules import modules_of


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    with modules_of("payments"):
        yield of("run")


@pytest.fixture
def made(example: Any) -> Any:
    figures, service = of("figures"), of("service")
    payments = [figures.Payment(each, each % 2, float(each)) for each in range(8)]
    scored = [figures.Scored(each, service.score(each.id), each.at + 2) for each in payments]
    log = [service.Call(each.id, each.at + 1, each.at + 1.5, 200) for each in payments]
    log.append(service.Call(3, 4.0, 4.1, 500))
    return figures.Run("carry", payments, scored, log, 5.0, 1)


def test_the_figures_of_a_run(made: Any) -> None:
    assert of("figures").column(made) == {
        "payments in": "8",
        "calls under way at the kill": "1",
        "scores out once": "8",
        "out twice": "0",
        "lost": "0",
        "out of their account's order": "0",
        "paid for once": "8",
        "paid for twice": "0",
        "errors (500), called again": "1",
        "fast, before the kill: median": "2.0 s",
        "fast, before the kill: 99 %": "2.0 s",
    }
    assert of("figures").mismatches(made) == []


def test_a_difference_is_told(made: Any) -> None:
    scored, log = made.scored, made.log
    wrong = scored[1]._replace(score=2.0)
    cases = {
        "scores out: 7, and not 8": {"scored": scored[:-1]},
        "scores out twice: 1, and not 0": {"scored": [*scored, scored[-1]]},
        "scores of other payments: 1, and not 0": {"scored": [scored[0], wrong, *scored[2:]]},
        "payments paid for: 7, and not 8": {"log": log[1:]},
        "payments paid for twice: 1, and not 0": {"log": [*log, log[0]]},
        "payments out of their account's order: 1, and not 0": {
            "scored": [scored[2], scored[1], scored[0], *scored[3:]]
        },
    }

    for told, change in cases.items():
        assert of("figures").mismatches(replace(made, **change)) == [f"carry: {told}"]


def test_the_service_bills_scores_and_no_errors(
    example: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = of("service")
    monkeypatch.setattr(service, "FAST", 0)
    attempts = ((each, [service.fails(each, attempt) for attempt in (1, 2)]) for each in range(100))
    failing = next(each for each, failed in attempts if failed == [True, False])

    with (
        service.running() as running,
        httpx.Client(base_url=running.url, trust_env=False) as client,
    ):
        answers = [client.get(f"/score/{failing}") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [500, 200]
    assert answers[1].json() == {"score": service.score(failing)}
    assert [(call.payment, call.status) for call in running.log] == [(failing, 500), (failing, 200)]
    assert sum(map(service.is_slow, range(1_000))) == 10
