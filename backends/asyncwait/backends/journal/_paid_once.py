"""A function whose results are kept, for an operator in this process."""

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
    """Return `fn`, which looks into a journal first, and keeps there what it gives.

    A result is in the journal before it is returned. Where that fails, a JournalLost comes out of
    the call, which ends an operator's results, whatever `on_error` and `Retry` are: each further
    call would be paid, and paid again the next time. Two calls with one key that run at the same
    time are both made. Behind fsspec a part is written on the loop. Its method `is_paid` says of a
    value whether the journal has it; such a one takes no turn of limits.

    Args:
        fn: a coroutine function, or a plain one; what is returned is of the same kind, and has its
            `open`, `close`, `timeout` and `failure`.
        attempt: the journal, open as long as there are calls.
        key_of_value: gives the key of a value; see `key_of`.
        encode: makes bytes of a result; of a `Cost`, of the result in it, which is what a call
            gives where there are no limits, the first time, too.
        decode: makes the result of them again.
        is_final: says of what `fn` raises whether another call would fail, too; for a journal that
            keeps failures, and for no other. Such an error is kept, but for what `Journal` names as
            never kept, and the next call with that key raises a KeptFailure.
        keeps: says of a result whether it is kept; None for each. A `Retry` with `on_result` needs
            it: what is kept is never called for again.

    Raises:
        InvalidConfig: `fn` can't be called, or has a `yield`; `is_final` is missing, or no failure
            is kept.
        WrongFunction: from a call, which gives unfinished work, such as a coroutine of a plain
            function; or `keeps`, `is_final` or `encode` raises or gives no such answer. It ends the
            results of an operator, as each further call would be paid in vain.
    """
    called: Any = fn
    if not callable(called) or kind_of(called) not in ("plain", "coroutine"):
        raise InvalidConfig.of("fn", fn, "a coroutine function, or a plain one, without `yield`")
    _require(attempt, key_of_value=key_of_value, encode=encode, decode=decode)
    if attempt.keeps_failures and is_final is None:
        expected = "a function of an error, as Journal(failures=True) keeps those that are final"
        raise InvalidConfig.of("is_final", is_final, expected)
    if is_final is not None and not attempt.keeps_failures:
        raise InvalidConfig.of("is_final", is_final, "None, as only Journal(failures=True) asks it")

    def given(key: bytes, result: Any) -> Any:
        """Keep a result, and return it; where there are limits, with what it has cost."""
        bare = settled("fn", uncosted(result))
        if keeps is None or _decision("keeps", keeps, bare):
            payload = _answer("encode", encode, bare)
            if not isinstance(payload, bytes):
                raise WrongFunction(f"expected bytes from encode, got {shown(payload)}")
            with _or_lost(attempt):
                attempt.add(key, payload)
        return result if HELD_LIMITS.get() else bare

    def failed(key: bytes, error: Exception) -> None:
        if is_final is not None and _decision("is_final", is_final, error) and not is_open(error):
            with _or_lost(attempt):
                attempt.add_failure(Failure.of_call(key, error))

    @wraps(fn, updated=())
    async def coroutine(value: Any) -> Any:
        key = settled("key_of_value", key_of_value(value))
        if (payload := _found(attempt, key)) is not None:
            return _answer("decode", decode, payload)
        try:
            result = await fn(value)
        except Exception as error:
            failed(key, error)
            raise
        return given(key, result)

    @wraps(fn, updated=())
    def plain(value: Any) -> Any:
        key = settled("key_of_value", key_of_value(value))
        if (payload := _found(attempt, key)) is not None:
            return _answer("decode", decode, payload)
        try:
            result = fn(value)
        except Exception as error:
            failed(key, error)
            raise
        return given(key, result)

    def is_paid(value: Any) -> bool:
        try:
            return attempt.knows(key_of_value(value))
        except Exception:  # The call raises it, too, and is asked what becomes of it.
            return False

    paid: Any = plain if kind_of(fn) == "plain" else coroutine
    paid.is_paid = is_paid
    paid.keeps_all = keeps is None
    for name in ("open", "close", "timeout", "failure"):
        if (part := part_of(fn, name)) is not None:
            setattr(paid, name, part)
    return paid  # type: ignore[no-any-return]


def _require(attempt: Any, **functions: Any) -> None:
    if not isinstance(attempt, Attempt):
        expected = "an open attempt: `with journal.attempt(name) as attempt:`"
        raise InvalidConfig.of("attempt", attempt, expected)
    for name, function in functions.items():
        if not is_plain_function(function, 1):
            raise InvalidConfig.of(name, function, "a plain function of one argument")


def _decision(name: str, predicate: Callable[[Any], Any], given: Any) -> bool:
    """Return what a predicate says of something; a forgotten `return` is no answer."""
    answer = _answer(name, predicate, given)
    if answer not in (True, False):
        raise WrongFunction(f"expected True or False from {name}, got {shown(answer)}")
    return bool(answer)


def _answer(name: str, asked: Callable[[Any], Any], subject: Any) -> Any:
    """Return what a function of the user answers; the call that it is about is paid for."""
    try:
        return settled(name, asked(subject))
    except WrongFunction:
        raise
    except Exception as error:
        raise WrongFunction(f"{name} raised {shown(error)} on {shown(subject)}") from error


@contextmanager
def _or_lost(attempt: Attempt) -> Generator[None]:
    """Say that nothing more can be called where the journal, and no entry of it, is to blame."""
    try:
        yield
    except EntryTooLarge:
        raise
    except (JournalError, OSError) as error:
        raise JournalLost.of(attempt.path, error) from error


def _found(attempt: Attempt, key: bytes) -> bytes | None:
    with _or_lost(attempt):
        (found,) = attempt.outcomes([key])
    if isinstance(found, Failure):
        raise KeptFailure(found)
    return found
