"""Every argument is checked where it is given; how long back-offs are."""

import math
from fractions import Fraction
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncwait.spec import Batch, Cache, InvalidConfig, OperatorConfig, Retry, RetryAfter

NO_SECONDS = (0, 0.0, -5, -math.inf, math.nan, True, "5s", Fraction(1, 2))
NO_COUNT = (0, -1, 2.0, True, "4")


async def coroutine(_: object) -> bool:
    return False


WRONG: dict[Any, dict[str, tuple[Any, ...]]] = {
    OperatorConfig: {
        "mode": ("sorted", None, ["ordered"]),
        "capacity": (*NO_COUNT, None),
        "timeout": NO_SECONDS,
        "retry": (3,),
        "max_held": NO_COUNT,
        "copy": (True, coroutine),
        "batch": (3, True),
        "cache": (3, Batch()),
    },
    Batch: {
        "max_size": NO_COUNT,
        "max_wait": (-1, math.nan, True, "1", None),
        "in_flight": NO_COUNT,
        "split": (1, None, "yes"),
    },
    Retry: {
        "max_attempts": NO_COUNT,
        "initial": (*NO_SECONDS, None),
        "multiplier": (0.5, math.nan, "2"),
        "cap": (*NO_SECONDS, None),
        "attempt_timeout": NO_SECONDS,
        "jitter": (-0.1, 2, math.nan, True),
        "seed": (1.5, True),
        "on_error": ((), (ValueError, 3), int, "ValueError", coroutine),
        "on_result": (True, ValueError, coroutine),
    },
    partial(Cache, 9, 1): {
        "missing_ttl": NO_SECONDS,
        "refresh_ahead": (0, 1, 2, math.nan, True, "0.5"),
        "stale_if_error": NO_SECONDS,
        "key": (True, coroutine),
    },
    partial(Cache, ttl=1): {"max_keys": (*NO_COUNT, None)},
    partial(Cache, 9): {"ttl": (*NO_SECONDS, None)},
    RetryAfter: {"seconds": (-1, math.nan, True, "1", None)},
}


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (kind, name, value)
        for kind, names in WRONG.items()
        for name, values in names.items()
        for value in values
    ],
)
def test_a_wrong_argument_is_refused_with_its_value_and_type(
    kind: Any, name: str, value: Any
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be ") as caught:
        kind(**{name: value})

    assert type(caught.value) is InvalidConfig
    assert str(caught.value).endswith(f", got {value!r} ({type(value).__name__})")


def test_numbers_that_no_clock_can_add_are_infinite() -> None:
    huge = 10**400
    retry = Retry(initial=huge, multiplier=huge, cap=huge, attempt_timeout=huge)

    assert OperatorConfig(timeout=huge).timeout == math.inf
    assert (retry.initial, retry.multiplier) == (math.inf, math.inf)
    assert (retry.cap, retry.attempt_timeout) == (math.inf, math.inf)
    assert RetryAfter(huge).seconds == math.inf
    assert retry.back_off(1) == math.inf


def test_a_configuration_from_json_is_checked_too() -> None:
    with pytest.raises(msgspec.ValidationError, match="capacity must be "):
        msgspec.json.decode(b'{"capacity": 0}', type=OperatorConfig)


@pytest.mark.parametrize(
    "setting",
    [{"retry": Retry()}, {"max_held": 2}, {"batch": Batch(max_size=2)}, {"cache": Cache(9, 1)}],
    ids=["retry", "max_held", "batch", "cache"],
)
def test_an_operator_refuses_what_it_does_not_support(setting: dict[str, Any]) -> None:
    (name,) = setting
    with pytest.raises(InvalidConfig, match=f"^{name} must be None: pool "):
        OperatorConfig(**setting).require_only("pool")

    OperatorConfig(**setting).require_only("pool", name)
    OperatorConfig().require_only("pool")


@pytest.mark.parametrize(
    ("retry", "back_offs"),
    [
        (Retry(initial=1, multiplier=2, cap=5), [1, 2, 4, 5, 5]),
        (Retry(initial=10, cap=3), [3, 3]),
        (Retry(initial=2, multiplier=10**400, cap=60), [2, 60]),
    ],
    ids=["it grows", "the cap holds for the first", "the first is not multiplied"],
)
def test_back_off_grows_up_to_its_cap(retry: Retry, back_offs: list[float]) -> None:
    attempts = range(1, len(back_offs) + 1)

    assert [retry.back_off(number) for number in attempts] == back_offs


@given(
    attempts=st.integers(1, 10**6),
    multiplier=st.floats(1, allow_infinity=True) | st.integers(1, 10**400),
    initial=st.floats(0, exclude_min=True) | st.integers(1, 10**400),
)
def test_back_off_never_overflows(attempts: int, multiplier: float, initial: float) -> None:
    retry = Retry(initial=initial, multiplier=multiplier, cap=60)

    assert 0 < retry.back_off(attempts) <= 60
