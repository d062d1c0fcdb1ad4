"""Every argument is checked where it is given, and the error shows it with its type."""

import math
import sys
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncwait.spec import InvalidConfig, OperatorConfig, Retry

TIMEOUT = "a number of seconds > 0, or None for none"
SECONDS = "a number of seconds > 0"
MODE = "'ordered', 'unordered' or 'key-ordered'"
WHOLE = "a whole number >= 1"


def test_the_default_is_ordered_with_room_for_a_hundred() -> None:
    """Nobody has to choose anything."""
    assert OperatorConfig() == OperatorConfig("ordered", 100, None, None, None)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "mode",
            "sorted",
            f"mode must be {MODE}, got 'sorted' (str)",
        ),
        ("mode", None, f"mode must be {MODE}, got None (NoneType)"),
        (
            "mode",
            ["ordered"],
            f"mode must be {MODE}, got ['ordered'] (list)",
        ),
        ("capacity", 0, f"capacity must be {WHOLE}, got 0 (int)"),
        ("capacity", -1, f"capacity must be {WHOLE}, got -1 (int)"),
        ("capacity", 2.0, f"capacity must be {WHOLE}, got 2.0 (float)"),
        ("capacity", True, f"capacity must be {WHOLE}, got True (bool)"),
        ("capacity", "4", f"capacity must be {WHOLE}, got '4' (str)"),
        ("capacity", None, f"capacity must be {WHOLE}, got None (NoneType)"),
        ("timeout", 0, f"timeout must be {TIMEOUT}, got 0 (int)"),
        ("timeout", 0.0, f"timeout must be {TIMEOUT}, got 0.0 (float)"),
        ("timeout", -5, f"timeout must be {TIMEOUT}, got -5 (int)"),
        ("timeout", -math.inf, f"timeout must be {TIMEOUT}, got -inf (float)"),
        ("timeout", math.nan, f"timeout must be {TIMEOUT}, got nan (float)"),
        ("timeout", True, f"timeout must be {TIMEOUT}, got True (bool)"),
        ("timeout", "5s", f"timeout must be {TIMEOUT}, got '5s' (str)"),
        ("timeout", Fraction(1, 2), f"timeout must be {TIMEOUT}, got Fraction(1, 2) (Fraction)"),
        ("retry", 3, "retry must be a Retry or None, got 3 (int)"),
        ("max_held", 0, f"max_held must be {WHOLE}, got 0 (int)"),
        ("max_held", 1.5, f"max_held must be {WHOLE}, got 1.5 (float)"),
    ],
)
def test_a_wrong_argument_is_refused(name: str, value: Any, message: str) -> None:
    """The message holds the argument's name, what it should be, its value and its type."""
    with pytest.raises(InvalidConfig) as caught:
        OperatorConfig(**{name: value})

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_attempts", 0, f"max_attempts must be {WHOLE}, got 0 (int)"),
        ("max_attempts", 1.0, f"max_attempts must be {WHOLE}, got 1.0 (float)"),
        ("initial", 0, f"initial must be {SECONDS}, got 0 (int)"),
        ("initial", None, f"initial must be {SECONDS}, got None (NoneType)"),
        ("initial", math.nan, f"initial must be {SECONDS}, got nan (float)"),
        ("multiplier", 0.5, "multiplier must be a number >= 1, got 0.5 (float)"),
        ("multiplier", math.nan, "multiplier must be a number >= 1, got nan (float)"),
        ("multiplier", "2", "multiplier must be a number >= 1, got '2' (str)"),
        ("cap", -1, f"cap must be {SECONDS}, got -1 (int)"),
        ("attempt_timeout", 0, f"attempt_timeout must be {TIMEOUT}, got 0 (int)"),
    ],
)
def test_a_wrong_argument_of_a_retry_is_refused(name: str, value: Any, message: str) -> None:
    """A negative delay would show up as a hot loop in production."""
    with pytest.raises(InvalidConfig) as caught:
        Retry(**{name: value})

    assert str(caught.value) == message


def test_a_wrong_argument_is_a_value_error() -> None:
    """Code that knows nothing of asyncwait can catch it."""
    with pytest.raises(ValueError, match="capacity"):
        OperatorConfig(capacity=0)


@pytest.mark.parametrize("timeout", [1e-9, 1, 0.5, sys.maxsize, 1e308, math.inf])
def test_any_timeout_above_zero_is_sound(timeout: float) -> None:
    """A huge one means never, and does not wrap around."""
    assert OperatorConfig(timeout=timeout).timeout == timeout


def test_a_timeout_that_no_clock_can_add_is_infinite() -> None:
    """An int has no limit, but the time of a loop is a float."""
    assert OperatorConfig(timeout=10**400).timeout == math.inf


def test_a_configuration_cannot_be_changed() -> None:
    """What was checked stays as it was checked."""
    config = OperatorConfig()

    with pytest.raises(AttributeError, match="immutable type: 'OperatorConfig'"):
        config.capacity = 0  # type: ignore[misc]


def test_a_configuration_from_json_is_checked_too() -> None:
    """No way round leads past the checks."""
    with pytest.raises(msgspec.ValidationError, match="capacity must be a whole number >= 1"):
        msgspec.json.decode(b'{"capacity": 0}', type=OperatorConfig)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            OperatorConfig(retry=Retry()),
            f"retry must be None: pool does not support it, got {Retry()!r} (Retry)",
        ),
        (
            OperatorConfig(max_held=2),
            "max_held must be None: pool does not support it, got 2 (int)",
        ),
    ],
)
def test_an_operator_refuses_what_it_does_not_support(config: OperatorConfig, message: str) -> None:
    """A setting that has no effect is worse than an error."""
    with pytest.raises(InvalidConfig) as caught:
        config.require_only("pool")

    assert str(caught.value) == message


def test_an_operator_takes_what_it_supports() -> None:
    """The optional settings are refused one by one."""
    OperatorConfig(retry=Retry(), max_held=2).require_only("pool", "retry", "max_held")
    OperatorConfig().require_only("pool")


def test_back_off_grows_up_to_its_cap() -> None:
    """The first is `initial`, each further one `multiplier` times as long."""
    retry = Retry(initial=1, multiplier=2, cap=5)

    assert [retry.back_off(attempts) for attempts in (1, 2, 3, 4, 5)] == [1, 2, 4, 5, 5]


def test_the_cap_holds_for_the_first_back_off_too() -> None:
    """A cap with an exception is none."""
    assert Retry(initial=10, cap=3).back_off(1) == 3


@given(
    attempts=st.integers(1, 10**6),
    multiplier=st.floats(1, allow_infinity=True) | st.integers(1, 10**400),
    initial=st.floats(0, exclude_min=True) | st.integers(1, 10**400),
)
def test_back_off_never_overflows(attempts: int, multiplier: float, initial: float) -> None:
    """However many attempts were made, it is a time between nothing and the cap."""
    retry = Retry(initial=initial, multiplier=multiplier, cap=60)

    assert 0 < retry.back_off(attempts) <= 60
