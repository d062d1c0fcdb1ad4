"""The lines that a playing program reads and writes, one JSON value each; see json-lines.md.

    {"scenario": {...}, "number": 7}  ->  {"trace": {...}, "number": 7}
                                     or   {"error": "text", "number": 7}

An empty line means: I am ready, and have everything; a declaration says what is there, and which
version of this protocol the program speaks. In version 1, which is that of a program that does not
say, nothing has a number. Until its first line a program is given more time.
"""

from importlib.metadata import version
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Struct

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario._capability import (
    ALL_CAPABILITIES,
    CORE,
    PROFILES,
    Capability,
    declared,
)
from asyncwait.spec.scenario._limits import decoded
from asyncwait.spec.scenario._scenario import Scenario
from asyncwait.spec.scenario._trace import Trace, require_flat_trace

OLDEST_PROTOCOL, PROTOCOL = 1, 2
"""The versions of these lines that are spoken here."""

NUMBERED = 2
"""From this version on requests and replies carry numbers."""

_Count: TypeAlias = Annotated[int, Meta(ge=0)]


def _one_of(*names: str) -> Meta:
    """Give the schema the names; what is not among them is refused elsewhere, in better words."""
    return Meta(extra_json_schema={"enum": list(names)})


_Profile: TypeAlias = Annotated[str, _one_of(CORE, *PROFILES)]
_Capability: TypeAlias = Annotated[str, _one_of(*Capability)]


class Declaration(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a program that does not have everything says in its first line.

    Args:
        profiles: names of those that it has; left out, or null, for every profile.
        lacks: names of further capabilities that it does not have.
        protocol: the version of these lines that it speaks.
    """

    profiles: tuple[_Profile, ...] | None = None
    lacks: tuple[_Capability, ...] = ()
    protocol: Annotated[int, Meta(ge=OLDEST_PROTOCOL, le=PROTOCOL)] = 1


class Request(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One scenario to play.

    Args:
        scenario: the plan.
        number: that the reply has to repeat; null, or left out, for none.
    """

    scenario: Scenario
    number: _Count | None = None


class Reply(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What came of a request: a trace, or why there is none.

    Args:
        trace: what was observed.
        error: why there is no trace; the run counts as an error, not as a failure.
        number: of the request that it answers; null, or left out, if that had none.
    """

    trace: Trace | None = None
    error: str = ""
    number: _Count | None = None


def request_from_json(data: bytes) -> Request:
    """Read a request from the line that a program was sent.

    Raises:
        InvalidConfig: not JSON, or it breaks the schema or a limit; the message says where.
    """
    request: Request = decoded(data, Request, "the request breaks its schema", "it is no request")
    return request


def reply_from_json(data: bytes) -> Reply:
    """Read a reply from the line that a program has written.

    Raises:
        InvalidConfig: not JSON, or it breaks the schema or a limit; the message says where.
    """
    reply: Reply = decoded(data, Reply, "the reply is no trace", "the reply is no trace")
    if reply.trace is not None:
        require_flat_trace(reply.trace)
    return reply


class _Spoken(Struct):
    """The version of a first line, whatever else there is in it."""

    protocol: int = 1


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
