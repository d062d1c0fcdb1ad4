"""Runs of a backend, whatever it does: a trace for each scenario, or what is wrong with it."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import msgspec
from msgspec import Struct

from asyncwait.conformance.judging import impossible
from asyncwait.conformance.running._backend import Backend, ExecBackend
from asyncwait.conformance.running._isolated import ChildPlayer, python_child
from asyncwait.spec import AsyncWaitError, OperatorError
from asyncwait.spec.scenario import Scenario, Trace

Play: TypeAlias = Callable[[Sequence[Scenario]], Iterable[Trace]]
"""Plays scenarios; gives one trace for each, in order, as they come."""


class Broken(Struct, frozen=True):
    """What is there in place of a trace where harness or backend broke, not the operator.

    Args:
        text: what is wrong.
        ends: no further trace can be had.
    """

    text: str
    ends: bool = False


@contextmanager
def open_player(reference: str, backend: Backend, patience: float) -> Generator[Play]:
    """Give a function that plays scenarios, in a child process if the backend can run in one.

    Args:
        reference: the name of the backend.
        backend: what that name stands for in this process.
        patience: seconds of the real clock for one scenario in a child process.
    """
    if isinstance(backend, ExecBackend):
        yield msgspec.structs.replace(backend, patience=patience).run
    elif backend.in_child:
        with ChildPlayer(python_child(reference), real_seconds=patience) as player:
            yield player.play
    else:
        yield backend.run


def runs(play: Play, scenarios: Sequence[Scenario]) -> Iterator[Trace | Broken]:
    """Yield for each scenario its trace, or what is wrong in its place.

    Raises:
        AsyncWaitError: the backend needs what is not there, and says so itself.
    """
    given = 0
    try:
        for trace in play(scenarios):
            if given == len(scenarios):
                yield Broken(f"{given} scenarios were given, more traces came back", ends=True)
                return
            yield checked(scenarios[given], trace)
            given += 1
    except Exception as error:
        if isinstance(error, AsyncWaitError) and not isinstance(error, OperatorError):
            raise
        yield Broken(f"the backend raised {type(error).__name__}: {error}", ends=True)
        return
    if given < len(scenarios):
        text = f"{len(scenarios)} scenarios were given, {given} traces came back"
        yield Broken(text, ends=True)


def checked(scenario: Scenario, trace: object) -> Trace | Broken:
    """Return `trace` if it is one that a run of `scenario` can have given."""
    if not isinstance(trace, Trace):
        return Broken(f"expected a Trace, got {trace!r}")
    for leg in trace.legs:
        if leg.ending.how == "error":
            return Broken(f"{leg.ending.error} {leg.ending.detail}".strip())
    why = impossible(scenario, trace)
    return trace if why is None else Broken(f"the trace is impossible: {why}")
