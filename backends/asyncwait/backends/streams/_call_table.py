"""Tables of a call host: calls that run, records that wait, and outcomes. They have no clock."""

from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

from msgspec.structs import replace

from asyncwait.spec.carry import Failed, Identity, InFlight, Outcome, Terms, Visit

Start: TypeAlias = Callable[[str, str, InFlight], Any]
"""Begins a call for a lane and a version of the function; returns a new object for the call."""

Cancel: TypeAlias = Callable[[Any], object]
"""Ends a call that no visit wants; its outcome no longer counts."""

_NOT_ENDED = Failed("it has not ended")


class Served:
    """A visit that has begun and has no answer yet.

    Records whose results wait for each other are in one group: all records of the lane in ordered
    mode, all records of a key in key-ordered mode.

    Args:
        visit: the request of the visit.
    """

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.finished: list[Identity] = []
        """Finished records whose results may come out."""
        self.failed: set[Identity] = set()
        """Failed records, wherever they are in the order."""
        self.awaited = {*visit.awaited}
        """Records that have to be finished, in order, before the visit is over."""
        self._groups: dict[Hashable, deque[Identity]] = {}
        self._group_of: dict[Identity, Hashable] = {}
        self._ended: set[Identity] = set()
        for item in visit.wanted:
            self._group_of[item.identity] = group = self.group(item)
            self._groups.setdefault(group, deque()).append(item.identity)

    def group(self, item: InFlight) -> Hashable:
        """Return the group of a record."""
        match self.visit.terms.mode:
            case "ordered":
                return b""
            case "key-ordered":
                return item.key
            case "unordered":
                return item.identity

    def note(self, identity: Identity, outcome: Outcome) -> None:
        """Take note of the outcome of a call."""
        if identity not in self._group_of:
            return
        if isinstance(outcome, Failed):
            self.failed.add(identity)
            return
        self._ended.add(identity)
        group = self._groups[self._group_of[identity]]
        while group and group[0] in self._ended:
            self.finished.append(group.popleft())
            self.awaited.discard(self.finished[-1])

    def again(self, identity: Identity) -> None:
        """Take note that a failed call begins anew."""
        self.failed.discard(identity)

    def is_over(self, *, is_late: bool) -> bool:
        """Return whether the visit can be answered.

        Args:
            is_late: whether the time budget of the visit is over.
        """
        left = len(self.visit.wanted) - len(self.finished)
        has_room = left <= self.visit.terms.capacity and not self.awaited
        return bool(self.failed) or (is_late and has_room) or not left


class LaneCalls:
    """The calls of one lane, by one version of the function.

    Args:
        start: begins a call.
        cancel: ends a call.
    """

    def __init__(self, start: Start, cancel: Cancel) -> None:
        self.start = start
        self.cancel = cancel
        self.served: list[Served] = []
        """The visits that wait for an answer."""
        self.wanted: dict[Identity, InFlight] = {}
        self.running: dict[Identity, Any] = {}
        self.keys: dict[Identity, bytes] = {}
        """Keys of all running calls, wanted or not."""
        self.done: dict[Identity, Outcome] = {}
        self.waiting: deque[InFlight] = deque()
        """Wanted records that are not admitted, in order."""
        self.admitted: set[Identity] = set()
        """Records that take capacity: they are called, or wait for their key or order."""
        self.behind: dict[bytes, deque[InFlight]] = {}
        """In key-ordered mode, by key: admitted records that are neither finished nor called."""
        self.busy: set[bytes] = set()
        """In key-ordered mode, keys with a running call."""
        self.turns = Served(Visit("", Terms(""), ()))
        """Wanted records that are finished, and whose results may come out."""
        self._gone: set[Identity] = set()
        self._passed = 0

    def begin(self, served: Served) -> None:
        """Serve a visit: forget calls that no visit wants, and begin the calls that it lacks."""
        self.served.append(served)
        self.latest = served.visit
        self.wanted = self._asked_for()
        self.forget({*self.wanted, *(kept for s in self.served for kept in s.visit.kept)})
        for identity, outcome in self.done.items():
            served.note(identity, outcome)
        self.queue()

    def forget(self, but: set[Identity]) -> None:
        """Cancel and forget all calls except those of the records in `but`."""
        for identity in [each for each in self.running if each not in but]:
            self.cancel(self.running.pop(identity))
            self.keys.pop(identity, None)
        self.done = {each: outcome for each, outcome in self.done.items() if each in but}

    def queue(self) -> None:
        """Determine anew which records to call, and in which order."""
        self.turns = self.served[0] if len(self.served) == 1 else self._turns()
        self.waiting = deque(self.wanted.values())
        self.admitted.clear()
        self.behind.clear()
        self.busy = {*self.keys.values()}
        self._gone.clear()
        self._passed = 0
        self.fill()

    def _turns(self) -> Served:
        turns = Served(replace(self.latest, wanted=tuple(self.wanted.values())))
        for identity, outcome in self.done.items():
            turns.note(identity, outcome)
        return turns

    def _is_well(self, identity: Identity) -> bool:
        return not isinstance(self.done.get(identity, _NOT_ENDED), Failed)

    def fill(self) -> None:
        """Admit records in order, while the capacity has room."""
        for identity in self.turns.finished[self._passed :]:
            self.pass_on(identity)
        self._passed = len(self.turns.finished)
        capacity = self.latest.terms.capacity
        while self.waiting and self.has_room(capacity):
            item = self.waiting.popleft()
            if item.identity not in self._gone:
                self.admit(item)

    def pass_on(self, identity: Identity) -> None:
        """Free the capacity of a finished record whose result may come out."""
        self._gone.add(identity)
        self.admitted.discard(identity)

    def has_room(self, capacity: int) -> bool:
        """Return whether another record may be admitted; calls of earlier visits may still run."""
        return len(self.admitted) < capacity and len(self.running) < capacity

    def admit(self, item: InFlight) -> None:
        """Call a record, unless its call runs or has a result, or it waits for its key."""
        self.admitted.add(item.identity)
        if item.identity in self.running or self._is_well(item.identity):
            return
        if self.latest.terms.mode == "key-ordered":
            self.behind.setdefault(item.key, deque()).append(item)
            self.offer(item.key)
        elif item.identity not in self.done:
            self.call(item)

    def offer(self, key: bytes) -> None:
        """Call the first record of a key, unless the key has a running call, or it has failed."""
        behind = self.behind.get(key)
        if behind and key not in self.busy and behind[0].identity not in self.done:
            self.busy.add(key)
            self.call(behind.popleft())

    def call(self, item: InFlight) -> None:
        """Begin a call."""
        visit = self.latest
        self.keys[item.identity] = item.key
        self.running[item.identity] = self.start(visit.lane, visit.terms.version, item)

    def completed(self, identity: Identity, call: Any, outcome: Outcome) -> None:
        """Keep the outcome of a call, and begin the next call; ignore a cancelled call."""
        if self.running.get(identity, _NOT_ENDED) is not call:
            return
        del self.running[identity]
        key = self.keys.pop(identity, b"")
        self.done[identity] = outcome
        for served in self.served:
            served.note(identity, outcome)
        if self.turns not in self.served:
            self.turns.note(identity, outcome)
        if self.latest.terms.mode == "key-ordered":
            self._end_of(key, outcome)
        self.fill()

    def _end_of(self, key: bytes, outcome: Outcome) -> None:
        self.busy.discard(key)
        if isinstance(outcome, Failed):
            self.queue()  # If rows arrive in another order, another record of the key may be first.
        else:
            self.offer(key)

    def answer(self, served: Served) -> dict[Identity, Outcome]:
        """Return the answer to a visit, and keep its results, but not its failures."""
        answer = {each: self.done[each] for each in (*served.finished, *served.failed)}
        self.drop_failed(tuple(served.failed))
        self.end(served)
        return answer

    def drop_failed(self, failed: tuple[Identity, ...]) -> None:
        """Forget failures in the answer to a visit, so that its next attempt calls again."""
        for identity in failed:
            del self.done[identity]
            for other in self.served:
                other.again(identity)

    def abandon(self, served: Served) -> None:
        """Note that the answer of a visit is no longer wanted."""
        self.end(served)

    def end(self, served: Served) -> None:
        """Stop serving a visit."""
        self.served.remove(served)
        if self.served:  # The order of the other visits counts now, and they want failed records.
            self.wanted = {**self._asked_for(), **self.wanted}
            self.queue()

    def _asked_for(self) -> dict[Identity, InFlight]:
        """Return the wanted records of all visits, the latest visit first."""
        return {item.identity: item for s in reversed(self.served) for item in s.visit.wanted}

    @property
    def is_idle(self) -> bool:
        """Whether the lane has no visits, calls, results or waiting records."""
        return not (self.served or self.running or self.done or self.waiting)


class CallTable:
    """The calls of all lanes that visit a host.

    A host begins each visit, reports outcomes of calls, waits until `Served.is_over`, and answers.

    Args:
        start: begins a call; it must return before the call completes.
        cancel: ends a call.
    """

    calls_class = LaneCalls
    served_class = Served

    def __init__(self, start: Start, cancel: Cancel) -> None:
        self.start = start
        self.cancel = cancel
        self._lanes: dict[tuple[str, str], LaneCalls] = {}

    def begin(self, visit: Visit) -> Served:
        """Begin to serve a visit; another version's calls for its lane end."""
        served = self.served_class(visit)
        home = self.home_of(visit.lane, visit.terms.version)
        for lane, version in [key for key in self._lanes if key[0] == home[0] and key != home]:
            calls = self._lanes[lane, version]
            if not calls.served:
                calls.forget(set())
                del self._lanes[lane, version]
        if home not in self._lanes:
            self._lanes[home] = self.calls_class(self.start, self.cancel)
        self._lanes[home].begin(served)
        return served

    def home_of(self, lane: str, version: str) -> tuple[str, str]:
        """Return the key under which the calls of a lane are kept."""
        return lane, version

    def completed(
        self, lane: str, version: str, identity: Identity, call: Any, outcome: Outcome
    ) -> None:
        """Take note of the outcome of a call; ignore a cancelled call."""
        calls = self._lanes.get(self.home_of(lane, version))
        if calls is not None:
            calls.completed(identity, call, outcome)

    def answer(self, served: Served) -> dict[Identity, Outcome]:
        """Return the answer to a visit, which ends."""
        home = self.home_of(served.visit.lane, served.visit.terms.version)
        answer = self._lanes[home].answer(served)
        if self._lanes[home].is_idle:
            del self._lanes[home]
        return answer

    def abandon(self, served: Served) -> None:
        """End a visit without an answer, as its lane no longer waits."""
        visit = served.visit
        self._lanes[self.home_of(visit.lane, visit.terms.version)].abandon(served)

    def held(self, lane: str) -> frozenset[Identity]:
        """Return the identities of a lane's records with running calls or kept outcomes."""
        name = self.home_of(lane, "")[0]
        of_lane = (calls for home, calls in self._lanes.items() if home[0] == name)
        return frozenset(id_ for calls in of_lane for id_ in (*calls.running, *calls.done))
