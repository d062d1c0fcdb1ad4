"""Calling the records of one key one after another."""

from collections.abc import Callable
from typing import Any

from asyncwait.backends.emitter._entries import Entry
from asyncwait.spec import OperatorError, Record
from asyncwait.toolkit import ByKey, invalid_key


class KeyChains:
    """Hangs each record behind the last one with its key, for as long as that is undecided (KEY-1).

    A chain is known by its last entry, and each entry knows the one behind it.

    Args:
        start: calls the function for a record.
        fail: fails the operator.
    """

    def __init__(
        self, start: Callable[[Entry], object], fail: Callable[[OperatorError], object]
    ) -> None:
        self._start = start
        self._fail = fail
        self._last: ByKey[Entry] = ByKey()

    def start(self, entry: Entry) -> None:
        """Have the function called for an admitted record, as soon as its key is free."""
        try:
            last = self._swap(entry)
        except Exception as error:
            record: Any = entry.element
            self._fail(invalid_key(record, error))
        else:
            if last is None:
                self._start(entry)
            else:
                last.following = entry

    def _swap(self, entry: Entry) -> Entry | None:
        """Make an entry the last of its key; return the one that was."""
        key = _key(entry)
        last = self._last.get(key)
        self._last.put(key, entry)
        return last

    def completed(self, entry: Entry) -> None:
        """Have the function called for the record behind the first of its key (KEY-5)."""
        following, entry.following = entry.following, None
        if following is None:
            self._last.remove(_key(entry), entry)
        else:
            self._start(following)

    def clear(self) -> None:
        """Forget all chains."""
        self._last.clear()


def _key(entry: Entry) -> object:
    assert isinstance(entry.element, Record)
    return entry.element.key
