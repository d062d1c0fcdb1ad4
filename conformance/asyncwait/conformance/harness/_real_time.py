"""Runs on the real clock: which scenarios it can play, and which runs are in time and count.

Planned instants are equal or a step of the grid apart, so an event that is less than half a step
late cannot be taken for an event of the next instant. The player in real time measures its own
lateness (`Recorder.late_by`), and plays late runs again.

Each stretch of a run is measured by itself, and so is the lateness of its end against the grid. A
stretch that begins `LATEST` late and takes as much is not yet so late that it looks like the next
instant, slightly early. So stretches that are all in time can't add up to a step unnoticed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from asyncwait.conformance.harness._player import play
from asyncwait.conformance.harness._recorder import EARLY
from asyncwait.conformance.harness._run import LoopName
from asyncwait.spec import OpenOperator
from asyncwait.spec.scenario import GRID, Ending, Leg, Scenario, Trace, with_times

LONGEST = 120
"""Longest scenario for the real clock, in ms."""

MOST_INPUTS = 40
"""Most inputs of a scenario for the real clock: more inputs are work that takes real time."""

LATEST = (GRID - EARLY) // 2
"""Greatest lateness in a run that counts, in ms."""

ROUNDS = (1, 2, 4, 8, 16, 32, 64, 128)
"""Runs of a scenario in each round, until a run is in time: a busy machine may stall most."""

PlayAll: TypeAlias = Callable[[Sequence[Scenario]], Iterable[Trace]]
"""Plays scenarios on the real clock; gives one trace for each, in order."""


def short(
    scenarios: Mapping[str, Scenario], play_virtually: Callable[[Scenario], Trace], most: int
) -> dict[str, Scenario]:
    """Return the first of `scenarios` that a real clock can play as planned, in little time."""

    def is_short(scenario: Scenario) -> bool:
        events = play_virtually(scenario).legs[0].events
        return max((event.at for event in events), default=0.0) <= LONGEST

    fitting = (name for name, each in scenarios.items() if _is_plain(each) and is_short(each))
    return {name: scenarios[name] for name in islice(fitting, most)}


def _is_plain(scenario: Scenario) -> bool:
    """Whether a real clock can play it: on its grid, with little work and only plain waits.

    The consumer only reads, pauses and leaves, because nothing can cut its real wait short. A
    blocked loop is late by the time under measurement.
    """
    gives_up = any(step.does == "give_up" for step in scenario.sink)
    cut_short = gives_up or scenario.crashes or scenario.cancel_at is not None
    is_large = len(scenario.inputs) > MOST_INPUTS
    # Statistics move within a step, and the search for leaked objects takes time.
    watched = scenario.figures_at or scenario.tracked
    return not (cut_short or is_large or watched or scenario.blocks) and _is_on_grid(scenario)


def _is_on_grid(scenario: Scenario) -> bool:
    """Whether its instants are whole steps of the grid apart, which random jitter rules out."""
    has_jitter = scenario.retry is not None and scenario.retry.jitter
    return not has_jitter and with_times(scenario, lambda _, ms: ms - ms % GRID) is scenario


def in_real_time(scenarios: Sequence[Scenario], play_all: PlayAll) -> Iterator[tuple[int, Trace]]:
    """Yield, for each of `scenarios`, its number and a trace that is in time.

    Late scenarios are played again, all together and more often in each round: they are few,
    whatever a round costs. If every run was late, the trace is an error.
    """
    waiting = list(range(len(scenarios)))
    for tries in ROUNDS:
        round_ = [scenarios[number] for number in waiting for _ in range(tries)]
        traces = iter(play_all(round_) if round_ else ())
        late = []
        for number in waiting:
            tried = [next(traces) for _ in range(tries)]
            in_time = (t for t in tried if all(leg.late_by <= LATEST for leg in t.legs))
            trace = next(in_time, None)
            if trace is None:
                late.append(number)
            else:
                yield number, trace
        waiting = late
    for number in waiting:
        ending = Ending("error", detail=f"more than {LATEST} ms late in {sum(ROUNDS)} runs")
        yield number, Trace((Leg(ending),))


def play_in_real_time(
    open_operator: OpenOperator, scenario: Scenario, loop: LoopName = "asyncio"
) -> Trace:
    """Play all legs of `scenario` on the real clock, until a run is in time; see `play`.

    Args:
        open_operator: the operator under test.
        scenario: the plan, on the grid.
        loop: "asyncio" or "trio".
    """

    def play_all(scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        return (play(open_operator, each, loop, real=True) for each in scenarios)

    ((_, trace),) = in_real_time([scenario], play_all)
    return trace
