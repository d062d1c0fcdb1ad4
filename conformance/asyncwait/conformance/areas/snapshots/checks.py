"""SNAP: the contents of snapshots, and the time at which they come out."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from asyncwait.conformance.judging import (
    NEVER,
    Finding,
    FirstBehind,
    Identity,
    LegHistory,
    Output,
    SnapshotOut,
    held_at,
    holds,
    is_same_element,
    leg_check,
)
from asyncwait.spec import Barrier, LatencyMarker, Snapshot
from asyncwait.spec.scenario import SnapshotAsked, Taken


@leg_check("SNAP-1", needs_times=False)
def each_barrier_becomes_one_snapshot(leg: LegHistory) -> Iterator[Finding]:
    """Each Snapshot answers its own barrier or request, and no barrier comes out itself."""
    asked = {event.checkpoint_id for _, event in leg.seen(SnapshotAsked)}
    seen: Counter[int] = Counter()
    for output in leg.outputs:
        if isinstance(output.element, Barrier):
            yield f"{output.element} came out; a Snapshot stands for it", output.at
    for snapshot in leg.snapshots:
        checkpoint = snapshot.checkpoint_id
        seen[checkpoint] += 1
        if snapshot.barrier is None and checkpoint not in asked:
            yield f"snapshot {checkpoint} has no barrier and no request", snapshot.at
        elif seen[checkpoint] > 1:
            yield f"snapshot {checkpoint} came out twice", snapshot.at
        else:
            yield None
    if leg.ran_to_its_end:
        for barrier in leg.barriers:
            if barrier.checkpoint_id not in seen:
                yield f"{barrier} had no snapshot", leg.end_at


@leg_check("SNAP-2")
def a_snapshot_holds_all_that_has_not_come_out(leg: LegHistory) -> Iterator[Finding]:
    """Elements that were read before and come out later are stored, as often as they occur."""
    for snapshot, held in held_at(leg.snapshots, leg.items):
        stored, holds = Counter(snapshot.stored), False
        for item in held.must():
            holds = True
            stored[item.identity] -= 1
            if stored[item.identity] < 0:
                text = f"{item.element} is in flight and not in the snapshot"
                yield text, snapshot.at
                break
        else:
            if holds:
                yield None


@leg_check("SNAP-3", needs_times=False)
def a_snapshot_holds_nothing_else(leg: LegHistory) -> Iterator[Finding]:
    """No stored element came out before, was read behind the barrier, or is a result."""
    for snapshot, held in held_at(leg.snapshots, leg.items):
        elements = dict(zip(snapshot.stored, snapshot.element.in_flight, strict=True))
        for identity, times in Counter(snapshot.stored).items():
            if sum(1 for _ in islice(held.may(identity), times)) < times:
                text = f"{elements[identity]} is in the snapshot and should not be"
                yield text, snapshot.at
                break
        else:
            yield None


@leg_check("SNAP-4", needs_times=False)
def a_snapshot_is_in_input_order(leg: LegHistory) -> Iterator[Finding]:
    """The stored elements are a subsequence of the input; SNAP-3 judges foreign elements."""
    if not leg.snapshots:
        return
    places: dict[Identity, list[int]] = defaultdict(list)
    for item in leg.items:
        if item.is_stored:
            places[item.identity].append(item.pos)
    for snapshot in leg.snapshots:
        if _is_known(snapshot, places) and not _is_in_order(snapshot, places):
            stored = ", ".join(map(str, snapshot.element.in_flight))
            yield f"stored in the order {stored}", snapshot.at
        elif len(snapshot.stored) > 1:
            yield None


def _is_known(snapshot: SnapshotOut, places: Mapping[Identity, Sequence[int]]) -> bool:
    return all(s in places and places[s][0] < snapshot.bound for s in snapshot.stored)


def _is_in_order(snapshot: SnapshotOut, places: Mapping[Identity, Sequence[int]]) -> bool:
    last = -1
    for stored in snapshot.stored:
        behind = bisect_right(places[stored], last)
        if behind == len(places[stored]):
            return False
        last = places[stored][behind]
    return last < snapshot.bound


@leg_check("SNAP-5")
def calls_do_not_delay_a_snapshot(leg: LegHistory) -> Iterator[Finding]:
    """No time passes while the consumer waits and a barrier that was read has no Snapshot."""
    for rest in leg.waits:
        if (owed := rest.snapshot_owed) is not None:
            yield f"{owed} was read, but the waiting consumer got no snapshot", rest.at
    yield from holds(snapshot.barrier is not None and snapshot.stored for snapshot in leg.snapshots)


@leg_check("SNAP-6")
def a_snapshot_does_not_tear_results_apart(leg: LegHistory) -> Iterator[Finding]:
    """When a Snapshot comes out, no record has only some of its results out."""
    several = (item.decided_at for item in leg.records if len(item.results or ()) > 1)
    first = min(several, default=NEVER)
    for snapshot in leg.snapshots:
        if snapshot.output.trouble == "torn":
            yield f"{snapshot.element} came between two results of one record", snapshot.at
        elif first <= snapshot.at:
            yield None


@leg_check("SNAP-7")
def nothing_from_behind_a_barrier_comes_out_before_its_snapshot(
    leg: LegHistory,
) -> Iterator[Finding]:
    """Elements behind a barrier come out behind its Snapshot, or not at all."""
    if not leg.barriers:
        return
    out: dict[int | None, int] = {s.checkpoint_id: s.seq for s in reversed(leg.snapshots)}
    kept = [item for item in leg.items if item.is_stored]
    first_behind = FirstBehind(kept)
    for barrier in leg.barriers:
        first, snapshot = first_behind(barrier.pos), out.get(barrier.checkpoint_id, NEVER)
        if first < snapshot:
            behind = (item for item in kept if item.pos > barrier.pos)
            early = next(item for item in behind if item.is_begun_before(snapshot))
            text = f"{early} came out before snapshot {barrier.checkpoint_id}"
            yield text, early.first_at
        if first != NEVER:
            yield None


@leg_check("SNAP-8")
def a_snapshot_on_demand_comes_next(leg: LegHistory) -> Iterator[Finding]:
    """A waiting consumer gets it in the instant of the request, a later one before all else."""
    for rest in leg.waits:
        if (owed := rest.request_owed) is not None:
            yield f"snapshot {owed} was requested, but the waiting consumer did not get it", rest.at
    foreign = [output for output in leg.outputs if not _may_come_before(output)]
    out: dict[int, list[int]] = defaultdict(list)
    for snapshot in leg.snapshots:
        out[snapshot.checkpoint_id].append(snapshot.seq)
    for seq, event in leg.seen(SnapshotAsked):
        between = _first_later(foreign, seq, event)
        snapshots = out[event.checkpoint_id]
        own = bisect_left(snapshots, seq)
        is_in_time = between is None or (own < len(snapshots) and snapshots[own] < between.seq)
        if between is not None and not is_in_time:
            yield f"{between.element} came before snapshot {event.checkpoint_id}", between.at
        elif snapshots:
            yield None


def _may_come_before(output: Output) -> bool:
    """Whether an output may come between a request and its Snapshot.

    The remaining results of a record may, and so may markers and other snapshots.
    """
    return bool(output.part) or isinstance(output.element, LatencyMarker | Snapshot)


def _first_later(foreign: Sequence[Output], seq: int, event: SnapshotAsked) -> Output | None:
    """Return the first of `foreign` outputs that came after the instant of a request.

    An output of that very instant may have been on its way.
    """
    behind = bisect_left(foreign, seq, key=lambda output: output.seq)
    later = bisect_right(foreign, event.at, key=lambda output: output.at)
    number = max(behind, later)
    return foreign[number] if number < len(foreign) else None


@leg_check("SNAP-9")
def a_snapshot_on_demand_says_how_much_was_read(leg: LegHistory) -> Iterator[Finding]:
    """`read` is the number of inputs taken at some moment between the request and the Snapshot."""
    asked = {event.checkpoint_id: event.at for _, event in leg.seen(SnapshotAsked)}
    taken = leg.seen(Taken)
    for snapshot in leg.snapshots:
        if snapshot.checkpoint_id not in asked or snapshot.barrier is not None:
            continue
        most = bisect_left(taken, snapshot.seq, key=lambda seen: seen[0])
        # The Snapshot may or may not count an input taken in the instant of the request.
        at = asked[snapshot.checkpoint_id]
        least = min(most, bisect_left(taken, at, key=lambda seen: seen[1].at))
        read = snapshot.element.read
        if read is None or not least <= read <= most:
            yield f"expected read between {least} and {most}, got {read}", snapshot.at
        else:
            yield None
    for snapshot in leg.snapshots:
        if snapshot.barrier is not None and snapshot.element.read is not None:
            yield f"{snapshot.element} is of a barrier: its place says what was read", snapshot.at


@leg_check("SNAP-10", needs_times=False)
def a_snapshot_as_barrier_is_carried_along(leg: LegHistory) -> Iterator[Finding]:
    """The Snapshot for a barrier that was a Snapshot has that Snapshot as `upstream`, unchanged."""
    for snapshot in leg.snapshots:
        came = None if snapshot.barrier is None else snapshot.barrier.element
        expected = came if isinstance(came, Snapshot) else None
        upstream = snapshot.element.upstream
        if not is_same_element(upstream, expected):
            yield f"expected upstream {expected}, got {upstream}", snapshot.at
        elif expected is not None:
            yield None
