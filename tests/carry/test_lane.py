"""A visit of a lane: what comes out, what is asked, and what the next batch finds."""

from collections.abc import Mapping

import pytest

from asyncwait.spec import InvalidConfig
from asyncwait.spec.carry import (
    Failed,
    Identity,
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
from asyncwait.toolkit import Lane

A, B, C = (Row(letter, b"k") for letter in (b"a", b"b", b"c"))
OTHER = Row(b"o", b"other")


class Told:
    def __init__(self, **results: Outcome) -> None:
        self.results = {record.encode(): outcome for record, outcome in results.items()}
        self.heard: list[Visit] = []

    def visit(self, visit: Visit) -> Mapping[Identity, Outcome]:
        self.heard.append(visit)
        wanted = (item for item in visit.wanted if item.record in self.results)
        return {item.identity: self.results[item.record] for item in wanted}


def lane(mode: str = "ordered") -> Lane:
    return Lane("l", Terms("1", mode))  # type: ignore[arg-type]


def test_rows_in_a_second_visit_are_counted_on() -> None:
    _, state = lane().visit(LaneState(), 1, [A, A], Told())
    _, state = lane().visit(state, 1, [A], Told())

    assert [each.occurrence for each in state.identities] == [0, 1, 2]


@pytest.mark.parametrize(
    ("mode", "taken"),
    [("ordered", []), ("unordered", [b"2", b"3"]), ("key-ordered", [b"3"])],
)
def test_results_are_taken_in_their_turn(mode: str, taken: list[bytes]) -> None:
    _, state = lane(mode).visit(LaneState(), 1, [A, B, OTHER], Told(b=b"2", o=b"3"))

    assert [each.result for each in state.finished] == taken


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
