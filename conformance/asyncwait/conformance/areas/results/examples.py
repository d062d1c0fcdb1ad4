"""RES: examples of the results of calls."""

from asyncwait.conformance.evidence import example, examples

EXAMPLES = (
    *examples("""
several-results-each: RES-1
    A record may give any number of results, also equal ones, and all results come out.
    0: a b c; a: 80 gives x x x; b: 40 gives; c: gives c1 x
results-that-look-like-nothing: RES-1
    None, zero, an empty text and an empty list are results like any other.
    unordered; 0: a null; a: 40 gives null 0 "" [] false
results-after-the-end-of-input: RES-1
    Calls that run when the input ends give their results, also to a slow consumer.
    unordered; capacity 2; 0: a b c d; a: 120 gives a1 a2; c: 40 gives c1; d: 80 gives d1;
    sink pause 80, read 1, pause 80
silent-head: RES-2
    The head turns out to have no results, and the finished record behind it comes out.
    0: a b c; a: 80 gives; b: 40 gives b1; c: 120 gives; source_ends_at 200
a-thousand-silent-records-behind-a-slow-head: RES-2
    The silent records wait behind the head, and then leave without a recursion step for each.
    capacity 1200; 0: a 1100*b c; a: 80 gives a1; b: gives; c: 40 gives c1
silent-records-and-one-slot: RES-2
    Records without results leave room for a record with results, and for the end.
    unordered; capacity 1; 0: a a a a b a; a: 40 gives; b: 40 gives b1
silent-record-before-a-watermark: RES-2, RES-1
    Behind a record without results, the watermark and the next record come out at once.
    unordered; 0: a ~5 b; a: 80 gives; b: 40 gives b1; source_ends_at 160
a-call-gives-none: RES-3
    None is not an empty collection; the error names the record.
    0: a@5/k b; a: 40 misreturns none; b: 80 gives b1
a-call-gives-a-text: RES-3
    A text is not taken for a collection of its characters; the error names the record.
    0: a@5/k b; a: 40 misreturns text; b: 80 gives b1
a-call-gives-bytes: RES-3
    Bytes are not taken for a collection of numbers; the error names the record.
    0: a@5/k b; a: 40 misreturns bytes; b: 80 gives b1
a-call-gives-a-number: RES-3
    A number is no collection; the error names the record.
    0: a@5/k b; a: 40 misreturns number; b: 80 gives b1
a-completion-with-none: RES-3
    None is not an empty collection in callback form either, and the error names the record.
    form callback; 0: a@5/k b; a: 40 misreturns none; b: 80 gives b1
a-handler-gives-a-text: RES-3
    A text from a timeout handler is no collection either.
    timeout 80; handled; 0: a b; a: never, late misreturns text; b: 40 gives b1
completed-twice: RES-4
    A second completion in the same instant changes nothing, for the head or for later records.
    form callback; capacity 2; 0: a b c b; a: 80 gives a1 with twice; b: 40 gives b1 with twice;
    c: gives with twice
failed-and-then-completed: RES-4
    Results that follow an error do not take it back.
    unordered; form callback; 0: a b; a: 40 raises with twice; b: 80 gives b1
completed-behind-a-failure: FAIL-1
    When b is completed, a has already failed the operator; the completion raises nothing.
    form callback; 0: a b; a: 40 raises; b: 80 gives b1; sink pause 160
completed-from-a-thread: RES-5
    A completion from a foreign thread wakes an operator in which nothing else happens.
    form callback; 0: a b a; a: 80 gives a1 with thread; b: gives b1 with thread; source_ends_at 200
completed-twice-from-a-thread: RES-5, RES-4
    The first completion counts, also from a thread, and comes out in its instant.
    unordered; form callback; capacity 1; 0: a a; a: 40 gives a1 with thread twice;
    source_ends_at 160
a-call-that-waits-for-a-thread: RES-5
    A coroutine that a foreign thread wakes up gives its results in that instant.
    unordered; 0: a b; a: 40 gives a1 with thread; b: 120 gives b1
a-collection-that-breaks: RES-6
    The collection raises after its first item: the call has failed, and that item is dropped.
    unordered; 0: a b; a: 40 misreturns broken; b: 80 gives b1
a-collection-that-breaks-behind-a-slow-head: RES-6
    The operator reads the collection when the record is decided, and fails before the head is out.
    form callback; 0: b a; a: 40 misreturns broken; b: 80 gives b1
suppliers-from-everywhere: RES-7, RES-5 in both modes
    The calls give suppliers at once, later, and from another thread.
    form callback; 0: a b c; a: gives a1 with supplied; b: 40 gives b1 b2 with supplied;
    c: 40 gives c1 with thread supplied
supplier-that-raises: RES-7, FAIL-1
    The supplier raises when the operator calls it.
    form callback; 0: a; a: 40 raises with supplied
supplier-of-none: RES-7, RES-3
    The supplier returns None when the operator calls it.
    form callback; 0: a; a: 40 misreturns none with supplied
forty-results-are-read-once: RES-1
    Each call gives many results, some as a collection that notices a second reading.
    unordered; 0: a b a;
    a: 40 gives a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22
    a23 a24 a25 a26 a27 a28 a29 a30 a31 a32 a33 a34 a35 a36 a37 a38 a39;
    b: gives b1
a-single-result-that-looks-like-nothing: RES-1
    A record whose only result is None, or a text without letters, has a result.
    0: a b c; a: 80 gives null; b: 40 gives ""; c: 40 gives null
equal-results-of-one-record: RES-1
    All equal results of a record come out, also equal results of different types.
    unordered; 0: a b; a: 40 gives x x; b: 80 gives 1 true 1.0
suppliers-that-are-asked-once-for-each-attempt: RES-7, RETRY-1, RETRY-2 in both modes
    Suppliers without results are a reason for two more attempts; suppliers with results are not.
    form callback; capacity 8; retry on_result=empty; 0: a b c d e f; a: 40 gives x with supplied;
    b: 40 gives with supplied; c: 40 gives x with supplied; d: 40 gives with supplied;
    e: 40 gives x with supplied; f: 40 gives with supplied
supplier-that-raises-each-time: RES-7, RETRY-2, RETRY-7
    The supplier raises in each of three attempts, and its last error is the record's error.
    form callback; retry; 0: a; a: 40 raises with supplied
lists-of-calls-handlers-and-suppliers: TIME-3, POLICY-2 in both modes
    A call, both handlers and suppliers return lists before the consumer comes.
    form callback; capacity 8; timeout 80; handled; failures_handled; 0: a b c d;
    a: 40 gives a1 a2 with supplied; b: 40 gives b1 b2; c: never, late gives c? c??;
    d: 40 raises own, failed gives d! d!!; sink pause 160, read 1, pause 40
results-that-are-their-own-iterator: RES-1
    Every fourth collection is an iterator over a list, and gives its results only once.
    capacity 8; 0: a b c d a b c d; a: 120 gives a1; b: gives b1 b2; c: 40 gives;
    d: 40 gives d1 d2 null
"""),
    example(
        "more-results-than-a-thousand-of-one-record: RES-1",
        "One record has 1100 results, like a page of rows; the consumer takes 100 at a time.",
        f"0: a b; a: 40 gives {' '.join(f'a{row}' for row in range(1100))}; b: gives b1; "
        f"sink {', '.join(['pause 40', 'read 100'] * 11)}",
    ),
)
