"""Final failures of calls, and their entries in a journal.

A failure has an entry of its own, whose key is derived from the key of the call. The payload holds
the call's key and the failure, so that neither an older asyncwait nor the user's `decode` takes it
for a result. If a result exists, too, the result counts.
"""

import msgspec
from msgspec import Struct

from asyncwait.backends.journal._errors import JournalError
from asyncwait.backends.journal._format import KEY_BYTES, keys_after
from asyncwait.backends.services._causes import cause_named, kind_of, status_behind
from asyncwait.spec import (
    AsyncWaitError,
    OperatorError,
    Record,
    ResultRejected,
    RetryAfter,
)
from asyncwait.spec.limits import NotCalled
from asyncwait.spec.texts import one_line
from asyncwait.toolkit import call_failed, cause_or_self, causes, status_of

_MARK = b"asyncwait failure 1\0"
_LONGEST = 2_000
"""Characters of a stored reason at most."""

failure_key = keys_after("failure 1")
"""Returns the key of a failure's entry for the key of the call."""


class Failure(Struct, frozen=True, array_like=True):
    """Final failure of a call, as a journal stores it.

    Args:
        key: of the call.
        kind: name of the error's class.
        reason: as `OperatorError.reason`, at most 2,000 characters.
        attempts: number of attempts.
        status: HTTP status, if the error has one.
    """

    key: bytes
    kind: str
    reason: str
    attempts: int = 1
    status: int | None = None

    @property
    def cause(self) -> str:
        """Class and HTTP status, by which failures are counted."""
        return cause_named(self.kind, self.status)

    @classmethod
    def of(cls, key: bytes, error: OperatorError) -> "Failure":
        """Build the failure of a call that an operator has given up."""
        cause = cause_or_self(error)
        reason = one_line(error.reason, _LONGEST)
        return cls(key, kind_of(cause), reason, error.attempts, status_behind(cause))

    @classmethod
    def of_call(cls, key: bytes, error: Exception) -> "Failure":
        """Build the failure of a call that raised."""
        return cls.of(key, call_failed(Record(None), error))


class KeptFailure(AsyncWaitError):
    """The journal has a final failure of this call from an earlier run; it is not repeated.

    Attributes:
        failure: kind, reason and status.
    """

    def __init__(self, failure: Failure) -> None:
        reason = one_line(failure.reason, _LONGEST)
        super().__init__(
            f"{one_line(failure.cause)} in an earlier run: {reason}; the journal stores it, and "
            "after `asyncwait journal drop-failures` the call is made again"
        )
        self.failure = failure

    def __reduce__(self) -> "tuple[type[KeptFailure], tuple[Failure]]":
        return type(self), (self.failure,)


_FINAL = {400, 404, 405, 406, 410, 411, 413, 414, 415, 422, 431, 451, 501, 505}
"""HTTP statuses caused by the request itself, not by the account, the rate or the time."""

_OPEN = (
    BaseExceptionGroup,
    EOFError,
    JournalError,
    KeptFailure,
    MemoryError,
    NotCalled,
    ResultRejected,
    RetryAfter,
    TimeoutError,
)


def encode_failure(failure: Failure) -> bytes:
    """Return the payload of an entry."""
    return _MARK + msgspec.msgpack.encode(failure)


def decode_failure(key: bytes, payload: bytes) -> Failure | None:
    """Return the failure in an entry; None if the entry holds a result."""
    if not payload.startswith(_MARK):
        return None
    try:
        failure = msgspec.msgpack.decode(payload[len(_MARK) :], type=Failure)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    is_whole = len(failure.key) == KEY_BYTES and failure_key(failure.key) == key
    return failure if is_whole else None


def is_open(error: BaseException | None) -> bool:
    """Return True if the next call may succeed, whatever `is_final` says.

    The cause of such an error is the machine, the account, the network, a deadline or a limit, not
    the record.
    """
    for each in causes(error):
        if not isinstance(each, Exception) or isinstance(each, _OPEN):
            return True
        status = status_of(each)
        if status is not None:
            return status not in _FINAL
        if isinstance(each, OSError) or type(each) is RuntimeError:
            return True
    return error is None
