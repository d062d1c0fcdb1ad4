"""RETRY: runs that break a rule about retries, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
RETRY-1: Record 'a' (input 0) was not called again when its back-off was over
    # a fails at 40, and is called again at 80.
    plan: retry; 0: a; a: 40 raises, gives a1
    breaks: 0: waits, takes 0, calls a, end; 40: #0 raises; 1000: ends hung
    keeps: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a, #1 gives a1, out a1
RETRY-2: call 2 of Record 'a' (input 0) is one more than 2
    plan: retry max_attempts=2; 0: a; a: 40 raises
    breaks: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a; 120: #1 raises; 200: calls a;
        240: #2 raises, ends failed CallFailed record=a cause=ValueError attempts=3
    keeps: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a;
        120: #1 raises, ends failed CallFailed record=a cause=ValueError attempts=2
RETRY-3: call 1 of Record 'a' (input 0) begins before 80
    plan: retry; 0: a; a: 40 raises, gives a1
    breaks: 0: waits, takes 0, calls a; 40: #0 raises; 60: calls a, #1 gives a1, out a1
    keeps: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a, #1 gives a1, out a1
RETRY-4: call 1 of Record 'a' (input 0) was to begin at 80
    plan: retry; 0: a; a: 40 raises, gives a1
    breaks: 0: waits, takes 0, calls a; 40: #0 raises; 120: calls a, #1 gives a1, out a1
    # The consumer pauses until 120, and the operator may rest as long.
    plan: retry; 0: a; a: 40 raises, gives a1; sink pause 120
    keeps: 0: takes 0, calls a; 40: #0 raises; 120: waits, calls a, #1 gives a1, out a1
RETRY-5: call 1 of Record 'a' (input 0) begins at 80, not after 120 ms
    plan: retry; 0: a; a: 40 raises RetryAfter with retry_after=120, gives a1
    breaks: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a, #1 gives a1, out a1
    keeps: 0: waits, takes 0, calls a; 40: #0 raises; 160: calls a, #1 gives a1, out a1
RETRY-6: call 1 of Record 'a' (input 0) repeats what stands
    plan: retry on_error=some; 0: a; a: 40 raises own, gives a1
    breaks: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a, #1 gives a1, out a1
    keeps: 0: waits, takes 0, calls a;
        40: #0 raises, ends failed CallFailed record=a cause=Planned attempts=1
RETRY-7: the error tells of 1 attempt, there were 2
    plan: retry max_attempts=2; 0: a; a: 40 raises
    breaks: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a;
        120: #1 raises, ends failed CallFailed record=a cause=ValueError attempts=1
    keeps: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a;
        120: #1 raises, ends failed CallFailed record=a cause=ValueError attempts=2
RETRY-10: call 1 of Record 'a' (input 0) began, call 0 ran
    plan: retry; 0: a; a: 200 gives a1
    breaks: 0: waits, takes 0, calls a; 40: calls a; 200: #0 gives a1, out a1
    plan: retry; 0: a; a: 40 raises, gives a1
    keeps: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a, #1 gives a1, out a1
RETRY-12: call 0 of Record 'a' (input 0) was not cancelled at its limit
    plan: retry attempt_timeout=80; 0: a; a: never, gives a1
    breaks: 0: waits, takes 0, calls a; 120: calls a, #1 gives a1, out a1
    keeps: 0: waits, takes 0, calls a; 80: #0 cancelled; 120: calls a, #1 gives a1, out a1
RETRY-13: a predicate raised, and the leg hung
    plan: retry on_error=breaks; 0: a; a: 40 raises
    breaks: 0: waits, takes 0, calls a, end; 40: #0 raises; 1000: ends hung
    keeps: 0: waits, takes 0, calls a;
        40: #0 raises, ends failed CallFailed record=a cause=LookupError attempts=1
RETRY-18: call 2 of Record 'a' (input 0) began after its deadline
    plan: timeout 120; handled; retry; 0: a; a: 40 raises own, never, late gives late;
        source_ends_at 800
    breaks: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a;
        120: #1 cancelled, asks a, out late; 440: calls a; 800: end, ends finished
    keeps: 0: waits, takes 0, calls a; 40: #0 raises; 80: calls a;
        120: #1 cancelled, asks a, out late; 800: end, ends finished
RETRY-19: Record 'a' (input 0) waited for its deadline, although no further call could begin
    plan: timeout 120; handled; retry initial=400; 0: a; a: 40 raises own, late gives late;
        source_ends_at 800
    breaks: 0: waits, takes 0, calls a; 40: #0 raises; 120: asks a, out late;
        800: end, ends finished
    keeps: 0: waits, takes 0, calls a;
        40: #0 raises, ends failed CallFailed record=a cause=Planned attempts=1
""")

NEAR_MISSES = near_misses("""
RETRY-13: a predicate raised, and the leg failed with CallFailed
    # The leg fails with the call's own error, and the error of the predicate is lost.
    also: FAIL-10
    plan: retry on_error=breaks; 0: a; a: 40 raises
    breaks: 0: waits, takes 0, calls a;
        40: #0 raises, ends failed CallFailed record=a cause=ValueError attempts=1
RETRY-12: call 0 of Record 'a' (input 0) was cancelled early
    also: TIME-5
    plan: retry attempt_timeout=80; 0: a; a: never, gives a1
    breaks: 0: waits, takes 0, calls a; 40: #0 cancelled; 120: calls a, #1 gives a1, out a1
RETRY-10: call 1 of Record 'a' (input 0) began, call 0 ran
    # A call without a reason is no attempt; the call at 80 is the second attempt.
    also: ORD-5 RETRY-2
    plan: retry max_attempts=2; 0: a; a: 40 raises
    breaks: 0: waits, takes 0, calls a; 20: calls a; 40: #0 raises; 60: #1 raises; 80: calls a;
        120: #2 raises, ends failed CallFailed record=a cause=ValueError attempts=2
""")
