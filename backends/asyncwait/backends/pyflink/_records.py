"""Records on their way through PyFlink, which names them in what it says."""

from itertools import count
from typing import Any

from asyncwait.spec import Record


class Held:
    """What PyFlink takes for an input: a record, and what it knows it by."""

    def __init__(self, record: Record, named: "dict[str, Held]", name: str) -> None:
        self.record, self._named, self._name = record, named, name
        self.attempts = 0
        """How often the function was called for it."""

    def __str__(self) -> str:
        self._named[self._name] = self
        return self._name


class Records:
    """Those that PyFlink has, or has named."""

    def __init__(self) -> None:
        self._numbers = count()
        self._named: dict[str, Held] = {}

    def held(self, record: Record) -> Held:
        """Return what PyFlink is to take for `record`."""
        return Held(record, self._named, f"record#{next(self._numbers)}")

    def named_in(self, text: Any) -> Held | None:
        """Return the one that PyFlink names in `text`; None if there is none."""
        _, _, name = str(text).rpartition("'record#")
        return self._named.get("record#" + name.rstrip("'"))
