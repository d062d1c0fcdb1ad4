"""WM: examples of watermarks and statuses."""

from asyncwait.conformance.evidence import Example, at, example, in_two_modes, replies
from asyncwait.spec import LatencyMarker, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import SinkStep

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1

EXAMPLES: tuple[Example, ...] = (
    example(
        "slow-record-before-a-watermark: WM-1, WM-2",
        "The record behind the watermark is finished first, and both wait for the one before it.",
        mode="unordered",
        inputs=at(0, Record("a", 5), Watermark(10), Record("b", 15)),
        plans=(replies("a", 120, "a1"), replies("b", 40, "b1")),
    ),
    example(
        "watermarks-in-ordered-mode: WM-1, WM-2, WM-3",
        "In ordered mode too a watermark stays between the records that it stood between.",
        inputs=at(0, Record("a", 5), Watermark(10), Record("b", 15), Watermark(20)),
        plans=(replies("a", 80, "a1", "a2"), replies("b", 40, "b1")),
    ),
    example(
        "empty-segments: WM-1, WM-2, WM-3",
        "A later segment that is finished, or empty, does not come out before an older one.",
        mode="unordered",
        capacity=8,
        inputs=at(
            0, Record("a"), Watermark(1), Record("b"), Watermark(2), Watermark(3), Record("c")
        ),
        plans=(replies("a", 120, "a1"), replies("b", 40, "b1"), replies("c", 0, "c1")),
    ),
    example(
        "a-silent-record-before-a-watermark: WM-1",
        "A watermark waits for a record that gives no results in the end, too.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b"), Watermark(10)),
        plans=(replies("a", 120), replies("b", 40, "b1")),
    ),
    example(
        "a-watermark-waits-for-the-last-result: WM-1",
        "The watermark comes behind all results of the record before it, even to a slow consumer.",
        mode="unordered",
        inputs=at(0, Record("a"), Watermark(10), Record("b")),
        plans=(replies("a", 40, "a1", "a2", "a3"), replies("b", 0, "b1")),
        sink=(SinkStep("read", 1), SinkStep("pause", 80), SinkStep("read", 1)),
    ),
    example(
        "equal-records-on-both-sides: WM-1, WM-2",
        "Equal records stand on both sides of a watermark; one result comes before it, one behind.",
        mode="unordered",
        inputs=at(0, Record("a", 5), Watermark(10), Record("a", 5)),
        plans=(replies("a", 80, "a1"),),
    ),
    example(
        "restored-watermarks-still-divide: WM-1, WM-2, WM-3",
        "A watermark that comes from a snapshot divides the records round it like any other.",
        mode="unordered",
        capacity=8,
        inputs=at(0, Record("c"), Watermark(20)),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1"), replies("c", 0, "c1")),
        restore=Snapshot(1, (Record("a"), Watermark(10), Record("b"), Watermark(10))),
    ),
    example(
        "watermarks-come-as-they-are: WM-3",
        "Equal and falling watermarks are passed on: nothing is dropped, merged or put right.",
        mode="unordered",
        capacity=8,
        inputs=at(
            0, Watermark(5), Watermark(5), Record("a"), Watermark(3), Watermark(3), Watermark(7)
        ),
        plans=(replies("a", 40, "a1"),),
    ),
    example(
        "watermarks-pile-up-behind-a-pause: WM-3",
        "A consumer that comes back late gets every watermark that came meanwhile.",
        capacity=2,
        inputs=at(0, Record("a")) + at(40, Watermark(1), Watermark(2), Watermark(3)),
        plans=(replies("a", 0, "a1"),),
        sink=(SinkStep("pause", 120), SinkStep("read", 1), SinkStep("give_up", 40)),
    ),
    example(
        "watermark-and-nothing-else: WM-4",
        "With nothing before it a watermark goes straight out, though no other element follows.",
        inputs=at(40, Watermark(10)),
        source_ends_at=200,
    ),
    example(
        "watermark-behind-the-last-of-its-segment: WM-4",
        "A watermark comes with the last result before it, and waits for no call behind it.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b"), Watermark(10), Record("c")),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1"), replies("c", 200, "c1")),
        source_ends_at=280,
    ),
    example(
        "watermark-behind-a-silent-record: WM-4",
        "When the record before it turns out to have no results, the watermark comes at once.",
        inputs=at(0, Record("a"), Watermark(10), Record("b")),
        plans=(replies("a", 80), replies("b", 200, "b1")),
    ),
    example(
        "slow-record-before-a-status: WM-5, WM-6",
        "A status stays where it stood, like a watermark: the finished record behind it waits too.",
        mode="unordered",
        inputs=at(0, Record("a"), WatermarkStatus(True), Record("b")),
        plans=(replies("a", 120, "a1"), replies("b", 40, "b1")),
    ),
    example(
        "status-behind-a-watermark: WM-5, WM-6, WM-3",
        "The stream falls idle while a watermark is held up; that still comes before the status.",
        capacity=8,
        inputs=(
            *at(0, Record("a"), Watermark(10), WatermarkStatus(True)),
            *at(40, WatermarkStatus(False), Watermark(20), Record("b")),
        ),
        plans=(replies("a", 80, "a1"), replies("b", 0, "b1")),
    ),
    example(
        "statuses-while-nobody-reads: WM-5, WM-6",
        "Watermarks and statuses that pile up behind a pause come out in the order they came in.",
        mode="unordered",
        inputs=at(0, Watermark(1), WatermarkStatus(True), WatermarkStatus(False), Watermark(1)),
        sink=(SinkStep("pause", 80),),
    ),
    example(
        "equal-statuses: WM-6",
        "Equal statuses in a row are passed on, each of them.",
        mode="unordered",
        capacity=8,
        inputs=at(
            0,
            WatermarkStatus(True),
            WatermarkStatus(True),
            Record("a"),
            WatermarkStatus(False),
            WatermarkStatus(False),
        ),
        plans=(replies("a", 40, "a1"),),
    ),
    example(
        "status-and-nothing-else: WM-7",
        "With nothing before it a status goes straight out, though no other element follows.",
        mode="unordered",
        inputs=at(40, WatermarkStatus(True)),
        source_ends_at=200,
    ),
    example(
        "status-behind-the-last-of-its-segment: WM-7, WM-5",
        "A status comes with the last result before it, and waits for no call behind it.",
        inputs=at(0, Record("a"), WatermarkStatus(False), LatencyMarker(1), Record("b")),
        plans=(replies("a", 80, "a1"), replies("b", 200, "b1")),
    ),
    example(
        "many-segments-behind-a-slow-record: WM-1, WM-2, WM-3",
        "Nine segments stand behind a slow record, and in each of them one that is done or not.",
        mode="unordered",
        capacity=20,
        inputs=at(0, Record("a"))
        + tuple(
            timed
            for number in range(9)
            for timed in at(0, Watermark(number), Record("bc"[number % 2], number + 1))
        ),
        plans=(replies("a", 120, "a1"), replies("b", 40, "b1"), replies("c", 200, "c1")),
    ),
    example(
        "statuses-behind-a-slow-record: WM-6",
        "The stream falls idle and wakes, and says so twice, while its last record runs.",
        inputs=at(
            0, Record("a"), WatermarkStatus(True), WatermarkStatus(False), WatermarkStatus(False)
        ),
        plans=(replies("a", 80, "a1"),),
    ),
    example(
        "records-that-are-late-by-their-watermark: WM-1, END-1",
        "Records at or below the last watermark are called, and come out behind it, like others.",
        mode="unordered",
        inputs=at(0, Watermark(10), Record("a", 10), Record("b", 5), Watermark(20)),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
    ),
    *in_two_modes(
        "watermark-behind-two-and-room-for-two: WM-1, WM-2, WM-3",
        "There is room for two records; behind them a watermark waits, and behind that a third.",
        capacity=2,
        inputs=at(0, Record("a", 1), Record("b", 2), Watermark(2), Record("c", 3)),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1"), replies("c", 0, "c1")),
    ),
    *in_two_modes(
        "two-watermarks-and-nothing-else: WM-3, WM-4",
        "Two watermarks in a row come out at once, in their order.",
        inputs=at(0, Watermark(1), Watermark(2)),
        source_ends_at=120,
    ),
    *in_two_modes(
        "watermark-and-statuses-behind-a-record: WM-3, WM-5, WM-6, CAP-5",
        "A record, a watermark and two statuses fill four slots, and come out in this order.",
        inputs=at(
            0, Record("a"), Watermark(1), WatermarkStatus(True), WatermarkStatus(False), Record("b")
        ),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
    ),
    example(
        "three-segments-finished-crosswise: WM-1, WM-2, ORD-3",
        "Six records in three segments finish from the last one on; a seventh waits for room.",
        mode="unordered",
        capacity=8,
        inputs=at(
            0,
            *(Record("a"), Record("b"), Watermark(1)),
            *(Record("c"), Record("d"), Watermark(2)),
            *(Record("e"), Record("f"), Record("g")),
        ),
        plans=(
            *(replies("f", 40, "f1"), replies("c", 80, "c1"), replies("b", 120, "b1")),
            *(replies("a", 160, "a1"), replies("d", 200, "d1"), replies("e", 240, "e1")),
        ),
    ),
    *in_two_modes(
        "watermarks-at-the-ends-of-time: WM-3, WM-1, ELEM-1",
        "The least and the greatest of 64 bits, their neighbours, and two that are one as floats.",
        inputs=at(
            0,
            *(Watermark(_LOWEST), Record("a", _LOWEST), Watermark(_LOWEST + 1)),
            *(Watermark(2**53), Record("b", 2**53 + 1), Watermark(2**53 + 1)),
            *(Watermark(_HIGHEST - 1), Record("c", _HIGHEST), Watermark(_HIGHEST)),
        ),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1"), replies("c", 120, "c1")),
    ),
)
