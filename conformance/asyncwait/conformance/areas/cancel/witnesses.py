"""CANCEL: a run that breaks each rule, and a similar legal run."""

from asyncwait.conformance.evidence import witnesses

WITNESSES = witnesses("""
CANCEL-1: call 0 was cancelled again
    plan: timeout 40; handled; 0: a; a: never, late gives a?; unshielded
    breaks: 0: waits, takes 0, calls a;
        40: #0 cancelled, misuse cancelled-otherwise call 0 was cancelled again, asks a, out a?
    keeps: 0: waits, takes 0, calls a; 40: #0 cancelled, asks a, out a?
""")
