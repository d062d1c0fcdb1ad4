"""What a host knows of its calls: it keeps what is wanted, and nothing else."""

from asyncwait.spec.carry import Failed, Identity, InFlight, Terms, Visit
from asyncwait.toolkit import CallTable


def item(name: str, key: bytes = b"") -> InFlight:
    """Return a record that is known by its name."""
    return InFlight(Identity(name.encode(), 0, 0), name.encode(), key)


class Call:
    """A call of a record."""

    def __init__(self, name: str, version: str) -> None:
        self.name, self.version = name, version


class Calls:
    """A table whose calls end when they are told to."""

    def __init__(self, mode: str = "ordered", capacity: int = 9) -> None:
        self.calls: list[Call] = []
        self.cancelled: list[str] = []
        self.mode, self.capacity = mode, capacity
        self.table = CallTable(self._start, lambda call: self.cancelled.append(call.name))

    def _start(self, lane: str, version: str, item: InFlight) -> "Call":
        self.calls.append(Call(item.record.decode(), version))
        return self.calls[-1]

    @property
    def began(self) -> list[str]:
        """The names of all calls that there were."""
        return [call.name for call in self.calls]

    def visit(self, *items: InFlight, lane: str = "l", version: str = "1") -> Visit:
        """Return a visit that wants some records."""
        return Visit(lane, Terms(version, self.mode, self.capacity), items)  # type: ignore[arg-type]

    def ends(self, name: str, outcome: bytes | Failed = b"", nth: int = -1) -> None:
        """Let a call of a record end, the latest or another one."""
        call = [each for each in self.calls if each.name == name][nth]
        self.table.completed("l", call.version, item(name).identity, call, outcome)

    def asked(self, *items: InFlight, version: str = "1") -> list[str]:
        """Return whose results a visit gets that waits for nothing."""
        served = self.table.begin(self.visit(*items, version=version))
        return [identity.digest.decode() for identity in self.table.answer(served)]


A, B, C = item("a"), item("b"), item("c")


def test_an_answer_is_given_again_until_it_is_not_wanted() -> None:
    """What is not wanted any more is cancelled, or forgotten."""
    calls = Calls()
    assert calls.asked(A, B) == []
    calls.ends("a")

    assert [calls.asked(A, B), calls.asked(A, B)] == [["a"], ["a"]]
    assert calls.asked(C) == []
    assert calls.cancelled == ["b"]
    assert calls.table.held("l") == {C.identity}
    assert calls.began == ["a", "b", "c"]


def test_a_host_that_has_missed_batches_corrects_itself() -> None:
    """It calls what is new to it, and has what it knows already."""
    calls = Calls("unordered")
    calls.asked(A, B)
    calls.ends("b")

    assert calls.asked(B, C) == ["b"]
    assert (calls.began, calls.cancelled) == (["a", "b", "c"], ["a"])


def test_calls_wait_for_room_and_go_on_between_visits() -> None:
    """In the order of the lane."""
    calls = Calls(capacity=1)
    calls.asked(A, B, C)
    assert calls.began == ["a"]
    calls.ends("a")
    calls.ends("b")

    assert calls.began == ["a", "b", "c"]


def test_a_visit_waits_for_its_budget_and_then_for_room() -> None:
    """And for nothing else, once all is finished."""
    calls = Calls(capacity=1)
    served = calls.table.begin(calls.visit(A, B, C))
    assert not served.is_over(is_late=True)
    calls.ends("a")
    calls.ends("b")

    assert not served.is_over(is_late=False)
    assert served.is_over(is_late=True)
    calls.ends("c")
    assert served.is_over(is_late=False)


def test_a_key_has_one_call_and_its_failure_holds_the_next() -> None:
    """Which is told, and called again, before any behind it."""
    calls = Calls("key-ordered")
    order = (item("a", b"k"), item("b", b"k"), item("c", b"l"))
    calls.asked(*order)
    assert calls.began == ["a", "c"]
    calls.ends("a", Failed("no"))
    assert calls.began == ["a", "c"]

    assert calls.asked(*order) == ["a"]
    assert calls.asked(*order) == []
    calls.ends("a")
    assert calls.began == ["a", "c", "a", "b"]


def test_a_failure_does_not_wait_for_its_turn() -> None:
    """It is told at once, and called again when the batch is played again."""
    calls = Calls()
    served = calls.table.begin(calls.visit(A, B))
    calls.ends("b", Failed("no"))

    assert served.is_over(is_late=False)
    assert calls.table.answer(served) == {B.identity: Failed("no")}
    assert calls.asked(A, B) == []
    assert calls.began == ["a", "b", "b"]


def test_two_visits_at_a_time_both_find_what_they_wait_for() -> None:
    """A failure that one is told of is called again for the other; one that has gone is nobody."""
    calls = Calls()
    first, twin = (calls.table.begin(calls.visit(A, B)) for _ in range(2))
    late = calls.table.begin(calls.visit(C))
    assert calls.cancelled == []
    calls.ends("a", Failed("no"))

    assert calls.table.answer(first) == {A.identity: Failed("no")}
    calls.table.abandon(late)
    assert not twin.is_over(is_late=False)
    calls.ends("a")
    calls.ends("b")
    assert list(calls.table.answer(twin)) == [A.identity, B.identity]
    assert calls.began == ["a", "b", "c", "a"]


def test_another_version_begins_anew() -> None:
    """And an end of the old one's call is nothing to it."""
    calls = Calls()
    calls.asked(A, B)
    calls.ends("a")

    assert calls.asked(A, B, version="2") == []
    assert calls.cancelled == ["b"]
    calls.ends("b", nth=0)
    assert calls.asked(A, B, version="2") == []


def test_what_comes_of_a_cancelled_call_is_nothing_to_the_next_one() -> None:
    """A record that is wanted again, after a visit that came too late, gets its own result."""
    calls = Calls()
    calls.asked(A)
    calls.asked(B)
    calls.asked(A)
    calls.ends("a", b"cancelled", nth=0)
    assert calls.asked(A) == []

    calls.ends("a", b"1")
    assert calls.asked(A) == ["a"]


def test_lanes_do_not_meet() -> None:
    """Equal records are called in each."""
    calls = Calls()
    for lane in ("l", "m"):
        calls.table.answer(calls.table.begin(calls.visit(A, lane=lane)))

    assert calls.began == ["a", "a"]


def test_a_key_is_busy_with_a_call_that_a_visit_has_kept() -> None:
    """Though nobody wants its result any more."""
    calls = Calls("key-ordered")
    first, second = item("a", b"k"), item("b", b"k")
    calls.asked(first)
    asked = Visit("l", Terms("1", "key-ordered", 9), (second,), (first.identity,))
    calls.table.answer(calls.table.begin(asked))
    assert calls.began == ["a"]
    calls.ends("a")

    assert calls.began == ["a", "b"]
