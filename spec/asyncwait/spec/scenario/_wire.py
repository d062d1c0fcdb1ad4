"""The lines that a playing program reads and writes, one JSON value each; see json-lines.md.

    {"scenario": {...}}  ->  {"trace": {...}}   or   {"error": "text"}

An empty line means: I am ready. Until its first line a program is given more time.
"""

from msgspec import Struct

from asyncwait.spec.scenario._json import decoded
from asyncwait.spec.scenario._scenario import Scenario
from asyncwait.spec.scenario._trace import Trace, require_flat_trace

READY = b"\n"
"""What a program writes when it can play."""


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
