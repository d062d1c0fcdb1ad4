"""RES: examples of what calls give."""

from asyncwait.conformance.evidence import Example, at, example, in_two_modes, raises, replies
from asyncwait.spec import Record, Watermark
from asyncwait.spec.scenario import Handler, Plan, PlannedRetry, SinkStep, Step


def _misreturns(name: str, error: str, sentence: str, *, form: str = "coroutine") -> Example:
    return example(
        f"{name}: RES-3",
        sentence,
        form="callback" if form == "callback" else "coroutine",
        inputs=at(0, Record("a", 5, "k"), Record("b")),
        plans=(Plan("a", (Step("misreturn", 40, error=error),)), replies("b", 80, "b1")),
    )


EXAMPLES: tuple[Example, ...] = (
    example(
        "several-results-each: RES-1",
        "A record may give any number of results, equal ones among them, and all come out.",
        inputs=at(0, Record("a"), Record("b"), Record("c")),
        plans=(replies("a", 80, "x", "x", "x"), replies("b", 40), replies("c", 0, "c1", "x")),
    ),
    example(
        "results-that-look-like-nothing: RES-1",
        "None, zero, an empty text and an empty list are results like any other.",
        mode="unordered",
        inputs=at(0, Record("a"), Record(None)),
        plans=(replies("a", 40, None, 0, "", [], False),),
    ),
    example(
        "results-after-the-end-of-input: RES-1",
        "What is still running when the input ends gives its results, to a slow consumer as well.",
        mode="unordered",
        capacity=2,
        inputs=at(0, *(Record(value) for value in "abcd")),
        plans=(replies("a", 120, "a1", "a2"), replies("c", 40, "c1"), replies("d", 80, "d1")),
        sink=(SinkStep("pause", 80), SinkStep("read", 1), SinkStep("pause", 80)),
    ),
    example(
        "silent-head: RES-2",
        "The head turns out to have no results, and the finished record behind it comes out.",
        inputs=at(0, Record("a"), Record("b"), Record("c")),
        plans=(replies("a", 80), replies("b", 40, "b1"), replies("c", 120)),
        source_ends_at=200,
    ),
    example(
        "a-thousand-silent-records-behind-a-slow-head: RES-2",
        "They wait for their turn, and then go without a step of the stack for each.",
        capacity=1_200,
        inputs=at(0, Record("a"), *(Record("b") for _ in range(1_100)), Record("c")),
        plans=(replies("a", 80, "a1"), replies("b", 0), replies("c", 40, "c1")),
    ),
    example(
        "silent-records-and-one-slot: RES-2",
        "A row of records without results leaves room, for one that has some, and for the end.",
        mode="unordered",
        capacity=1,
        inputs=at(0, *(Record(value) for value in "aaaaba")),
        plans=(replies("a", 40), replies("b", 40, "b1")),
    ),
    example(
        "silent-record-before-a-watermark: RES-2, RES-1",
        "Behind a record without results a watermark and what follows it come out at once.",
        mode="unordered",
        inputs=at(0, Record("a"), Watermark(5), Record("b")),
        plans=(replies("a", 80), replies("b", 40, "b1")),
        source_ends_at=160,
    ),
    _misreturns(
        "a-call-gives-none", "none", "None is not an empty collection; the error names the record."
    ),
    _misreturns(
        "a-call-gives-a-text",
        "text",
        "A text is not taken for a collection of its characters; the error names the record.",
    ),
    _misreturns(
        "a-call-gives-bytes",
        "bytes",
        "Bytes are not taken for a collection of numbers; the error names the record.",
    ),
    _misreturns(
        "a-call-gives-a-number", "number", "A number is no collection; the error names the record."
    ),
    _misreturns(
        "a-completion-with-none",
        "none",
        "None is not an empty collection in callback form either, and the error names the record.",
        form="callback",
    ),
    example(
        "a-handler-gives-a-text: RES-3",
        "A text that a timeout handler gives is no collection either.",
        timeout=80,
        inputs=at(0, Record("a"), Record("b")),
        plans=(
            Plan("a", (Step("never"),), Handler("misreturn", error="text")),
            replies("b", 40, "b1"),
        ),
        handled=True,
    ),
    example(
        "completed-twice: RES-4",
        "A second completion in the same instant changes nothing, for the head or behind it.",
        form="callback",
        capacity=2,
        inputs=at(0, Record("a"), Record("b"), Record("c"), Record("b")),
        plans=(
            Plan("a", (Step(after=80, results=("a1",), twice=True),)),
            Plan("b", (Step(after=40, results=("b1",), twice=True),)),
            Plan("c", (Step(after=0, twice=True),)),
        ),
    ),
    example(
        "failed-and-then-completed: RES-4",
        "Results that follow an error do not take it back.",
        mode="unordered",
        form="callback",
        inputs=at(0, Record("a"), Record("b")),
        plans=(
            Plan("a", (Step("raise", 40, error="ValueError", twice=True),)),
            replies("b", 80, "b1"),
        ),
    ),
    example(
        "completed-behind-a-failure: FAIL-1",
        "When b is completed a has failed the operator; whoever completes is not told.",
        form="callback",
        inputs=at(0, Record("a"), Record("b")),
        plans=(raises("a", 40), replies("b", 80, "b1")),
        sink=(SinkStep("pause", 160),),
    ),
    example(
        "completed-from-a-thread: RES-5",
        "A completion from a foreign thread wakes an operator in which nothing else happens.",
        form="callback",
        inputs=at(0, Record("a"), Record("b"), Record("a")),
        plans=(
            Plan("a", (Step(after=80, results=("a1",), thread=True),)),
            Plan("b", (Step(after=0, results=("b1",), thread=True),)),
        ),
        source_ends_at=200,
    ),
    example(
        "completed-twice-from-a-thread: RES-5, RES-4",
        "The first completion counts, from whatever thread, and comes out in its instant.",
        mode="unordered",
        form="callback",
        capacity=1,
        inputs=at(0, Record("a"), Record("a")),
        plans=(Plan("a", (Step(after=40, results=("a1",), thread=True, twice=True),)),),
        source_ends_at=160,
    ),
    example(
        "a-call-that-waits-for-a-thread: RES-5",
        "A coroutine that a foreign thread wakes up comes out in that instant.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b")),
        plans=(Plan("a", (Step(after=40, results=("a1",), thread=True),)), replies("b", 120, "b1")),
    ),
    example(
        "a-collection-that-breaks: RES-6",
        "The collection raises after its first item: the call has failed, and that item is lost.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b")),
        plans=(Plan("a", (Step("misreturn", 40, error="broken"),)), replies("b", 80, "b1")),
    ),
    example(
        "a-collection-that-breaks-behind-a-slow-head: RES-6",
        "It is read when the record is decided, not in its turn: it fails before the head is out.",
        form="callback",
        inputs=at(0, Record("b"), Record("a")),
        plans=(Plan("a", (Step("misreturn", 40, error="broken"),)), replies("b", 80, "b1")),
    ),
    *in_two_modes(
        "suppliers-from-everywhere: RES-7, RES-5",
        "Suppliers are given inside the call, later, and from another thread.",
        form="callback",
        inputs=at(0, Record("a"), Record("b"), Record("c")),
        plans=(
            Plan("a", (Step(results=("a1",), supplied=True),)),
            Plan("b", (Step(after=40, results=("b1", "b2"), supplied=True),)),
            Plan("c", (Step(after=40, results=("c1",), supplied=True, thread=True),)),
        ),
    ),
    example(
        "supplier-that-raises: RES-7, FAIL-1",
        "The supplier raises when it is asked.",
        form="callback",
        inputs=at(0, Record("a")),
        plans=(Plan("a", (Step("raise", 40, error="ValueError", supplied=True),)),),
    ),
    example(
        "supplier-of-none: RES-7, RES-3",
        "The supplier gives None when it is asked.",
        form="callback",
        inputs=at(0, Record("a")),
        plans=(Plan("a", (Step("misreturn", 40, error="none", supplied=True),)),),
    ),
    example(
        "forty-results-are-read-once: RES-8, RES-1",
        "Each call gives many results, some as a collection that notices a second reading.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b"), Record("a")),
        plans=(replies("a", 40, *(f"a{n}" for n in range(40))), replies("b", 0, "b1")),
    ),
    example(
        "a-single-result-that-looks-like-nothing: RES-1",
        "A record whose only result is None, or a text without letters, has a result.",
        inputs=at(0, Record("a"), Record("b"), Record("c")),
        plans=(replies("a", 80, None), replies("b", 40, ""), replies("c", 40, None)),
    ),
    example(
        "equal-results-of-one-record: RES-1",
        "Results that are equal, be it across types, are as many as the record gave.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b")),
        plans=(replies("a", 40, "x", "x"), replies("b", 80, 1, True, 1.0)),
    ),
    *in_two_modes(
        "suppliers-that-are-asked-once-for-each-attempt: RES-7, RETRY-1, RETRY-2",
        "Suppliers of nothing are a reason to call again, twice; the others are not.",
        capacity=8,
        form="callback",
        retry=PlannedRetry(on_result="empty"),
        inputs=at(0, *map(Record, "abcdef")),
        plans=tuple(
            Plan(value, (Step(after=40, results=results, supplied=True),))
            for value, results in zip("abcdef", 3 * (("x",), ()), strict=True)
        ),
    ),
    example(
        "supplier-that-raises-each-time: RES-7, RETRY-2, RETRY-7",
        "The supplier raises in each of three attempts, and its last error is that of the record.",
        form="callback",
        retry=PlannedRetry(),
        inputs=at(0, Record("a")),
        plans=(Plan("a", (Step("raise", 40, error="ValueError", supplied=True),)),),
    ),
    example(
        "lists-that-are-used-again-behind-a-slow-head: RES-9",
        "b, c and b have their results when a is answered, whatever their lists hold by then.",
        capacity=8,
        inputs=at(0, *map(Record, "abcbd")),
        plans=(
            replies("a", 120, "a1", "a2"),
            replies("b", 40, "b1", "b2"),
            replies("c", 80),
            replies("d", 40, "d1"),
        ),
        reuses=True,
    ),
    *in_two_modes(
        "lists-that-are-used-again-before-they-are-taken: RES-9, TIME-3, POLICY-2",
        "A call, both handlers, and suppliers give lists to a consumer that comes later.",
        capacity=8,
        form="callback",
        timeout=80,
        inputs=at(0, *map(Record, "abcd")),
        plans=(
            Plan("a", (Step(after=40, results=("a1", "a2"), supplied=True),)),
            replies("b", 40, "b1", "b2"),
            Plan("c", (Step("never"),), Handler("reply", ("c?", "c??"))),
            Plan("d", (Step("raise", 40),), failure=Handler("reply", ("d!", "d!!"))),
        ),
        handled=True,
        failures_handled=True,
        sink=(SinkStep("pause", 160), SinkStep("read", 1), SinkStep("pause", 40)),
        reuses=True,
    ),
    example(
        "results-that-are-their-own-iterator: RES-1, RES-9",
        "Every fourth collection is an iterator over a list: read once, it has given all it has.",
        inputs=at(0, *(Record(value) for value in "abcdabcd")),
        capacity=8,
        plans=(
            replies("a", 120, "a1"),
            replies("b", 0, "b1", "b2"),
            replies("c", 40),
            replies("d", 40, "d1", "d2", None),
        ),
        reuses=True,
    ),
)
