"""Rules that PyFlink 2.3.0 is known to break, and the departures at fault: data for the suite."""

from msgspec.structs import replace

from asyncwait.backends.flink._expected_failures import KNOWN as OF_FLINK
from asyncwait.backends.flink._expected_failures import Known

KNOWN = (
    *(replace(each, seldom=("RES-1",)) for each in OF_FLINK if each.flink == "EL-6"),
    Known(
        "PY-2",
        ("CTX-1", "CTX-3"),
        "a further attempt, and a handler, see nothing of what was set when the stream was opened",
        examples=("attempts-in-contexts-of-their-own", "deadlines-in-the-opened-context"),
    ),
    Known(
        "PY-5",
        ("RES-3",),
        "a call that gives None fails the task, and no record is named; a str comes out as letters",
        seldom=("ELEM-3",),
        examples=("a-call-gives-none", "a-call-gives-a-text"),
    ),
    Known(
        "PY-6",
        ("FAIL-1", "FAIL-2", "FAIL-3", "FAIL-4"),
        "an error is raised with the next element, or never; other results come out meanwhile",
        seldom=("RETRY-14",),
        examples=("failing-while-the-source-is-silent", "earlier-failure-of-a-later-record"),
    ),
    Known(
        "PY-8",
        ("TIME-4",),
        "a handler that gives None fails the task, and no record is named",
        examples=("handler-gives-none",),
    ),
    Known(
        "PY-9",
        ("RETRY-4",),
        "a record backs off for as long as is due after another one's attempts",
        seldom=("RETRY-1", "RETRY-3", "RETRY-15"),
        examples=("every-other-record-is-refused-to-the-end",),
    ),
    Known(
        "RT-13",
        ("RETRY-19", "RETRY-20"),
        "a record backs off until its deadline, and the error of that forgets the last attempt's",
        seldom=(
            "CAP-1",
            "CAP-4",
            "ELEM-4",
            "END-10",
            "FAIL-5",
            "ORD-2",
            "ORD-3",
            "RES-2",
            "RES-5",
            "RETRY-6",
            "TIME-1",
            "TIME-7",
        ),
        examples=("back-off-beyond-the-deadline", "deadline-in-a-second-attempt"),
    ),
    Known(
        "PY-13",
        (),
        "while the consumer takes nothing, no call begins, and results of calls do not count",
        seldom=(
            "CAP-1",
            "CAP-3",
            "ELEM-1",
            "ELEM-2",
            "ELEM-4",
            "FAIL-8",
            "ORD-1",
            "ORD-2",
            "ORD-3",
            "ORD-5",
            "RES-1",
            "RES-2",
            "TIME-1",
            "TIME-2",
            "TIME-6",
            "TIME-7",
            "TIME-10",
        ),
    ),
    Known(
        "PY-14",
        ("FAIL-2", "RETRY-13"),
        "a record whose predicate raises is never decided",
        seldom=("TIME-1",),
        examples=("predicate-of-errors-that-raises",),
    ),
    Known(
        "PY-15",
        ("FAIL-2",),
        "a record whose call raises a cancellation is never decided",
        seldom=("TIME-1",),
        examples=("call-raises-a-cancellation-of-its-own",),
    ),
    Known(
        "PY-16",
        (),
        "after a loop that was blocked, an outcome is final that came before the deadline",
        seldom=("FAIL-8", "ORD-5", "RETRY-18", "TIME-10"),
    ),
)
"""In the order of PyFlink's own parts."""
