"""Reading JSON that anybody may have written: what can't be read is refused, and in words."""

from typing import Any

import msgspec

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario._limits import LIMITS
from asyncwait.spec.texts import one_line

_LONGEST = 600
"""Characters of what is told of a document that can't be read: it may repeat what stands there."""


def decoded(data: bytes, kind: Any, breaks: str, is_not: str) -> Any:
    """Return what `data` holds.

    Args:
        data: JSON in UTF-8, it is hoped.
        kind: the type to read.
        breaks: what to say where it is JSON of another kind, "the trace breaks its schema".
        is_not: what to say where it is none.

    Raises:
        InvalidConfig: it can't be read, or is beyond a limit; the message says where.
    """
    if len(data) > LIMITS.bytes:
        raise InvalidConfig(f"{breaks}: expected at most {LIMITS.bytes} bytes, got {len(data)}")
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise InvalidConfig(f"{breaks}: {one_line(error, _LONGEST)}") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidConfig(f"{is_not}: {one_line(error, _LONGEST)}") from error
    except RecursionError as error:
        raise InvalidConfig(f"{breaks}: expected at most {LIMITS.levels} levels") from error
