"""COPY: examples of functions that change what they are given."""

from typing import Any

from asyncwait.conformance.evidence import Example, at, fails, in_two_modes, never, raises, replies
from asyncwait.spec import Barrier, Record, Snapshot
from asyncwait.spec.scenario import (
    Crash,
    Handler,
    Plan,
    PlannedRetry,
    Scenario,
    SnapshotRequest,
    Step,
)

A, B, C = (Record(value) for value in "abc")
_NO_COPY = Step("raise", error="ValueError", uncopied=True)


def _scenario(*plans: Plan, **fields: Any) -> Scenario:
    return Scenario(plans=plans, copies=True, **fields)


EXAMPLES: tuple[Example, ...] = (
    Example(
        "called-with-copies",
        ("COPY-1",),
        "Each of three calls changes what it is given.",
        _scenario(*(replies(value, 40, f"{value}1") for value in "abc"), inputs=at(0, A, B, C, A)),
    ),
    Example(
        "called-with-copies-in-callback-form",
        ("COPY-1",),
        "A function that starts a call may change its argument just as well.",
        _scenario(
            *(replies(value, 40, f"{value}1") for value in "ab"),
            inputs=at(0, A, B),
            form="callback",
        ),
    ),
    Example(
        "repeated-with-copies",
        ("COPY-1",),
        "a is called three times, each time with what was read.",
        _scenario(
            fails("a", 2, "a1", after=40),
            replies("b", 40, "b1"),
            inputs=at(0, A, B),
            retry=PlannedRetry(initial=40),
        ),
    ),
    Example(
        "saved-while-calls-change-their-values",
        ("COPY-2", "COPY-1"),
        "At 40 both have been called, and changed what they were given; at 120 they begin anew.",
        _scenario(
            replies("a", 200, "a1"),
            replies("b", 80, "b1"),
            inputs=at(0, A, B) + at(40, Barrier(1)),
            crashes=(Crash(120),),
        ),
    ),
    Example(
        "requested-while-calls-change-their-values",
        ("COPY-2",),
        "So it is with a snapshot on request, between two attempts.",
        _scenario(
            fails("a", 1, "a1", after=40),
            inputs=at(0, A),
            retry=PlannedRetry(initial=80),
            requests=(SnapshotRequest(80, 7),),
        ),
    ),
    Example(
        "restored-with-copies",
        ("COPY-1",),
        "What was restored is copied like what was read.",
        _scenario(replies("a", 40, "a1"), restore=Snapshot(9, (A, A)), capacity=1),
    ),
    Example(
        "late-with-copies",
        ("COPY-3",),
        "At the deadline of a the handler is given what was read, and not what the call has left.",
        _scenario(never("a", "late"), inputs=at(0, A), timeout=80, handled=True),
    ),
    Example(
        "spared-with-copies",
        ("COPY-3", "COPY-1"),
        "So is the failure handler, after two attempts.",
        _scenario(
            Plan("a", raises("a", 40).steps, failure=Handler("reply", ("sorry",))),
            inputs=at(0, A),
            retry=PlannedRetry(max_attempts=2, initial=40),
            failures_handled=True,
        ),
    ),
    Example(
        "a-value-that-can-not-be-copied",
        ("COPY-4",),
        "a is called; for b there is nothing to call with, which is as if its call had raised.",
        _scenario(
            replies("a", 80, "a1"),
            Plan("b", replies("b", 40, "b1").steps, uncopied=True),
            inputs=at(0, A) + at(40, B),
        ),
    ),
    *in_two_modes(
        "no-copy-for-one-attempt",
        ("COPY-4", "COPY-1", "RETRY-1"),
        "There is no copy of a for its second call, which is repeated; b has none for its first.",
        _scenario(
            Plan("a", (Step("raise", 40), _NO_COPY, Step(after=40, results=("a1",)))),
            Plan("b", (_NO_COPY, Step(after=40, results=("b1",)))),
            inputs=at(0, A, B),
            retry=PlannedRetry(initial=40),
        ),
    ),
    Example(
        "no-copy-for-the-last-attempt",
        ("COPY-4", "RETRY-2", "RETRY-7", "FAIL-10"),
        "a is called once; then there is no copy, three times in all are enough.",
        _scenario(
            Plan("a", (Step("raise", 40), _NO_COPY)),
            inputs=at(0, A),
            retry=PlannedRetry(initial=40),
        ),
    ),
    Example(
        "no-copy-for-an-attempt-in-callback-form",
        ("COPY-4", "COPY-1", "RETRY-1"),
        "The second call of a never begins, the third answers.",
        _scenario(
            Plan("a", (Step("raise", 40), _NO_COPY, Step(after=40, results=("a1",)))),
            inputs=at(0, A),
            retry=PlannedRetry(initial=40),
            form="callback",
        ),
    ),
    Example(
        "a-value-that-can-not-be-copied-for-its-handler",
        ("COPY-4",),
        "The failure handler of b would be given a copy, too: it has nothing to give.",
        _scenario(
            replies("a", 80, "a1"),
            Plan("b", failure=Handler("reply", ("sorry",)), uncopied=True),
            inputs=at(0, A) + at(40, B),
            failures_handled=True,
        ),
    ),
)
