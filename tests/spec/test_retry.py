"""Retries: their arguments, and how long a back-off is."""

import math
from typing import Any

import pytest

from asyncwait.spec import InvalidConfig, Record, Retry, RetryAfter

A = Record("a")


async def coroutine(_: object) -> bool:
    """No predicate: what it returns is always true."""
    return False


ERRORS = "exception classes, or a plain function that is given an error"
RESULTS = "a plain function that is given the results, or None"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("jitter", -0.1, "jitter must be a number from 0 to 1, got -0.1 (float)"),
        ("jitter", 2, "jitter must be a number from 0 to 1, got 2 (int)"),
        ("jitter", math.nan, "jitter must be a number from 0 to 1, got nan (float)"),
        ("jitter", True, "jitter must be a number from 0 to 1, got True (bool)"),
        ("seed", 1.5, "seed must be a whole number or None, got 1.5 (float)"),
        ("seed", True, "seed must be a whole number or None, got True (bool)"),
        ("on_error", (), f"on_error must be {ERRORS}, got () (tuple)"),
        ("on_error", (ValueError, 3), f"on_error must be {ERRORS}, got "),
        ("on_error", int, f"on_error must be {ERRORS}, got <class 'int'> (type)"),
        ("on_error", "ValueError", f"on_error must be {ERRORS}, got 'ValueError' (str)"),
        ("on_error", coroutine, f"on_error must be {ERRORS}, got <function coroutine"),
        ("on_result", True, f"on_result must be {RESULTS}, got True (bool)"),
        ("on_result", ValueError, f"on_result must be {RESULTS}, got <class 'ValueError'> (type)"),
        ("on_result", coroutine, f"on_result must be {RESULTS}, got <function coroutine"),
    ],
)
def test_a_wrong_argument_is_refused(name: str, value: Any, message: str) -> None:
    """What could not be asked, or would always say yes, is found where it is given."""
    with pytest.raises(InvalidConfig) as caught:
        Retry(**{name: value})

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("seconds", [-1, math.nan, True, "1", None])
def test_a_pause_that_is_none_is_refused(seconds: Any) -> None:
    """A call that raises RetryAfter with it raises InvalidConfig, and says why."""
    with pytest.raises(InvalidConfig, match="seconds must be a number >= 0, got"):
        RetryAfter(seconds)


def test_numbers_that_no_clock_can_add_are_infinite() -> None:
    """An int has no limit, but the time of a loop is a float."""
    huge = 10**400
    retry = Retry(initial=huge, multiplier=huge, cap=huge, attempt_timeout=huge)

    assert (retry.initial, retry.multiplier) == (math.inf, math.inf)
    assert (retry.cap, retry.attempt_timeout) == (math.inf, math.inf)
    assert RetryAfter(huge).seconds == math.inf
    assert retry.back_off(1) == math.inf


def test_the_first_back_off_is_not_multiplied() -> None:
    """However large the multiplier: only the second one is."""
    retry = Retry(initial=2, multiplier=10**400, cap=60)

    assert [retry.back_off(1), retry.back_off(2)] == [2, 60]
