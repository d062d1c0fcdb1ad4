"""A function whose results a journal stores, for an operator in this process."""

from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, overload

from asyncwait.backends.journal._attempt import Attempt
from asyncwait.backends.journal._errors import EntryTooLarge, JournalError, JournalLost
from asyncwait.backends.journal._failures import Failure, KeptFailure, is_open
from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_plain_function, kind_of
from asyncwait.spec.texts import shown
from asyncwait.toolkit import HELD_LIMITS, WrongFunction, part_of, settled, uncosted

Value = TypeVar("Value")
Result = TypeVar("Result")


@overload
def paid_once(
    fn: Callable[[Value], Awaitable[Result]],
    attempt: Attempt,
    key_of_value: Callable[[Value], bytes],
    encode: Callable[[Result], bytes],
    decode: Callable[[bytes], Result],
    *,
    is_final: Callable[[Exception], bool] | None = None,
    keeps: Callable[[Any], bool] | None = None,
) -> Callable[[Value], Coroutine[Any, Any, Result]]: ...
@overload
def paid_once(
    fn: Callable[[Value], Result],
    attempt: Attempt,
    key_of_value: Callable[[Value], bytes],
    encode: Callable[[Result], bytes],
    decode: Callable[[bytes], Result],
    *,
    is_final: Callable[[Exception], bool] | None = None,
    keeps: Callable[[Any], bool] | None = None,
) -> Callable[[Value], Result]: ...
def paid_once(
    fn: Callable[[Any], Any],
    attempt: Attempt,
    key_of_value: Callable[[Any], bytes],
    encode: Callable[[Any], bytes],
    decode: Callable[[bytes], Any],
    *,
    is_final: Callable[[Exception], bool] | None = None,
    keeps: Callable[[Any], bool] | None = None,
) -> Callable[[Any], Any]:
    """Return `fn` with a journal: a call returns the stored result, or stores its own.

    A result is in the journal before the call returns it. If the journal fails, the call raises a
    JournalLost, which ends an operator's results, whatever `on_error` and `Retry` are: the next run
    would repeat each further call. Two calls with one key at the same time are both made. Behind
    fsspec the loop writes a part. The method `is_paid` of the returned function says whether the
    journal has a value's result; such a value needs no permit of a limit.

    Args:
        fn: a coroutine function, or a plain one. The returned function is of the same kind, and has
            its `open`, `close`, `timeout` and `failure`.
        attempt: the journal, open as long as calls run.
        key_of_value: returns the key of a value; see `key_of`.
        encode: returns a result as bytes; a `Cost` is reduced to its result, which a call without
            limits returns, the first time, too.
        decode: returns the result of such bytes.
        is_final: returns True for an error that another call would raise, too; required by
            `Journal(failures=True)`, and refused by others. The journal stores such an error,
            except those that `Journal` never stores; the next call with the key raises a
            KeptFailure.
        keeps: returns True for a result to store; None stores each. A `Retry` with `on_result`
            requires it, because a stored result is never called for again.

    Raises:
        InvalidConfig: `fn` can't be called, or has a `yield`; `is_final` is missing, or the journal
            stores no failures.
        WrongFunction: from a call that returns unfinished work, such as a coroutine of a plain
            function; or `keeps`, `is_final` or `encode` raises or returns a wrong type. It ends the
            results of an operator, because each further call would be in vain.
    """
    _require(fn, attempt, is_final, key_of_value=key_of_value, encode=encode, decode=decode)

    def look(value: Any) -> tuple[bytes, bytes | None]:
        key = settled("key_of_value", key_of_value(value))
        with _or_lost(attempt):
            (found,) = attempt.outcomes([key])
        if isinstance(found, Failure):
            raise KeptFailure(found)
        return key, found

    def stored(key: bytes, result: Any) -> Any:
        """Store a result, and return it; under limits, with its cost."""
        bare = settled("fn", uncosted(result))
        if keeps is None or _decision("keeps", keeps, bare):
            payload = _answer("encode", encode, bare)
            if not isinstance(payload, bytes):
                raise WrongFunction(f"expected bytes from encode, got {shown(payload)}")
            with _or_lost(attempt):
                attempt.add(key, payload)
        return result if HELD_LIMITS.get() else bare

    @contextmanager
    def storing_failures(key: bytes) -> Generator[None]:
        try:
            yield
        except Exception as error:
            if is_final and _decision("is_final", is_final, error) and not is_open(error):
                with _or_lost(attempt):
                    attempt.add_failure(Failure.of_call(key, error))
            raise

    @wraps(fn, updated=())
    async def coroutine(value: Any) -> Any:
        key, payload = look(value)
        if payload is not None:
            return _answer("decode", decode, payload)
        with storing_failures(key):
            result = await fn(value)
        return stored(key, result)

    @wraps(fn, updated=())
    def plain(value: Any) -> Any:
        key, payload = look(value)
        if payload is not None:
            return _answer("decode", decode, payload)
        with storing_failures(key):
            result = fn(value)
        return stored(key, result)

    def is_paid(value: Any) -> bool:
        try:
            return attempt.knows(key_of_value(value))
        except Exception:  # The call raises it, too.
            return False

    paid: Any = plain if kind_of(fn) == "plain" else coroutine
    paid.is_paid = is_paid
    paid.keeps_all = keeps is None
    for name in ("open", "close", "timeout", "failure"):
        if (part := part_of(fn, name)) is not None:
            setattr(paid, name, part)
    return paid  # type: ignore[no-any-return]


def _require(fn: Any, attempt: Any, is_final: Any, **functions: Any) -> None:
    if not callable(fn) or kind_of(fn) not in ("plain", "coroutine"):
        raise InvalidConfig.of("fn", fn, "a coroutine function, or a plain one, without `yield`")
    if not isinstance(attempt, Attempt):
        expected = "an open attempt: `with journal.attempt(name) as attempt:`"
        raise InvalidConfig.of("attempt", attempt, expected)
    for name, function in functions.items():
        if not is_plain_function(function, 1):
            raise InvalidConfig.of(name, function, "a plain function of one argument")
    if attempt.keeps_failures != (is_final is not None):
        expected = "a function of an error with Journal(failures=True), and None without"
        raise InvalidConfig.of("is_final", is_final, expected)


def _decision(name: str, predicate: Callable[[Any], Any], subject: Any) -> bool:
    answer = _answer(name, predicate, subject)
    if answer not in (True, False):
        raise WrongFunction(f"expected True or False from {name}, got {shown(answer)}")
    return bool(answer)


def _answer(name: str, function: Callable[[Any], Any], subject: Any) -> Any:
    """Return the answer of a user's function; an error of it would repeat a completed call."""
    try:
        return settled(name, function(subject))
    except WrongFunction:
        raise
    except Exception as error:
        raise WrongFunction(f"{name} raised {shown(error)} on {shown(subject)}") from error


@contextmanager
def _or_lost(attempt: Attempt) -> Generator[None]:
    """Raise JournalLost for an error of the journal that is not one of a single entry."""
    try:
        yield
    except EntryTooLarge:
        raise
    except (JournalError, OSError) as error:
        raise JournalLost.of(attempt.path, error) from error
