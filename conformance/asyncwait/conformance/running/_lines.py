"""The lines that a playing program reads and writes, one JSON value each.

    {"scenario": {...}}  ->  {"trace": {...}}   or   {"error": "text"}

An empty line means: I am ready. Until its first line a program is given more time.

Our own child process speaks them, and so can a program in any language: see json-lines.md.
"""

from msgspec import Struct

from asyncwait.spec.scenario import Scenario, Trace

READY = b"\n"


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """One scenario to play."""

    scenario: Scenario


class Reply(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What came of it: a trace, or why there is none."""

    trace: Trace | None = None
    error: str = ""
