"""Errors of the specification, and when they are raised.

    AsyncWaitError
    ├── InvalidConfig (ValueError)        an argument is wrong; raised where it is given
    ├── MissingExtra (ImportError)        an optional dependency is not installed
    ├── RetryAfter                        raised by a call, to say when the next attempt may begin
    ├── ResultRejected                    `on_result` rejects results, and no attempt is left
    ├── OperatorError                     ends the stream; `record` is the record that failed
    │   ├── CallFailed                    the call, or the collection it returned, raised
    │   ├── CallTimedOut (TimeoutError)   the deadline passed and the handler gave no results
    │   ├── InvalidResult                 the call gave something other than a collection of results
    │   ├── InvalidKey                    a key can't be compared, in key-ordered mode
    │   └── TooManyAbandonedCalls         more cancelled calls still run than are allowed
    └── SnapshotError                     base of the errors of `asyncwait.spec.snapshots`
        ├── NotPortable (TypeError)       a value does not survive the snapshot's codec
        ├── SnapshotCorrupt (ValueError)  cut short, altered, or no snapshot at all
        └── SnapshotVersionUnsupported    written by a newer version

An operator raises these errors plain, with the user's own error as `__cause__`, never inside an
exception group. An error of the source is not in this family: the operator raises it unchanged,
even if it has one of these classes. KeyboardInterrupt and SystemExit, which user code raises for
the whole program, are not in this family either: the operator closes everything and passes them on.
"""

from typing import Any, Self

from asyncwait.spec._elements import Record
from asyncwait.spec.texts import message, shown


class AsyncWaitError(Exception):
    """Base of all errors that asyncwait itself raises."""

    # Makes the texts of all errors printable, whatever values and names they contain.
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
        needs: name of the package, for example "pyspark".
        extra: the extra of this distribution that installs the package.
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
        results: the collected results; for plain values, a tuple of the one result.
    """

    def __init__(self, results: tuple[Any, ...]) -> None:
        super().__init__(results)
        self.results = results

    def __str__(self) -> str:
        return f"on_result rejects {', '.join(map(shown, self.results)) or 'no results'}"


class OperatorError(AsyncWaitError):
    """The operator failed because of one record.

    Args:
        record: the input record that failed; None where no single record caused the failure.
        reason: what happened, as the end of a sentence.
        attempts: number of calls of the record; the message has it if it is more than 1.
    """

    dropped = 0
    """Number of finished results that the consumer had not taken before the operator failed."""

    uncalled: tuple[Any, ...] = ()
    """With `on_failure="finish"`: values that the operator read and whose call, or next attempt,
    did not begin."""

    others: "tuple[OperatorError, ...]" = ()
    """With `on_failure="finish"`: the failures of the calls that still ran."""

    def __init__(self, record: Record | None, reason: str, attempts: int = 1) -> None:
        super().__init__(reason if record is None else f"{record}: {reason}")
        self.record = record
        self.reason = reason
        self.attempts = 1
        self.after(attempts)

    @property
    def value(self) -> Any:
        """The value of the record; None without a record."""
        return None if self.record is None else self.record.value

    def after(self, attempts: int) -> Self:
        """Set the number of calls of the record, and return the error itself."""
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

    The function makes the call; the collection may come from the timeout handler.
    """


class CallTimedOut(OperatorError, TimeoutError):
    """The deadline of a record passed, and no timeout handler gave results.

    The cause is the error of the handler, else the error of the last attempt that has failed.
    """


class InvalidResult(OperatorError):
    """A call or a handler gave None, str, bytes or an object that is not iterable as its results.

    A timeout handler that gives None gives no result at all: the error is CallTimedOut.
    """


class InvalidKey(OperatorError):
    """Hashing the key of a record, or comparing it with another key, raised in key-ordered mode."""


class TooManyAbandonedCalls(OperatorError):
    """More cancelled calls still run than calls may be waited for (`OperatorConfig.most_calls`)."""
