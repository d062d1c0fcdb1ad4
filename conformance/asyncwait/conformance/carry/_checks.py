"""The checks of CARRY: functions of a history.

They judge the output of a lane, the state that a visit leaves, its requests to a host, and the
calls of hosts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from asyncwait.conformance.carry._history import (
    Answered,
    Began,
    Called,
    Ended,
    History,
    Holds,
    Left,
    Sunk,
)
from asyncwait.conformance.judging import BookChecks, Finding
from asyncwait.spec.carry import Failed, Finished, Identity, InFlight, Outcome, Visit

CARRY_CHECKS = check = BookChecks[History]()
"""The check of each rule, by its id."""


def _came_out(history: History) -> Iterator[tuple[int, str, Finished, bytes]]:
    """Yield the first emission of each output, with its record; skip outputs without a call."""
    for at, sunk in history.of(Sunk):
        for output in () if sunk.is_again else sunk.outputs:
            call = history.call_of(output.result)
            if call is not None:
                yield at, sunk.lane, output, call.item.record


@check("CARRY-1")
def nothing_is_lost(history: History) -> Iterator[Finding]:
    """Each record comes out by the time the lane is empty; a lane that never empties loses it."""
    out = Counter((lane, record) for _, lane, _, record in _came_out(history))
    for (lane, record), count in history.came_in.items():
        lost = count - out[lane, record]
        text = f"{lane}: {lost} of {count} records {record!r} never came out"
        yield (text, len(history.events)) if lost > 0 else None


@check("CARRY-2")
def nothing_comes_twice(history: History) -> Iterator[Finding]:
    """No record comes out more often than it came in."""
    came_in = history.came_in
    out = Counter[tuple[str, bytes]]()
    for at, lane, _, record in _came_out(history):
        out[lane, record] += 1
        wrong = out[lane, record] > came_in[lane, record]
        yield (
            (f"{lane}: record {record!r} came out once more than it came in", at) if wrong else None
        )


@check("CARRY-3")
def results_are_of_the_record(history: History) -> Iterator[Finding]:
    """A finished result comes from a call for its own record; no other record gets the result."""
    for at, left in history.of(Left):
        lane = history.visits[left.number].lane
        records = {item.identity: item.record for item in history.asked[left.number].visit.wanted}
        for each in history.taken_by(left):
            call = history.call_of(each.result)
            own = call is not None and (call.lane, call.item.identity, call.item.record) == (
                lane,
                each.identity,
                records.get(each.identity),
            )
            text = f"{lane}: {each.identity} has the result of {call and call.item.identity}"
            yield None if own else (text, at)


@check("CARRY-4")
def identities_stay(history: History) -> Iterator[Finding]:
    """A record has the same identity in each attempt at its batch, and no other record has it."""
    first: dict[tuple[str, int, bool], list[tuple[Identity, bytes]]] = {}
    whose: dict[tuple[str, Identity], int] = {}
    for at, began in history.of(Began):
        opened = history.visits[began.number]
        before = {item.identity for item in opened.state.in_flight}
        wanted = began.visit.wanted
        new = sorted((item.identity, item.record) for item in wanted if item.identity not in before)
        place = opened.lane, opened.batch, opened.is_second
        if first.setdefault(place, new) != new:
            yield f"{opened.lane}: another playing of the batch gives other identities", at
        elif len({item.identity for item in wanted}) < len(wanted):
            yield f"{opened.lane}: two records in flight have one identity", at
        elif any(
            whose.setdefault((opened.lane, identity), opened.batch) != opened.batch
            for identity, _ in new
        ):
            yield f"{opened.lane}: a record has the identity of one of an earlier batch", at
        else:
            yield None


@check("CARRY-5")
def what_comes_out_was_finished_before(history: History) -> Iterator[Finding]:
    """The first visit of a batch emits the results that were finished before this visit."""
    for at, left in history.of(Left):
        visit = history.visits[left.number]
        if not visit.is_second:
            text = f"{visit.lane}: the batch emits something else than was finished before it"
            yield (text, at) if left.outputs != visit.state.finished else None


@check("CARRY-6")
def a_second_visit_emits_nothing(history: History) -> Iterator[Finding]:
    """The next batch emits the results that were finished by the first visit."""
    for at, left in history.of(Left):
        visit = history.visits[left.number]
        if visit.is_second:
            wrong = bool(left.outputs)
            yield (f"{visit.lane}: the second visit of the batch emits", at) if wrong else None


@check("CARRY-16")
def results_are_of_the_version(history: History) -> Iterator[Finding]:
    """A visit takes only results of the function version that the visit names."""
    for at, left in history.of(Left):
        version = history.asked[left.number].visit.terms.version
        for each in history.taken_by(left):
            call = history.call_of(each.result)
            wrong = call is not None and call.version != version
            yield (f"the result of {each.identity} is of another version", at) if wrong else None


@check("CARRY-7")
def what_was_in_flight_is_somewhere(history: History) -> Iterator[Finding]:
    """The state after a visit has each record that was in flight, new, or finished by the batch."""
    for at, left in history.of(Left):
        visit = history.visits[left.number]
        goes = set() if visit.is_second else {each.identity for each in visit.state.finished}
        before, after = set(visit.state.identities) - goes, set(left.state.identities)
        wrong = not before <= after or len(after) < len(before) + len(visit.rows)
        yield (f"{visit.lane}: a record is no longer in the state", at) if wrong else None


@check("CARRY-8")
def a_visit_names_all(history: History) -> Iterator[Finding]:
    """A visit names all records in flight, and all results that its batch has finished so far."""
    for at, began in history.of(Began):
        visit = history.visits[began.number]
        named = Counter(item.record for item in began.visit.wanted)
        due = Counter(item.record for item in visit.state.in_flight)
        due.update(row.record for row in visit.rows)
        kept = [each.identity for each in visit.state.finished] if visit.is_second else []
        wrong = named != due or set(began.visit.kept) != set(kept)
        yield (f"{visit.lane}: the host is not told what the lane wants", at) if wrong else None


@check("CARRY-17")
def nothing_lags(history: History) -> Iterator[Finding]:
    """After a visit, records in flight lag the newest wanted record by the skew at most."""
    if history.skew is None:
        return
    for at, left in history.of(Left):
        visit = history.visits[left.number]
        came = [item.time for item in visit.state.in_flight] + [row.time for row in visit.rows]
        newest = max((time for time in came if time is not None), default=0)
        stay = [item.time for item in left.state.in_flight]
        oldest = min((time for time in stay if time is not None), default=newest)
        lags = oldest < newest - history.skew
        yield (f"{visit.lane}: {oldest} is in flight behind {newest}", at) if lags else None


@check("CARRY-18")
def lanes_stay_while_records_are_in_flight(history: History) -> Iterator[Finding]:
    """While a lane holds records, visits with another number of lanes ask no host."""
    for at, began in history.of(Began):
        visit, now = history.visits[began.number], began.visit.terms.lanes
        wrong = visit.state.identities and now != history.lanes
        yield (f"{visit.lane}: {now} lanes in place of {history.lanes}", at) if wrong else None


@check("CARRY-9")
def ordered_results_wait_for_their_turn(history: History) -> Iterator[Finding]:
    """In ordered mode a visit finishes the first records, and leaves later records in order."""
    for at, left in history.of(Left) if history.mode == "ordered" else ():
        yield turns(history, left, history.asked[left.number].visit.wanted, at)


def turns(history: History, left: Left, flight: Iterable[InFlight], at: int) -> Finding:
    """Return a finding if some records are finished, or stay, out of order."""
    order = [item.identity for item in flight]
    finished = _among(order, (each.identity for each in history.taken_by(left)))
    stay = _among(order, (each.identity for each in left.state.in_flight))
    return (f"{finished} were finished, {stay} stay", at) if finished + stay != order else None


def _among(order: list[Identity], ids: Iterable[Identity]) -> list[Identity]:
    return [each for each in ids if each in order]


@check("CARRY-11")
def a_host_calls_once(history: History) -> Iterator[Finding]:
    """A host calls a record again only after a failure, or after a visit that came too late."""
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
    """Once a visit has begun, its host holds only calls and results that current visits want."""
    for at, event, running, served in history.running():
        if isinstance(event, Holds):
            place = _place(history.asked[event.number])
            here = [each.visit for each in served if _place(each) == place]
            wanted = {item.identity for visit in here for item in visit.wanted}
            kept = {identity for visit in here for identity in visit.kept}
            runs = {c.item.identity for c in running if (c.host, c.lane) == place}
            more = (event.held | runs) - wanted - kept
            yield (f"the host keeps what no visit wants: {sorted(more)}", at) if more else None


def _place(began: Began) -> tuple[int, str]:
    return began.host, began.visit.lane


@check("CARRY-13")
def room_is_limited(history: History) -> Iterator[Finding]:
    """Running calls, unfinished records before a call, and records in flight fit the capacity."""
    capacity, ended = history.capacity, set[tuple[object, Identity]]()
    # Present or last visit of each caller; None if its host served a second visit meanwhile: a call
    # may then be for either visit, and each visit has its own order.
    alone: dict[tuple[int, str, str], Visit | None] = {}
    for at, event, running, served in history.running():
        match event:
            case Began():
                caller = _visitor(event)
                is_alone = sum(_visitor(each) == caller for each in served) == 1
                alone[caller] = event.visit if is_alone else None
            case Ended(is_failed=False):
                called = history.calls[event.number]
                ended.add((_caller(called), called.item.identity))
            case Called():
                caller = _caller(event)
                count = sum(_caller(c) == caller for c in running)
                visit = alone.get(caller)
                ahead = 0 if visit is None else _ahead(visit, event.item, caller, ended)
                text = f"{count} calls run, {ahead} records are before the last, of {capacity}"
                yield (text, at) if count > capacity or ahead >= capacity else None
            case Left():
                count = len(event.state.in_flight)
                text = f"{count} records are in flight, of {capacity}"
                yield (text, at) if count > capacity else None
            case _:
                pass


def _visitor(began: Began) -> tuple[int, str, str]:
    return (*_place(began), began.visit.terms.version)


def _ahead(
    visit: Visit, called: InFlight, caller: object, ended: set[tuple[object, Identity]]
) -> int:
    """Return the number of records before `called` that are not finished in order."""
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
    for at, event, running, _ in history.running():
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
    """A visit whose records fit the capacity is answered when its budget is over."""
    ended = {call.number: call.at for _, call in history.of(Ended)}
    latest = -1
    for at, event in enumerate(history.events):
        if isinstance(event, Began):
            latest = event.number
        if not isinstance(event, Answered) or event.answer is None or event.number < latest:
            continue  # The task was lost, or another visit came in between.
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
    """A visit that receives a failure fails, and no later visit receives the same failure."""
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
                yield f"the failure of call {failure.reason} is in a second answer", at
            else:
                yield None
