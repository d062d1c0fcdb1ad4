"""How a backend says what it has: in Python, or in the first line that a program writes."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib.metadata import version

import msgspec

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario._capability import (
    ALL_CAPABILITIES,
    CORE,
    PROFILES,
    Capability,
)
from asyncwait.spec.scenario._json import decoded
from asyncwait.spec.scenario._wire import OLDEST_PROTOCOL, PROTOCOL, Declaration, Reply


class _Spoken(msgspec.Struct):
    """The version of a first line, whatever else there is in it."""

    protocol: int = 1


_MODES = {Capability.ORDERED, Capability.UNORDERED, Capability.KEY_ORDERED}


def declared(
    profiles: Iterable[str] | None = None, lacks: Iterable[str] = ()
) -> frozenset[Capability]:
    """Return the capabilities of a backend.

    Args:
        profiles: names of those that it has, with or without "core", which all have; at least
            one of them is a mode. None for every profile.
        lacks: names of further capabilities that it does not have.

    Raises:
        InvalidConfig: a name is unknown, the nearest one is told; or there is no mode.
    """
    known = [CORE, *(profile.value for profile in PROFILES)]
    has = {CORE, *(known if profiles is None else _names("profiles", profiles, known))}
    missing = set(_names("lacks", lacks, [each.value for each in Capability]))
    if profiles is not None and (both := sorted(has & missing)):
        raise InvalidConfig.of("lacks", both[0], "no name that is among the profiles")
    has -= missing
    if not has & _MODES:
        got = [name for name in known if name in has]
        modes = "a list with 'ordered', 'unordered' or 'key-ordered'"
        raise InvalidConfig.of("profiles", got, modes)
    return frozenset(
        each
        for each in ALL_CAPABILITIES - missing
        if (each if each.is_profile else each.part_of or CORE) in has
    )


def _names(argument: str, given: Iterable[str], known: Sequence[str]) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidConfig.of(argument, given, "a list of names")
    names = list(given)
    for name in names:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            wrong = InvalidConfig.of(argument, name, f"among {', '.join(known)}")
            raise InvalidConfig(f"{wrong}{hint}")
    return names


def profiles_of(capabilities: Iterable[Capability]) -> tuple[str, ...]:
    """Return the names of the profiles among `capabilities`, core first."""
    return (CORE, *(profile.value for profile in PROFILES if profile in set(capabilities)))


def declaration_from_json(line: bytes) -> frozenset[Capability] | None:
    """Return the capabilities that the first line of a program declares; an empty one has all.

    None says that it is an answer already, so that nothing is declared.

    Raises:
        InvalidConfig: it is no line that can be the first, or what it declares is wrong.
    """
    if not line.strip():
        return ALL_CAPABILITIES
    if _is_answer(line):
        return None
    example = '{"profiles": ["ordered", "timeouts"]}'
    wrong = f"the first line must be empty or say what the program has, like {example}"
    said: Declaration = decoded(line, Declaration, wrong, wrong)
    return declared(said.profiles, said.lacks)


def protocol_from_json(line: bytes) -> int:
    """Return the version of the lines that a program speaks, by its first line.

    What else stands there is not looked at: another version may have other words.

    Raises:
        InvalidConfig: it is none that is spoken here.
    """
    try:
        spoken = msgspec.json.decode(line, type=_Spoken).protocol
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return OLDEST_PROTOCOL  # It declares nothing, or what can't be read, which is told then.
    if OLDEST_PROTOCOL <= spoken <= PROTOCOL:
        return spoken
    who = "the program is too old" if spoken < OLDEST_PROTOCOL else "asyncwait is too old for it"
    raise InvalidConfig(
        f"the program speaks version {spoken} of JSON lines, and asyncwait {version('asyncwait')} "
        f"speaks versions {OLDEST_PROTOCOL} to {PROTOCOL}: {who}"
    )


def _is_answer(line: bytes) -> bool:
    try:
        fields = decoded(line, dict[str, msgspec.Raw], "", "")
    except InvalidConfig:
        return False
    return not fields or not fields.keys().isdisjoint(Reply.__struct_fields__)
