"""Every error the specification names, and when it is raised.

    AsyncWaitError
    ├── InvalidConfig (ValueError)        an argument is wrong; raised where it is given
    ├── MissingExtra (ImportError)        an optional dependency is not installed
    ├── OperatorError                     the stream ends with it; `record` says whose call it was
    │   ├── CallFailed                    the call, or the collection it returned, raised
    │   ├── CallTimedOut                  the deadline passed and the handler gave no results
    │   ├── InvalidResult                 something that is not a collection of results
    │   └── TooManyAbandonedCalls         more calls outlive their records than there is capacity
    └── SnapshotError
        ├── NotPortable (TypeError)       a value does not survive the snapshot's codec
        ├── SnapshotCorrupt (ValueError)  cut short, altered, or no snapshot at all
        └── SnapshotVersionUnsupported    written by a newer version

An operator raises these plain, with the user's own error as `__cause__`, never inside an
exception group. An error of the source is not in this family: it is raised unchanged.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncwait.spec._elements import Record


class AsyncWaitError(Exception):
    """Base of all errors that asyncwait itself raises."""


class InvalidConfig(AsyncWaitError, ValueError):
    """An argument is wrong. The message holds its name, its value and its type."""

    @classmethod
    def of(cls, name: str, value: object, expected: str) -> "InvalidConfig":
        """Build the error for argument `name`, which should have been `expected`."""
        return cls(f"{name} must be {expected}, got {_shown(value)} ({type(value).__name__})")


_LONGEST = 200


def _shown(value: object) -> str:
    """Show a value that somebody gave, whatever it is, in a part of a line."""
    try:
        shown = repr(value)
    except Exception:  # too deep, a number of too many digits, or its own fault
        shown = object.__repr__(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


class MissingExtra(AsyncWaitError, ImportError):
    """A part of asyncwait needs a package that is not installed.

    Args:
        needs: what was wanted, for example "pyspark".
        extra: the extra of this distribution that installs it.
    """

    def __init__(self, needs: str, extra: str) -> None:
        super().__init__(f"{needs} is not installed; try: pip install 'asyncwait[{extra}]'")
        self.needs = needs
        self.extra = extra

    def __reduce__(self) -> "tuple[type[MissingExtra], tuple[str, str]]":
        return type(self), (self.needs, self.extra)


class OperatorError(AsyncWaitError):
    """The operator failed because of one record.

    Args:
        record: the input record whose outcome it is; None where no single one is to blame.
        reason: what happened, as the end of a sentence.
    """

    def __init__(self, record: "Record | None", reason: str) -> None:
        super().__init__(reason if record is None else f"{record}: {reason}")
        self.record = record
        self.reason = reason

    def __reduce__(self) -> "tuple[type[OperatorError], tuple[Record | None, str]]":
        return type(self), (self.record, self.reason)


class CallFailed(OperatorError):
    """A call raised, or the collection that it returned raised while it was read."""


class CallTimedOut(OperatorError):
    """The deadline of a record passed, and its handler gave no results."""


class InvalidResult(OperatorError):
    """A call or a timeout handler gave None, str, bytes or nothing iterable as its results."""


class TooManyAbandonedCalls(OperatorError):
    """More than `capacity` calls run on after their record was decided without them."""


class SnapshotError(AsyncWaitError):
    """A snapshot can't be written or read."""


class NotPortable(SnapshotError, TypeError):
    """A value does not come back equal and of the same type from the codec."""


class SnapshotCorrupt(SnapshotError, ValueError):
    """The bytes are not a whole, unaltered snapshot."""


class SnapshotVersionUnsupported(SnapshotError, ValueError):
    """The snapshot was written in a format that this version does not know."""
