"""What comes out of a lane: everything, once, and its own."""

from collections import Counter
from collections.abc import Iterator

from asyncwait.conformance.carry._history import Began, History, Left, Sunk
from asyncwait.conformance.carry.checks._check import check
from asyncwait.conformance.judging import Finding
from asyncwait.spec.carry import Finished, Identity


def _came_out(history: History) -> Iterator[tuple[int, str, Finished, bytes]]:
    """Yield what came out first of each batch, and of which record; what is nobody's has none."""
    for at, sunk in history.of(Sunk):
        for output in () if sunk.is_again else sunk.outputs:
            call = history.call_of(output.result)
            if call is not None:
                yield at, sunk.lane, output, call.item.record


@check("CARRY-1")
def nothing_is_lost(history: History) -> Iterator[Finding]:
    """What came in is out when the lane is empty; or never, if it does not become so."""
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
    """What is finished is the result of a call of that record, which no other has got."""
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
            text = f"{lane}: the result of {each.identity} is that of {call and call.item.identity}"
            yield None if own else (text, at)


@check("CARRY-4")
def identities_stay(history: History) -> Iterator[Finding]:
    """In each playing of its batch a record has the same identity, and no other has it."""
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
    """The first visit of a batch emits what the state before it calls finished."""
    for at, left in history.of(Left):
        visit = history.visits[left.number]
        if not visit.is_second:
            text = f"{visit.lane}: the batch emits something else than was finished before it"
            yield (text, at) if left.outputs != visit.state.finished else None


@check("CARRY-6")
def a_second_visit_emits_nothing(history: History) -> Iterator[Finding]:
    """What the first visit of a batch has finished waits for the next batch."""
    for at, left in history.of(Left):
        visit = history.visits[left.number]
        if visit.is_second:
            wrong = bool(left.outputs)
            yield (f"{visit.lane}: the second visit of the batch emits", at) if wrong else None


@check("CARRY-16")
def results_are_of_the_version(history: History) -> Iterator[Finding]:
    """A visit takes results of the version of the function that it names."""
    for at, left in history.of(Left):
        version = history.asked[left.number].visit.terms.version
        for each in history.taken_by(left):
            call = history.call_of(each.result)
            wrong = call is not None and call.version != version
            yield (f"the result of {each.identity} is of another version", at) if wrong else None
