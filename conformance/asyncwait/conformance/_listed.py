"""For which rules a verification has listed the id of a scenario: what somebody means by it.

A scenario may break several rules, and the id behind one of them is no longer about the others. It
is kept beside the scenarios, by the name of the backend.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from asyncwait.conformance._bounded import file_bytes
from asyncwait.conformance._find_scenarios import FOLDER, make_folder
from asyncwait.conformance.verdict import Verdict

NAME = "listed.json"
"""Of the file, beside the folder of the scenarios."""

Listed = dict[str, dict[str, list[str]]]


def keep_listed(verdicts: Sequence[Verdict], folder: Path = FOLDER) -> None:
    """Write what `verdicts` list, in place of what is known of their backends.

    Where nothing can be written nothing is kept, which is no reason to fail.
    """
    known = _read(folder)
    told = {**known, **{verdict.backend: _rules_by_id(verdict) for verdict in verdicts}}
    listed = {backend: rules for backend, rules in told.items() if rules}
    if listed == known:
        return
    file = folder.with_name(NAME)
    with suppress(OSError):
        make_folder(folder)
        if file.is_symlink():
            file.unlink()  # What it points to is somebody's own.
        if file.is_file() or not file.exists():
            file.write_bytes(msgspec.json.encode(listed) + b"\n")


def listed_for(backend: str, scenario_id: str, folder: Path = FOLDER) -> Sequence[str]:
    """Return the rules for which the last verification of `backend` has listed an id, in order."""
    return _read(folder).get(backend, {}).get(scenario_id, [])


def _rules_by_id(verdict: Verdict) -> dict[str, list[str]]:
    rules: dict[str, list[str]] = {}
    for result in verdict.failed:
        for failure in result.failures[:1]:
            rules.setdefault(failure.case.id, []).append(result.rule.id)
    return rules


def _read(folder: Path) -> Mapping[str, Mapping[str, list[str]]]:
    """Return what is kept; nothing if there is nothing, or somebody has broken it."""
    try:
        return msgspec.json.decode(file_bytes(folder.with_name(NAME)), type=Listed)
    except (OSError, msgspec.DecodeError):
        return {}
