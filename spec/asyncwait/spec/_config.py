"""Configuration of an operator: mode, capacity, times, and the repetition of calls."""

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
    """Error by which a call asks for another attempt, and says when that attempt may begin.

    While attempts are left, it sets the next back-off, whatever `Retry` says about errors and
    back-offs. Without a `Retry`, and after the last attempt, it is an error like any other. A
    function given as `on_error` may answer an error with a `RetryAfter`, too.

    Args:
        seconds: seconds from now; 0 for at once.
        at_least: whether the back-off of `Retry` applies if it is longer.

    Raises:
        InvalidConfig: `seconds` is not a number, or less than 0.
    """

    at_least = False

    def __init__(self, seconds: float, *, at_least: bool = False) -> None:
        if not is_number(seconds) or not seconds >= 0:
            raise InvalidConfig.of("seconds", seconds, "a number >= 0")
        super().__init__(seconds)
        self.seconds = at_most_infinite(seconds)
        self.at_least = at_least


class Retry(Struct, frozen=True, kw_only=True):
    """Retry policy of one operator.

    Args:
        max_attempts: largest number of calls of one record, the first included.
        initial: back-off before the second call, in seconds.
        multiplier: factor from each back-off to the next; 1 for a constant back-off.
        cap: longest back-off, in seconds.
        jitter: largest random reduction of each back-off, as a share from 0 to 1; 0 for no
            reduction. None for 0, or for 0.5 where an operator is opened for plain values.
        seed: seed of the random reductions; None for a different one in each run.
        attempt_timeout: longest time for one attempt, in seconds; None for no limit.
        on_error: errors after which another attempt follows: a class, a tuple of classes, or a
            plain function of the error that returns whether, or by a `RetryAfter` when.
        on_result: a plain function of the collected results of a call that returns whether another
            attempt follows; None for never. Where an operator is opened for plain values, with one
            result for each value, it is a function of the one result.
        rejected: fate of results that `on_result` still rejects when no attempt is left: "accept"
            emits them, "fail" fails the record with a `ResultRejected` as the cause. None for
            "accept", or for "fail" where an operator is opened for plain values.
        retry_after_cap: longest back-off that a `RetryAfter` sets, in seconds; None for no bound.
        on_retry: a plain function that the operator calls before each back-off with the value, the
            number of calls so far, the error (a `ResultRejected` for results) and the seconds of
            the back-off; None for no function.

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
        """Return this policy with the defaults of operators that are opened for plain values."""
        jitter = 0.5 if self.jitter is None else self.jitter
        return replace(self, jitter=jitter, rejected=self.rejected or "fail")

    def of_one_result(self) -> "Retry":
        """Return this policy for a function with one result: `on_result` takes that result."""
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
        """Return the seconds to wait after `attempts` calls of one record, without jitter.

        They depend on that record alone and can't overflow (in Flink's RT-5 all records share one
        back-off).
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
    """Refuse all but plain functions; the coroutine of a coroutine function is always true."""
    if isinstance(value, type) or not is_plain_function(value, arguments):
        raise InvalidConfig.of(name, value, expected)


Mode: TypeAlias = Literal["ordered", "unordered", "key-ordered"]
"""Order of results: input order, completion order between two watermarks, or input order within
each key."""


class OperatorConfig(Struct, frozen=True):
    """Options of an operator, besides its function.

    Args:
        mode: "ordered", "unordered" or "key-ordered".
        capacity: largest number of records admitted and not yet emitted, but see `max_held`.
        timeout: seconds from a record's first call to its deadline; None for no deadline.
        retry: retry policy for failed calls; None for no further attempt.
        max_held: number of finished elements, waiting for their place in the order or for the
            consumer, that take no room: then `capacity` bounds the undecided calls. None if all
            finished elements take room.
        copy: function that copies a record's value for each call and each handler, say
            `copy.deepcopy`. None for no copies: calls and handlers share the object that was read,
            and see each other's changes.
        batch: bounds of the calls that several records share; None for one call for each record.
        cache: bounds of the cache of results by key, whose records also share calls; None for no
            cache. Not together with `batch`: `asyncwait.backends.lookup` has both.
        limits: limits of the service and budgets, which all apply to each call, further attempts
            included; or limits that a ledger counts for several operators. None for no limits. A
            record waits for its permit after its admission, and before its deadline runs.
        on_failure: "finish" starts no further call after a failure, emits the results of the
            running calls, and raises the failure then. None raises it at once.

    Raises:
        InvalidConfig: an argument is wrong; the message has its name, value and type.
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
        """Largest number of calls that records wait for: `capacity`, or `in_flight` batches.

        As many cancelled calls may still run besides.
        """
        return self.capacity if self.batch is None else self.batch.in_flight

    def require_only(self, operator: str, *supported: str) -> None:
        """Refuse the optional settings that `operator` does not support.

        Args:
            operator: name of the operator, for the message.
            supported: names of the optional settings that the operator supports.

        Raises:
            InvalidConfig: one of `retry`, `max_held`, `batch`, `cache`, `limits`, `on_failure` is
                set and not among `supported`.
        """
        for name in ("retry", "max_held", "batch", "cache", "limits", "on_failure"):
            value = getattr(self, name)
            if value is not None and name not in supported:
                raise InvalidConfig.of(name, value, f"None: {operator} does not support it")


def _refused_pairs(config: OperatorConfig) -> Iterator[tuple[str, Any, str]]:
    """Yield name, value and expected value of each option that another option excludes."""
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
