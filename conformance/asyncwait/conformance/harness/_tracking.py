"""Objects in place of values: whether the very same come out, and whether they are let go."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from asyncwait.spec import Element, Record, Snapshot

EVERY = 500
"""Elements that the consumer takes between two looks at what is still alive."""


class _Token:
    """Stands for one value, on one way through the operator; equal to nothing but itself.

    Args:
        value: as the scenario has it.
        number: of the record whose value it is; None for a result.
    """

    __slots__ = ("__weakref__", "number", "value")

    def __init__(self, value: Any, number: int | None = None) -> None:
        self.value = value
        self.number = number

    def __repr__(self) -> str:
        return repr(self.value)


class Tracker:
    """Gives out tokens for values and takes them back, where they are needed; else values.

    Args:
        on_copy: told of each copy, in words.
        is_on: whether they are needed.
        looks: whether it is looked at what is still alive, which takes its time.

    Attributes:
        may_know: so many records the operator may know at one time.
    """

    def __init__(
        self, on_copy: Callable[[str], object], *, is_on: bool, looks: bool = True
    ) -> None:
        self._on_copy = on_copy
        self._looks = is_on and looks
        self.may_know = 0
        self._is_on = is_on
        self._inputs: weakref.WeakSet[_Token] = weakref.WeakSet()
        self._results: weakref.WeakSet[_Token] = weakref.WeakSet()
        self._taken: weakref.WeakSet[_Token] = weakref.WeakSet()
        self._count = 0
        self._records = 0
        self.kept = 0
        """The most objects that the operator was found to know without need."""

    def given(self, element: Element) -> Element:
        """Return an input element with a token as its value."""
        if not self._is_on or not isinstance(element, Record):
            return element
        token = _Token(element.value, self._records)
        self._records += 1
        self._inputs.add(token)
        return Record(token, element.timestamp, element.key)

    def restored(self, snapshot: Snapshot | None) -> Snapshot | None:
        """Return a snapshot with tokens as the values in it."""
        if snapshot is None or not self._is_on:
            return snapshot
        stored: tuple[Any, ...] = tuple(map(self.given, snapshot.in_flight))
        return replace(snapshot, in_flight=stored)

    def called(self, value: Any) -> tuple[Any, int | None]:
        """Return the value that a call is made with, and the number of its record, if known."""
        known = self._returned(value, self._inputs, "the function is called with")
        return known, value.number if isinstance(value, _Token) else None

    def results(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what a call gives as its results."""
        if not self._is_on:
            return values
        tokens = tuple(map(_Token, values))
        self._results.update(tokens)
        return tokens

    def took(self, element: Element) -> Element:
        """Return an element as the consumer notes it; look now and then at what is still alive."""
        if not self._is_on:
            return element
        self._count += 1
        if self._count % EVERY == 0:
            self.look()
        match element:
            case Record():
                value = self._returned(element.value, self._results, "a result came out as")
                if isinstance(element.value, _Token):
                    self._taken.add(element.value)
                return Record(value, element.timestamp, element.key)
            case Snapshot():
                stored: tuple[Any, ...] = tuple(map(self._stored, element.in_flight))
                return replace(element, in_flight=stored)
            case _:
                return element

    def _stored(self, element: Any) -> Any:
        if not isinstance(element, Record):
            return element
        value = self._returned(element.value, self._inputs, "a snapshot holds")
        return Record(value, element.timestamp, element.key)

    def named(self, record: Record) -> tuple[Record, int | None]:
        """Return a record that an error names as the consumer notes it, and its number, if any."""
        token = record.value
        if not isinstance(token, _Token):
            return record, None
        return Record(token.value, record.timestamp, record.key), token.number

    def _returned(self, token: Any, known: "weakref.WeakSet[_Token]", what: str) -> Any:
        if not self._is_on:
            return token
        if isinstance(token, _Token) and token in known:
            return token.value
        self._on_copy(f"{what} another object: {token!r}")
        return token.value if isinstance(token, _Token) else token

    def look(self) -> None:
        """Count what is alive and should not be; collect what waits for that first."""
        if self._looks:
            gc.collect()
            self.kept = max(self.kept, len(self._inputs) - self.may_know, len(self._taken))
