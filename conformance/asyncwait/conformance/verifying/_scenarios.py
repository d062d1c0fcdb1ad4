"""Lookup of scenarios from a user's text: by name, by id, in a file, or as JSON.

Failed scenarios are cached in a folder of the working directory, where their ids find them again.
"""

import re
import sys
from codecs import BOM_UTF8
from collections.abc import Collection
from pathlib import Path

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.report import file_bytes
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import (
    ID_DIGITS,
    Scenario,
    id_of,
    scenarios_from_json,
    scenarios_to_json,
)
from asyncwait.spec.texts import nearest

FOLDER = Path(".asyncwait", "scenarios")
"""Folder within the present folder; it has a file for each scenario."""

MOST_KEPT = 500
"""Most files; the oldest are deleted. Each has some hundred bytes."""


def keep(scenarios: Collection[Scenario], folder: Path = FOLDER) -> frozenset[str]:
    """Write scenarios into `folder`, and return the ids of the written ones.

    A folder that can't be written is no error: then no scenario is cached.
    """
    ids = set[str]()
    if not scenarios:
        return frozenset()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignored = folder.parent / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n", encoding="utf-8")  # Git leaves the folder out by itself.
        for scenario in scenarios:
            name = id_of(scenario)
            (folder / f"{name}.json").write_bytes(scenarios_to_json((scenario,)) + b"\n")
            ids.add(name)
        files = sorted(folder.glob("*.json"), key=lambda file: -file.stat().st_mtime_ns)
        for file in files[MOST_KEPT:]:
            file.unlink(missing_ok=True)
    except OSError:
        pass
    return frozenset(ids)


_ID = re.compile(rf"[0-9a-f]{{{ID_DIGITS}}}")


def find_scenarios(text: str) -> tuple[Scenario, ...]:
    """Return the scenarios that `text` denotes.

    Raises:
        InvalidConfig: no scenario is found, or it can't be read. The message says why.
    """
    if text == "-":
        return _read(sys.stdin.buffer.read())
    if text.lstrip().startswith(("[", "{")):
        return _read(text.encode())
    if (file := Path(text)).is_file():
        try:
            return _read(file_bytes(file).removeprefix(BOM_UTF8))
        except OSError as error:
            raise InvalidConfig(f"{text!r} can't be read: {error.strerror}") from error
    if file.exists():
        raise InvalidConfig(f"{text!r} is no file that can be read: a folder, a pipe or a device")
    by_name = {example.name: example.scenario for example in EXAMPLES}
    if text in by_name:
        return (by_name[text],)
    if _ID.fullmatch(text):
        return _by_id(text)
    raise InvalidConfig(
        f"{text!r} is no scenario: expected an id, the name of an example, a file, or JSON"
        f"{nearest(text, by_name)}"
    )


def _by_id(wanted: str) -> tuple[Scenario, ...]:
    file = FOLDER / f"{wanted}.json"
    kept = scenarios_from_json(file_bytes(file)) if file.is_file() else ()
    found = kept or tuple(e.scenario for e in EXAMPLES if id_of(e.scenario) == wanted)
    if not found:
        raise InvalidConfig(
            f"there is no scenario {wanted}: it is no example, and {FOLDER} of this folder has "
            "none; verify again here, or give the scenario as JSON, which stands in the log"
        )
    return found[:1]


def _read(data: bytes) -> tuple[Scenario, ...]:
    stripped = data.strip()
    found = scenarios_from_json(b"[%b]" % stripped if stripped.startswith(b"{") else stripped)
    if not found:
        raise InvalidConfig("expected a scenario, or a list of some, got an empty list")
    return found
