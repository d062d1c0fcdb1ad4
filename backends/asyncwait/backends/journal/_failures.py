"""Calls that have failed for good: how they stand in a journal, and are told from results.

A failure has an entry of its own, whose key is derived from that of the call, and which says both.
So nobody takes it for a result: not a version of asyncwait that knows nothing of failures, nor a
`decode` of the user's own. Where there is a result, too, that counts.
"""

import msgspec
from msgspec import Struct

from asyncwait.backends.journal._errors import JournalError
from asyncwait.backends.journal._format import KEY_BYTES
from asyncwait.backends.journal._keys import keys_after
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
"""Characters of a reason that are kept."""

failure_key = keys_after("failure 1")
"""Returns the key of the entry that says that the call with a key has failed."""


class Failure(Struct, frozen=True, array_like=True):
    """What a journal keeps of a call that has failed for good.

    Args:
        key: of the call.
        kind: name of the error's class.
        reason: as `OperatorError.reason`, at most 2,000 characters.
        attempts: that there were.
        status: of HTTP, if the error has one.
    """

    key: bytes
    kind: str
    reason: str
    attempts: int = 1
    status: int | None = None

    @property
    def cause(self) -> str:
        """What it is counted as."""
        return cause_named(self.kind, self.status)

    @classmethod
    def of(cls, key: bytes, error: OperatorError) -> "Failure":
        """Build that of a call which an operator has given up."""
        cause = cause_or_self(error)
        reason = one_line(error.reason, _LONGEST)
        return cls(key, kind_of(cause), reason, error.attempts, status_behind(cause))

    @classmethod
    def of_call(cls, key: bytes, error: Exception) -> "Failure":
        """Build that of a call which raised."""
        return cls.of(key, call_failed(Record(None), error))


class KeptFailure(AsyncWaitError):
    """A call that has failed for good in an earlier run, as the journal says; it is not repeated.

    Attributes:
        failure: what is known of it.
    """

    def __init__(self, failure: Failure) -> None:
        reason = one_line(failure.reason, _LONGEST)
        super().__init__(
            f"{one_line(failure.cause)} in an earlier run: {reason}; the journal keeps it, and "
            "`asyncwait journal drop-failures` has it called again"
        )
        self.failure = failure

    def __reduce__(self) -> "tuple[type[KeptFailure], tuple[Failure]]":
        return type(self), (self.failure,)


_FINAL = {400, 404, 405, 406, 410, 411, 413, 414, 415, 422, 431, 451, 501, 505}
"""HTTP statuses that say what is wrong with a request: not who asks, how often, or when."""

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
    """Return the failure that an entry tells of; None if it is a result."""
    if not payload.startswith(_MARK):
        return None
    try:
        failure = msgspec.msgpack.decode(payload[len(_MARK) :], type=Failure)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    is_whole = len(failure.key) == KEY_BYTES and failure_key(failure.key) == key
    return failure if is_whole else None


def is_open(error: BaseException | None) -> bool:
    """Say whether an error proves nothing of the next call, whoever is asked about it.

    It may be the machine's, the account's or the network's, that of a deadline or of limits, which
    kept a call from being made, rather than the record's own; or stem from such a one.
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
