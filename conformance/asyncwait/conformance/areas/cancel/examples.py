"""CANCEL: examples of calls that clean up without a shield."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
clean-ups-at-deadlines: CANCEL-1
    a and b are late; each cleans up for 80 ms, b in a task group and under a time limit.
    timeout 40; handled; 0: a b; 200: a; a b: never *! with clean_up=80, late gives *?;
    c: 200 gives c1; unshielded
a-clean-up-while-the-operator-is-left: CANCEL-1, END-3
    The consumer leaves at 40 while a runs, and leaving waits until a has cleaned up.
    unordered; 0: a b; a: never a! with clean_up=120, late none; b: gives b1; unshielded;
    sink read 1, pause 40, leave
a-clean-up-that-is-left-meanwhile: CANCEL-1, END-3
    a and b are late and clean up for 200 ms; leaving does not cancel them again.
    timeout 40; handled; 0: a b; a b: never *! with clean_up=200, late gives *?; contexts;
    unshielded; sink read 2, pause 40, leave
a-clean-up-while-the-consumer-is-cancelled-once: CANCEL-1, END-3
    The consumer is cancelled at 40; the awaits in the clean-ups of a and b are not.
    0: a b; a: never a! with clean_up=80, late none; b: never b! with clean_up=120, late none;
    cancel_at 40; unshielded
a-clean-up-while-the-consumer-is-cancelled-scope: CANCEL-1, END-3
    The consumer is cancelled at 40; the awaits in the clean-ups of a and b are not.
    0: a b; a: never a! with clean_up=80, late none; b: never b! with clean_up=120, late none;
    cancel_at 40; cancel scope; unshielded
a-clean-up-while-leaving-is-cancelled-once: CANCEL-1, END-3
    The consumer leaves at 40 and is cancelled at 80; a cleans up until 160 all the same.
    unordered; 0: a b; a: never a! with clean_up=120, late none; b: gives b1; cancel_at 80;
    unshielded; sink read 1, pause 40, leave
a-clean-up-while-leaving-is-cancelled-scope: CANCEL-1, END-3
    The consumer leaves at 40 and is cancelled at 80; a cleans up until 160 all the same.
    unordered; 0: a b; a: never a! with clean_up=120, late none; b: gives b1; cancel_at 80;
    cancel scope; unshielded; sink read 1, pause 40, leave
a-clean-up-after-a-failure: CANCEL-1, END-3
    b raises at 40; a is cancelled, and cleans up before the context has been left.
    0: a b; a: never a! with clean_up=80, late none; b: 40 raises; unshielded
a-clean-up-between-two-attempts: CANCEL-1
    An attempt may take 40 ms; the next one begins when the first has cleaned up, or later.
    retry initial=80 attempt_timeout=40; 0: a b; a: never with clean_up=40, gives a1; b: gives b1;
    contexts; unshielded
a-cancellation-that-is-swallowed: CANCEL-1
    a cleans up, and its answer is ignored; the next task begins with no cancellation counted.
    capacity 1; timeout 40; handled; 0: a b a b; a: outlives 40 a!, late gives a?; b: gives b1;
    contexts; unshielded
a-clean-up-when-a-run-crashes: CANCEL-1
    The run crashes at 40; a cleans up, and is called again in the next leg.
    0: a b; a: 80 gives a1 with clean_up=80; b: gives b1; unshielded; crashes 40
a-thread-beside-a-clean-up: CANCEL-1
    b answers from a thread while a cleans up.
    timeout 40; handled; 0: a; 40: b; a: never a! with clean_up=80, late gives a?;
    b: 40 gives b1 with thread; unshielded
""")
