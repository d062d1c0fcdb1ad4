"""ELEM: examples of what comes out, and which input it belongs to."""

from asyncwait.conformance.evidence import Example, at, never, outlives, replies
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import Plan, Scenario, SinkStep, Step

EXAMPLES: tuple[Example, ...] = (
    Example(
        "timestamps-of-equal-results",
        ("ELEM-1", "ELEM-3", "ELEM-4"),
        "Three records give the same result in reverse order; its timestamp tells whose it is.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("a", 10), Record("b"), Record("c", 30)),
            plans=(replies("a", 120, "x"), replies("b", 80, "x"), replies("c", 40, "x")),
        ),
    ),
    Example(
        "no-timestamp-after-one",
        ("ELEM-1",),
        "A record without a timestamp does not inherit that of the one before it.",
        Scenario(
            inputs=at(0, Record("a", 10), Record("b"), Record("c", 0)),
            plans=(replies("a", 0, "a1", "a2"), replies("b", 0, "b1", "b2"), replies("c", 0, "c1")),
        ),
    ),
    Example(
        "keys-of-equal-results",
        ("ELEM-2",),
        "Three records give the same result in reverse order; its key tells whose it is.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("a", 1, "k"), Record("b", 1), Record("c", 1, "m")),
            plans=(replies("a", 120, "x"), replies("b", 80, "x"), replies("c", 40, "x")),
        ),
    ),
    Example(
        "a-handlers-results-are-the-records-own",
        ("ELEM-1", "ELEM-2"),
        "What a timeout handler gives carries the timestamp and the key of the late record.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a", 5, "k"), Record("b", 6, "m")),
            plans=(never("a", "a-late"), replies("b", 40, "b1")),
            handled=True,
        ),
    ),
    Example(
        "restored-records-keep-timestamp-and-key",
        ("ELEM-1", "ELEM-2"),
        "A record that comes from a snapshot has its timestamp and its key like any other.",
        Scenario(
            inputs=at(0, Record("a", 7, "m")),
            plans=(replies("a", 40, "a1"),),
            restore=Snapshot(1, (Record("a", 5, "k"), Record("a"))),
        ),
    ),
    Example(
        "results-and-not-the-input",
        ("ELEM-3",),
        "A call gives something else than its value, and only that comes out.",
        Scenario(
            inputs=at(0, Record("a"), Record(1), Record("b")),
            plans=(replies("a", 40, "b"), replies(1, 0, "a"), replies("b", 80, "b1")),
        ),
    ),
    Example(
        "the-late-result-of-an-equal-record",
        ("ELEM-3", "ELEM-4"),
        "The first a outlives its deadline; what it gives then is nobody's, not even the second's.",
        Scenario(
            mode="unordered",
            timeout=80,
            inputs=at(0, Record("a")) + at(40, Record("a")) + at(160, Record("b")),
            plans=(outlives("a", 40, "late", "a?"), replies("b", 40, "b1")),
            handled=True,
        ),
    ),
    Example(
        "equal-records-answered-one-by-one",
        ("ELEM-4", "ELEM-3"),
        "Equal records are records of their own: each gives what its own call gave, once.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("a"), Record("a"), Record("a")),
            plans=(Plan("a", (Step(after=80, results=("a1",)), Step(after=40, results=("a2",)))),),
        ),
    ),
    Example(
        "wait-given-up-as-the-result-comes",
        ("ELEM-4",),
        "The consumer gives up its wait in the instant of a result, and gets that once.",
        Scenario(
            inputs=at(0, Record("a"), Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), replies("b", 80, "b1")),
            sink=(SinkStep("give_up", 40), SinkStep("give_up", 40)),
        ),
    ),
    Example(
        "two-records-finish-together",
        ("ELEM-5",),
        "Both give several results in one instant; one record's come first, then the other's.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1", "a2", "a3"), replies("b", 40, "b1", "b2")),
            sink=(SinkStep("read", 1), SinkStep("pause", 80), SinkStep("read", 1)),
        ),
    ),
    Example(
        "nothing-comes-between-results",
        ("ELEM-5",),
        "A marker, a barrier and a request arrive while only the first of two results is taken.",
        Scenario(
            mode="unordered",
            inputs=(
                *at(0, Record("a"), Record("b")),
                *at(80, LatencyMarker(1), Barrier(1), Record("c")),
            ),
            plans=(replies("a", 40, "a1", "a2"), replies("b", 80, "b1"), replies("c", 0, "c1")),
            sink=(SinkStep("read", 1), SinkStep("pause", 80)),
        ),
    ),
    Example(
        "marker-overtakes-records",
        ("ELEM-6", "ELEM-7"),
        "A latency marker goes past pending records and the watermark between them, at once.",
        Scenario(
            inputs=at(0, Record("a"), Watermark(5)) + at(40, LatencyMarker(1), Record("b")),
            plans=(replies("a", 120, "a1"), replies("b", 40, "b1")),
        ),
    ),
    Example(
        "marker-and-nothing-else",
        ("ELEM-6", "ELEM-7"),
        "With nothing in flight a latency marker waits for no further element and for no end.",
        Scenario(
            mode="unordered",
            inputs=at(40, LatencyMarker(1, "s")) + at(160, WatermarkStatus(True)),
            source_ends_at=240,
        ),
    ),
    Example(
        "equal-markers",
        ("ELEM-7", "ELEM-6"),
        "Equal latency markers are two, and the last one comes out before the end.",
        Scenario(
            mode="unordered",
            inputs=(
                *at(0, LatencyMarker(1, "s"), LatencyMarker(1, "s"), Record("a")),
                *at(80, LatencyMarker(2, "s")),
            ),
            plans=(replies("a", 120, "a1"),),
        ),
    ),
    Example(
        "values-are-objects",
        ("ELEM-8",),
        "Each value and each result is an object of its own, in calls, output and snapshot.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, Record("a"), Record("b"), Barrier(1), Record("a")),
            plans=(replies("a", 40, "a1"), replies("b", 80, "b1", "b2")),
            tracked=True,
        ),
    ),
    Example(
        "values-in-a-handler-are-objects",
        ("ELEM-8",),
        "The handler, too, is called with the object itself.",
        Scenario(
            timeout=40,
            inputs=at(0, Record("a")),
            plans=(never("a", "late"),),
            handled=True,
            tracked=True,
        ),
    ),
    Example(
        "keys-without-a-hash",
        ("ELEM-1", "SNAP-2"),
        "A key may be a list or a mapping: nobody needs to hash it.",
        Scenario(
            inputs=at(0, Record("a", 1, ["k"]), Record("b", 2, {"k": [1]}), Barrier(1)),
            plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
        ),
    ),
    Example(
        "times-and-keys-at-the-edges",
        ("ELEM-1", "ELEM-2"),
        "Times of zero and of 63 bits, and keys that look like none, come out as they are.",
        Scenario(
            capacity=8,
            inputs=at(
                0,
                Record("a", 0, ""),
                Record("a", -1, 0),
                Record("a", -(2**63), 7),
                Record("a", 2**63 - 1, False),
            ),
            plans=(replies("a", 40, "x"),),
        ),
    ),
    Example(
        "markers-that-nobody-has-taken-at-the-end",
        ("ELEM-7", "SNAP-1"),
        "The input has ended and nothing is in flight, but markers and a snapshot wait.",
        Scenario(
            inputs=at(0, LatencyMarker(1), Barrier(1)) + at(40, LatencyMarker(2)),
            sink=(SinkStep("pause", 120),),
        ),
    ),
    Example(
        "several-results-each-round-a-watermark",
        ("ELEM-5", "ELEM-1"),
        "Three records give several results each; they come in order, and stay together.",
        Scenario(
            inputs=at(0, Record("a", 1), Record("b", 2), Watermark(2), Record("c", 3)),
            plans=(
                replies("a", 80, "a1", "a2"),
                replies("b", 40, "b1", "b2", "b3"),
                replies("c", 0, "c1", "c2"),
            ),
        ),
    ),
)
