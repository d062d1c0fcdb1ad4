"""Random streams, compared with what is legal for them: order, multiset, capacity, restoring."""

import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Mode,
    OperatorConfig,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.snapshots import decode_snapshot, encode_snapshot

pytestmark = pytest.mark.anyio

SEEDS = range(40)


class Plan:
    """What a random run is made of; the same seed plans the same run."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.capacity = draw.choice([1, 2, 3, 6])
        self.timeout = draw.choice([None, None, 4])
        self.latency = {value: draw.choice([0, 0, 1, 2, 3, 6]) for value in range(8)}
        self.results = {value: draw.choice([0, 1, 1, 1, 2, 3]) for value in range(8)}
        self.gaps = draw.choice([(0,), (0, 0, 1), (0, 0, 2, 5)])
        self.pauses = draw.choice([(0,), (0, 0, 0, 3)])
        self.elements = [self._element(draw, index) for index in range(24)]
        self.draw = draw

    def _element(self, draw: random.Random, index: int) -> Element:
        kind = draw.random()
        if kind < 0.75:
            return Record(draw.randrange(8), draw.choice([None, index]), draw.choice([None, "k"]))
        if kind < 0.85:
            return Watermark(index)
        if kind < 0.9:
            return WatermarkStatus(draw.random() < 0.5)
        return Barrier(index)

    def expected(self, record: Record) -> list[Record]:
        """The results of a record: a value, an ordinal, and whether it timed out."""
        late = self.timeout is not None and self.latency[record.value] > self.timeout
        texts = [f"{record.value}.{i}{' late' * late}" for i in range(self.results[record.value])]
        return [Record(text, record.timestamp, record.key) for text in texts]

    def config(self, mode: Mode) -> OperatorConfig:
        """The operator's, in this mode."""
        return OperatorConfig(mode, self.capacity, self.timeout)


class Function:
    """Behaves as planned, and notes how many calls are undecided at once."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._undecided = 0
        self.most = 0

    async def __call__(self, value: int) -> list[str]:
        """Give the planned results after the planned time."""
        self._undecided += 1
        self.most = max(self.most, self._undecided)
        await anyio.sleep(self._plan.latency[value])
        self._undecided -= 1
        return [f"{value}.{i}" for i in range(self._plan.results[value])]

    def timeout(self, value: int) -> list[str]:
        """Give as many results as the call would have."""
        self._undecided -= 1
        return [f"{value}.{i} late" for i in range(self._plan.results[value])]


async def source(plan: Plan, start: int) -> AsyncIterator[Element]:
    """The planned elements from number `start` on, with gaps."""
    draw = random.Random(start)
    for element in plan.elements[start:]:
        await anyio.sleep(draw.choice(plan.gaps))
        yield element


async def read_on(plan: Plan, results: Any, into: list[Element], most: int) -> bool:
    """Read up to `most` elements, with pauses and abandoned waits; tell whether that was all."""
    for _ in range(most):
        await anyio.sleep(plan.draw.choice(plan.pauses))
        count = len(into)
        while len(into) == count:
            with anyio.move_on_after(0.5):
                try:
                    into.append(await anext(results))
                except StopAsyncIteration:
                    return True
    return False


def assert_legal(plan: Plan, mode: Mode, out: list[Element]) -> None:
    """Judge a whole output: fences in place, results of one record together, nothing else."""
    inputs = [e for e in plan.elements if not isinstance(e, Barrier | LatencyMarker)]
    outputs = [e for e in out if not isinstance(e, Snapshot)]
    for fenced, seen in zip(_segments(inputs), _segments(outputs), strict=True):
        assert seen[-1:] == fenced[-1:] or not _is_fence(fenced[-1:])
        expected = [plan.expected(e) for e in fenced if isinstance(e, Record)]
        records = [e for e in seen if isinstance(e, Record)]
        if mode == "ordered":
            assert records == [result for results in expected for result in results]
        else:
            assert Counter(_grouped(records)) == Counter(tuple(r) for r in expected if r)


def _segments(elements: Sequence[Element]) -> list[list[Element]]:
    """Cut behind each fence."""
    segments: list[list[Element]] = [[]]
    for element in elements:
        segments[-1].append(element)
        if _is_fence([element]):
            segments.append([])
    return segments


def _is_fence(elements: Sequence[Element]) -> bool:
    return any(isinstance(element, Watermark | WatermarkStatus) for element in elements)


def _grouped(records: list[Record]) -> list[tuple[Record, ...]]:
    """Join the results that stand together: each group begins with the ordinal 0."""
    groups: list[list[Record]] = []
    for record in records:
        if ".0" in record.value:
            groups.append([])
        groups[-1].append(record)
    return [tuple(group) for group in groups]


@pytest.mark.parametrize("mode", ["ordered", "unordered"])
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_random_stream_comes_out_legally(seed: int, mode: Mode) -> None:
    """Order, results and capacity hold, whatever the consumer does."""
    plan = Plan(seed)
    function = Function(plan)
    out: list[Element] = []

    async with open_operator(plan.config(mode), function, source(plan, 0)) as results:
        assert await read_on(plan, results, out, 10_000)
        figures = results.statistics()

    assert_legal(plan, mode, out)
    assert function.most <= plan.capacity
    assert figures.max_in_flight <= plan.capacity
    assert figures.calls == sum(isinstance(e, Record) for e in plan.elements)
    snapshots = [e.checkpoint_id for e in out if isinstance(e, Snapshot)]
    assert snapshots == [e.checkpoint_id for e in plan.elements if isinstance(e, Barrier)]


@pytest.mark.parametrize("mode", ["ordered", "unordered"])
@pytest.mark.parametrize("seed", SEEDS)
async def test_crashes_and_restores_lose_and_repeat_nothing(seed: int, mode: Mode) -> None:
    """What is kept of all legs, each cut at its last snapshot, is one legal output."""
    plan = Plan(seed)
    kept: list[Element] = []
    restored: Snapshot | None = None
    start = 0
    over = False

    while not over:
        leg: list[Element] = []
        operator = open_operator(plan.config(mode), Function(plan), source(plan, start), restored)
        async with operator as results:
            over = await read_on(plan, results, leg, plan.draw.randrange(4, 16))
            if not over:
                results.request_snapshot(1000)
                over = await _read_to_snapshot(results, leg)
        if not over:
            snapshot = leg.pop()
            assert isinstance(snapshot, Snapshot)
            assert snapshot.read is not None
            restored = decode_snapshot(encode_snapshot(snapshot))
            start += snapshot.read
        kept += leg

    assert_legal(plan, mode, kept)


async def _read_to_snapshot(results: Any, leg: list[Element]) -> bool:
    """Read to the snapshot that was requested; tell whether the stream ended before it."""
    async for element in results:
        leg.append(element)
        if isinstance(element, Snapshot) and element.checkpoint_id == 1000:
            return False
    return True
