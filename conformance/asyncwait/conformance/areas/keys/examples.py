"""KEY: examples of records that wait for their keys, and of others that do not."""

from typing import Any

from asyncwait.conformance.evidence import (
    Example,
    at,
    example,
    examples_of,
    fails,
    never,
    outlives,
    raises,
    replies,
)
from asyncwait.spec import Barrier, Record, Snapshot, Watermark
from asyncwait.spec.scenario import (
    Crash,
    Handler,
    Plan,
    PlannedRetry,
    Scenario,
    SinkStep,
    SnapshotRequest,
    Step,
)


def _records(key: Any, *values: Any) -> tuple[Record, ...]:
    return tuple(Record(value, key=key) for value in values)


def _each(after: int, *values: Any) -> tuple[Plan, ...]:
    return tuple(replies(value, after, f"{value}1") for value in values)


_X = _records("x", "a", "b", "c")
_Y = _records("y", "d", "e")
_A, _B, _C = _X
_D, _E = _Y


def _several_keys(capacity: int) -> Scenario:
    """Three keys and four watermarks, two of which stand together; b takes longest."""
    return _scenario(
        *_each(40, "a", "d", "f", "c"),
        *_each(120, "b", "e"),
        inputs=at(
            0,
            *(_A, _D, Watermark(1)),
            *(_B, Record("f", key="z"), _E, Watermark(2), Watermark(3)),
            *(_C, Record("f", key="z"), Watermark(4)),
        ),
        capacity=capacity,
    )


def _scenario(*plans: Plan, **fields: Any) -> Scenario:
    return Scenario("key-ordered", plans=plans, **fields)


_example = examples_of(_scenario)

EXAMPLES: tuple[Example, ...] = (
    _example(
        "one-call-after-another: KEY-1, KEY-2, KEY-4, KEY-5",
        "Three records of one key are called at 0, 120 and 160.",
        replies("a", 120, "a1"),
        *_each(40, "b", "c"),
        inputs=at(0, *_X),
    ),
    _example(
        "a-late-call-of-a-key: KEY-1, KEY-5, TIME-5, TIME-6",
        "The call of a runs on until 160; b has had the key since 120, is late at 240, and then c.",
        *(outlives("a", 40, "a1", "a-late"), never("b", "b-late"), replies("c", 40, "c1")),
        inputs=at(0, *_X),
        timeout=120,
        handled=True,
    ),
    _example(
        "two-keys: KEY-1, KEY-3, KEY-6",
        "While b waits for a, which has its key, d and e are called and come out.",
        replies("a", 200, "a1"),
        *_each(40, "b", "d", "e"),
        inputs=at(0, _A, _B, _D, _E),
    ),
    _example(
        "quicker-behind-in-its-key: KEY-1, KEY-2",
        "b takes less than a, and still comes behind it; the consumer pauses, and may see it late.",
        replies("a", 80, "a1", "a2"),
        *_each(0, "b", "c"),
        inputs=at(0, *_X),
        sink=(SinkStep("pause", 200),),
    ),
    _example(
        "called-behind-a-watermark: KEY-1, KEY-7",
        "Behind the watermark b is called as soon as a has answered, although d holds that up.",
        *_each(40, "a", "b"),
        replies("d", 160, "d1"),
        inputs=at(0, _D, _A, Watermark(1), _B),
    ),
    _example(
        "finished-and-held-by-a-watermark: KEY-2, KEY-5, KEY-7",
        "b and c are called and decided one after the other, and held until d is out.",
        *_each(40, "a", "b", "c"),
        replies("d", 200, "d1"),
        inputs=at(0, _D, Watermark(1), *_X),
        capacity=5,
    ),
    _example(
        "freed-by-a-deadline: KEY-1, KEY-5, KEY-10",
        "b waits for 120 ms until a is late; its own call takes 80, and is in time.",
        never("a", "a?"),
        replies("b", 80, "b1"),
        inputs=at(0, _A, _B),
        timeout=120,
        handled=True,
    ),
    _example(
        "late-one-after-the-other: KEY-1, KEY-10",
        "Each has its full time: a is late at 80, b at 160, c at 240.",
        never("a", "a?"),
        never("b", "b?"),
        never("c", "c?"),
        inputs=at(0, *_X),
        timeout=80,
        handled=True,
    ),
    _example(
        "late-before-one-that-was-read-earlier: KEY-10, TIME-2",
        "d is late at 80; b, which was read before it, was called at 40 and is late at 120.",
        *_each(40, "a"),
        never("b", "b?"),
        never("d", "d?"),
        inputs=at(0, _A, _B, _D),
        timeout=80,
        handled=True,
    ),
    _example(
        "freed-by-a-failure-that-is-handled: KEY-1, KEY-5, POLICY-2",
        "a raises, its handler has a result, and b is called.",
        Plan("a", (Step("raise", 40),), failure=Handler("reply", ("a?",))),
        replies("b", 40, "b1"),
        inputs=at(0, _A, _B),
        failures_handled=True,
    ),
    _example(
        "failing-behind-its-key: KEY-1, FAIL-2",
        "b is called when a has answered, and fails the operator; c is never called.",
        *_each(40, "a", "c"),
        raises("b", 40),
        inputs=at(0, *_X),
    ),
    _example(
        "one-key-in-many-forms: KEY-8",
        "1, 1.0 and True are one key.",
        replies("a", 80, "a1"),
        *_each(40, "b", "c"),
        inputs=at(0, Record("a", key=1), Record("b", key=1.0), Record("c", key=True)),
    ),
    _example(
        "without-a-key: KEY-8",
        "Records without a key have one key together: None.",
        *_each(40, "a", "b", "c"),
        inputs=at(0, *_records(None, "a", "b", "c")),
    ),
    _example(
        "keys-that-are-lists: KEY-6, KEY-8",
        "Two lists that are equal are one key, and another one holds nobody up.",
        replies("a", 120, "a1"),
        *_each(40, "b", "c", "d"),
        inputs=at(
            0,
            *(Record("a", key=["x", 1]), Record("b", key=["x", 1.0])),
            *(Record("c", key={"id": 2}), Record("d", key=["x", 2])),
        ),
    ),
    _example(
        "keys-that-are-equal-to-nothing: KEY-6, KEY-8",
        "Each key is the same as itself all the same, and not as the other.",
        replies("a", 120, "a1"),
        *_each(40, "b", "c", "d", "e"),
        inputs=at(0, _A, _D, _B, _E) + at(200, _C),
        unequal_keys=True,
        capacity=5,
    ),
    _example(
        "stored-with-keys-that-are-equal-to-nothing: KEY-8, KEY-12",
        "a backs off with its key when all are stored; b waits for it again after the crash.",
        fails("a", 1, "a1", after=40),
        *_each(40, "b", "d"),
        inputs=at(0, _A, _B, _D) + at(80, Barrier(1)),
        retry=PlannedRetry(initial=120),
        crashes=(Crash(120),),
        unequal_keys=True,
    ),
    _example(
        "keys-that-look-alike: KEY-3",
        "A text is not the number it looks like, nothing false is None, and a hash is no key.",
        *(replies(number, 40 * (7 - number), -number) for number in range(7)),
        inputs=at(0, *map(Record, range(7), [None] * 7, ["1", 1, "", None, 0, -1, -2])),
        capacity=7,
    ),
    _example(
        "waiting-takes-room: KEY-9",
        "Two of one key are inside, the others wait for room, whatever their keys.",
        *_each(120, "a", "b", "c"),
        *_each(40, "d", "e"),
        inputs=at(0, *_X, _D, _E),
        capacity=2,
    ),
    _example(
        "waiting-takes-room-beside-what-is-held: KEY-9, HOLD-3",
        "With room for one finished result there are three inside, while the consumer pauses.",
        *_each(40, "a", "b", "c", "d", "e"),
        inputs=at(0, *_X, _D, _E),
        capacity=2,
        max_held=1,
        sink=(SinkStep("pause", 400),),
    ),
    _example(
        "backing-off-with-its-key: KEY-1, KEY-11",
        "a raises and is called again 120 ms later; only then is it b's turn.",
        fails("a", 1, "a1", after=40),
        replies("b", 40, "b1"),
        inputs=at(0, _A, _B),
        retry=PlannedRetry(initial=120),
    ),
    _example(
        "a-snapshot-of-a-line: KEY-12, REST-1, SNAP-4",
        "The snapshot holds a that runs and b and c that wait; all are called again, in order.",
        *_each(120, "a", "b", "c"),
        *_each(40, "d"),
        inputs=at(0, _A, _B, _D, _C) + at(40, Barrier(1)),
        crashes=(Crash(160),),
    ),
    _example(
        "a-snapshot-on-demand-of-a-line: KEY-12",
        "Two snapshots are taken while b and c wait for a.",
        *_each(200, "a", "b", "c"),
        inputs=at(0, *_X),
        requests=(SnapshotRequest(40, 1), SnapshotRequest(80, 2)),
    ),
    _example(
        "not-twice-after-it-was-idle: REST-6, KEY-12",
        "a is in the first snapshot and not in the second: its key has been idle meanwhile.",
        *_each(40, "a", "d"),
        replies("e", 400, "e1"),
        inputs=at(0, _A, Barrier(1)) + at(80, Barrier(2)) + at(120, _D, _E, Barrier(3)),
        crashes=(Crash(200),),
    ),
    _example(
        "restored-into-order-by-key: KEY-1, REST-1, REST-4",
        "Four that were stored go through two slots, and no two of one key run together.",
        *_each(40, "a", "b", "d", "e"),
        restore=Snapshot(9, (_A, _B, Watermark(1), _D, _E)),
        capacity=2,
    ),
    _example(
        "from-key-to-input-order: KEY-12, REST-5, REST-7",
        "The leg after the crash is ordered: what waited for its key is called at once.",
        *_each(120, "a", "b"),
        replies("d", 200, "d1"),
        inputs=at(0, _A, _B, _D) + at(40, Barrier(1)),
        crashes=(Crash(80, mode="ordered"),),
    ),
    example(
        "from-input-to-key-order: KEY-1, REST-5, REST-7",
        "In the first leg all are called at once, in the second b waits for a.",
        inputs=at(0, _A, _B, _D) + at(40, Barrier(1)),
        plans=(*_each(120, "a", "b"), replies("d", 200, "d1")),
        crashes=(Crash(80, mode="key-ordered"),),
    ),
    _example(
        "as-many-keys-as-records: KEY-13, CAP-7",
        "Four hundred records, of which each has a key of its own.",
        inputs=at(0, *(Record(number, key=f"k{number}") for number in range(400))),
        tracked=True,
    ),
    _example(
        "one-key-and-a-watermark: KEY-1, KEY-2, WM-1, WM-2",
        "Records of one key come out in input order, and the watermark in its place among them.",
        replies("a", 80, "a1"),
        *_each(40, "b", "c"),
        inputs=at(0, _A, _B, Watermark(5), _C),
    ),
    *(
        examples_of(_several_keys)(
            f"three-keys-and-room-for-{room}: KEY-2, WM-1, WM-2, WM-3",
            "However much room there is, a key keeps its order, and each watermark its place.",
            room,
        )
        for room in range(1, 10)
    ),
    _example(
        "eight-records-of-eight-keys: KEY-3, RES-1",
        "Eight keys, one record each, and room for six: none waits for another key.",
        *(replies(number, 40 * (3 * number % 5), 2 * number) for number in range(8)),
        inputs=at(0, *(Record(number, key=f"k{number}") for number in range(8))),
        capacity=6,
    ),
    _example(
        "late-beside-another-key: KEY-3, TIME-1",
        "a is late at 80, and its handler decides; d, of another key, was out at 40.",
        never("a", "a?"),
        *_each(40, "d"),
        inputs=at(0, _A, _D),
        timeout=80,
        handled=True,
    ),
    _example(
        "late-beside-another-key-without-a-handler: KEY-3, TIME-4",
        "d, of another key, is out when the deadline of a fails the operator.",
        never("a"),
        *_each(40, "d"),
        inputs=at(0, _A, _D),
        timeout=80,
    ),
    _example(
        "restored-with-four-keys: KEY-12, REST-1, REST-5, REST-7",
        "Four keys are stored, called again before new records, and stored once more.",
        *(replies(value, 160, f"{value}1") for value in "abcd"),
        *_each(40, "e", "f"),
        inputs=(
            *at(0, *(Record(value, key=f"k{value}") for value in "abcd")),
            *at(40, Barrier(1)),
            *at(80, Record("e", key="ka"), Record("f", key="kf")),
            *at(120, Barrier(2)),
        ),
        capacity=6,
        form="callback",
        crashes=(Crash(80),),
    ),
    _example(
        "a-late-call-that-runs-on-and-its-key: KEY-5, TIME-1",
        "a is late at 40 and its call runs on until 440; b is called at 40 all the same.",
        outlives("a", 400, "a1", "a?"),
        *_each(0, "b"),
        inputs=at(0, _A, _B),
        timeout=40,
        handled=True,
    ),
    _example(
        "a-late-call-that-ends-while-its-key-is-busy: KEY-1, TIME-1",
        "a is late at 160, b is called; a's call ends at 240, which is no reason to call c.",
        outlives("a", 80, "a1", "a?"),
        replies("b", 120, "b1"),
        replies("c", 40, "c1"),
        inputs=at(0, *(Record(value, None, "x") for value in "abc")),
        timeout=160,
        handled=True,
    ),
)
