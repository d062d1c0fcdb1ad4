"""Subcommand `play`."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._run import gate_of_one, judge_one, play_here, show_runs
from asyncwait.conformance._commands._shared import any_case, refuse_contradictions, usage_errors
from asyncwait.conformance._commands._shrink import SECONDS, shrink_one
from asyncwait.conformance._find_scenarios import find_scenarios
from asyncwait.conformance.running import adapted, open_backend
from asyncwait.conformance.verdict import EXIT_CODES, Case, Word
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import Scenario, scenarios_to_json
from asyncwait.spec.texts import json_text


@asyncwait.command("play")
@click.argument("backend")
@click.argument("scenario", required=False)
@click.option(
    "--here",
    is_flag=True,
    help="Play in the process of this command: breakpoint() works, and what the operator prints "
    "comes out at once. A scenario that blocks goes on until you press Ctrl-C, which shows where "
    "its tasks stand.",
)
@click.option(
    "--trace", "traces", is_flag=True, help="Like --here, and print each event when it happens."
)
@click.option(
    "--shrink",
    "shrinks",
    is_flag=True,
    help="Make a SCENARIO that breaks a rule smaller, until each part of it is needed. The result "
    "is kept under its id.",
)
@click.option(
    "--rule",
    type=any_case,
    metavar="ID",
    help="With --shrink: the rule that stays broken; by default the first broken one.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    help=f"With --shrink: how long to look, {SECONDS:g} by default. Ctrl-C ends it earlier and "
    "shows the smallest scenario so far.",
)
@click.option(
    "--judge",
    "trace",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="TRACE",
    help="Judge the trace that a program wrote into this file, by all rules, and play nothing. "
    "Give no BACKEND then.",
)
@click.option(
    "--json",
    "file",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    metavar="FILE",
    help="Write the scenarios into FILE as JSON (- is standard output), and play nothing.",
)
def play_command(
    backend: str,
    scenario: str | None,
    here: bool,
    traces: bool,
    shrinks: bool,
    rule: str | None,
    seconds: float | None,
    trace: Path | None,
    file: str | None,
) -> None:
    """Play SCENARIO on BACKEND once more; draw and judge what happens.

    SCENARIO is the id of a scenario that failed, the name of an example, a file, - for standard
    input, or the JSON of a scenario itself. A file may hold a list of scenarios; they are played
    one after the other.

    An id is known if it is that of an example, or if the scenario has failed in a verification in
    the present folder, which keeps the last ones in .asyncwait. From a log of another machine copy
    the whole command, with the JSON.

    The scenario is adapted to the capabilities of BACKEND and judged as `asyncwait verify` judges
    it, with the expected failures that [tool.asyncwait] of pyproject.toml names.

    Exit code: 0 conformant (expected failures included), 1 not conformant, 2 wrong usage (nothing
    to shrink, too), 3 inconclusive, 130 no verdict, because Ctrl-C or leaving the debugger has
    ended the run.
    """
    others = {"--shrink": shrinks, "--judge": trace is not None, "--json": file is not None}
    refuse_contradictions(**{"--trace" if traces else "--here": here or traces}, **others)
    if not shrinks and (rule is not None or seconds is not None):
        raise click.UsageError("--rule and --seconds say how to shrink: give --shrink, too")
    if trace is not None and scenario is not None:
        raise click.UsageError("--judge plays nothing: name the scenario, and no backend")
    if trace is None and scenario is None:
        raise click.UsageError("name a backend and a scenario")
    with usage_errors():
        planned = find_scenarios(scenario or backend)
        if file is not None:
            _write(file, json_text(scenarios_to_json(planned)).encode() + b"\n")
            return
        if trace is not None:
            word = judge_one(_only(planned), trace)
        elif shrinks:
            word = shrink_one(backend, _only(planned), rule, seconds or SECONDS)
        elif here or traces:
            word = play_here(backend, planned, traces=traces)
        else:
            word = _play_apart(backend, planned)
    sys.exit(EXIT_CODES[word])


def _play_apart(backend: str, planned: Sequence[Scenario]) -> Word:
    """Play in a process of its own."""
    gate = gate_of_one(backend)
    with open_backend(backend, folder=gate.folder(backend)) as opened:
        cases = [Case("", each, adapted(each, opened.capabilities)) for each in planned]
        played = list(opened.play([case.scenario for case in cases]))
    return show_runs(cases, played, opened, gate)


def _write(file: str, data: bytes) -> None:
    try:
        with click.open_file(file, "wb") as opened:
            opened.write(data)
    except OSError as error:
        raise click.UsageError(f"--json {file}: {error.strerror}") from error


def _only(planned: Sequence[Scenario]) -> Scenario:
    if len(planned) != 1:
        raise InvalidConfig.of("scenario", len(planned), "one, not a list of several")
    return planned[0]
