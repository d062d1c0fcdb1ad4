"""Calls of a host for records that a visit has kept."""

from asyncwait.spec.carry import Identity, InFlight, Terms, Visit
from asyncwait.toolkit import CallTable


def item(name: str) -> InFlight:
    return InFlight(Identity(name.encode(), 0, 0), name.encode(), b"k")


def test_a_key_is_busy_with_a_call_that_a_visit_has_kept() -> None:
    began: list[InFlight] = []

    def start(_: str, __: str, item: InFlight) -> InFlight:
        began.append(item)
        return item

    table = CallTable(start, lambda _: None)
    terms = Terms("1", "key-ordered", 9)
    first, second = item("a"), item("b")
    table.answer(table.begin(Visit("l", terms, (first,))))
    table.answer(table.begin(Visit("l", terms, (second,), (first.identity,))))
    assert began == [first]

    table.completed("l", "1", first.identity, first, b"")
    assert began == [first, second]
