"""How an operator is configured: modes, capacity, times; whether a call is repeated, and when."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from asyncwait.spec._errors import AsyncWaitError, InvalidConfig
from asyncwait.spec._sharing import Batch, Cache
from asyncwait.spec.checks import (
    at_most_infinite,
    is_number,
    is_plain_function,
    is_whole,
    require_seconds,
    require_timeout,
    require_whole,
)
from asyncwait.spec.limits import InFlight, Limit, require_limits


class RetryAfter(AsyncWaitError):
    """Raised by a call that is to be repeated: when the next attempt may begin.

    It sets that one back-off, whatever `Retry` says of errors and back-offs, as long as attempts
    are left. Without a `Retry`, and after the last attempt, it is an error like any other. A
    function that is `on_error` may answer an error with it, too.

    Args:
        seconds: from now on; 0 for at once.
        at_least: whether the back-off of `Retry` counts if it is longer.

    Raises:
        InvalidConfig: that is no number of seconds, or less than 0.
    """

    at_least = False

    def __init__(self, seconds: float, *, at_least: bool = False) -> None:
        if not is_number(seconds) or not seconds >= 0:
            raise InvalidConfig.of("seconds", seconds, "a number >= 0")
        super().__init__(seconds)
        self.seconds = at_most_infinite(seconds)
        self.at_least = at_least


class Retry(Struct, frozen=True, kw_only=True):
    """When and how often the call of a record is repeated.

    Args:
        max_attempts: calls of one record at most, the first included.
        initial: back-off before the second call, in seconds.
        multiplier: each further back-off is this much longer; 1 keeps them all alike.
        cap: no back-off is longer, in seconds.
        jitter: the share of each back-off, from 0 to 1, of which chance leaves out as much as it
            likes; 0 for none. None for 0, or for 0.5 where an operator is opened for plain values.
        seed: where that chance begins; None for anywhere.
        attempt_timeout: longest time for one attempt, in seconds; None for no such limit.
        on_error: the errors after which there is another attempt: a class or classes of them, or a
            plain function that is given the very error and says so, or when, by a `RetryAfter`.
        on_result: a plain function that is given the results of a call, collected, and says whether
            there is another attempt; None for never. Where an operator is opened for plain values,
            one for each, it is given that one.
        rejected: what becomes of results for which `on_result` wants another attempt that there is
            not: "accept" has them come out, "fail" fails the record with a `ResultRejected` as the
            cause. None for "accept", or for "fail" where an operator is opened for plain values.
        retry_after_cap: no back-off that a `RetryAfter` sets is longer, in seconds; None for none.
        on_retry: a plain function that is called before each back-off with the value, the number of
            calls so far, the error (a `ResultRejected` for results) and the seconds of the
            back-off; None for no function.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    max_attempts: int = 3
    initial: float = 0.1
    multiplier: float = 2.0
    cap: float = 60.0
    jitter: float | None = None
    seed: int | None = None
    attempt_timeout: float | None = None
    on_error: Any = Exception
    on_result: Any = None
    rejected: Literal["accept", "fail"] | None = None
    retry_after_cap: float | None = None
    on_retry: Any = None

    def __post_init__(self) -> None:
        require_whole("max_attempts", self.max_attempts)
        require_seconds("initial", self.initial)
        if not is_number(self.multiplier) or not self.multiplier >= 1:
            raise InvalidConfig.of("multiplier", self.multiplier, "a number >= 1")
        require_seconds("cap", self.cap)
        jitter = self.jitter
        if jitter is not None and not (is_number(jitter) and 0 <= jitter <= 1):
            raise InvalidConfig.of("jitter", jitter, "a number from 0 to 1, or None")
        if not (self.seed is None or is_whole(self.seed)):
            raise InvalidConfig.of("seed", self.seed, "a whole number or None")
        require_timeout("attempt_timeout", self.attempt_timeout)
        if not _are_errors(self.on_error):
            expected = "an exception class, a tuple of them, or a plain function of an error"
            _require_predicate("on_error", self.on_error, expected)
        if self.on_result is not None:
            expected = "a plain function that is given the results, or None"
            _require_predicate("on_result", self.on_result, expected)
        if self.rejected not in {None, "accept", "fail"}:
            raise InvalidConfig.of("rejected", self.rejected, '"accept", "fail" or None')
        require_timeout("retry_after_cap", self.retry_after_cap)
        if self.on_retry is not None:
            expected = "a plain function of value, calls, error and seconds, or None"
            _require_predicate("on_retry", self.on_retry, expected, arguments=4)
        for name in ("initial", "multiplier", "cap", "attempt_timeout", "retry_after_cap"):
            if (value := getattr(self, name)) is not None:
                force_setattr(self, name, at_most_infinite(value))

    def of_values(self) -> "Retry":
        """Return the same with the defaults of operators that are opened for plain values."""
        jitter = 0.5 if self.jitter is None else self.jitter
        return replace(self, jitter=jitter, rejected=self.rejected or "fail")

    def of_one_result(self) -> "Retry":
        """Return the same for a function that gives one result: `on_result` is given that one."""
        if self.on_result is None:
            return self
        predicate = self.on_result
        return replace(self, on_result=lambda results: predicate(results[0]))

    def wants(self, error: BaseException) -> Any:
        """Return the answer of `on_error` about `error`: for classes, whether it is an instance."""
        if isinstance(self.on_error, type | tuple):
            return isinstance(error, self.on_error)
        return self.on_error(error)

    def back_off(self, attempts: int) -> float:
        """Return the seconds to wait after `attempts` calls of one record, jitter aside.

        It depends on that record alone and can't overflow (Flink's RT-5 shares it among all).
        """
        try:
            grown = self.initial * float(self.multiplier) ** (attempts - 1)
        except OverflowError:
            return self.cap
        return min(grown, self.cap)


def _are_errors(thing: Any) -> bool:
    kinds = thing if isinstance(thing, tuple) else (thing,)
    are_errors = (isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds)
    return bool(kinds) and all(are_errors)


def _require_predicate(name: str, value: Any, expected: str, arguments: int = 1) -> None:
    """Refuse what can't be asked; what a coroutine function returns would always be true."""
    if isinstance(value, type) or not is_plain_function(value, arguments):
        raise InvalidConfig.of(name, value, expected)


Mode: TypeAlias = Literal["ordered", "unordered", "key-ordered"]
"""Results in input order, or in completion order between two watermarks: those of all records, or
of one key after another."""


class OperatorConfig(Struct, frozen=True):
    """What an operator is told besides its function.

    Args:
        mode: "ordered", "unordered" or "key-ordered".
        capacity: records admitted and not yet emitted at most, but see `max_held`.
        timeout: seconds from a record's first call to its deadline; None for no deadline.
        retry: how failed calls are repeated; None for never.
        max_held: so many finished elements, which wait for their turn or for the consumer, take no
            room: then `capacity` bounds the undecided calls. None for no such elements.
        copy: makes the copy of a record's value that each call and each handler is given, say
            `copy.deepcopy`. None for no copies: all of them are given the very object that was
            read, and what one of them changes in it, the next one sees.
        batch: how many records share a call of the function; None for one call for each.
        cache: how results are kept for other records with the same key, which also share calls;
            None for no cache. Not together with `batch`: `asyncwait.backends.lookup` has both.
        limits: limits of the service and budgets, all of which hold for each call, further attempts
            included; or limits that a ledger counts for several operators. None for no limits. A
            record waits for its permit after its admission, and before its deadline runs.
        on_failure: "finish" begins no further call after a failure, has the results of the calls
            that run come out, and raises the failure then. None raises it at once.

    Raises:
        InvalidConfig: an argument is wrong; it is named with its value and type.
    """

    mode: Mode = "ordered"
    capacity: int = 100
    timeout: float | None = None
    retry: Retry | None = None
    max_held: int | None = None
    copy: Callable[[Any], Any] | None = None
    batch: Batch | None = None
    cache: Cache | None = None
    limits: Any = None
    on_failure: Literal["finish"] | None = None

    def __post_init__(self) -> None:
        if self.on_failure not in {None, "finish"}:
            raise InvalidConfig.of("on_failure", self.on_failure, '"finish" or None')
        if self.mode not in get_args(Mode):
            raise InvalidConfig.of("mode", self.mode, "'ordered', 'unordered' or 'key-ordered'")
        require_whole("capacity", self.capacity)
        require_timeout("timeout", self.timeout)
        if self.timeout is not None:
            force_setattr(self, "timeout", at_most_infinite(self.timeout))
        if self.retry is not None and not isinstance(self.retry, Retry):
            raise InvalidConfig.of("retry", self.retry, "a Retry or None")
        if self.max_held is not None:
            require_whole("max_held", self.max_held)
        if self.copy is not None and not is_plain_function(self.copy, 1):
            raise InvalidConfig.of("copy", self.copy, "a plain function of a value, or None")
        for name, kind in (("batch", Batch), ("cache", Cache)):
            if not isinstance(value := getattr(self, name), kind | None):
                raise InvalidConfig.of(name, value, f"a {kind.__name__} or None")
        for refused in _refused_pairs(self):
            raise InvalidConfig.of(*refused)

    @property
    def most_calls(self) -> int:
        """Calls of the function that records may wait for: `capacity`, or `in_flight` batches.

        As many that were cancelled may run on.
        """
        return self.capacity if self.batch is None else self.batch.in_flight

    def require_only(self, operator: str, *supported: str) -> None:
        """Refuse the optional settings that `operator` does not know.

        Args:
            operator: its name, for the message.
            supported: names of optional settings that it does know.

        Raises:
            InvalidConfig: one of `retry`, `max_held`, `batch`, `cache`, `limits`, `on_failure` is
                set and not among `supported`.
        """
        for name in ("retry", "max_held", "batch", "cache", "limits", "on_failure"):
            value = getattr(self, name)
            if value is not None and name not in supported:
                raise InvalidConfig.of(name, value, f"None: {operator} does not support it")


def _refused_pairs(config: OperatorConfig) -> Iterator[tuple[str, Any, str]]:
    """Yield each option that another option rules out: its name, its value, what is expected."""
    batch, retry = config.batch, config.retry
    limits = () if config.limits is None else require_limits(config.limits)
    if batch is None:
        return
    if batch.max_size > config.capacity:
        expected = f"at most the capacity, {config.capacity}: no batch holds more than is in flight"
        yield "batch.max_size", batch.max_size, expected
    if batch.split and (retry is None or retry.max_attempts == 1):
        expected = "False, or a `retry` of more than one attempt: it is the others that it splits"
        yield "batch.split", True, expected
    if config.cache is not None:
        yield "cache", config.cache, "None with a `batch`: a lookup has both"
    for number, each in enumerate(limits):
        if isinstance(each, Limit | InFlight) and each.by is not None:
            expected = "None with a `batch`, which holds values of several keys"
            yield f"limits[{number}].by", each.by, expected
