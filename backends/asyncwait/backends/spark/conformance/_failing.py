"""Failing scenarios as jobs of their own: what the driver is told of record and cause."""

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from asyncwait.backends.pool import open_operator
from asyncwait.conformance.harness import play
from asyncwait.spec import Record
from asyncwait.spec.scenario import Ending, Leg, Scenario

MOST = 12
"""Jobs, each of which costs its worker process."""

_ERROR = re.compile(r"^asyncwait\.spec\.(\w+): (.*)$", re.MULTILINE)


def failing(scenarios: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """Return some of `scenarios` that fail because of a record, as different as possible."""
    found: dict[object, tuple[str, Scenario]] = {}
    for name, scenario in scenarios.items():
        leg = play(open_operator, scenario).legs[0]
        ending = leg.ending
        if ending.how == "failed" and ending.record is not None and not scenario.crashes:
            kind = (ending.error, ending.cause, scenario.form, scenario.mode)
            found.setdefault(kind, (name, scenario))
        if len(found) == MOST:
            break
    return dict(found.values())


def as_told(leg: Leg, error: str, name: Callable[[Record], str] = str) -> Leg:
    """Return `leg` with what the text of the job's error says of its failure, and nothing else."""
    told = _ERROR.search(error)
    if told is None:
        return replace(leg, ending=Ending("error", detail=f"the driver got {error or 'no error'}"))
    kind, message = told.groups()
    ending = leg.ending
    names_record = ending.record is not None and message.startswith(f"{name(ending.record)}: ")
    # Its traceback ends with the cause, at the beginning of a line or behind the mark.
    shows_cause = re.search(rf"^(?:\| )?(\w+\.)*{ending.cause}\b", error, re.MULTILINE) is not None
    return replace(
        leg,
        ending=replace(
            ending,
            error=kind,
            record=ending.record if names_record else None,
            cause=ending.cause if shows_cause and ending.cause in message else "",
            detail=message,
        ),
    )
