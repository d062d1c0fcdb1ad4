"""A visit of a lane, and calls of a host for records that a visit has kept."""

from collections.abc import Mapping

import pytest

from asyncwait.backends.streams import CallTable, Lane
from asyncwait.spec import InvalidConfig
from asyncwait.spec.carry import (
    Failed,
    Identity,
    InFlight,
    LaneState,
    LaneStateUnreadable,
    Outcome,
    Row,
    Terms,
    Visit,
    VisitFailed,
    decode_lane,
    encode_lane,
)

A, B = (Row(letter, b"k") for letter in (b"a", b"b"))


class Told:
    def __init__(self, **results: Outcome) -> None:
        self.results = {record.encode(): outcome for record, outcome in results.items()}

    def visit(self, visit: Visit) -> Mapping[Identity, Outcome]:
        wanted = (item for item in visit.wanted if item.record in self.results)
        return {item.identity: self.results[item.record] for item in wanted}


def lane() -> Lane:
    return Lane("l", Terms("1"))


def test_a_failure_fails_the_visit_at_once() -> None:
    with pytest.raises(VisitFailed, match="lane l: record b'b': no such order") as caught:
        lane().visit(LaneState(), 1, [A, B], Told(a=b"1", b=Failed("no such order")))

    assert caught.value.item.record == b"b"
    with pytest.raises(VisitFailed):
        lane().visit(LaneState(), 1, [A, B], Told(b=Failed("no such order")))


def test_a_lane_rests_when_all_is_out() -> None:
    _, finished = lane().visit(LaneState(), 1, [A], Told(a=b"1"))
    _, out = lane().visit(finished, 2, [], Told())

    assert lane().wants_timer(finished)
    assert not lane().wants_timer(out)


def test_a_state_comes_back_from_its_bytes() -> None:
    _, state = lane().visit(LaneState(), 1, [A, B], Told(a=b"1"))

    assert decode_lane(encode_lane(state)) == state
    for wrong in (b"", b"\x02" + encode_lane(state)[1:], encode_lane(state)[:-1]):
        with pytest.raises(LaneStateUnreadable):
            decode_lane(wrong)


@pytest.mark.parametrize("wrong", [{"capacity": 0}, {"budget": -1}, {"budget": float("nan")}])
def test_terms_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidConfig, match=next(iter(wrong))):
        Terms("1", **wrong)  # type: ignore[arg-type]


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
