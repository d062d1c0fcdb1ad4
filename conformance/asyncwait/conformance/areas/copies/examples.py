"""COPY: examples of functions that change what they are given."""

from typing import Any

from asyncwait.conformance.evidence import (
    Example,
    at,
    examples_of,
    fails,
    never,
    raises,
    replies,
    two_modes_of,
)
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


_example = examples_of(_scenario)

EXAMPLES: tuple[Example, ...] = (
    _example(
        "called-with-copies: COPY-1",
        "Each of three calls changes what it is given.",
        *(replies(value, 40, f"{value}1") for value in "abc"),
        inputs=at(0, A, B, C, A),
    ),
    _example(
        "called-with-copies-in-callback-form: COPY-1",
        "A function that starts a call may change its argument just as well.",
        *(replies(value, 40, f"{value}1") for value in "ab"),
        inputs=at(0, A, B),
        form="callback",
    ),
    _example(
        "repeated-with-copies: COPY-1",
        "a is called three times, each time with what was read.",
        fails("a", 2, "a1", after=40),
        replies("b", 40, "b1"),
        inputs=at(0, A, B),
        retry=PlannedRetry(initial=40),
    ),
    _example(
        "saved-while-calls-change-their-values: COPY-2, COPY-1",
        "At 40 both have been called, and changed what they were given; at 120 they begin anew.",
        replies("a", 200, "a1"),
        replies("b", 80, "b1"),
        inputs=at(0, A, B) + at(40, Barrier(1)),
        crashes=(Crash(120),),
    ),
    _example(
        "requested-while-calls-change-their-values: COPY-2",
        "So it is with a snapshot on request, between two attempts.",
        fails("a", 1, "a1", after=40),
        inputs=at(0, A),
        retry=PlannedRetry(initial=80),
        requests=(SnapshotRequest(80, 7),),
    ),
    _example(
        "restored-with-copies: COPY-1",
        "What was restored is copied like what was read.",
        replies("a", 40, "a1"),
        restore=Snapshot(9, (A, A)),
        capacity=1,
    ),
    _example(
        "late-with-copies: COPY-3",
        "At the deadline of a the handler is given what was read, and not what the call has left.",
        never("a", "late"),
        inputs=at(0, A),
        timeout=80,
        handled=True,
    ),
    _example(
        "spared-with-copies: COPY-3, COPY-1",
        "So is the failure handler, after two attempts.",
        Plan("a", raises("a", 40).steps, failure=Handler("reply", ("sorry",))),
        inputs=at(0, A),
        retry=PlannedRetry(max_attempts=2, initial=40),
        failures_handled=True,
    ),
    _example(
        "a-value-that-can-not-be-copied: COPY-4",
        "a is called; for b there is nothing to call with, which is as if its call had raised.",
        replies("a", 80, "a1"),
        Plan("b", replies("b", 40, "b1").steps, uncopied=True),
        inputs=at(0, A) + at(40, B),
    ),
    *two_modes_of(_example)(
        "no-copy-for-one-attempt: COPY-4, COPY-1, RETRY-1",
        "There is no copy of a for its second call, which is repeated; b has none for its first.",
        Plan("a", (Step("raise", 40), _NO_COPY, Step(after=40, results=("a1",)))),
        Plan("b", (_NO_COPY, Step(after=40, results=("b1",)))),
        inputs=at(0, A, B),
        retry=PlannedRetry(initial=40),
    ),
    _example(
        "no-copy-for-the-last-attempt: COPY-4, RETRY-2, RETRY-7, FAIL-10",
        "a is called once; then there is no copy, three times in all are enough.",
        Plan("a", (Step("raise", 40), _NO_COPY)),
        inputs=at(0, A),
        retry=PlannedRetry(initial=40),
    ),
    _example(
        "no-copy-for-an-attempt-in-callback-form: COPY-4, COPY-1, RETRY-1",
        "The second call of a never begins, the third answers.",
        Plan("a", (Step("raise", 40), _NO_COPY, Step(after=40, results=("a1",)))),
        inputs=at(0, A),
        retry=PlannedRetry(initial=40),
        form="callback",
    ),
    _example(
        "a-value-that-can-not-be-copied-for-its-handler: COPY-4",
        "The failure handler of b would be given a copy, too: it has nothing to give.",
        replies("a", 80, "a1"),
        Plan("b", failure=Handler("reply", ("sorry",)), uncopied=True),
        inputs=at(0, A) + at(40, B),
        failures_handled=True,
    ),
)
