"""Limits of scenarios and traces, so that playing any scenario ends.

The types of the fields below carry the limits into the JSON Schema, and `require_limits` reads
them from there. Much smaller scenarios suffice to show that an operator is wrong.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

from asyncwait.spec._elements import HIGHEST, Element, Record, Snapshot
from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.texts import one_line

T = TypeVar("T")


class Limits(Struct, frozen=True):
    """Largest numbers in scenarios and traces.

    Args:
        bytes: bytes in a file, or in a line of the wire.
        duration: longest legal duration of a leg, and of each wait in it, in ms: five days. A clock
            counts seconds in a float: within this time the rounding errors of any number of waits
            don't add up to another instant.
        timeout: longest timeout, in ms; a timeout that no call reaches may exceed `duration`.
        count: room in the operator, or elements read in one step.
        items: items in a list of a scenario, such as inputs and plans.
        legs: legs of a scenario.
        levels: levels of nested lists and objects in a value; snapshots in a chain.
    """

    bytes: int = 64 << 20
    duration: int = 432_000_000
    timeout: int = HIGHEST
    count: int = 1_000_000
    items: int = 5_000
    legs: int = 100
    levels: int = 100


LIMITS = Limits()
"""The limits in use."""


def _between(lowest: int, highest: int) -> Meta:
    return Meta(extra_json_schema={"minimum": lowest, "maximum": highest})


def _holding(fewest: int, most: int) -> Meta:
    return Meta(extra_json_schema={"minItems": fewest, "maxItems": most})


Wait: TypeAlias = Annotated[int, _between(0, LIMITS.duration)]
Timeout: TypeAlias = Annotated[int, _between(1, LIMITS.timeout)]
Room: TypeAlias = Annotated[int, _between(1, LIMITS.count)]
Percent: TypeAlias = Annotated[int, _between(0, 100)]
Share: TypeAlias = Annotated[int, _between(1, 99)]
Items: TypeAlias = Annotated[tuple[T, ...], _holding(0, LIMITS.items)]
OneOrMore: TypeAlias = Annotated[tuple[T, ...], _holding(1, LIMITS.items)]
AllButOne: TypeAlias = Annotated[tuple[T, ...], _holding(0, LIMITS.legs - 1)]


def require_limits(part: Struct) -> None:
    """Refuse a part of a scenario with a field beyond the limits of its type.

    Raises:
        InvalidConfig: a field is beyond its limits; the message has its name and value.
    """
    for name, limits in _limited_fields(type(part)):
        value = getattr(part, name)
        if "maxItems" in limits:
            _require_items(name, value, limits["minItems"], limits["maxItems"])
        elif value is not None:
            require_between(name, value, limits["minimum"], limits["maximum"])


@cache
def _limited_fields(kind: type[Struct]) -> tuple[tuple[str, Mapping[str, int]], ...]:
    """Return the fields of `kind` with the limits in their types."""
    return tuple(
        (name, note.extra_json_schema)
        for name, hint in get_type_hints(kind, include_extras=True).items()
        for choice in (hint, *get_args(hint))
        for note in getattr(choice, "__metadata__", ())
        if note.extra_json_schema is not None
    )


def require_between(name: str, value: Any, lowest: int, highest: int) -> None:
    """Refuse everything but a whole number from `lowest` to `highest`.

    Raises:
        InvalidConfig: `value` is not such a number.
    """
    if type(value) is not int or not lowest <= value <= highest:
        raise InvalidConfig.of(name, value, f"a whole number from {lowest} to {highest}")


def _require_items(name: str, value: Any, fewest: int, most: int) -> None:
    if not isinstance(value, tuple):
        raise InvalidConfig.of(name, value, "a tuple")
    if not fewest <= len(value) <= most:
        raise InvalidConfig(f"{name} must hold {fewest} to {most} items, got {len(value)}")


def require_flat(name: str, *values: Any) -> None:
    """Refuse values with too many levels of nested lists and objects.

    Raises:
        InvalidConfig: a value has more levels than `Limits.levels`.
    """
    for value in values:
        if value is None or isinstance(value, str | int):
            continue  # Most values are of these types, and have no levels.
        level, depth = [value], 0
        while level := [part for node in level for part in _parts(node)]:
            depth += 1
            # An object in several places counts once: else each level could double the next.
            level = list({id(part): part for part in level}.values())
            if depth > LIMITS.levels:
                raise InvalidConfig(f"{name} must have at most {LIMITS.levels} levels, got more")


def _parts(node: Any) -> Iterator[Any]:
    if isinstance(node, list | tuple):
        yield from node or (None,)
    elif isinstance(node, dict):
        yield from node.values() or (None,)


def require_flat_element(name: str, element: Element) -> None:
    """Refuse an element with too many levels of nested values or snapshots.

    Raises:
        InvalidConfig: it has more levels than `Limits.levels`.
    """
    for part in _chain(name, element):
        if isinstance(part, Record):
            require_flat(name, part.value, part.key)


def require_element(name: str, element: Element) -> None:
    """Refuse an element that is invalid as an input, or nested too deeply.

    Raises:
        InvalidConfig: the element is invalid or nested too deeply.
    """
    require_flat_element(name, element)
    for part in _chain(name, element):
        require_limits(part)
        if isinstance(part, Snapshot):
            _require_items("in_flight", part.in_flight, 0, LIMITS.items)


def _chain(name: str, element: Element) -> Iterator[Element]:
    """Yield the element; for a snapshot also its elements and its upstream snapshots."""
    if not isinstance(element, Snapshot):
        yield element
        return
    snapshot: Snapshot | None = element
    links = 0
    while snapshot is not None:
        links += 1
        if links > LIMITS.levels:
            raise InvalidConfig(f"{name} must have at most {LIMITS.levels} snapshots in a chain")
        yield snapshot
        yield from snapshot.in_flight
        snapshot = snapshot.upstream


_LONGEST = 600
"""Characters of the message about an unreadable document, which may repeat parts of it."""


def decoded(data: bytes, kind: Any, breaks: str, is_not: str) -> Any:
    """Decode JSON as a type.

    Args:
        data: bytes, which should be JSON in UTF-8.
        kind: the type to read.
        breaks: message for JSON of another type, such as "the trace breaks its schema".
        is_not: message for data that is not JSON.

    Raises:
        InvalidConfig: `data` can't be read, or is beyond a limit; the message says where.
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
