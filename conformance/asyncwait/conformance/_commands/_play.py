"""Subcommands that look at single runs: `play`, `judge`."""

import sys
from pathlib import Path

import click
import msgspec

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._run import gate_of_one, show_run, show_runs
from asyncwait.conformance._commands._shared import usage_errors
from asyncwait.conformance.replay import find_scenarios
from asyncwait.conformance.running import adapted, checked, open_backend
from asyncwait.conformance.verdict import EXIT_CODES, Case
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import (
    Scenario,
    scenarios_from_json,
    scenarios_to_json,
    trace_from_json,
)
from asyncwait.spec.texts import json_text


@asyncwait.command("play")
@click.argument("backend")
@click.argument("scenario")
@click.option(
    "--json",
    "file",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    metavar="FILE",
    help="Write the scenarios into FILE as JSON, to standard output for -, and play nothing.",
)
def play_command(backend: str, scenario: str, file: str | None) -> None:
    """Play SCENARIO on BACKEND once more; draw and judge what happens.

    SCENARIO is the id of a scenario that failed, the name of an example, a file, - for standard
    input, or the JSON of a scenario itself.

    An id is found if it is that of an example, or if the scenario has failed in a verification in
    the present folder: there the last ones are kept, in .asyncwait. From a log of another machine
    copy the whole command, with the JSON.

    It is adapted to what BACKEND can do, and judged as `asyncwait verify` judges it, with the
    exceptions that [tool.asyncwait] of pyproject.toml names for it. A file may hold a list of
    scenarios; they are played one after the other. `asyncwait replay` plays them in its own
    process, for a debugger.
    """
    with usage_errors():
        planned = find_scenarios(scenario)
        if file is not None:
            _write(file, json_text(scenarios_to_json(planned)).encode() + b"\n")
            return
        gate = gate_of_one(backend)
        with open_backend(backend, folder=gate.folder(backend)) as opened:
            cases = [Case("", each, adapted(each, opened.capabilities)) for each in planned]
            played = list(opened.play([case.scenario for case in cases]))
        word = show_runs(cases, played, opened, gate)
    sys.exit(EXIT_CODES[word])


def _write(file: str, data: bytes) -> None:
    try:
        with click.open_file(file, "wb") as opened:
            opened.write(data)
    except OSError as error:
        raise click.UsageError(f"--json {file}: {error.strerror}") from error


@asyncwait.command("judge")
@click.argument("scenario", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("trace", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def judge_command(scenario: Path, trace: Path) -> None:
    """Judge a TRACE that a program wrote of a SCENARIO (both JSON; the scenario in a list).

    Nobody knows who wrote it: it is judged as the program's own words, by all rules.
    """
    with usage_errors():
        planned = _only(scenarios_from_json(scenario.read_bytes()))
        observed = trace_from_json(trace.read_bytes())
    told = msgspec.structs.replace(observed, self_reported=True)
    word = show_run(Case("", planned, planned), checked(planned, told), rules(), {})
    sys.exit(EXIT_CODES[word])


def _only(scenarios: tuple[Scenario, ...]) -> Scenario:
    if len(scenarios) != 1:
        raise InvalidConfig.of("scenario", len(scenarios), "one in a list")
    return scenarios[0]
