"""CTX: examples in which all user code sets a context variable, and reads it."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
one-after-the-other-in-contexts-of-their-own: CTX-1, CTX-2
    With room for one record, b is called when a has come out, and c after b.
    capacity 1; 0: a b c; a: 40 gives a1; b: gives b1; c: 40 gives; contexts
at-the-same-time-in-contexts-of-their-own: CTX-1, CTX-2
    a, b and c run at once, and each goes on while the others do.
    0: a b c; a: 120 gives a1; b: 40 gives b1; c: 80 gives c1; contexts
what-open-has-set: CTX-1
    `open` takes 40 ms and sets the variable; each call sees that value.
    0: a b c; a: 40 gives a1; hooks coroutine; hook_takes 40; contexts
called-when-a-consumer-makes-room: CTX-1, CTX-2
    The consumer pauses after the first result of a; b is called when the consumer goes on.
    capacity 1; 0: a b c; a: gives a1 a2; b: gives b1; contexts; sink read 1, pause 80
callbacks-in-contexts-of-their-own: CTX-1, CTX-2
    a and c answer inside the call, b later and by a supplier, d from a thread.
    form callback; capacity 2; 0: a b c d a; a: gives a1; b: 40 gives b1 with supplied;
    c: gives c1 with supplied; d: 40 gives d1 with thread; contexts
awaitables-in-contexts-of-their-own: CTX-1, CTX-2
    The function returns an awaitable that is no coroutine; b answers from a thread.
    capacity 1; 0: a b c; a: 40 gives a1; b: 40 gives b1 with thread; function awaitable; contexts
deadlines-in-the-opened-context: CTX-3
    a, b and c are late, and no handler sees the value that an earlier handler has set.
    capacity 2; timeout 40; handled; 0: a b c; a b c: never, late gives *?; contexts
deadlines-of-callbacks-in-the-opened-context: CTX-3
    a answers, then b and c are late; no handler sees what a call in callback form has set.
    form callback; timeout 40; handled; 0: a b c; a: gives a1; b c: never, late gives *?; contexts
failures-in-the-opened-context: CTX-3
    a and b raise after 40 ms, c raises at once, and the failure handler has results for each.
    failures_handled; 0: a b c; a b: 40 raises own, failed gives *!; c: raises own, failed gives c!;
    contexts
attempts-in-contexts-of-their-own: CTX-2, CTX-3
    a and b raise twice, and the operator asks a predicate; the third call of each succeeds.
    capacity 2; retry on_error=asked on_result=empty; 0: a b c; a: 2 times 40 raises, gives a1;
    b: 2 times raises, gives b1; c: gives c1; contexts
a-failure-among-contexts: CTX-1
    b raises, and the consumer gets the error and sees the value that it has set.
    0: a b c; a: gives a1; b: 40 raises; c: 80 gives c1; contexts
restored-into-the-opened-context: CTX-1, CTX-2
    After a crash a, b and c are read again, and called in the context of the new leg.
    0: a b c; a b: 80 gives *1; contexts; crashes 40
""")
