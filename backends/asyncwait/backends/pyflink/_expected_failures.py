"""Rules that PyFlink 2.3.0 is known to break, and the departures at fault: data for the suite."""

from asyncwait.backends.flink._expected_failures import read_known

KNOWN = tuple(
    read_known("""
PY-2: CTX-1, CTX-3
    - a further attempt, and a handler, see nothing of what was set when the stream was opened
    - shown by attempts-in-contexts-of-their-own, deadlines-in-the-opened-context
PY-5: RES-3; seldom ELEM-3
    - a call that gives None fails the task, and no record is named; a str comes out as letters
    - shown by a-call-gives-none, a-call-gives-a-text
PY-6: FAIL-1, FAIL-2, FAIL-3, FAIL-4
    - an error is raised with the next element, or never; other results come out meanwhile
    - shown by failing-while-the-source-is-silent, earlier-failure-of-a-later-record
PY-8: TIME-4
    - a handler that gives None fails the task, and no record is named
    - shown by handler-gives-none
PY-9: RETRY-4; seldom RETRY-1, RETRY-3
    - a record backs off as if it had the attempts of another record
    - shown by every-other-record-is-refused-to-the-end
RT-13: RETRY-19; seldom CAP-1, CAP-4, ELEM-4, END-10, FAIL-5, ORD-2, ORD-3, RES-2, RES-5, RETRY-6,
    TIME-1
    - a record backs off until its deadline, and the timeout error omits the last attempt's error
    - shown by back-off-beyond-the-deadline
PY-13: seldom CAP-1, CAP-3, ELEM-1, ELEM-2, ELEM-4, FAIL-8, ORD-1, ORD-2, ORD-3, ORD-5, RES-1,
    RES-2, TIME-1, TIME-2, TIME-6, TIME-10
    - while the consumer takes nothing, no call begins, and results of calls do not count
PY-14: FAIL-2, RETRY-13; seldom TIME-1
    - a record whose predicate raises is never decided
    - shown by predicate-of-errors-that-raises
PY-15: FAIL-2; seldom TIME-1
    - a record whose call raises a cancellation is never decided
    - shown by call-raises-a-cancellation-of-its-own
PY-16: seldom FAIL-8, ORD-5, RETRY-18, TIME-10
    - after a loop that was blocked, an outcome is final that came before the deadline
""")
)
"""In the order of PyFlink's own parts."""
