"""COPY: examples of functions that change their arguments."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
called-with-copies: COPY-1
    Each call changes its argument.
    0: a b c a; a b c: 40 gives *1; copies
called-with-copies-in-callback-form: COPY-1
    A function in callback form may change its argument, too.
    form callback; 0: a b; a b: 40 gives *1; copies
repeated-with-copies: COPY-1
    a is called three times, each time with the value that was read.
    retry; 0: a b; a: 2 times 40 raises, gives a1; b: 40 gives b1; copies
saved-while-calls-change-their-values: COPY-2, COPY-1
    At 40 both calls have changed their arguments; after the crash at 120 both begin anew.
    0: a b; 40: ^1; a: 200 gives a1; b: 80 gives b1; copies; crashes 120
requested-while-calls-change-their-values: COPY-2
    A requested snapshot between two attempts holds the value as it was read.
    retry initial=80; 0: a; a: 40 raises, gives a1; copies; requests 80 7
restored-with-copies: COPY-1
    The operator copies restored values like values that it read.
    capacity 1; restore |9(a+a); a: 40 gives a1; copies
late-with-copies: COPY-3
    At the deadline of a the handler gets the value as it was read, not as the call has left it.
    timeout 80; handled; 0: a; a: never, late gives late; copies
spared-with-copies: COPY-3, COPY-1
    After two attempts the failure handler gets the value as it was read.
    failures_handled; retry max_attempts=2; 0: a; a: 40 raises, failed gives sorry; copies
""")
