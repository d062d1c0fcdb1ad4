"""Equality of keys: as in a dict, keys without a hash included."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncwait.spec import Cache, Record
from asyncwait.toolkit import ByKey, Store, invalid_key, stand_in

KEYS = st.recursive(
    st.sampled_from([None, 0, 1, 1.0, True, False, "", "1", "x", -1, -2, (1,), (1.0,)]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)


class Model:
    def __init__(self) -> None:
        self.pairs: list[tuple[Any, int]] = []

    def get(self, key: Any) -> int | None:
        return next((value for each, value in self.pairs if each == key), None)

    def put(self, key: Any, value: int) -> None:
        self.remove(key)
        self.pairs.append((key, value))

    def remove(self, key: Any) -> None:
        self.pairs = [pair for pair in self.pairs if pair[0] != key]


@given(st.lists(st.tuples(st.booleans(), KEYS)))
def test_keys_are_the_same_if_they_are_equal(steps: list[tuple[bool, Any]]) -> None:
    by_key, model = ByKey[int](), Model()

    for number, (removes, key) in enumerate(steps):
        assert by_key.get(key) == model.get(key)
        if removes and (value := model.get(key)) is not None:
            by_key.remove(key, value)
            model.remove(key)
        else:
            by_key.put(key, number)
            model.put(key, number)

    assert len(by_key) == len(model.pairs)
    assert all(by_key.get(key) == value for key, value in model.pairs)


@pytest.mark.parametrize("key", ["x", ["x"]])
def test_what_is_not_there_is_not_removed(key: Any) -> None:
    by_key = ByKey[int]()

    with pytest.raises(KeyError):
        by_key.remove(key, 1)


class Changing:
    def __init__(self) -> None:
        self.number = 1

    def __hash__(self) -> int:
        return self.number


def test_a_key_that_has_changed_is_removed_by_its_value() -> None:
    by_key, key = ByKey[object](), Changing()
    value, other = object(), object()
    by_key.put(key, value)
    by_key.put("x", other)
    key.number = 2

    by_key.remove(key, value)

    assert (by_key.get(key), by_key.get("x"), len(by_key)) == (None, other, 1)


def test_a_key_is_the_same_as_itself_even_if_it_is_not_equal() -> None:
    by_key, nan = ByKey[int](), float("nan")
    listed = [nan]
    by_key.put(nan, 1)
    by_key.put(listed, 2)

    assert (by_key.get(nan), by_key.get(float("nan"))) == (1, None)
    assert (by_key.get(listed), by_key.get([float("nan")])) == (2, None)


def test_a_key_that_can_not_be_compared_is_named_with_its_record() -> None:
    cause = ValueError("ambiguous")

    error = invalid_key(Record("v", key="k"), cause)

    assert error.record == Record("v", key="k")
    assert repr(cause) in str(error)
    assert error.__cause__ is cause


class Coin(tuple[Any, ...]):
    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Odd:
    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        raise ValueError


SAME_CLOCK = [datetime(2024, 10, 27, 2, 30, tzinfo=UTC, fold=fold) for fold in (0, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        ((1,), (True,)),
        (Coin([1]), Coin([1])),
        (Odd(), Odd()),
        ((1, Odd()), (1, Odd())),
        SAME_CLOCK,
    ],
)
def test_keys_that_differ_have_different_stand_ins(one: Any, other: Any) -> None:
    assert stand_in(one) != stand_in(other)
    assert stand_in(one) == stand_in(one)


def test_a_key_that_has_changed_keeps_no_other_from_going() -> None:
    @dataclass(unsafe_hash=True)
    class Number:
        number: int

    store, key = Store(Cache(2, 60)), Number(1)
    store.put(stand_in(key), ("a",), 0, 0)
    key.number = 2

    for number in range(3):
        store.put(number, (number,), 0, 0)

    assert {number: store.entries[number].results for number in (1, 2)} == {1: (1,), 2: (2,)}
    assert len(store.entries) == 2


def test_a_load_that_fails_is_no_use_of_its_key() -> None:
    store = Store(Cache(2, 60, stale_if_error=60))
    for key in ("a", "b"):
        store.put(key, (key,), 0, 0)

    assert (store.stale("a", 90), store.stale("c", 90)) == (("a",), None)
    store.put("c", ("c",), 90, 90)

    assert [*store.entries] == ["b", "c"]
