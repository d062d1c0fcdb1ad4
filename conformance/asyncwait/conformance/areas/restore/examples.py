"""REST: examples of operators that go on from a snapshot."""

from asyncwait.conformance.evidence import Example, at, handler, never, outlives, replies
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import Crash, Plan, Scenario, SinkStep, SnapshotRequest, Step

EXAMPLES: tuple[Example, ...] = (
    Example(
        "stored-records-are-called-first",
        ("REST-1",),
        "What was stored is called before what the source already has.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("c"), Record("a", 7)),
            plans=(replies("a", 80, "a1"), replies("b", 40, "b1"), replies("c", 0, "c1")),
            restore=Snapshot(1, (Record("a", 5), Record("b", 6, "k"))),
        ),
    ),
    Example(
        "stored-records-come-out-first",
        ("REST-1", "REST-4"),
        "In ordered mode new results wait behind the stored ones, and new calls for room.",
        Scenario(
            capacity=2,
            inputs=at(0, Record("c"), Barrier(2)),
            plans=(replies("a", 80, "a1"), replies("b", 120, "b1"), replies("c", 0, "c1")),
            restore=Snapshot(1, (Record("a"), Record("b"))),
        ),
    ),
    Example(
        "restored-calls-get-a-full-timeout",
        ("REST-2",),
        "The first life called a at 0 and crashed at 80; the second has 120 from its own call on.",
        Scenario(
            timeout=120,
            inputs=at(0, Record("a")) + at(40, Barrier(1)),
            plans=(never("a", "a-late"),),
            handled=True,
            crashes=(Crash(80),),
        ),
    ),
    Example(
        "restored-calls-wait-for-room-without-a-deadline",
        ("REST-2", "REST-4"),
        "The second stored record is called at 80 and so has until 160.",
        Scenario(
            capacity=1,
            timeout=80,
            plans=(never("a", "a-late"), never("b", "b-late")),
            handled=True,
            restore=Snapshot(1, (Record("a"), Record("b"))),
        ),
    ),
    Example(
        "stored-watermarks-come-out-again",
        ("REST-3", "REST-5", "REST-6", "REST-7"),
        "Watermark 9 was stored and comes again; watermark 1 came out before and does not.",
        Scenario(
            mode="unordered",
            inputs=at(0, Watermark(1), Record("a", 5), Watermark(9), WatermarkStatus(True))
            + at(40, Barrier(1))
            + at(80, Record("b", 16)),
            plans=(replies("a", 160, "a1"), replies("b", 40, "b1")),
            crashes=(Crash(120),),
        ),
    ),
    Example(
        "stored-watermarks-are-fences-again",
        ("REST-3",),
        "A new record that is done at once stays behind the stored watermark.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("b", 16)),
            plans=(replies("a", 80, "a1"), replies("b", 0, "b1")),
            restore=Snapshot(1, (Record("a", 5), Watermark(9), Watermark(9))),
        ),
    ),
    Example(
        "restoring-more-than-there-is-room-for",
        ("REST-1", "REST-4"),
        "Four stored records, room for two: they are called as room comes, before new ones.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, Record("e")),
            plans=(
                replies("a", 120, "a1"),
                replies("b", 40, "b1"),
                replies("c", 40, "c1"),
                replies("d", 40, "d1"),
            ),
            restore=Snapshot(
                1, (Record("a"), Record("b"), Record("c"), Watermark(9), Record("d", 16))
            ),
        ),
    ),
    Example(
        "crash-with-a-full-queue-and-one-waiting",
        ("REST-1", "REST-4", "REST-5", "REST-6"),
        "Three in flight at a capacity of two, restored into a capacity of one.",
        Scenario(
            capacity=2,
            inputs=at(0, Record("a"), Record("b"), Record("c"), Record("d")),
            plans=(
                replies("a", 120, "a1"),
                replies("b", 120, "b1"),
                replies("c", 40, "c1"),
                replies("d", 40, "d1"),
            ),
            requests=(SnapshotRequest(40, 7),),
            crashes=(Crash(80, capacity=1),),
        ),
    ),
    Example(
        "crash-loses-nothing",
        ("REST-5", "REST-6", "REST-7"),
        "a came out before the snapshot, b after it and is dropped, c was never admitted.",
        Scenario(
            capacity=2,
            inputs=at(0, Record("a"), Record("b")) + at(80, Barrier(1)) + at(120, Record("c")),
            plans=(replies("a", 40, "a1"), replies("b", 160, "b1", "b2"), replies("c", 40, "c1")),
            source_ends_at=240,
            crashes=(Crash(200),),
        ),
    ),
    Example(
        "crash-with-equal-records",
        ("REST-5", "REST-6"),
        "Four equal records: two are out, one is stored, one is still in the source.",
        Scenario(
            inputs=at(0, Record("a"), Record("a"), Record("a"), Barrier(1)) + at(160, Record("a")),
            plans=(
                Plan(
                    "a",
                    (
                        Step(results=("a1",)),
                        Step(results=("a1",)),
                        Step(after=120, results=("a1",)),
                    ),
                ),
            ),
            crashes=(Crash(80),),
        ),
    ),
    Example(
        "crash-after-a-second-snapshot",
        ("REST-5", "REST-6", "REST-7"),
        "a is in the first snapshot and comes out before the second: it must not come again.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("a"), Record("b"), Barrier(1)) + at(80, Barrier(2)),
            plans=(replies("a", 40, "a1"), replies("b", 160, "b1")),
            crashes=(Crash(120),),
        ),
    ),
    Example(
        "crash-without-a-snapshot",
        ("REST-5", "REST-6"),
        "With no snapshot to go on from, everything starts again.",
        Scenario(
            inputs=at(0, Record("a"), Watermark(9)) + at(80, Record("b", 16)),
            plans=(replies("a", 40, "a1"), replies("b", 80, "b1")),
            crashes=(Crash(120),),
        ),
    ),
    Example(
        "crash-in-the-middle-of-a-record",
        ("REST-5", "REST-6", "REST-7"),
        "a1 is out and a2 is not when the barrier is read; the snapshot comes behind a2.",
        Scenario(
            inputs=at(0, Record("a"), Record("b")) + at(80, Barrier(1)),
            plans=(replies("a", 40, "a1", "a2"), replies("b", 40, "b1")),
            source_ends_at=240,
            sink=(SinkStep("read", 1), SinkStep("pause", 120)),
            crashes=(Crash(200),),
        ),
    ),
    Example(
        "crash-after-crash",
        ("REST-1", "REST-5", "REST-6", "REST-7"),
        "Three lives: the second crashes before it takes a snapshot of its own.",
        Scenario(
            capacity=2,
            inputs=at(0, Record("a"), Watermark(9), Barrier(1))
            + at(120, Record("b", 16), Barrier(2), LatencyMarker(3)),
            plans=(replies("a", 80, "a1"), replies("b", 80, "b1")),
            crashes=(Crash(40), Crash(40)),
        ),
    ),
    Example(
        "crash-and-another-mode",
        ("REST-3", "REST-5", "REST-6"),
        "A snapshot of an ordered operator with room for four restores into an unordered one.",
        Scenario(
            inputs=at(0, Record("a", 5), Record("b", 6), Watermark(9), Record("c", 16))
            + at(40, Barrier(1)),
            plans=(replies("a", 160, "a1"), replies("b", 40, "b1"), replies("c", 40, "c1")),
            crashes=(Crash(80, capacity=2, mode="unordered"),),
        ),
    ),
    Example(
        "crash-while-a-call-cleans-up",
        ("REST-2", "REST-5"),
        "The late result of the first life is dropped; the second life decides afresh.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a"), Barrier(1)),
            plans=(outlives("a", 120, "a1", "a-late"),),
            handled=True,
            crashes=(Crash(40),),
        ),
    ),
    Example(
        "crash-with-records-that-have-no-results",
        ("REST-5", "REST-6"),
        "A record without results may be in a snapshot or not; either way nothing comes of it.",
        Scenario(
            inputs=at(0, Record("a"), Record("b"), Record("b")) + at(80, Barrier(1)),
            plans=(replies("a", 160, "a1"), Plan("b", (Step(after=40),), handler())),
            crashes=(Crash(120),),
        ),
    ),
    Example(
        "restored-into-more-room",
        ("REST-1", "REST-5", "REST-7"),
        "Four calls are stored, begin again before two new ones, and are stored once more.",
        Scenario(
            form="callback",
            inputs=(
                *at(0, *(Record(value) for value in "abcd")),
                *at(40, Barrier(1)),
                *at(80, Record("e"), Record("f")),
                *at(120, Barrier(2)),
            ),
            plans=(
                *(replies(value, 160, f"{value}1") for value in "abcd"),
                *(replies(value, 40, f"{value}1") for value in "ef"),
            ),
            crashes=(Crash(80, capacity=8),),
        ),
    ),
    Example(
        "restoring-a-full-queue",
        ("REST-1", "REST-4"),
        "Ten stored records fill all ten slots, and are answered as soon as they are called.",
        Scenario(
            capacity=10,
            inputs=at(0, Record("b")),
            plans=(replies("a", 0, "a1"), replies("b", 40, "b1")),
            restore=Snapshot(1, tuple(Record("a", number) for number in range(10))),
        ),
    ),
)
