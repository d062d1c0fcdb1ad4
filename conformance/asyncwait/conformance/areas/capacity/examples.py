"""CAP: examples of how much is taken in."""

from asyncwait.conformance.evidence import Example, at, in_two_modes, outlives, replies
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import (
    Handler,
    Plan,
    Scenario,
    SinkStep,
    SnapshotRequest,
    Step,
    Timed,
)

EXAMPLES: tuple[Example, ...] = (
    Example(
        "finished-behind-a-slow-head",
        ("CAP-1",),
        "The record behind the head is finished and waits for its turn: it still takes its slot.",
        Scenario(
            capacity=2,
            inputs=at(0, Record("a"), Record("b"), Record("c"), Record("d")),
            plans=(replies("a", 160, "a1"), replies("b", 40, "b1"), replies("c", 40, "c1")),
        ),
    ),
    Example(
        "finished-and-not-read",
        ("CAP-1", "CAP-3"),
        "All calls are finished and nobody reads: their records take slots until they are read.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, *(Record(value) for value in "abcde")),
            plans=(replies("a", 40, "a1"), replies("b", 40, "b1")),
            sink=(SinkStep("pause", 160), SinkStep("read", 1), SinkStep("pause", 80)),
        ),
    ),
    Example(
        "half-read",
        ("CAP-1",),
        "A record of which one result is not yet taken takes its slot.",
        Scenario(
            capacity=1,
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1", "a2"), replies("b", 40, "b1")),
            sink=(SinkStep("read", 1), SinkStep("pause", 120)),
        ),
    ),
    Example(
        "half-read-before-a-silent-record",
        ("CAP-1",),
        "The silent record a is not gone before b is: a third decision at 80 makes no room either.",
        Scenario(
            capacity=3,
            inputs=at(0, Record("b"), Record("a"), Record("c"), Record("c")),
            plans=(replies("b", 40, "b1", "b2"), replies("a", 0), replies("c", 80, "c1")),
            sink=(SinkStep("read", 1), SinkStep("pause", 160)),
        ),
    ),
    Example(
        "a-second-completion-frees-nothing",
        ("CAP-1",),
        "Functions that complete twice give their slot back once.",
        Scenario(
            form="callback",
            capacity=2,
            inputs=at(0, *(Record("a", number) for number in range(6))),
            plans=(Plan("a", (Step(after=40, results=("a1",), twice=True),)),),
        ),
    ),
    Example(
        "more-records-than-capacity",
        ("CAP-1", "CAP-2"),
        "Of five records that are there at once, two are called; then one for each that comes out.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, *(Record(value) for value in "abcab")),
            plans=(replies("a", 80, "a1"), replies("b", 40, "b1"), replies("c", 80, "c1")),
        ),
    ),
    Example(
        "restored-records-are-admitted-as-any",
        ("CAP-2", "CAP-1"),
        "A snapshot that holds more than there is room for is worked off within capacity.",
        Scenario(
            capacity=2,
            inputs=at(0, Record("c")),
            plans=(replies("a", 40, "a1"), replies("b", 80, "b1"), replies("c", 40, "c1")),
            restore=Snapshot(1, (Record("a"), Record("a"), Record("b"), Record("b"), Record("a"))),
        ),
    ),
    Example(
        "undecided-calls-at-the-end-of-input",
        ("CAP-2",),
        "That the input is over does not open the door for what still waits for room.",
        Scenario(
            mode="unordered",
            capacity=1,
            inputs=at(0, Record("a"), Record("b"), Record("a")),
            plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
        ),
    ),
    Example(
        "one-element-waits-for-room",
        ("CAP-3",),
        "With one slot taken, one more record is taken from the source at most, for 120 ms.",
        Scenario(
            capacity=1,
            inputs=at(0, Record("a"), Record("b"), Record("c"), Record("d")),
            plans=(replies("a", 120, "a1"), replies("b", 40, "b1"), replies("c", 0, "c1")),
        ),
    ),
    Example(
        "the-source-waits-for-restored-records",
        ("CAP-3", "CAP-4"),
        "While restored records wait for room the source is read one element ahead at most.",
        Scenario(
            mode="unordered",
            capacity=1,
            inputs=at(0, Record("c"), Record("c"), Watermark(5), Record("c")),
            plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
            restore=Snapshot(1, (Record("a"), Record("b"), Record("a"))),
        ),
    ),
    Example(
        "room-is-given-on-unordered",
        ("CAP-4",),
        "As soon as the second record is out the third is called, though the first still runs.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, Record("a"), Record("b"), Record("c")),
            plans=(replies("a", 200, "a1"), replies("b", 40, "b1"), replies("c", 40, "c1")),
        ),
    ),
    Example(
        "room-is-used-while-calls-run",
        ("CAP-4",),
        "Each element is taken in the instant in which it comes, though nothing has finished.",
        Scenario(
            inputs=(
                *at(0, Record("a")),
                *at(40, Record("b"), LatencyMarker(1)),
                *at(80, Record("b"), WatermarkStatus(True)),
            ),
            capacity=8,
            plans=(replies("a", 160, "a1"), replies("b", 40, "b1")),
        ),
    ),
    Example(
        "a-silent-record-makes-room",
        ("CAP-4", "CAP-2"),
        "A record without results gives its slot to the next one when it is decided.",
        Scenario(
            capacity=1,
            inputs=at(0, Record("a"), Record("a"), Record("b")),
            plans=(replies("a", 40), replies("b", 80, "b1")),
        ),
    ),
    Example(
        "an-abandoned-call-takes-no-room",
        ("CAP-4",),
        "A call that outlives its record by far does not keep the next record from its call.",
        Scenario(
            capacity=1,
            timeout=80,
            inputs=at(0, Record("a", 1), Record("b", 2), Record("b", 3)),
            plans=(outlives("a", 400, "late", "a?"), replies("b", 40, "b1")),
            handled=True,
        ),
    ),
    Example(
        "a-handler-without-results-makes-room",
        ("CAP-4",),
        "Records that their handler drops give their slots back, more often than there are slots.",
        Scenario(
            mode="unordered",
            capacity=2,
            timeout=80,
            inputs=at(0, *(Record(value) for value in "aaaaab")),
            plans=(Plan("a", (Step("never"),), Handler("reply")), replies("b", 40, "b1")),
            handled=True,
        ),
    ),
    Example(
        "watermarks-behind-a-slow-record",
        ("CAP-5",),
        "Watermarks and statuses that wait behind a record take slots: the source has to wait too.",
        Scenario(
            capacity=3,
            inputs=at(
                0,
                Record("a"),
                Watermark(1),
                WatermarkStatus(True),
                WatermarkStatus(False),
                Watermark(2),
                Watermark(3),
            ),
            plans=(replies("a", 80, "a1"),),
        ),
    ),
    Example(
        "watermarks-and-nobody-reads",
        ("CAP-5",),
        "Watermarks that nobody takes fill an operator up like records do.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, *(Watermark(number) for number in range(5)), Record("a")),
            sink=(SinkStep("pause", 80), SinkStep("read", 1), SinkStep("pause", 80)),
        ),
    ),
    Example(
        "markers-and-nobody-reads",
        ("CAP-6",),
        "Of markers and barriers that nobody takes, one waits, and one more is taken.",
        Scenario(
            capacity=1,
            inputs=at(0, LatencyMarker(1), Barrier(2), LatencyMarker(3), Barrier(4), Record("a")),
            plans=(replies("a", 40, "a1"),),
            sink=(SinkStep("pause", 80), SinkStep("read", 1), SinkStep("pause", 80)),
        ),
    ),
    Example(
        "snapshots-before-a-record-and-nobody-reads",
        ("CAP-6",),
        "While a call runs there is room for records, and not for all the snapshots.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, Record("a"), *(Snapshot(number) for number in range(5)), LatencyMarker(5)),
            plans=(replies("a", 120, "a1"),),
            sink=(SinkStep("pause", 80), SinkStep("read", 2), SinkStep("pause", 80)),
        ),
    ),
    Example(
        "a-long-stream-is-let-go",
        ("CAP-7",),
        "Each time when 250 records are out, the operator holds as much as it did before.",
        Scenario(
            capacity=3,
            inputs=tuple(Timed(n // 250 * 40, Record("ab"[n % 2], n)) for n in range(1251)),
            plans=(replies("a", 0, "a1"), replies("b", 0, "b1")),
            tracked=True,
        ),
    ),
    Example(
        "keys-share-the-room",
        ("CAP-1", "CAP-2"),
        "Room is for all records together, however many keys they have.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, *(Record("a", number, f"k{number}") for number in range(6))),
            plans=(replies("a", 40, "a1"),),
        ),
    ),
    Example(
        "six-hundred-deadlines-are-let-go",
        ("CAP-7",),
        "Deadlines that are far away keep nothing of six hundred records that have answered.",
        Scenario(
            capacity=3,
            timeout=60_000,
            inputs=tuple(Timed(0, Record("ab"[n % 2], n)) for n in range(600)),
            plans=(replies("a", 0, "a1"), replies("b", 0, "b1")),
            handled=True,
            tracked=True,
        ),
    ),
    Example(
        "room-again-as-one-comes-out",
        ("CAP-2", "CAP-3", "CAP-4"),
        "The third record is called at 80, when the first is out, and the fourth one at 160.",
        Scenario(
            capacity=2,
            inputs=at(0, *(Record(value) for value in "abcd")),
            plans=(
                *(replies("a", 80, "a1"), replies("b", 160, "b1")),
                *(replies("c", 160, "c1"), replies("d", 160, "d1")),
            ),
        ),
    ),
    *in_two_modes(
        "a-watermark-and-a-record-fill-two-slots",
        ("CAP-3", "CAP-5", "SNAP-4"),
        "Nobody reads, so a third element waits; the snapshot of 40 tells them in their order.",
        Scenario(
            capacity=2,
            inputs=at(0, Watermark(1), Record("a"), Record("b"), Record("c")),
            plans=(replies("a", 40, "a1"), replies("b", 40, "b1")),
            sink=(SinkStep("pause", 120),),
            requests=(SnapshotRequest(40, 7),),
        ),
    ),
    *in_two_modes(
        "a-watermark-makes-room-at-once",
        ("CAP-4", "WM-4"),
        "The watermark comes out in its instant, and b is called; a comes out when it is done.",
        Scenario(
            capacity=2,
            inputs=at(0, Watermark(1), Record("a"), Record("b"), Record("c")),
            plans=(replies("a", 80, "a1"), replies("b", 120, "b1"), replies("c", 40, "c1")),
        ),
    ),
)
