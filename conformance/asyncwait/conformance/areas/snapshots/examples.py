"""SNAP: examples of what a snapshot holds, and when it comes."""

from asyncwait.conformance.evidence import Example, at, example, never, replies
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import SinkStep, SnapshotRequest


def _of_a_chain(*values: str) -> Snapshot:
    """A snapshot of as many operators, with a record in each, the last one upstream of all."""
    whole: Snapshot | None = None
    for value in reversed(values):
        whole = Snapshot(1, (Record(value, 5), Watermark(9)), upstream=whole)
    assert whole is not None
    return whole


EXAMPLES: tuple[Example, ...] = (
    example(
        "snapshot-holds-running-and-finished: SNAP-1, SNAP-2, SNAP-3, SNAP-4, SNAP-5",
        "At the barrier a runs and b is finished behind it: both are in flight, with key and time.",
        inputs=at(0, Record("a", 5, "k"), Record("b", 6)) + at(80, Barrier(1), Record("c", 7)),
        plans=(replies("a", 160, "a1"), replies("b", 40, "b1"), replies("c", 0, "c1")),
    ),
    example(
        "snapshot-without-what-came-out: SNAP-2, SNAP-3, SNAP-5",
        "In unordered mode b has come out before the barrier, so only a is stored.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b")) + at(80, Barrier(1)),
        plans=(replies("a", 160, "a1"), replies("b", 40, "b1")),
    ),
    example(
        "snapshot-with-records-that-hundreds-have-overtaken: SNAP-2, SNAP-3",
        "The two that were first are in flight still, and of those that came behind them none is.",
        mode="unordered",
        capacity=3,
        inputs=at(0, Record("a"), Record("a"), *(Record("b") for _ in range(200)))
        + at(40, Barrier(1)),
        plans=(replies("a", 80, "a1"), replies("b", 0, "b1")),
    ),
    example(
        "snapshot-with-equal-records: SNAP-2, SNAP-3",
        "Three equal records, one of which has come out, are two in the snapshot.",
        capacity=3,
        inputs=at(0, Record("a")) + at(80, Record("a"), Record("a"), Barrier(1)),
        plans=(replies("a", 40, "a1"),),
    ),
    example(
        "snapshot-with-watermark-and-status: SNAP-2, SNAP-3, SNAP-4",
        "The watermark that came out is gone; what waits behind a record is stored in its place.",
        inputs=at(
            0,
            Watermark(1),
            Record("a", 5),
            Watermark(9),
            WatermarkStatus(True),
            LatencyMarker(3),
            Barrier(1),
        ),
        plans=(replies("a", 80, "a1"),),
    ),
    example(
        "snapshot-in-input-order: SNAP-2, SNAP-4",
        "Calls finish in the opposite order and nobody reads; the snapshot is in input order.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b"), Record("c")) + at(160, Barrier(1)),
        plans=(replies("a", 120, "a1"), replies("b", 80, "b1"), replies("c", 40, "c1")),
        sink=(SinkStep("pause", 200),),
    ),
    example(
        "snapshot-of-nothing: SNAP-1, SNAP-3",
        "Barriers are answered when nothing is in flight too, each by a snapshot of its own.",
        inputs=at(0, Barrier(1), Barrier(2), Record("a"), Barrier(3)),
    ),
    example(
        "snapshots-that-nobody-has-taken-yet: SNAP-1, SNAP-2",
        "The consumer comes back at 160: both barriers still have a snapshot of their own.",
        inputs=at(0, Record("a")) + at(40, Barrier(1)) + at(80, Record("b"), Barrier(2)),
        plans=(replies("a", 200, "a1"), replies("b", 40, "b1")),
        sink=(SinkStep("pause", 160),),
    ),
    example(
        "snapshot-at-a-full-queue: SNAP-1, SNAP-2, SNAP-5",
        "There is no room left, and the barrier needs none.",
        capacity=2,
        inputs=at(0, Record("a"), Record("b"), Barrier(1)) + at(40, Barrier(2)),
        plans=(replies("a", 160, "a1"), replies("b", 160, "b1")),
    ),
    example(
        "barrier-behind-a-record-that-waits: SNAP-2, SNAP-5",
        "The barrier is answered as soon as b is admitted, not when b is done.",
        mode="unordered",
        capacity=1,
        inputs=at(0, Record("a"), Record("b"), Barrier(1)),
        plans=(replies("a", 80, "a1"), replies("b", 160, "b1")),
    ),
    example(
        "snapshot-while-calls-never-answer: SNAP-2, SNAP-5",
        "Only their deadline at 400 ends these calls; both snapshots come at 40.",
        timeout=400,
        inputs=at(0, Record("a"), Record("b")) + at(40, Barrier(1), Barrier(2)),
        plans=(never("a", "a-late"), never("b", "b-late")),
        handled=True,
    ),
    example(
        "snapshot-behind-the-rest-of-a-record: SNAP-3, SNAP-6",
        "The consumer has one of three results when the barrier is read: the other two come first.",
        inputs=at(0, Record("a"), Record("b")) + at(80, Barrier(1)),
        plans=(replies("a", 40, "a1", "a2", "a3"), replies("b", 160, "b1")),
        sink=(SinkStep("read", 1), SinkStep("pause", 120)),
    ),
    example(
        "snapshot-on-demand-behind-the-rest-of-a-record: SNAP-6, SNAP-8",
        "A request does not tear a record apart either.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b")),
        plans=(replies("a", 40, "a1", "a2", "a3"), replies("b", 160, "b1")),
        sink=(SinkStep("read", 1), SinkStep("pause", 120)),
        requests=(SnapshotRequest(80, 7),),
    ),
    example(
        "snapshot-before-what-is-behind-its-barrier: SNAP-7",
        "When the consumer comes back c is finished, but it stands behind the barrier.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b")) + at(40, Barrier(1), Record("c")),
        plans=(replies("a", 200, "a1"), replies("b", 80, "b1"), replies("c", 0, "c1")),
        sink=(SinkStep("pause", 120),),
    ),
    example(
        "snapshot-before-an-equal-record: SNAP-2, SNAP-3, SNAP-7",
        "One of two equal records stands before the barrier and one behind it.",
        mode="unordered",
        inputs=at(0, Record("b"), Record("a"), Barrier(1), Record("a")),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
    ),
    example(
        "snapshot-before-a-watermark-behind-it: SNAP-5, SNAP-7",
        "A watermark that could come out at once still stays behind its barrier's snapshot.",
        inputs=at(0, Barrier(1), Watermark(9)) + at(40, Record("a"), Barrier(2), Watermark(19)),
        plans=(replies("a", 80, "a1"),),
    ),
    example(
        "snapshot-on-demand-when-full: SNAP-2, SNAP-3, SNAP-4, SNAP-8, SNAP-9",
        "The record that waits for room is stored as well; two elements were read.",
        capacity=1,
        inputs=at(0, Record("a"), Record("b"), Record("c")),
        plans=(replies("a", 120, "a1"), replies("b", 40, "b1"), replies("c", 40, "c1")),
        requests=(SnapshotRequest(40, 7),),
    ),
    example(
        "snapshot-on-demand-overtakes-results: SNAP-2, SNAP-8",
        "It is the next output, in front of results that were there before the request.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b")),
        plans=(replies("a", 40, "a1"), replies("b", 200, "b1")),
        sink=(SinkStep("pause", 120),),
        requests=(SnapshotRequest(80, 7),),
    ),
    example(
        "snapshot-on-demand-counts-what-was-read: SNAP-3, SNAP-9",
        "Watermarks, markers and barriers have been read, too; one that came later has not.",
        inputs=at(0, Watermark(1), LatencyMarker(3), Barrier(1), Record("a", 5))
        + at(120, Record("b", 6)),
        plans=(replies("a", 160, "a1"),),
        requests=(SnapshotRequest(80, 7),),
    ),
    example(
        "snapshot-on-demand-after-restoring: SNAP-2, SNAP-9",
        "Stored elements were not read from the source, but they are in flight, admitted or not.",
        capacity=1,
        inputs=at(0, Record("c")),
        plans=(replies("a", 80, "a1"), replies("b", 80, "b1")),
        requests=(SnapshotRequest(40, 7), SnapshotRequest(120, 8)),
        restore=Snapshot(3, (Record("a", 5), Record("b", 6))),
    ),
    example(
        "snapshot-on-demand-next-to-a-barrier: SNAP-1, SNAP-5, SNAP-8, SNAP-9",
        "Both snapshots come, each by its own id.",
        inputs=at(0, Record("a")) + at(80, Barrier(1)),
        plans=(replies("a", 160, "a1"),),
        requests=(SnapshotRequest(40, 7), SnapshotRequest(120, 8)),
    ),
    example(
        "snapshot-as-barrier: SNAP-1, SNAP-5, SNAP-10",
        "A snapshot that comes in is a barrier, and is carried along as upstream.",
        inputs=at(
            0,
            Record("a"),
            Snapshot(1, (Record("x", 5), Watermark(9)), upstream=Snapshot(1)),
            Record("b"),
        ),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
    ),
    example(
        "snapshot-of-a-chain-of-four-as-barrier: SNAP-10, SNAP-1",
        "The snapshot that comes in carries three others, each with elements of its own, whole.",
        inputs=at(0, Record("a"), _of_a_chain("z", "y", "x", "w")),
        plans=(replies("a", 80, "a1"),),
    ),
    example(
        "requests-one-after-the-other: SNAP-11, SNAP-8",
        "Three snapshots are asked for while the consumer is away.",
        inputs=at(0, Record("a"), Record("b")),
        plans=(replies("a", 200, "a1"), replies("b", 40, "b1")),
        sink=(SinkStep("pause", 160),),
        requests=tuple(SnapshotRequest(40 * n, 100 - n) for n in range(1, 4)),
    ),
    example(
        "snapshot-with-fences-among-records: SNAP-2, SNAP-4",
        "Fences stand in the snapshot between the records between which they stood.",
        capacity=8,
        inputs=at(
            0,
            Record("a", 5),
            Watermark(5),
            Record("b", 6),
            WatermarkStatus(True),
            Record("a", 7),
            Barrier(1),
        ),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
    ),
    example(
        "snapshot-of-what-is-finished-behind-a-fence: SNAP-2, SNAP-4",
        "Behind the watermark c is finished before b; the snapshot holds them as they were read.",
        mode="unordered",
        inputs=at(0, Record("a"), Watermark(1), Record("b"), Record("c")) + at(80, Barrier(1)),
        plans=(replies("a", 160, "a1"), replies("b", 120, "b1"), replies("c", 40, "c1")),
    ),
    example(
        "snapshot-of-many: SNAP-2, SNAP-4",
        "Eighteen records are in flight, and all of them are stored.",
        capacity=32,
        inputs=at(0, *(Record("a", number) for number in range(18)), Barrier(1)),
        plans=(replies("a", 80, "a1"),),
    ),
    example(
        "snapshot-of-number-zero: SNAP-1, SNAP-2",
        "Zero, and what is below it, are numbers of checkpoints like any other.",
        inputs=at(0, Record("a"), Barrier(0)) + at(40, Barrier(-1)),
        plans=(replies("a", 80, "a1"),),
        sink=(SinkStep("pause", 120),),
    ),
    example(
        "barriers-round-a-snapshot-as-barrier: SNAP-10, SNAP-1",
        "What a snapshot carried along is not carried by the snapshot of the next plain barrier.",
        inputs=at(0, Record("a"), Barrier(1), Snapshot(2, (Record("x", 5),)), Barrier(3)),
        plans=(replies("a", 80, "a1"),),
    ),
)
