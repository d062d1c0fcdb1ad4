"""Errors say which record they are about, and survive a way through another process."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import asyncwait.spec
import asyncwait.spec.snapshots
from asyncwait.spec import (
    AsyncWaitError,
    CallFailed,
    CallTimedOut,
    InvalidConfig,
    InvalidResult,
    MissingExtra,
    OperatorError,
    Record,
    TooManyAbandonedCalls,
)
from asyncwait.spec.snapshots import SnapshotCorrupt


def pickled(error: Any) -> Any:
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - of our own making


OPERATOR_ERRORS = [CallFailed, CallTimedOut, InvalidResult, TooManyAbandonedCalls]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (Record("a"), "Record 'a': no answer"),
        (Record(7, 12), "Record 7 @ 12: no answer"),
        (Record(7, 0, 0), "Record 7 @ 0 (key 0): no answer"),
        (Record(7, None, "k"), "Record 7 (key 'k'): no answer"),
        (None, "no answer"),
    ],
)
def test_the_message_begins_with_the_record(record: Record | None, text: str) -> None:
    error = OperatorError(record, "no answer")

    assert str(error) == text
    assert (error.record, error.reason) == (record, "no answer")


@pytest.mark.parametrize("kind", OPERATOR_ERRORS)
@pytest.mark.parametrize("again", [copy.copy, pickled])
def test_an_operator_error_keeps_its_record(
    kind: type[OperatorError], again: Callable[[OperatorError], OperatorError]
) -> None:
    error = kind(Record(7, 12, "k"), "no answer")

    copied = again(error)

    assert type(copied) is kind
    assert (str(copied), copied.record, copied.reason) == (str(error), error.record, "no answer")


@pytest.mark.parametrize("again", [lambda error: error, pickled])
def test_a_missing_extra_says_how_to_install_it(again: Callable[[Any], Any]) -> None:
    error = again(MissingExtra("pyspark", "spark"))

    assert "pip install 'asyncwait[spark]'" in str(error)
    assert (error.needs, error.extra) == ("pyspark", "spark")


class Shy:
    def __repr__(self) -> str:
        raise LookupError("no text")


def nested(levels: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(levels):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 1_000, f"'{'x' * 119}... (822 more) ...{'x' * 59}'"),
        (10**10_000, "<int, whose repr raised ValueError> (int)"),
        (nested(100_000), "<list, whose repr raised RecursionError> (list)"),
        (Shy(), "<Shy, whose repr raised LookupError> (Shy)"),
    ],
    ids=["long", "huge", "deep", "shy"],
)
def test_a_wrong_argument_that_can_hardly_be_shown_is_told_all_the_same(
    value: Any, shown: str
) -> None:
    assert str(InvalidConfig.of("it", value, "small")).startswith(f"it must be small, got {shown}")


def test_one_class_catches_them_all() -> None:
    modules = (asyncwait.spec, asyncwait.spec.snapshots)
    exported = [getattr(module, name) for module in modules for name in module.__all__]
    errors = [item for item in exported if isinstance(item, type) and issubclass(item, Exception)]

    assert {CallFailed, MissingExtra, SnapshotCorrupt} < set(errors)
    assert [kind for kind in errors if not issubclass(kind, AsyncWaitError)] == []
