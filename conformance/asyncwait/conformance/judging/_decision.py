"""What decided a record."""

from typing import Any

from msgspec import Struct

from asyncwait.conformance.judging._observe import NEVER


class Decision(Struct, frozen=True, eq=False):
    """How a record was decided; the fields are those of `Item`."""

    asked_at: float = NEVER
    decided_at: float = NEVER
    decided_seq: int = -1
    timed_out: bool = False
    results: tuple[Any, ...] | None = None
    wrong: str = ""
    cause: str = ""
    failure: str = ""
    failure_cause: str = ""


UNDECIDED = Decision()


def expected_error(does: str, error: str) -> str:
    """Return the canonical name of the error that a planned outcome must become."""
    if does == "misreturn" and error != "broken":
        return "InvalidResult"
    return "CallFailed"
