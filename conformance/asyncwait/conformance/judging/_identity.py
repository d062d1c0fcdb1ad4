"""When two values, or two elements, count as the same: equal, and of one type however deep.

To Python 1, 1.0 and True are equal, and what is unhashable can't be counted; a repr differs where
the keys of a dict only stand in another order. So the judge never compares values or elements by
`==`, and counts them by their identity: canonical JSON, as plans are looked up.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple, TypeAlias

from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import identity

Identity: TypeAlias = Hashable
"""Equal for two elements if, and only if, they are the same."""


class RecordIdentity(NamedTuple):
    """What tells a record from others: the identities of its value, its timestamp and its key."""

    value: str
    timestamp: str
    key: str

    def result(self, value: str) -> "RecordIdentity":
        """Return the identity of the record that comes out with `value` as a result of this one."""
        return RecordIdentity(value, self.timestamp, self.key)


def is_same(value: Any, other: Any) -> bool:
    """Whether two values are equal and of the same type, and all in them: 1 is not True."""
    return value is other or identity(value) == identity(other)


def is_same_element(element: Any, other: Any) -> bool:
    """Whether two elements are of the same kind and hold the same."""
    return identity_of(element) == identity_of(other)


def identity_of(element: Any) -> Identity:
    """Return what tells an element from others; an operator may hand out what is none."""
    match element:
        case Record():
            return identity_of_record(element)
        case Snapshot():
            return (
                Snapshot,
                identity(element.checkpoint_id),
                tuple(map(identity_of, element.in_flight)),
                identity(element.read),
                identity_of(element.upstream),
            )
        case _:
            fields = getattr(element, "__struct_fields__", None)
            if fields is None:
                return type(element), identity(element)
            return type(element), *(identity(getattr(element, name)) for name in fields)


def identity_of_record(record: Record) -> RecordIdentity:
    """Return what tells a record from others."""
    return RecordIdentity(identity(record.value), identity(record.timestamp), identity(record.key))
