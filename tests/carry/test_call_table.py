"""What a host knows of its calls: it keeps what is wanted, and nothing else."""

from asyncwait.spec.carry import Failed, Identity, InFlight, Terms, Visit
from asyncwait.toolkit import CallTable


def item(name: str, key: bytes = b"") -> InFlight:
    return InFlight(Identity(name.encode(), 0, 0), name.encode(), key)


class Call:
    def __init__(self, name: str, version: str) -> None:
        self.name, self.version = name, version


class Calls:
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
        return [call.name for call in self.calls]

    def visit(self, *items: InFlight, lane: str = "l", version: str = "1") -> Visit:
        return Visit(lane, Terms(version, self.mode, self.capacity), items)  # type: ignore[arg-type]

    def ends(self, name: str, outcome: bytes | Failed = b"", nth: int = -1) -> None:
        call = [each for each in self.calls if each.name == name][nth]
        self.table.completed("l", call.version, item(name).identity, call, outcome)

    def asked(self, *items: InFlight, version: str = "1") -> list[str]:
        served = self.table.begin(self.visit(*items, version=version))
        return [identity.digest.decode() for identity in self.table.answer(served)]


A, B, C = item("a"), item("b"), item("c")


def test_a_key_has_one_call_and_its_failure_holds_the_next() -> None:
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


def test_a_key_is_busy_with_a_call_that_a_visit_has_kept() -> None:
    calls = Calls("key-ordered")
    first, second = item("a", b"k"), item("b", b"k")
    calls.asked(first)
    asked = Visit("l", Terms("1", "key-ordered", 9), (second,), (first.identity,))
    calls.table.answer(calls.table.begin(asked))
    assert calls.began == ["a"]
    calls.ends("a")

    assert calls.began == ["a", "b"]
