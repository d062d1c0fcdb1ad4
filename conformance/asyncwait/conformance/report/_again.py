"""How a run is had again: the command that plays this very scenario."""

import shlex
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from asyncwait.conformance.verdict import Case
from asyncwait.spec.scenario import scenarios_to_json

LONGEST_JSON = 4_000
"""Characters of a scenario that stand in a report; a longer one would bury it."""

HINT = (
    "with --here a scenario is played in the command's own process: print and breakpoint() work; "
    "with --json - it is written as JSON"
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
    command = f"asyncwait play {shlex.quote(backend)}"
    yield f"again: {command} {case.id}"
    if not case.generated or case.id in kept:
        return
    text = scenarios_to_json((case.planned,)).decode()
    if len(text) <= LONGEST_JSON:
        yield f"anywhere: {command} {shlex.quote(text)}"
    else:
        yield f"anywhere: verify again, then as above: its JSON has {len(text):,} characters"
