"""COPY: runs in which values are shared, and their legal neighbours."""

from asyncwait.conformance.evidence import witnesses

WITNESSES = witnesses("""
COPY-1: 'a' is given
    plan: 0: a; a: 40 gives a1; copies
    breaks: 0: waits, takes 0, misuse call-shares 'a' is given, calls a; 40: #0 gives a1, out a1
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1
COPY-2: a snapshot holds 'a'
    plan: 0: a; 20: ^1; a: 40 gives a1; copies
    breaks: 0: waits, takes 0, calls a; 20: takes 1, misuse spoiled a snapshot holds 'a', out |1(a);
        40: #0 gives a1, out a1
    keeps: 0: waits, takes 0, calls a; 20: takes 1, out |1(a); 40: #0 gives a1, out a1
COPY-3: 'a' is given
    plan: timeout 40; handled; 0: a; a: never, late gives late; copies
    breaks: 0: waits, takes 0, calls a;
        40: misuse handler-shares 'a' is given, asks a, #0 cancelled, out late
    keeps: 0: waits, takes 0, calls a; 40: asks a, #0 cancelled, out late
""")
