"""SNAP: what a snapshot holds, and when it comes."""

from collections import Counter
from collections.abc import Iterator

from asyncwait.conformance.judging import (
    NEVER,
    Finding,
    LegHistory,
    Output,
    accounted_for,
    barrier_id,
    barrier_of,
    leg_check,
)
from asyncwait.spec import Barrier, LatencyMarker, Snapshot, Stored
from asyncwait.spec.scenario import SnapshotAsked, Taken


@leg_check("SNAP-1")
def each_barrier_becomes_one_snapshot(leg: LegHistory) -> Iterator[Finding]:
    """Snapshots come out for what asked for them, once each, and no barrier comes out itself."""
    asked = {e.checkpoint_id for e in leg.events if isinstance(e, SnapshotAsked)}
    seen: Counter[int] = Counter()
    for output in leg.outputs:
        if isinstance(output.element, Barrier):
            yield f"{output.element} came out; a Snapshot stands for it", output.at
    for output in leg.snapshots:
        checkpoint = _id(output)
        seen[checkpoint] += 1
        if barrier_of(leg, output) is None and checkpoint not in asked:
            yield f"snapshot {checkpoint} was asked for by nobody", output.at
        elif seen[checkpoint] > 1:
            yield f"snapshot {checkpoint} came out twice", output.at
        else:
            yield None
    if leg.ran_to_its_end:
        for item in leg.items:
            wanted = barrier_id(item)
            if wanted is not None and not seen[wanted]:
                yield f"{item} had no snapshot", leg.end_at


@leg_check("SNAP-2")
def a_snapshot_holds_all_that_has_not_come_out(leg: LegHistory) -> Iterator[Finding]:
    """What was read before and comes out later is stored, equal elements as often as they are."""
    for output in leg.snapshots:
        must, _ = _expected(leg, output)
        missing = Counter(map(str, must)) - Counter(map(str, _stored(output)))
        if missing:
            yield f"{next(iter(missing))} is in flight and not in the snapshot", output.at
        elif must:
            yield None


@leg_check("SNAP-3")
def a_snapshot_holds_nothing_else(leg: LegHistory) -> Iterator[Finding]:
    """Nothing is stored that came out before, was read behind the barrier, or is a result."""
    for output in leg.snapshots:
        must, may = _expected(leg, output)
        extra = Counter(map(str, _stored(output))) - Counter(map(str, must + may))
        if extra:
            yield f"{next(iter(extra))} is in the snapshot and should not be", output.at
        else:
            yield None


@leg_check("SNAP-4")
def a_snapshot_is_in_input_order(leg: LegHistory) -> Iterator[Finding]:
    """What is stored is a subsequence of what was read; foreign elements are for SNAP-3."""
    for output in leg.snapshots:
        stored = [str(element) for element in _stored(output)]
        order = [str(item.element) for item in accounted_for(leg, output)]
        if not _is_subsequence(stored, order) and not set(stored) - set(order):
            yield f"stored in the order {', '.join(stored)}", output.at
        elif len(stored) > 1:
            yield None


@leg_check("SNAP-5")
def calls_do_not_delay_a_snapshot(leg: LegHistory) -> Iterator[Finding]:
    """No time passes while the consumer waits and a barrier that was read has no Snapshot yet."""
    for rest in leg.rests:
        if rest.waiting and not rest.failed and (owed := rest.snapshot_owed()) is not None:
            yield f"{owed} was read, but the waiting consumer got no snapshot", rest.at
            return
    for output in leg.snapshots:
        if barrier_of(leg, output) is not None and _stored(output):
            yield None


@leg_check("SNAP-6")
def a_snapshot_does_not_tear_results_apart(leg: LegHistory) -> Iterator[Finding]:
    """When a Snapshot comes out, no record is partly handed out."""
    for output in leg.snapshots:
        if output.trouble == "torn":
            yield f"{output.element} came between two results of one record", output.at
        elif any(len(i.results or ()) > 1 for i in leg.records if i.decided_at <= output.at):
            yield None


@leg_check("SNAP-7")
def nothing_from_behind_a_barrier_comes_out_before_its_snapshot(
    leg: LegHistory,
) -> Iterator[Finding]:
    """All that was read behind a barrier comes out behind its Snapshot, or not at all."""
    snapshots = {_id(output): output.seq for output in reversed(leg.snapshots)}
    for barrier in leg.items:
        checkpoint = barrier_id(barrier)
        if checkpoint is None:
            continue
        for item in leg.items[barrier.pos + 1 :]:
            if not (item.is_record or item.is_fence) or not item.outputs:
                continue
            if item.first_seq < snapshots.get(checkpoint, NEVER):
                yield f"{item} came out before snapshot {checkpoint}", item.outputs[0].at
            else:
                yield None


@leg_check("SNAP-8")
def a_snapshot_on_demand_comes_next(leg: LegHistory) -> Iterator[Finding]:
    """A waiting consumer gets it in the instant of the request, a later one before all else."""
    for rest in leg.rests:
        if rest.waiting and not rest.failed and (owed := rest.request_owed()) is not None:
            yield f"snapshot {owed} was requested, but the waiting consumer did not get it", rest.at
            return
    for seq, event in enumerate(leg.events):
        if isinstance(event, SnapshotAsked):
            between = _foreign_output_before(leg, seq, event)
            if between is not None:
                yield f"{between.element} came before snapshot {event.checkpoint_id}", between.at
            elif any(_id(output) == event.checkpoint_id for output in leg.snapshots):
                yield None


@leg_check("SNAP-9")
def a_snapshot_on_demand_says_how_much_was_read(leg: LegHistory) -> Iterator[Finding]:
    """`read` is what was taken at some moment from the request on until the Snapshot came out."""
    asked = {e.checkpoint_id: e.at for e in leg.events if isinstance(e, SnapshotAsked)}
    for output in leg.snapshots:
        if _id(output) not in asked or barrier_of(leg, output) is not None:
            continue
        assert isinstance(output.element, Snapshot)
        taken = [e for e in leg.events[: output.seq] if isinstance(e, Taken)]
        # What is taken in the instant of the request may be seen by it or not.
        low = sum(event.at < asked[_id(output)] for event in taken)
        read = output.element.read
        if read is None or not low <= read <= len(taken):
            yield f"expected read between {low} and {len(taken)}, got {read}", output.at
        else:
            yield None
    for output in leg.snapshots:
        if barrier_of(leg, output) is not None and output.element.read is not None:  # type: ignore[union-attr]
            yield f"{output.element} is of a barrier: its place says what was read", output.at


@leg_check("SNAP-10")
def a_snapshot_as_barrier_is_carried_along(leg: LegHistory) -> Iterator[Finding]:
    """The Snapshot for a barrier that was one itself holds it as `upstream`, as it came."""
    for output in leg.snapshots:
        barrier = barrier_of(leg, output)
        came = None if barrier is None else barrier.element
        upstream = came if isinstance(came, Snapshot) else None
        assert isinstance(output.element, Snapshot)
        if output.element.upstream != upstream:
            yield f"expected upstream {upstream}, got {output.element.upstream}", output.at
        elif upstream is not None:
            yield None


def _id(output: Output) -> int:
    assert isinstance(output.element, Snapshot)
    return output.element.checkpoint_id


def _stored(output: Output) -> tuple[Stored, ...]:
    assert isinstance(output.element, Snapshot)
    return output.element.in_flight


def _expected(leg: LegHistory, output: Output) -> tuple[list[Stored], list[Stored]]:
    """Return what must be in the snapshot, and what may be: decided records without results."""
    must: list[Stored] = []
    may: list[Stored] = []
    for item in accounted_for(leg, output):
        if -1 < item.emitted_seq < output.seq or not isinstance(item.element, Stored):
            continue
        silent = item.results == () and item.decided_at <= output.at
        (may if silent else must).append(item.element)
    return must, may


def _is_subsequence(short: list[str], long: list[str]) -> bool:
    rest = iter(long)
    return all(any(element == other for other in rest) for element in short)


def _foreign_output_before(leg: LegHistory, seq: int, event: SnapshotAsked) -> Output | None:
    """Return an output between the request and its snapshot that may not be there.

    The rest of a record that is being handed out may, and so may markers and other snapshots.
    What was taken in the very instant of the request may have been on its way.
    """
    for output in leg.outputs:
        if output.seq < seq or output.part or isinstance(output.element, LatencyMarker):
            continue
        if isinstance(output.element, Snapshot):
            if _id(output) == event.checkpoint_id:
                return None
        elif output.at > event.at:
            return output
    return None
