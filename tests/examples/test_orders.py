"""The orders of `examples/lookup`: joined with prices in a real Redis, which change meanwhile."""

import asyncio
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module as of
from pathlib import Path
from typing import Any

import pytest
from example_modules import modules_of

ORDERS = 300


@pytest.fixture(scope="module")
def runs() -> Iterator[dict[str, Any]]:
    found = shutil.which("redis-server") or shutil.which(
        "redis-server", path=str(Path(sys.executable).parent)
    )
    assert found, "there is no redis-server on PATH; .ci/redis ENVIRONMENT brings one"
    with modules_of("lookup"):
        joining = of("joining")
        plan = joining.Plan(ORDERS, 3_000, seed=1)
        with joining.server(found) as url:
            yield {name: asyncio.run(joining.joined(name, plan, url)) for name in joining.WAYS}


def test_every_order_has_its_price_once(runs: dict[str, Any]) -> None:
    for run in runs.values():
        assert [each.order.number for each in run.joined] == list(range(ORDERS))
        assert run.too_old() == []


def test_a_cache_and_batches_save_requests(runs: dict[str, Any]) -> None:
    ttl = of("joining").TTL
    for name in ("cache", "cache and batch"):
        orders = runs[name].joined
        lives = 1 + (orders[-1].at - orders[0].order.at) / ttl
        assert orders[-1].so_far.loads <= len({each.order.product for each in orders}) * lives
    assert [runs[name].figures()[0] for name in ("neither", "batch")] == [0, 0]
    assert runs["batch"].joined[-1].so_far.mean_batch > 1


def test_a_machine_without_redis_is_told(
    runs: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert runs
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)

    assert of("orders").main(["--orders", "5"]) == 2
    assert capsys.readouterr().err == "error: there is no redis-server on PATH; install it\n"
