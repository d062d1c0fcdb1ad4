"""How a run is had again: the command that plays this very scenario."""

import shlex
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from asyncwait.conformance.verdict import Case
from asyncwait.spec.scenario import scenarios_to_json
from asyncwait.spec.texts import json_text

LONGEST_JSON = 4_000
"""Characters of a scenario that stand in a report; a longer one would bury it."""

HINT = (
    "asyncwait play --here plays in the process of the command: print and breakpoint() work; "
    "--trace prints each event, --json - writes the scenario as JSON"
)


def again_lines(backend: str, case: Case, kept: AbstractSet[str]) -> Iterator[str]:
    """Yield the command that plays a case again.

    Where its scenario is kept under its id, the id does. An example is known everywhere. Of any
    other the JSON follows: a log is read on another machine than it was written on.

    Args:
        backend: its name.
        case: what was played.
        kept: ids of scenarios that whoever reads this can play by their id.
    """
    if not case.repeatable:
        yield "played in a way of the backend's own, which a verification alone repeats"
        return
    yield f"again: {again_here(backend, case)}"
    if not case.generated or case.id in kept:
        return
    if anywhere := again_anywhere(backend, case):
        yield f"anywhere: {anywhere}"
    else:
        yield f"anywhere: verify again, then as above: its JSON has {len(_json(case)):,} characters"


def again_here(backend: str, case: Case) -> str:
    """Return the command that plays a case again where its id is known; nothing if none does."""
    return f"asyncwait play {shlex.quote(backend)} {case.id}" if case.repeatable else ""


def again_anywhere(backend: str, case: Case) -> str:
    """Return the command that plays a case again on any machine; nothing if it would be too long.

    An example has its id everywhere.
    """
    if not case.repeatable or not case.generated:
        return again_here(backend, case)
    text = shlex.quote(_json(case))
    return f"asyncwait play {shlex.quote(backend)} {text}" if len(text) <= LONGEST_JSON else ""


def _json(case: Case) -> str:
    return json_text(scenarios_to_json((case.planned,)))
