"""Every error the specification names, and when it is raised.

    AsyncWaitError
    ├── InvalidConfig (ValueError)        an argument is wrong; raised where it is given
    ├── MissingExtra (ImportError)        an optional dependency is not installed
    ├── RetryAfter                        raised by a call, to say when the next attempt may begin
    ├── ResultRejected                    `on_result` wants another attempt, and there is none
    ├── OperatorError                     the stream ends with it; `record` says whose call it was
    │   ├── CallFailed                    the call, or the collection it returned, raised
    │   ├── CallTimedOut (TimeoutError)   the deadline passed and the handler gave no results
    │   ├── InvalidResult                 something that is not a collection of results
    │   ├── InvalidKey                    a key can't be compared, in key-ordered mode
    │   └── TooManyAbandonedCalls         more cancelled calls run on than may be waited for
    └── SnapshotError                     of `asyncwait.spec.snapshots`
        ├── NotPortable (TypeError)       a value does not survive the snapshot's codec
        ├── SnapshotCorrupt (ValueError)  cut short, altered, or no snapshot at all
        └── SnapshotVersionUnsupported    written by a newer version

An operator raises these plain, with the user's own error as `__cause__`, never inside an
exception group. An error of the source is not in this family: it is raised unchanged, even if it
is of one of these classes. What user code raises for the whole program, KeyboardInterrupt and
SystemExit, is no error of this family either: it passes, and everything is closed.
"""

from typing import Any, Self

from asyncwait.spec._elements import Record
from asyncwait.spec.texts import message, shown


class AsyncWaitError(Exception):
    """Base of all errors that asyncwait itself raises."""

    # The one door for the texts of all errors, whatever values and names are in them.
    def __str__(self) -> str:
        return message(super().__str__())


class InvalidConfig(AsyncWaitError, ValueError):
    """An argument is wrong. The message holds its name, its value and its type."""

    @classmethod
    def of(cls, name: str, value: object, expected: str) -> "InvalidConfig":
        """Build the error for argument `name`, which should have been `expected`."""
        return cls(f"{name} must be {expected}, got {shown(value)} ({type(value).__name__})")


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


class ResultRejected(AsyncWaitError):
    """`Retry.on_result` rejects results.

    Args:
        results: as they were collected; for plain values, one for each, a tuple of that one.
    """

    def __init__(self, results: tuple[Any, ...]) -> None:
        super().__init__(results)
        self.results = results

    def __str__(self) -> str:
        return f"on_result rejects {', '.join(map(shown, self.results)) or 'no results'}"


class OperatorError(AsyncWaitError):
    """The operator failed because of one record.

    Args:
        record: the input record whose outcome it is; None where no single one is to blame.
        reason: what happened, as the end of a sentence.
        attempts: calls of the record that it came to; told where there were several.
    """

    dropped = 0
    """Finished results that were not taken before the operator failed."""

    uncalled: tuple[Any, ...] = ()
    """With `on_failure="finish"`: values that were read and whose call, or next attempt, did not
    begin."""

    others: "tuple[OperatorError, ...]" = ()
    """With `on_failure="finish"`: the failures of calls that still ran."""

    def __init__(self, record: Record | None, reason: str, attempts: int = 1) -> None:
        super().__init__(reason if record is None else f"{record}: {reason}")
        self.record = record
        self.reason = reason
        self.attempts = 1
        self.after(attempts)

    @property
    def value(self) -> Any:
        """The value of the record; None where there is no record."""
        return None if self.record is None else self.record.value

    def after(self, attempts: int) -> Self:
        """Note how many calls of the record there have been, and return itself."""
        if attempts > 1:
            self.attempts = attempts
            text = self.reason if self.record is None else f"{self.record}: {self.reason}"
            self.args = (f"{text} (after {attempts} attempts)",)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = {"record", "reason", "attempts"}
        state = {name: each for name, each in vars(self).items() if name not in made_of}
        return type(self), (self.record, self.reason, self.attempts), state or None


class CallFailed(OperatorError):
    """A call raised, or was completed with an error, or a collection of results raised.

    The call is that of the function; the collection may be the timeout handler's.
    """


class CallTimedOut(OperatorError, TimeoutError):
    """The deadline of a record passed, and there is no handler, or it gave None or raised.

    The cause is what the handler raised, else the error of the last attempt that has failed.
    """


class InvalidResult(OperatorError):
    """A call gave None, str, bytes or nothing iterable as its results, or a handler one of these.

    A handler's None is no result at all: that is CallTimedOut.
    """


class InvalidKey(OperatorError):
    """Hashing the key of a record raised, or comparing it with another; in key-ordered mode."""


class TooManyAbandonedCalls(OperatorError):
    """More cancelled calls run on than records may wait for: `capacity`, or `in_flight` batches."""
