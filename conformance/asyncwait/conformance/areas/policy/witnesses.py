"""POLICY: runs that break a rule about failure handlers, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
POLICY-1: the failure handler was asked about Record 'a' (input 0) again
    plan: failures_handled; 0: a; a: 40 raises, failed gives a?
    breaks: 0: waits, takes 0, calls a; 40: #0 raises, asks a about CallFailed cause=ValueError,
        asks a about CallFailed cause=ValueError, out a?
    keeps: 0: waits, takes 0, calls a;
        40: #0 raises, asks a about CallFailed cause=ValueError, out a?
POLICY-2: Record 'a' (input 0) failed the operator, its failure was handled
    plan: failures_handled; 0: a; a: 40 raises, failed gives a?
    breaks: 0: waits, takes 0, calls a; 40: #0 raises, asks a about CallFailed cause=ValueError,
        ends failed CallFailed record=a cause=ValueError attempts=1
    keeps: 0: waits, takes 0, calls a;
        40: #0 raises, asks a about CallFailed cause=ValueError, out a?
POLICY-3: Record 'a' (input 0) was not spared by its failure handler, the leg finished
    plan: failures_handled; 0: a; a: 40 raises
    breaks: 0: waits, takes 0, calls a; 40: #0 raises, asks a about CallFailed cause=ValueError
    keeps: 0: waits, takes 0, calls a; 40: #0 raises, asks a about CallFailed cause=ValueError,
        ends failed CallFailed record=a cause=ValueError attempts=1
POLICY-4: expected StopIteration as the cause, got ValueError
    plan: failures_handled; 0: a; a: 40 raises, failed raises StopIteration
    breaks: 0: waits, takes 0, calls a; 40: #0 raises, asks a about CallFailed cause=ValueError,
        ends failed CallFailed record=a cause=ValueError attempts=1
    keeps: 0: waits, takes 0, calls a; 40: #0 raises, asks a about CallFailed cause=ValueError,
        ends failed CallFailed record=a cause=StopIteration attempts=1
POLICY-5: the failure handler was asked about Record 'a' (input 0), which had not failed
    plan: failures_handled; 0: a; a: 40 gives a1, failed gives a?
    breaks: 0: waits, takes 0, calls a;
        40: #0 gives a1, asks a about CallFailed cause=ValueError, out a1
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1
POLICY-7: Record 'a' (input 0) failed with InvalidResult, the handler got CallFailed
    plan: failures_handled; 0: a; a: 40 misreturns none, failed gives a?
    breaks: 0: waits, takes 0, calls a;
        40: #0 misreturns, asks a about CallFailed cause=ValueError, out a?
    keeps: 0: waits, takes 0, calls a; 40: #0 misreturns, asks a about InvalidResult, out a?
""")

NEAR_MISSES = near_misses("""
POLICY-7: Record 'a' (input 0) had 1 attempt, the handler was told 2
    plan: failures_handled; 0: a; a: 40 raises, failed gives a?
    breaks: 0: waits, takes 0, calls a;
        40: #0 raises, asks a about CallFailed cause=ValueError attempts=2, out a?
""")
