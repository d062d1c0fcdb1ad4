"""COPY: examples of functions that change their arguments."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
called-with-copies: COPY-1
    Each of three calls changes what it is given.
    0: a b c a; a b c: 40 gives *1; copies
called-with-copies-in-callback-form: COPY-1
    A function that starts a call may change its argument just as well.
    form callback; 0: a b; a b: 40 gives *1; copies
repeated-with-copies: COPY-1
    a is called three times, each time with what was read.
    retry; 0: a b; a: 2 times 40 raises, gives a1; b: 40 gives b1; copies
saved-while-calls-change-their-values: COPY-2, COPY-1
    At 40 both have been called, and changed what they were given; at 120 they begin anew.
    0: a b; 40: ^1; a: 200 gives a1; b: 80 gives b1; copies; crashes 120
requested-while-calls-change-their-values: COPY-2
    So it is with a snapshot on request, between two attempts.
    retry initial=80; 0: a; a: 40 raises, gives a1; copies; requests 80 7
restored-with-copies: COPY-1
    What was restored is copied like what was read.
    capacity 1; restore |9(a+a); a: 40 gives a1; copies
late-with-copies: COPY-3
    At the deadline of a the handler is given what was read, and not what the call has left.
    timeout 80; handled; 0: a; a: never, late gives late; copies
spared-with-copies: COPY-3, COPY-1
    So is the failure handler, after two attempts.
    failures_handled; retry max_attempts=2; 0: a; a: 40 raises, failed gives sorry; copies
a-value-that-can-not-be-copied: COPY-4
    a is called; for b there is nothing to call with, which is as if its call had raised.
    0: a; 40: b; a: 80 gives a1; b: 40 gives b1, uncopied; copies
no-copy-for-one-attempt: COPY-4, COPY-1, RETRY-1 in both modes
    There is no copy of a for its second call, which is repeated; b has none for its first.
    retry; 0: a b; a: 40 raises own, raises with uncopied, 40 gives a1;
    b: raises with uncopied, 40 gives b1; copies
no-copy-for-the-last-attempt: COPY-4, RETRY-2, RETRY-7, FAIL-10
    a is called once; then there is no copy, three times in all are enough.
    retry; 0: a; a: 40 raises own, raises with uncopied; copies
no-copy-for-an-attempt-in-callback-form: COPY-4, COPY-1, RETRY-1
    The second call of a never begins, the third answers.
    form callback; retry; 0: a; a: 40 raises own, raises with uncopied, 40 gives a1; copies
a-value-that-can-not-be-copied-for-its-handler: COPY-4
    The failure handler of b would be given a copy, too: it has nothing to give.
    failures_handled; 0: a; 40: b; a: 80 gives a1; b: uncopied, failed gives sorry; copies
""")
