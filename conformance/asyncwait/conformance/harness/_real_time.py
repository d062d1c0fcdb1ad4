"""Runs on the real clock: always late, and only what is not too late counts.

Planned instants are equal or a step of the grid apart, so what is less than half a step late can
still be told from what belongs to the next instant. Whoever plays in real time measures how late it
is itself (`Recorder.late_by`), and plays again what was too late.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from asyncwait.conformance.harness._player import play
from asyncwait.conformance.harness._run import LoopName
from asyncwait.spec import OpenOperator
from asyncwait.spec.scenario import GRID, Ending, Leg, Scenario, Trace

TRIES = 3
"""Runs of a scenario on the real clock before it is given up as too late."""

PlayAll: TypeAlias = Callable[[Sequence[Scenario]], Iterable[Trace]]
"""Plays scenarios on the real clock; gives one trace for each, in order."""


def in_real_time(scenarios: Sequence[Scenario], play_all: PlayAll) -> Iterator[tuple[int, Trace]]:
    """Yield, for each of `scenarios`, its number and a trace that is in time.

    What was late is played again, all of it together, as often as it may be tried: whatever a round
    costs, there are no more than two. Where every run was late the trace is an error.

    Args:
        scenarios: what to play, within the grid.
        play_all: plays one round.
    """
    waiting = list(range(len(scenarios)))
    for tries in (1, TRIES - 1):
        round_ = [scenarios[number] for number in waiting for _ in range(tries)]
        traces = iter(play_all(round_) if round_ else ())
        late = []
        for number in waiting:
            tried = [next(traces) for _ in range(tries)]
            trace = next(filter(_is_in_time, tried), None)
            if trace is None:
                late.append(number)
            else:
                yield number, trace
        waiting = late
    for number in waiting:
        ending = Ending("error", detail=f"more than {GRID // 2} ms late in {TRIES} runs")
        yield number, Trace((Leg(ending),))


def _is_in_time(trace: Trace) -> bool:
    return all(leg.late_by <= GRID / 2 for leg in trace.legs)


def play_in_real_time(
    open_operator: OpenOperator, scenario: Scenario, loop: LoopName = "asyncio"
) -> Trace:
    """Play all legs of `scenario` on the real clock, until that is in time; see `play`.

    Args:
        open_operator: the operator under test.
        scenario: the plan, within the grid.
        loop: "asyncio" or "trio".
    """

    def play_all(scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        return (play(open_operator, each, loop, real=True) for each in scenarios)

    ((_, trace),) = in_real_time([scenario], play_all)
    return trace
