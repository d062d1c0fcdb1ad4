"""The figures as a stream, and as metrics, as the SDK of OpenTelemetry collects them."""

import gc
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from operators import in_threads, seconds_now
from watched import Collected, Played

from asyncwait.backends.lookup import LookupStatistics
from asyncwait.backends.watching import _instruments, export_metrics, statistics_of
from asyncwait.backends.watching._figures import METRICS
from asyncwait.spec import InvalidConfig, MissingExtra, Retry, Statistics

pytestmark = pytest.mark.anyio


async def test_figures_come_at_once_and_every_so_many_seconds(open_sleeping: Any) -> None:
    seen: dict[float, tuple[int, int]] = {}

    async def watch(results: Any) -> None:
        async for figures in statistics_of(results, every=0.5):
            seen[seconds_now()] = (figures.in_flight, figures.held)

    async with open_sleeping(0.9, 1.6) as results, anyio.create_task_group() as group:
        await anyio.sleep(0.25)
        group.start_soon(watch, results)
        await anyio.sleep_until(2)
        taken = [result async for result in results]
        await anyio.sleep_until(2.5)
        group.cancel_scope.cancel()

    assert taken == [0.9, 1.6]
    assert seen == {0.25: (2, 0), 0.75: (2, 0), 1.25: (2, 1), 1.75: (2, 2), 2.25: (0, 0)}


async def test_what_is_missed_is_left_out() -> None:
    figures = statistics_of(Played(), every=1)
    times: list[float] = []
    for pause in (0.75, 0.75, 3.25, 0.5, 0):
        await anext(figures)
        times.append(seconds_now())
        await anyio.sleep(pause)

    assert times == [0, 1, 2, 5.25, 6.25]


async def test_what_is_no_operator_is_refused(open_sleeping: Any) -> None:
    context = open_sleeping(1)

    with pytest.raises(InvalidConfig, match=r"^results must be "):
        statistics_of(context)
    async with context:
        pass


@pytest.fixture
def collected() -> Iterator[Collected]:
    collected = Collected()
    yield collected
    collected.provider.shutdown()


async def test_each_figure_has_an_instrument() -> None:
    figures = {*Statistics.__struct_fields__, *LookupStatistics.__struct_fields__}
    assert {metric.figure for metric in METRICS} == figures


async def test_whoever_collects_on_the_loop_gets_the_present(
    open_sleeping: Any, collected: Collected
) -> None:
    retry = Retry(max_attempts=2, initial=0.5, attempt_timeout=1)
    async with (
        open_sleeping(0.5, 9, 2, 1, retry=retry, on_error="skip", capacity=3) as results,
        export_metrics(results, {"operator": "fetch"}, every=100, meter=collected.meter),
    ):
        await anyio.sleep(2)
        present = collected.told(operator="fetch")

    assert present == (
        "records.in_flight 3, elements.waiting 1, records.held 1, calls.started 5, "
        "calls.retries 2, records.max_in_flight 3, records.max_held 1, records.oldest 2"
    )


async def test_other_threads_get_what_was_read_last(
    open_sleeping: Any, collected: Collected
) -> None:
    seen: list[list[float]] = []

    def collect() -> None:
        seen.append(collected.some("calls.started", "records.held", "records.oldest"))

    async with (
        open_sleeping(0.75, 1.25, 9) as results,
        export_metrics(results, every=0.5, meter=collected.meter),
    ):
        in_threads(collect)
        for at in (0.6, 0.9, 1.4):
            await anyio.sleep_until(at)
            in_threads(collect)

    assert seen == [[0, 0, 0], [3, 0, 0.5], [3, 0, 0.5], [3, 1, 1]]


async def test_instruments_have_the_units_and_kinds_of_their_metrics(collected: Collected) -> None:
    async with export_metrics(Played(), meter=collected.meter):
        metrics = {metric.name: metric for metric in collected.metrics()}

    for each in METRICS:
        if (metric := metrics.get(each.name)) is not None:
            is_rising = getattr(metric.data, "is_monotonic", None)
            kind = {True: "counter", False: "up_down_counter", None: "gauge"}[is_rising]
            assert (kind, metric.unit) == (each.kind, each.unit)


async def test_a_lookup_tells_its_own_figures(collected: Collected) -> None:
    looking = Played()
    looking.figures = LookupStatistics(
        rows=9, hits=4, loads=5, in_flight=1, max_batch=3, mean_batch=2.5, latency_p99=0.25
    )
    async with export_metrics(looking, {"table": "users"}, meter=collected.meter):
        during = collected.figures(table="users")
    after = collected.figures(table="users")

    assert {name: value for name, value in during.items() if value} == {
        "asyncwait.records.in_flight": 1,
        "asyncwait.lookup.rows": 9,
        "asyncwait.cache.hits": 4,
        "asyncwait.cache.loads": 5,
        "asyncwait.lookup.mean_batch": 2.5,
        "asyncwait.lookup.max_batch": 3,
        "asyncwait.lookup.latency_p99": 0.25,
    }
    own = set(LookupStatistics.__struct_fields__) - {"latency_p50", "age"}
    assert during.keys() == {metric.name for metric in METRICS if metric.figure in own}
    assert {name: value for name, value in after.items() if value} == {
        "asyncwait.lookup.rows": 9,
        "asyncwait.cache.hits": 4,
        "asyncwait.cache.loads": 5,
    }


async def test_operators_with_the_same_attributes_are_added_up(collected: Collected) -> None:
    one = Played(in_flight=1, held=1, calls=9, max_in_flight=5, oldest=2.5)
    other = Played(in_flight=2, waiting=1, calls=3, max_in_flight=3, max_held=2, oldest=1)
    async with export_metrics(one, meter=collected.meter):
        async with export_metrics(other, meter=collected.meter):
            both = collected.told()
        first = collected.told()

    kept = "calls.started 12, records.max_in_flight 5, records.max_held 2, records.oldest 2.5"
    assert both == f"records.in_flight 3, elements.waiting 1, records.held 1, {kept}"
    assert first == f"records.in_flight 1, records.held 1, {kept}"


async def test_what_was_counted_stays(open_sleeping: Any, collected: Collected) -> None:
    figures = ("calls.started", "records.in_flight", "records.max_in_flight", "records.oldest")
    seen: list[list[float]] = []
    for values in ([1, 2, 3], [1, 2]):
        async with (
            open_sleeping(*values) as results,
            export_metrics(results, meter=collected.meter),
        ):
            seen.append(collected.some(*figures))
            await anyio.sleep(1.5)
            seen.append(collected.some(*figures))
        seen.append(collected.some(*figures))

    assert seen[:3] == [[0, 0, 0, 0], [3, 3, 3, 1.5], [3, 0, 3, 0]]
    assert seen[3:] == [[3, 0, 3, 0], [5, 2, 3, 1.5], [5, 0, 3, 0]]


async def test_an_operator_that_is_gone_is_not_kept(collected: Collected) -> None:
    left, dropped = Played(calls=1), Played(calls=2)
    gone = [weakref.ref(left), weakref.ref(dropped)]
    async with export_metrics(left, meter=collected.meter):
        pass
    context: Any = export_metrics(dropped, meter=collected.meter)
    context._watcher.begin()
    before = collected.some("calls.started")
    del left, dropped, context
    gc.collect()

    assert [each() for each in gone] == [None, None]
    assert (before, collected.some("calls.started")) == ([3], [1])


async def test_without_a_meter_it_is_that_of_the_global_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, ...]] = []
    collected = Collected()

    def get_meter(*arguments: str) -> Any:
        asked.append(arguments)
        return collected.meter

    monkeypatch.setattr(_instruments, "get_meter", get_meter)
    _instruments._global_meter.cache_clear()
    async with export_metrics(Played(calls=1), {"n": 1}), export_metrics(Played(calls=2), {"n": 2}):
        seen = [collected.some("calls.started", n=n) for n in (1, 2)]

    _instruments._global_meter.cache_clear()
    assert seen == [[1], [2]]
    assert [name for name, _ in asked] == ["asyncwait"]


async def test_without_opentelemetry_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "asyncwait.backends.watching._instruments", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", None)

    with pytest.raises(MissingExtra) as raised:
        export_metrics(Played())
    assert (raised.value.needs, raised.value.extra) == ("opentelemetry-api", "otel")
