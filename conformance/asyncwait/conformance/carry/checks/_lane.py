"""What a visit makes of a lane's state, and what it tells a host."""

from collections import Counter
from collections.abc import Iterable, Iterator

from asyncwait.conformance.carry._history import Began, History, Left
from asyncwait.conformance.carry.checks._check import check
from asyncwait.conformance.judging import Finding
from asyncwait.spec.carry import Identity, InFlight


@check("CARRY-7")
def what_was_in_flight_is_somewhere(history: History) -> Iterator[Finding]:
    """What was in flight, came in, or was finished by this batch, is in flight or finished."""
    for at, left in history.of(Left):
        visit = history.visits[left.number]
        goes = set() if visit.is_second else {each.identity for each in visit.state.finished}
        before, after = set(visit.state.identities) - goes, set(left.state.identities)
        wrong = not before <= after or len(after) < len(before) + len(visit.rows)
        yield (f"{visit.lane}: a record is no longer in the state", at) if wrong else None


@check("CARRY-8")
def a_visit_names_all(history: History) -> Iterator[Finding]:
    """A host is told all that is in flight, and what the batch has finished before."""
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
    """After a visit, what is in flight lags the newest that it has wanted by the skew at most."""
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
    """A lane that holds records asks no host on behalf of a run with other lanes."""
    for at, began in history.of(Began):
        visit, now = history.visits[began.number], began.visit.terms.lanes
        wrong = visit.state.identities and now != history.lanes
        yield (f"{visit.lane}: {now} lanes in place of {history.lanes}", at) if wrong else None


@check("CARRY-9")
def ordered_results_wait_for_their_turn(history: History) -> Iterator[Finding]:
    """In ordered mode a visit takes what stands first, and leaves the others as they stand."""
    for at, left in history.of(Left) if history.mode == "ordered" else ():
        yield turns(history, left, history.asked[left.number].visit.wanted, at)


def turns(history: History, left: Left, flight: Iterable[InFlight], at: int) -> Finding:
    """Say what is wrong with the order in which some records are finished, or stay."""
    order = [item.identity for item in flight]
    finished = _among(order, (each.identity for each in history.taken_by(left)))
    stay = _among(order, (each.identity for each in left.state.in_flight))
    return (f"{finished} were finished, {stay} stay", at) if finished + stay != order else None


def _among(order: list[Identity], ids: Iterable[Identity]) -> list[Identity]:
    return [each for each in ids if each in order]
