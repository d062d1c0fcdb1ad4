"""Tokens in place of values: whether an operator passes on the very objects, and releases them.

Also measures the bytes that an operator holds: all that is reachable from it, without the harness.
"""

import gc
import sys
import weakref
from asyncio import AbstractEventLoop
from collections.abc import Callable
from itertools import pairwise
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FunctionType,
    ModuleType,
)
from typing import Any

from msgspec.structs import replace

from asyncwait.spec import Element, Record, Snapshot
from asyncwait.spec.scenario import MisuseKind

_APART = (type, ModuleType, CodeType, BuiltinFunctionType, AbstractEventLoop)
"""Types of objects that exist once for all, or that lead to every object."""

_RUNNERS = {"Runner", "GuestState"}
"""Trio's objects that lead to every object; by name, as trio may not be installed."""


def footprint(operator: Any) -> int:
    """Return the bytes of all objects reachable from `operator`, its tasks and closures included.

    A value counts only as much as a number does: `Tracker` watches values. Objects that a module or
    a class holds do not count.
    """
    seen, waiting, total = {id(operator)}, [operator], 0
    while waiting:
        present = waiting.pop()
        total += sys.getsizeof(present)
        for other in _parts(present):
            if id(other) not in seen and not _is_apart(other):
                seen.add(id(other))
                waiting.append(other)
    return total


def _parts(present: Any) -> list[Any]:
    if type(present) is FunctionType:  # without its module
        return [present.__closure__, present.__defaults__, present.__kwdefaults__, vars(present)]
    return gc.get_referents(present)


def _is_apart(other: Any) -> bool:
    kind, code = type(other), None
    if isinstance(other, CoroutineType):  # Reading an attribute of any object would run its code.
        code = other.cr_code
    elif isinstance(other, AsyncGeneratorType):
        code = other.ag_code
    return (
        issubclass(kind, _APART)
        or str(kind.__module__).startswith("asyncwait.conformance")
        or kind.__name__ in _RUNNERS
        or (code is not None and "/conformance/harness/" in code.co_filename.replace("\\", "/"))
    )


EVERY = 250
"""Elements that the consumer takes between two searches for objects that are still alive."""

_HARDLY_ANY = 2
"""Most values and results in flight when bytes are compared."""

_STEPS = 4
"""Fewest steps between measurements, so that growth can be told from warming up."""


class _Token:
    """Represents one value on its way through the operator; equal to nothing but itself.

    Args:
        number: the number of the record with that value; None for a result.
    """

    __slots__ = ("__weakref__", "is_changed", "is_copy", "number", "value")

    def __init__(self, value: Any, number: int | None = None, *, is_copy: bool = False) -> None:
        self.value = value
        self.number = number
        self.is_copy = is_copy
        self.is_changed = False
        """Whether a user function received it and changed it; happens to copies alone."""

    def __repr__(self) -> str:
        return repr(self.value)


class _EqualToken(_Token):
    """Represents a value, and is equal to the token of an equal value, as 1 is to 1.0."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return bool(self.value == (other.value if isinstance(other, _EqualToken) else other))

    def __hash__(self) -> int:
        return hash(self.value)


class Tracker:
    """Replaces values by tokens on their way in, and tokens by values on their way out.

    It passes values through unchanged where a scenario needs no tokens.
    """

    def __init__(
        self,
        misused: Callable[[MisuseKind, str], object],
        *,
        is_on: bool,
        looks: bool = True,
        copies: bool = False,
    ) -> None:
        self._misused = misused
        self._copies = copies
        self._looks = is_on and looks
        self.may_know = 0
        self._is_on = is_on
        self._inputs: weakref.WeakSet[_Token] = weakref.WeakSet()
        self._results: weakref.WeakSet[_Token] = weakref.WeakSet()
        self._taken: weakref.WeakSet[_Token] = weakref.WeakSet()
        self._count = 0
        self._records = 0
        self.has_equal_values = False
        self.kept = 0
        """Most objects that the operator was found to hold without need."""
        self.operator: Any = None
        """The operator whose bytes are counted; None for no operator."""
        self._footprints: list[int] = []

    def given(self, element: Element) -> Element:
        """Return an input element with a token as its value."""
        if not self._is_on or not isinstance(element, Record):
            return element
        if self.has_equal_values:
            token: _Token = _EqualToken(element.value, self._records)
        else:
            token = _Token(element.value, self._records)
            self._inputs.add(token)
        self._records += 1
        return Record(token, element.timestamp, element.key)

    def restored(self, snapshot: Snapshot | None) -> Snapshot | None:
        """Return a snapshot with tokens as its values."""
        if snapshot is None or not self._is_on:
            return snapshot
        stored: tuple[Any, ...] = tuple(map(self.given, snapshot.in_flight))
        return replace(snapshot, in_flight=stored)

    def called(self, value: Any, by: MisuseKind = "call-shares") -> tuple[Any, int | None]:
        """Return the value of a call, and the number of its record if it is known."""
        if self._copies and isinstance(value, _Token):
            if value.is_changed or not value.is_copy:
                what = "has changed" if value.is_changed else "was read"
                self._misused(by, f"{value!r} is given as what {what}")
            value.is_changed = True
            return value.value, value.number
        known = self._returned(value, self._inputs, "the function is called with")
        return known, value.number if isinstance(value, _Token) else None

    def copy(self, value: Any) -> Any:
        """Return a copy of a token, as changed as the token; any other value unchanged."""
        if not isinstance(value, _Token):
            return value
        copied = _Token(value.value, value.number, is_copy=True)
        copied.is_changed = value.is_changed
        return copied

    def number(self, value: Any) -> tuple[Any, int | None]:
        """Return the value that a token represents, and the number of its record."""
        return (value.value, value.number) if isinstance(value, _Token) else (value, None)

    def results(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the results of a call, as tokens where needed."""
        if not self._is_on:
            return values
        tokens = tuple(map(_Token, values))
        self._results.update(tokens)
        return tokens

    def took(self, element: Element) -> Element:
        """Return an element as the consumer notes it; search for leaks now and then."""
        if not self._is_on:
            return element
        self._count += 1
        if self._count % EVERY == 0:
            self.look()
            # Undelivered records would count, except the record that has just come out.
            is_idle = max(len(self._inputs), len(self._results)) <= _HARDLY_ANY
            if self._looks and self.operator is not None and is_idle:
                self._footprints.append(footprint(self.operator))
        match element:
            case Record():
                value = self._returned(element.value, self._results, "a result came out as")
                if isinstance(element.value, _Token):
                    self._taken.add(element.value)
                return Record(value, element.timestamp, element.key)
            case Snapshot():
                kind: type[Any] = type(element.in_flight)  # Whether it is a tuple is checked later.
                return replace(element, in_flight=kind(map(self._stored, element.in_flight)))
            case _:
                return element

    def _stored(self, element: Any) -> Any:
        if not isinstance(element, Record):
            return element
        token = element.value
        if self._copies and isinstance(token, _Token):
            if token.is_changed:
                self._misused("spoiled", f"a snapshot holds {token!r}, which has changed")
            return Record(token.value, element.timestamp, element.key)
        value = self._returned(element.value, self._inputs, "a snapshot holds")
        return Record(value, element.timestamp, element.key)

    def named(self, record: Record) -> tuple[Record, int | None]:
        """Return an error's record as the consumer notes it, and its number or None."""
        token = record.value
        if not isinstance(token, _Token):
            return record, None
        return Record(token.value, record.timestamp, record.key), token.number

    def _returned(self, token: Any, known: "weakref.WeakSet[_Token]", what: str) -> Any:
        if not self._is_on:
            return token
        if isinstance(token, _EqualToken) and known is self._inputs:
            return token.value
        if isinstance(token, _Token) and token in known:
            return token.value
        self._misused("copied", f"{what} another object: {token!r}")
        return token.value if isinstance(token, _Token) else token

    def look(self) -> None:
        """Collect garbage, then count the objects that are alive without need."""
        if self._looks:
            gc.collect()
            self.kept = max(self.kept, len(self._inputs) - self.may_know, len(self._taken))

    @property
    def grown(self) -> float:
        """Least growth of the operator, in bytes for each element, from measurement to measurement.

        A sound operator may still grow between two measurements, by a worker that it had not needed
        before: so it takes at least five measurements, and the least step counts.
        """
        steps = [later - earlier for earlier, later in pairwise(self._footprints)]
        return max(0, min(steps)) / EVERY if len(steps) >= _STEPS else 0
