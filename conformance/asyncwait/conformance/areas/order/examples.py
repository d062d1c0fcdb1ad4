"""ORD: examples of the order of results, and of calls."""

from asyncwait.conformance.evidence import Example, at, example, in_two_modes, replies
from asyncwait.spec import Record, Snapshot, Watermark
from asyncwait.spec.scenario import Plan, SinkStep, Step

EXAMPLES: tuple[Example, ...] = (
    example(
        "the-last-finishes-first: ORD-1, ORD-2",
        "Calls finish in reverse order, the last one at once, and results come in input order.",
        inputs=at(0, Record("a"), Record("b"), Record("c")),
        plans=(replies("a", 120, "a1"), replies("b", 40, "b1", "b2"), replies("c", 0, "c1")),
    ),
    example(
        "equal-records-in-order: ORD-1",
        "Equal records with equal results change places in the calls and not in the output.",
        capacity=3,
        inputs=at(0, Record("a", 1), Record("a", 2), Record("a", 2), Record("a", 3)),
        plans=(Plan("a", (Step(after=120, results=("a1",)), Step(after=40, results=("a1",)))),),
    ),
    example(
        "all-finish-in-one-instant: ORD-1, ORD-2",
        "Whatever order the loop gives calls that end together, results come in input order.",
        inputs=at(0, Record("a"), Record("b")) + at(40, Record("c"), Record("d")),
        plans=(
            replies("a", 80, "a1"),
            replies("b", 80, "b1"),
            replies("c", 40, "c1"),
            replies("d", 40, "d1"),
        ),
    ),
    example(
        "one-record-and-silence: ORD-2",
        "A finished record waits for no other element and for no end of the input.",
        inputs=at(0, Record("a")),
        plans=(replies("a", 40, "a1"),),
        source_ends_at=200,
    ),
    example(
        "head-before-a-slow-record: ORD-2",
        "The head comes out as soon as it is finished, though the next one still runs.",
        capacity=3,
        inputs=at(0, Record("a"), Record("b"), Record("c")),
        plans=(replies("a", 40, "a1"), replies("b", 160, "b1"), replies("c", 80, "c1")),
        source_ends_at=240,
    ),
    example(
        "slow-head-unordered: ORD-3",
        "Records behind a slow one come out as they finish, in an instant of their own each.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b"), Record("c")),
        plans=(replies("a", 160, "a1"), replies("b", 80, "b1"), replies("c", 40, "c1")),
    ),
    example(
        "one-record-and-silence-unordered: ORD-3",
        "A finished record waits for no other element and for no end of the input.",
        mode="unordered",
        inputs=at(0, Record("a")),
        plans=(replies("a", 40, "a1", "a2"),),
        source_ends_at=200,
    ),
    example(
        "finished-while-nobody-reads: ORD-3",
        "What finished while the consumer paused comes out when it is back, before the slow one.",
        mode="unordered",
        capacity=3,
        inputs=at(0, Record("a"), Record("b"), Record("c")),
        plans=(replies("a", 240, "a1"), replies("b", 80, "b1"), replies("c", 40, "c1")),
        sink=(SinkStep("pause", 120), SinkStep("read", 2), SinkStep("pause", 40)),
    ),
    example(
        "calls-begin-in-order: ORD-4, ORD-5",
        "Calls begin in input order, also where they are admitted one by one as room comes.",
        mode="unordered",
        capacity=2,
        inputs=at(0, *(Record(value) for value in "abcdef")),
        plans=(
            replies("a", 80, "a1"),
            replies("b", 40, "b1"),
            replies("c", 0, "c1"),
            replies("d", 0, "d1"),
            replies("e", 80, "e1"),
            replies("f", 40, "f1"),
        ),
    ),
    example(
        "calls-begin-together: ORD-4",
        "Records that are admitted in one instant are called in input order too.",
        capacity=12,
        inputs=(
            *at(0, Record("a"), Record("b"), Record("c")),
            *at(40, Record("d"), Record("b"), Record("a")),
            *at(80, Record("c"), Record("d"), Record("a")),
            *at(120, Record("b"), Record("a"), Record("c")),
        ),
        plans=tuple(replies(value, 120, value) for value in "abcd"),
    ),
    example(
        "restored-calls-begin-first: ORD-4, ORD-5",
        "Restored records are called in their order, and before any record of the source.",
        mode="unordered",
        capacity=4,
        inputs=at(0, Record("a"), Record("b")),
        plans=(replies("c", 80, "c1"), replies("d", 40, "d1"), replies("e", 40, "e1")),
        restore=Snapshot(1, tuple(Record(value) for value in "edcfced")),
    ),
    example(
        "equal-records-are-called-each: ORD-5",
        "The function is called once for each of four equal records, not once for their value.",
        capacity=2,
        inputs=at(0, Record("a"), Record("a"), Record("a")) + at(80, Record("a")),
        plans=(replies("a", 40, "a1"),),
    ),
    example(
        "a-record-that-waited-is-called-once: ORD-5, ORD-4",
        "A record that waited for room while its consumer paused is called once, as all others.",
        capacity=1,
        inputs=at(0, Record("a"), Record("b"), Record("a")),
        plans=(replies("a", 40, "a1"), replies("b", 0)),
        sink=(SinkStep("pause", 120), SinkStep("give_up", 40)),
    ),
    example(
        "timestamps-fall: ORD-1",
        "The order is that of the input, also where event time goes back.",
        inputs=at(0, Record("a", 30), Record("b", 20), Record("c"), Record("a", 10)),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1"), replies("c", 40, "c1")),
    ),
    *in_two_modes(
        "eight-records-and-room-for-five: ORD-4, ORD-5",
        "Other threads answer eight records, which are more than there is room for.",
        capacity=5,
        form="callback",
        inputs=at(0, *(Record(number, number) for number in range(8))),
        plans=tuple(
            Plan(number, (Step(after=40 * (3 * number % 5), results=(2 * number,), thread=True),))
            for number in range(8)
        ),
    ),
    example(
        "a-head-lets-go-of-all-behind-it: ORD-1, ORD-2",
        "b and c are finished, and come out with the head: b, the watermark, then c.",
        inputs=at(0, Record("a", 1), Record("b", 2), Watermark(3), Record("c", 4)),
        plans=(replies("a", 120, "a1"), replies("b", 40, "b1"), replies("c", 80, "c1")),
    ),
)
