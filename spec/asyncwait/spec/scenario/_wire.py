"""The lines that a playing program reads and writes, one JSON value each; see json-lines.md.

    {"scenario": {...}}  ->  {"trace": {...}}   or   {"error": "text"}

An empty line means: I am ready, and have everything; a declaration says what is there. Until its
first line a program is given more time.
"""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from asyncwait.spec.scenario._capability import CORE, PROFILES, Capability
from asyncwait.spec.scenario._json import decoded
from asyncwait.spec.scenario._scenario import Scenario
from asyncwait.spec.scenario._trace import Trace, require_flat_trace

READY = b"\n"
"""What a program writes when it can play."""


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
    """

    profiles: tuple[_Profile, ...] | None = None
    lacks: tuple[_Ability, ...] = ()


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """One scenario to play.

    Args:
        scenario: the plan.
    """

    scenario: Scenario


class Reply(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What came of a request: a trace, or why there is none.

    Args:
        trace: what was observed.
        error: why there is no trace; the run counts as an error, not as a failure.
    """

    trace: Trace | None = None
    error: str = ""


def reply_from_json(data: bytes) -> Reply:
    """Read a reply from the line that a program has written.

    Raises:
        InvalidConfig: not JSON, or it breaks the schema or a limit; the message says where.
    """
    reply: Reply = decoded(data, Reply, "the reply is no trace", "the reply is no trace")
    if reply.trace is not None:
        require_flat_trace(reply.trace)
    return reply
