"""The lines that a playing program reads and writes, one JSON value each; see json-lines.md.

    {"scenario": {...}, "number": 7}  ->  {"trace": {...}, "number": 7}
                                     or   {"error": "text", "number": 7}

An empty line means: I am ready, and have everything; a declaration says what is there, and which
version of this protocol the program speaks. In version 1, which is that of a program that does not
say, nothing has a number. Until its first line a program is given more time.
"""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from asyncwait.spec.scenario._capability import CORE, PROFILES, Capability
from asyncwait.spec.scenario._json import decoded
from asyncwait.spec.scenario._scenario import Scenario
from asyncwait.spec.scenario._trace import Trace, require_flat_trace

READY = b"\n"
"""What a program writes when it can play."""

OLDEST_PROTOCOL, PROTOCOL = 1, 2
"""The versions of these lines that are spoken here."""

NUMBERED = 2
"""From this version on requests and replies carry numbers."""

_Count: TypeAlias = Annotated[int, Meta(ge=0)]


def _one_of(*names: str) -> Meta:
    """Give the schema the names; what is not among them is refused elsewhere, in better words."""
    return Meta(extra_json_schema={"enum": list(names)})


_Profile: TypeAlias = Annotated[str, _one_of(CORE, *PROFILES)]
_Ability: TypeAlias = Annotated[str, _one_of(*Capability)]


class Declaration(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a program that does not have everything says in its first line.

    Args:
        profiles: names of those that it has; left out, or null, for every profile.
        lacks: names of further abilities that it does not have.
        protocol: the version of these lines that it speaks.
    """

    profiles: tuple[_Profile, ...] | None = None
    lacks: tuple[_Ability, ...] = ()
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
