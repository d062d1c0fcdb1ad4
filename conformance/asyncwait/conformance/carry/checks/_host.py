"""What hosts do with calls: one for each record, kept while it is wanted, and cancelled."""

from collections.abc import Iterator

from msgspec.structs import replace

from asyncwait.conformance.carry._history import (
    Answered,
    Began,
    Called,
    Ended,
    Event,
    History,
    Holds,
    Left,
)
from asyncwait.conformance.carry.checks._check import check
from asyncwait.conformance.carry.checks._lane import turns
from asyncwait.conformance.judging import Finding
from asyncwait.spec.carry import Failed, Identity, InFlight, Outcome, Visit


@check("CARRY-11")
def a_host_calls_once(history: History) -> Iterator[Finding]:
    """A host calls a record again after a failure alone, or after a visit that came too late."""
    failed = {ended.number for _, ended in history.of(Ended) if ended.is_failed}
    late = [(at, began) for at, began in history.of(Began) if history.visits[began.number].is_late]
    last: dict[object, tuple[int, Called]] = {}
    for at, called in history.of(Called):
        key = called.host, called.lane, called.version, called.item.identity
        before_at, before = last.get(key, (0, None))
        last[key] = at, called
        forgiven = before is None or before.number in failed
        disturbed = any(
            before_at < when < at and (began.host, began.visit.lane) == (called.host, called.lane)
            for when, began in late
        )
        text = f"{called.lane}: {called.item.identity} is called again by the same host"
        yield None if forgiven or disturbed else (text, at)


@check("CARRY-12")
def a_host_holds_what_is_wanted(history: History) -> Iterator[Finding]:
    """When a visit has begun, its host has no call or result that no visit under way wants."""
    served: dict[int, Began] = {}
    for at, event, running in history.running():
        match event:
            case Began():
                served[event.number] = event
            case Answered():
                served.pop(event.number, None)
            case Holds():
                began = served[event.number]
                here = [each for each in served.values() if _place(each) == _place(began)]
                wanted = {item.identity for each in here for item in each.visit.wanted}
                kept = {identity for each in here for identity in each.visit.kept}
                runs = {c.item.identity for c in running if (c.host, c.lane) == _place(began)}
                more = (event.held | runs) - wanted - kept
                yield (f"the host has what nobody wants: {sorted(more)}", at) if more else None
            case _:
                pass


def _place(began: Began) -> tuple[int, str]:
    return began.host, began.visit.lane


@check("CARRY-13")
def room_is_limited(history: History) -> Iterator[Finding]:
    """Calls that run, records before one that is called, and those in flight fit the capacity."""
    capacity, alone, ended = history.capacity, _Alone(), set[tuple[object, Identity]]()
    for at, event, running in history.running():
        alone.hear(event)
        match event:
            case Ended(is_failed=False):
                called = history.calls[event.number]
                ended.add((_caller(called), called.item.identity))
            case Called():
                caller = _caller(event)
                count = sum(_caller(c) == caller for c in running)
                visit = alone.visits.get(caller)
                ahead = 0 if visit is None else _ahead(visit, event.item, caller, ended)
                text = f"{count} calls run, {ahead} records are before the last, of {capacity}"
                yield (text, at) if count > capacity or ahead >= capacity else None
            case Left():
                count = len(event.state.in_flight)
                text = f"{count} records are in flight, of {capacity}"
                yield (text, at) if count > capacity else None
            case _:
                pass


class _Alone:
    """The visits that hosts serve, or have served last, beside which they have served no other.

    Where there are two, what is called may be for either, and each has an order of its own.
    """

    def __init__(self) -> None:
        self.visits: dict[tuple[int, str, str], Visit | None] = {}
        self._served: dict[int, tuple[int, str, str]] = {}

    def hear(self, event: Event) -> None:
        """Take note of what happens."""
        match event:
            case Began():
                caller = (*_place(event), event.visit.terms.version)
                self.visits[caller] = None if caller in self._served.values() else event.visit
                self._served[event.number] = caller
            case Answered():
                self._served.pop(event.number, None)
            case _:
                pass


def _ahead(
    visit: Visit, called: InFlight, caller: object, ended: set[tuple[object, Identity]]
) -> int:
    """Return how many records before one have not finished in their turn."""
    before = visit.wanted[: visit.wanted.index(called)]
    finished = {item.identity for item in before if (caller, item.identity) in ended}
    return len(before) - len(_in_turn(replace(visit, wanted=before), finished))


def _caller(called: Called) -> tuple[int, str, str]:
    return called.host, called.lane, called.version


@check("CARRY-10")
def a_key_has_one_call(history: History) -> Iterator[Finding]:
    """In key-ordered mode records of a key are called and finished one after the other."""
    if history.mode != "key-ordered":
        return
    for at, event, running in history.running():
        if isinstance(event, Called):
            same = [c for c in running if _caller(c) == _caller(event)]
            wrong = sum(c.item.key == event.item.key for c in same) > 1
            yield (f"two calls of key {event.item.key!r} run", at) if wrong else None
        elif isinstance(event, Left):
            flight = history.asked[event.number].visit.wanted
            for key in {item.key for item in flight}:
                yield turns(history, event, [item for item in flight if item.key == key], at)


@check("CARRY-14")
def a_visit_ends_with_its_budget(history: History) -> Iterator[Finding]:
    """Where there is room, a visit is answered when its budget is over."""
    ended = {call.number: call.at for _, call in history.of(Ended)}
    latest = -1
    for at, event in enumerate(history.events):
        if isinstance(event, Began):
            latest = event.number
        if not isinstance(event, Answered) or event.answer is None or event.number < latest:
            continue  # Nobody has waited, or for what another visit had to do in between.
        answered, began = event, history.asked[event.number]
        terms = began.visit.terms
        before = {
            identity
            for identity, outcome in event.answer.items()
            if ended.get(_number(outcome), answered.at) < answered.at
        }
        in_turn = _in_turn(began.visit, before)
        left = len(began.visit.wanted) - len(in_turn)
        is_long = answered.at > began.at + terms.budget
        failed = [each for each in event.answer.values() if isinstance(each, Failed)]
        told = min(
            (max(began.at, ended.get(_number(each), began.at)) for each in failed),
            default=answered.at,
        )
        if answered.at > told:
            yield "the visit goes on, although a call has failed", at
        else:
            awaited = {*began.visit.awaited} - in_turn
            wrong = is_long and left <= terms.capacity and not failed and not awaited
            yield ("the visit goes on, although it has room", at) if wrong else None


def _number(outcome: Outcome) -> int:
    text = outcome.reason.encode() if isinstance(outcome, Failed) else outcome
    return int(text) if text.isdigit() else -1


def _in_turn(visit: Visit, finished: set[Identity]) -> set[Identity]:
    found, held_up = set[Identity](), set[object]()
    for item in visit.wanted:
        group = {"ordered": "", "key-ordered": item.key}.get(visit.terms.mode, item.identity)
        if item.identity not in finished:
            held_up.add(group)
        elif group not in held_up:
            found.add(item.identity)
    return found


@check("CARRY-15")
def a_failure_fails_its_visit(history: History) -> Iterator[Finding]:
    """A visit that is told of a failure does not end well, and no later one is told of it."""
    well = {left.number for _, left in history.of(Left)}
    begins = {began.number: at for at, began in history.of(Began)}
    told: dict[str, int] = {}
    for at, answered in history.of(Answered):
        failed = [each for each in (answered.answer or {}).values() if isinstance(each, Failed)]
        for failure in failed:
            again = begins[answered.number] > told.setdefault(failure.reason, at)
            if answered.number in well:
                yield "a visit that was told of a failure went well", at
            elif again:
                yield f"the failure of call {failure.reason} is told again", at
            else:
                yield None
