"""The pool on uvloop, whose clock nobody can turn: short examples in real time, and judged."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial

import pytest
import uvloop
from judged import broken_rules

from asyncwait.backends.pool import open_operator, ordered_wait
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Run
from asyncwait.conformance.harness import in_real_time, play, short
from asyncwait.spec.scenario import Scenario, Trace

NTH = 8
"""Of so many examples one is played, if it is short."""

LEAST = 10
"""So many are in time, however busy the machine is."""


class Watched(uvloop.Loop):
    _scheduled = ()

    async def shutdown_asyncgens(self) -> None:
        await super().shutdown_asyncgens()


def play_all(scenarios: Sequence[Scenario]) -> Iterator[Trace]:
    return (play(open_operator, each, real=True, loop_factory=Watched) for each in scenarios)


def has_threads(scenario: Scenario) -> bool:
    """Whether answers come from threads, which a busy machine may bring behind a deadline."""
    return any(step.thread for plan in scenario.plans for step in plan.steps)


def test_short_examples_break_no_rule() -> None:
    every = {example.name: example.scenario for example in EXAMPLES[::NTH]}
    examples = {name: each for name, each in every.items() if not has_threads(each)}
    chosen = list(short(examples, partial(play, open_operator), len(examples)).values())
    runs = [Run(chosen[number], trace) for number, trace in in_real_time(chosen, play_all)]
    in_time = [run for run in runs if run.trace.legs[0].ending.how != "error"]

    assert len(in_time) >= LEAST
    assert [run for run in in_time if broken_rules(run)] == []


def test_a_cancelled_consumer_leaves_the_plain_form() -> None:
    log: list[str] = []

    async def hangs(_: int) -> None:
        try:
            await asyncio.sleep(99)
        finally:
            await asyncio.sleep(0.01)
            log.append("clean")

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), ordered_wait([1], hangs) as results:
                await anext(results)

    uvloop.run(main())
    assert log == ["clean"]
