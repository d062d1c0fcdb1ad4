"""Which records have the same key, as the contract has it, and who comes before whom."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from asyncwait.conformance.judging._items import Input, Item
from asyncwait.spec import Record


def key_of(item: Input) -> Hashable:
    """Return what is equal for records with the same key, and can be hashed."""
    assert isinstance(item.element, Record)
    return _hashable(item.element.key)


def _hashable(key: Any) -> Hashable:
    if isinstance(key, list | tuple):
        return (type(key).__name__, *map(_hashable, key))
    if isinstance(key, dict):
        return "dict", frozenset((name, _hashable(value)) for name, value in key.items())
    return key  # type: ignore[no-any-return]


def has_plain_key(before: Input, item: Input) -> bool:
    """Whether two records that have the same key have it in the same words, which can be hashed."""
    assert isinstance(before.element, Record)
    assert isinstance(item.element, Record)
    one, other = before.element.key, item.element.key
    return isinstance(one, str | int) and type(one) is type(other)


def pairs_of_keys(records: Iterable[Item]) -> Iterator[tuple[Item, Item]]:
    """Yield each record behind the one before it that has the same key, if there is one."""
    last: dict[Hashable, Item] = {}
    for item in records:
        key = key_of(item)
        if key in last:
            yield last[key], item
        last[key] = item
