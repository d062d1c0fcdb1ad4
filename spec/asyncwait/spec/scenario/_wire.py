"""The lines that a playing program reads and writes, one JSON value each; see json-lines.md.

    {"scenario": {...}, "number": 7}  ->  {"trace": {...}, "number": 7}
                                     or   {"error": "text", "number": 7}

An empty first line means that the program is ready and has every capability; a declaration lists
its capabilities and the version of this protocol. Version 1, the default, has no numbers. The suite
waits longer for the first line than for replies.
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
"""The supported versions of the protocol."""

NUMBERED = 2
"""The first version whose requests and replies have numbers."""

_Count: TypeAlias = Annotated[int, Meta(ge=0)]


def _one_of(*names: str) -> Meta:
    """Return the names for the schema only: later code refuses other names, with a hint."""
    return Meta(extra_json_schema={"enum": list(names)})


_Profile: TypeAlias = Annotated[str, _one_of(CORE, *PROFILES)]
_Capability: TypeAlias = Annotated[str, _one_of(*Capability)]


class Declaration(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """First line of a program that lacks some capabilities.

    Args:
        profiles: names of its profiles; omitted, or null, for every profile.
        lacks: names of further capabilities that it does not have.
        protocol: its version of the protocol.
    """

    profiles: tuple[_Profile, ...] | None = None
    lacks: tuple[_Capability, ...] = ()
    protocol: Annotated[int, Meta(ge=OLDEST_PROTOCOL, le=PROTOCOL)] = 1


class Request(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One scenario to play.

    Args:
        scenario: the plan.
        number: number that the reply has to repeat; null, or omitted, for none.
    """

    scenario: Scenario
    number: _Count | None = None


class Reply(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Answer to a request: a trace, or an error.

    Args:
        trace: trace of the run.
        error: reason for a missing trace; the run counts as an error, not as a failure.
        number: number of the request; null, or omitted, if the request had no number.
    """

    trace: Trace | None = None
    error: str = ""
    number: _Count | None = None


def request_from_json(data: bytes) -> Request:
    """Read a request from a line of the suite.

    Raises:
        InvalidConfig: not JSON, or it breaks the schema or a limit; the message says where.
    """
    request: Request = decoded(data, Request, "the request breaks its schema", "it is no request")
    return request


def reply_from_json(data: bytes) -> Reply:
    """Read a reply from a line of the program.

    Raises:
        InvalidConfig: not JSON, or it breaks the schema or a limit; the message says where.
    """
    reply: Reply = decoded(data, Reply, "the reply is no trace", "the reply is no trace")
    if reply.trace is not None:
        require_flat_trace(reply.trace)
    return reply


class _Spoken(Struct):
    """The version in a first line; other fields are ignored."""

    protocol: int = 1


def declaration_from_json(line: bytes) -> frozenset[Capability] | None:
    """Return the capabilities that the first line of a program declares; all for an empty line.

    Return None if the line is a reply already, which declares nothing.

    Raises:
        InvalidConfig: the line can't be the first line, or its declaration is wrong.
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
    """Return the version of the protocol that the first line of a program declares.

    Ignore other fields of the line: another version may have other fields.

    Raises:
        InvalidConfig: the version is not supported.
    """
    try:
        spoken = msgspec.json.decode(line, type=_Spoken).protocol
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return OLDEST_PROTOCOL  # Without a declaration; `declaration_from_json` reports an error.
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
