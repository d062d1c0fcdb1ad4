"""From what somebody types to scenarios."""

import re
import sys
from codecs import BOM_UTF8
from pathlib import Path

from asyncwait.conformance._nearest import nearest
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.replay._kept import FOLDER, kept
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import ID_DIGITS, Scenario, id_of, scenarios_from_json

_ID = re.compile(rf"[0-9a-f]{{{ID_DIGITS}}}")


def find_scenarios(text: str) -> tuple[Scenario, ...]:
    """Return the scenarios that `text` stands for.

    Args:
        text: an id, the name of an example, JSON, a file with JSON, or "-" for standard input.
            JSON is one scenario or a list of them.

    Raises:
        InvalidConfig: there is none, or what is there can't be read. The message says why.
    """
    if text == "-":
        return _read(sys.stdin.buffer.read())
    if text.lstrip().startswith(("[", "{")):
        return _read(text.encode())
    if (file := Path(text)).is_file():
        return _read(file.read_bytes().removeprefix(BOM_UTF8))
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
    found = kept(wanted) or tuple(e.scenario for e in EXAMPLES if id_of(e.scenario) == wanted)
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
