"""What `verify` says and does about expected failures, and about the project's own file."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from asyncwait.conformance._gate import Gate
from asyncwait.conformance._say import say
from asyncwait.conformance.expected_failures.file import Played, updated
from asyncwait.conformance.verdict import Verdict
from asyncwait.spec import InvalidConfig

_DO = "Mend that first, see the errors, and verify again"


def tell_of_project(gate: Gate, *others: str) -> None:
    """Say what comes from the project's file; `others` are keys that do not."""
    if line := gate.taken(*others):
        say(line, err=True)


def tell_strays(gate: Gate) -> None:
    """Say which entries are of no backend that is verified, and which do not say how they fail.

    The former may be slips; but who verifies one of several backends has entries for the others.
    """
    for line in (*gate.strays, *filter(None, [gate.unsaid])):
        say(line, err=True)


def update_expected_failures(
    gate: Gate, played: Sequence[Played], left_out: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write the file of expected failures anew, and say what is different.

    Raises:
        InvalidConfig: the file can't be read or written.
    """
    assert gate.file is not None
    name = gate.file.name
    if cuts := [cut for one in played if (cut := _cut(one.verdict))]:
        so = "is left as it is" if gate.file.exists() else "is not written"
        say(f"{name} {so}: {'; '.join(cuts)}. {_DO}", err=True)
        return
    try:
        text = gate.file.read_bytes().decode() if gate.file.exists() else ""
        update = updated(text, name, played, gate.day, left_out)
        if update.text != text:
            gate.file.write_bytes(update.text.encode())
    except OSError as error:
        raise InvalidConfig(f"expected failures: {gate.file}: {error.strerror}") from error
    for line in update.lines or ("nothing to change",):
        say(f"{name}: {line}", err=True)


def _cut(verdict: Verdict) -> str:
    """Return why a run says too little of a backend; empty if it came to its end."""
    if verdict.stopped:
        return f"{verdict.backend} was not played to its end: {verdict.stopped}"
    return "" if verdict.scenarios else f"nothing that {verdict.backend} did could be judged"
