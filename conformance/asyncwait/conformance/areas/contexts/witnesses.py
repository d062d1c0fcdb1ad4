"""CTX: a run that breaks each rule, and a similar legal run."""

from asyncwait.conformance.evidence import witnesses

WITNESSES = witnesses("""
CTX-1: call 0 saw an unset variable
    plan: 0: a b; a: 40 gives a1; b: 80 gives b1; contexts
    breaks: 0: waits, reads, takes 0, calls a, misuse context-lost call 0 saw an unset variable,
        reads, takes 1, calls b; 40: #0 gives a1, out a1; 80: #1 gives b1, out b1
    keeps: 0: waits, reads, takes 0, calls a, reads, takes 1, calls b; 40: #0 gives a1, out a1;
        80: #1 gives b1, out b1
CTX-2: call 1 saw what call 0 has set
    plan: 0: a b; a: 40 gives a1; b: 80 gives b1; contexts
    breaks: 0: waits, reads, takes 0, calls a, reads, takes 1, calls b,
        misuse context-of-a-call call 1 saw what call 0 has set; 40: #0 gives a1, out a1;
        80: #1 gives b1, out b1
    keeps: 0: waits, reads, takes 0, calls a, reads, takes 1, calls b; 40: #0 gives a1, out a1;
        80: #1 gives b1, out b1
CTX-3: the timeout handler saw what call 0 has set
    plan: timeout 40; handled; 0: a; a: never, late gives a?; contexts
    breaks: 0: waits, takes 0, calls a; 40: #0 cancelled, asks a,
        misuse context-of-a-handler the timeout handler saw what call 0 has set, out a?
    keeps: 0: waits, takes 0, calls a; 40: #0 cancelled, asks a, out a?
""")
