"""Subcommand `replay`."""

import sys
from collections.abc import Sequence

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._here import open_here
from asyncwait.conformance._commands._run import gate_of_one, show_runs
from asyncwait.conformance._commands._shared import usage_errors
from asyncwait.conformance._guard import INTERRUPTED
from asyncwait.conformance._say import say
from asyncwait.conformance.harness import heard_by
from asyncwait.conformance.replay import (
    DebuggerLeft,
    Watcher,
    ended_by_debugger,
    find_scenarios,
)
from asyncwait.conformance.running import Broken, adapted
from asyncwait.conformance.verdict import EXIT_CODES, Case
from asyncwait.spec.scenario import Trace

_ELSEWHERE = (
    "its events are recorded in other processes or on another machine: none could be told "
    "while it happened"
)


@asyncwait.command("replay")
@click.argument("backend")
@click.argument("scenario")
@click.option(
    "--trace", "traces", is_flag=True, help="Print each event of the contract when it happens."
)
def replay_command(backend: str, scenario: str, traces: bool) -> None:
    """Play SCENARIO on BACKEND in this process; draw and judge what happens.

    What is printed comes out at once, and breakpoint() works, in the operator and in all that it
    calls. Where the operator comes to no end, the stacks of its tasks are shown. Nothing ends a
    scenario that blocks: press Ctrl-C, which shows the stacks, too.

    SCENARIO is as for `asyncwait play`, which plays it in a process of its own.

    Exit code: 0 conformant (exceptions included), 1 not conformant, 2 wrong usage, 3 inconclusive,
    130 no verdict, because Ctrl-C or leaving the debugger has ended the run.
    """
    with usage_errors():
        planned = find_scenarios(scenario)
        gate = gate_of_one(backend)
        with open_here(backend, folder=gate.folder(backend)) as opened:
            cases = [Case("", each, adapted(each, opened.capabilities)) for each in planned]
            watcher = Watcher(_say, tells=traces)
            try:
                with heard_by(watcher), watcher.interruptible(), ended_by_debugger():
                    played = list(opened.play([case.scenario for case in cases]))
            except DebuggerLeft:
                say("stopped by the debugger: no verdict", err=True)
                sys.exit(INTERRUPTED)
        if traces and not watcher.heard and _has_events(played):
            say(_ELSEWHERE, err=True)
        word = show_runs(cases, played, opened, gate)
    sys.exit(EXIT_CODES[word])


def _say(line: str) -> None:
    say(line)
    sys.stdout.flush()


def _has_events(played: Sequence[Trace | Broken]) -> bool:
    return any(isinstance(run, Trace) and any(leg.events for leg in run.legs) for run in played)
