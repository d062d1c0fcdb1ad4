"""Scenarios as JSON, which also tells one from another; and JSON that anybody may have written.

What can't be read is refused, and in words.
"""

import hashlib
from typing import Any

import msgspec

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario._limits import LIMITS
from asyncwait.spec.scenario._scenario import Scenario
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


def scenarios_to_json(scenarios: tuple[Scenario, ...]) -> bytes:
    """Return `scenarios` as JSON."""
    return msgspec.json.encode(scenarios)


def scenarios_from_json(data: bytes) -> tuple[Scenario, ...]:
    """Read scenarios from JSON.

    Raises:
        InvalidConfig: not JSON, or it breaks the schema or a limit; the message says where.
    """
    scenarios: tuple[Scenario, ...] = decoded(
        data,
        tuple[Scenario, ...],
        "the scenarios break their schema",
        "the scenarios are not JSON",
    )
    return scenarios


ID_DIGITS = 8
"""Of an id: of ten thousand scenarios two have the same one in one case out of a hundred."""


def key_of(scenario: Scenario) -> bytes:
    """Return what identifies a scenario: its JSON, in which what stands at its default is left out.

    Its name says nothing of what is played, and stays out too.
    """
    return msgspec.json.encode(msgspec.structs.replace(scenario, name=""))


def size_of(scenario: Scenario) -> tuple[int, bytes]:
    """Return by what scenarios are compared: the length of their key, then the key.

    So a scenario is smaller where more of it stands at its default, or where its numbers are.
    """
    key = key_of(scenario)
    return len(key), key


def id_of(scenario: Scenario) -> str:
    """Return the id under which people speak of a scenario: eight hexadecimal digits of its key."""
    return hashlib.sha256(key_of(scenario)).hexdigest()[:ID_DIGITS]
