"""Runs of a backend, whatever it does: a trace for each scenario, or what is wrong with it."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct

from asyncwait.conformance.harness import shown
from asyncwait.conformance.judging import impossible
from asyncwait.spec.scenario import Scenario, Trace
from asyncwait.spec.texts import shortened

_LONGEST = 1_000
"""Characters of what is told of a broken run."""


class Broken(Struct, frozen=True):
    """What is there in place of a trace where harness or backend broke, not the operator.

    Args:
        text: what is wrong.
        output: what was printed meanwhile, the last of it.
    """

    text: str
    output: str = ""


Play: TypeAlias = Callable[[Sequence[Scenario]], Iterable[Trace | Broken]]
"""Plays scenarios; gives one run for each, in order, as they come."""


def checked(scenario: Scenario, trace: object) -> Trace | Broken:
    """Return `trace` if it is one that a run of `scenario` can have given."""
    if not isinstance(trace, Trace):
        return Broken(f"expected a Trace, got {shown(trace)}")
    why: str | None
    for leg in trace.legs:
        if leg.ending.how == "error":
            why = f"{leg.ending.error} {leg.ending.detail}".strip()
            return Broken(shortened(why, _LONGEST), trace.output)
    why = impossible(scenario, trace)
    if why is None:
        return trace
    return Broken(f"the trace is impossible: {shortened(why, _LONGEST)}", trace.output)


def lost(run: Trace | Broken) -> str:
    """Return why a run ended without the operator's own doing coming to an end; empty if not so."""
    if isinstance(run, Broken):
        return run.text
    ending = run.legs[-1].ending
    return f"{ending.how}: {ending.detail}" if ending.how in {"blocked", "died"} else ""
