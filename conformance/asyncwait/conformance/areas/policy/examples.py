"""POLICY: examples of records that fail, and of what their handler makes of it."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from asyncwait.conformance.evidence import Example, at, examples_of, fails, never, raises, replies
from asyncwait.spec import Barrier, Element, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Crash, Handler, Plan, PlannedRetry, Scenario, SinkStep, Step

A, B, C = Record("a", 5, "k"), Record("b"), Record("c")


def _spared(plan: Plan, *results: Any) -> Plan:
    """Return a plan whose failures are handled with `results`."""
    return replace(plan, failure=Handler("reply", results))


def _gives(error: str) -> Step:
    return Step("misreturn", 40, error=error)


def _scenario(*plans: Plan, of: Sequence[Element] = (A, B), **fields: Any) -> Scenario:
    """Return a scenario in which these elements come in, and failures are handled."""
    return Scenario(failures_handled=True, plans=plans, inputs=at(0, *of), **fields)


_example = examples_of(_scenario)

EXAMPLES: tuple[Example, ...] = (
    _example(
        "a-default-for-what-failed: POLICY-1, POLICY-2, POLICY-7, ELEM-1, ELEM-2",
        "The call of a raises at 80; its default takes its place before b, which waited for it.",
        _spared(raises("a", 80), "a?"),
        replies("b", 40, "b1"),
    ),
    _example(
        "left-out-if-it-failed: POLICY-2, ORD-2",
        "No results are results: a is left out, and b waits no longer.",
        _spared(raises("a", 80)),
        replies("b", 40, "b1"),
    ),
    _example(
        "failed-out-of-order: POLICY-1, POLICY-2, ORD-3",
        "In unordered mode b comes out at 40, the pair that stands for a at 80.",
        _spared(raises("a", 80), "a?", "a!"),
        replies("b", 40, "b1"),
        mode="unordered",
    ),
    _example(
        "failed-in-front-of-a-watermark: POLICY-2, WM-1",
        "The watermark waits until the failure of a is handled.",
        _spared(raises("a", 80), "a?"),
        mode="unordered",
        of=(A, Watermark(7), B),
    ),
    _example(
        "equal-records-of-which-one-fails: POLICY-1, POLICY-5",
        "Of three equal records the second fails; the handler is asked about that one.",
        Plan(
            "b",
            (Step(after=80, results=("b1",)), Step("raise", 40), Step(results=("b3",))),
            failure=Handler("reply", ("b?",)),
        ),
        of=(B, B, B),
    ),
    _example(
        "raising-where-it-is-called-and-handled: POLICY-1, POLICY-2",
        "The same as a default, in callback form: the function itself raises, and one completes "
        "with an error from a thread.",
        _spared(raises("a", 0), "a?"),
        _spared(Plan("b", (Step("raise", 40, error="ValueError", thread=True),)), "b?"),
        form="callback",
    ),
    _example(
        "no-collection-and-handled: POLICY-1, POLICY-2, POLICY-7",
        "The call of a gives None, that of b something that breaks while it is read.",
        _spared(Plan("a", (_gives("none"),)), "a?"),
        _spared(Plan("b", (_gives("broken"),)), "b?"),
    ),
    _example(
        "a-deadline-without-a-handler-of-its-own: POLICY-1, POLICY-2, POLICY-7, TIME-5",
        "There is no timeout handler: at 80 the failure handler is asked, and the call cancelled.",
        _spared(never("a"), "a?"),
        timeout=80,
    ),
    _example(
        "a-timeout-handler-that-has-nothing: POLICY-8, POLICY-1",
        "At 80 the timeout handler gives None for a, and results for b.",
        _spared(never("a"), "a?"),
        _spared(never("b", "b-late"), "b?"),
        timeout=80,
        handled=True,
    ),
    _example(
        "what-a-timeout-handler-raised-is-told: POLICY-7, POLICY-8",
        "At 80 the timeout handler raises about a, which is the cause; it gives None for b.",
        _spared(Plan("a", (Step("never"),), Handler("raise", error="ValueError")), "a?"),
        _spared(never("b"), "b?"),
        timeout=80,
        handled=True,
    ),
    _example(
        "answered-in-the-instant-of-the-deadline-or-handled: POLICY-5",
        "At 80 two calls answer, and both are due: each is answered or handled, not both.",
        _spared(replies("a", 80, "a1"), "a?"),
        _spared(replies("b", 80, "b1"), "b?"),
        of=(A, B, C),
        timeout=80,
    ),
    _example(
        "a-failure-that-is-left-alone: POLICY-3, FAIL-1, FAIL-10",
        "The handler gives None: all is as if there were none.",
        raises("a", 40),
    ),
    _example(
        "a-deadline-that-is-left-alone: POLICY-3, TIME-4",
        "The same at a deadline.",
        never("a"),
        timeout=80,
    ),
    _example(
        "a-failure-handler-that-raises: POLICY-4, FAIL-2",
        "The cause of the error is what the handler raised.",
        replace(raises("a", 40), failure=Handler("raise", error="StopIteration")),
    ),
    _example(
        "a-failure-handler-that-raises-at-a-deadline: POLICY-4",
        "It is still a deadline that was missed.",
        replace(never("a"), failure=Handler("raise", error="ValueError")),
        timeout=80,
    ),
    _example(
        "a-failure-handler-that-gives-text: POLICY-6, RES-3",
        "Text is no collection of results; nobody is asked about that.",
        replace(raises("a", 40), failure=Handler("misreturn", error="text")),
    ),
    _example(
        "a-failure-handler-whose-results-break: POLICY-6, RES-6",
        "What comes before the break does not come out.",
        replace(raises("a", 40), failure=Handler("misreturn", error="broken")),
    ),
    _example(
        "raising-behind-its-own-completion: POLICY-5, FAIL-1",
        "The function completes its record and raises: the record is decided, and the operator "
        "fails all the same.",
        _spared(Plan("a", (Step("raise", results=("a1",), throws=True),)), "a?"),
        form="callback",
    ),
    _example(
        "completed-once-more-after-a-failure: POLICY-5, POLICY-1, RES-4",
        "a is completed with an error, and then with other things, which do not count.",
        _spared(Plan("a", (Step("raise", 40, twice=True, again=40),)), "a?"),
        form="callback",
        source_ends_at=200,
    ),
    _example(
        "failed-for-good: POLICY-9, POLICY-1, POLICY-2, POLICY-7",
        "After three attempts the handler is asked, and told of them; b has answered the second.",
        _spared(raises("a", 40), "a?"),
        _spared(fails("b", 1, "b1"), "b?"),
        retry=PlannedRetry(),
    ),
    _example(
        "refused-to-the-end-and-no-failure: POLICY-5, RETRY-2",
        "The last attempt gives what would be refused: that is an answer, and nobody is asked.",
        _spared(replies("a", 40, "a1", "a2"), "a?"),
        _spared(fails("b", 1, "b1"), "b?"),
        retry=PlannedRetry(max_attempts=2, on_result="pair"),
    ),
    _example(
        "an-error-that-is-not-repeated: POLICY-9, POLICY-7",
        "The second error of a is none that is repeated.",
        _spared(Plan("a", (Step("raise", 40, error="ValueError"), Step("raise", 40))), "a?"),
        retry=PlannedRetry(on_error="some"),
    ),
    _example(
        "a-predicate-that-raises-and-is-handled: POLICY-1, POLICY-7",
        "What the predicate raised is the cause of the error.",
        _spared(raises("a", 40), "a?"),
        retry=PlannedRetry(on_error="breaks"),
    ),
    _example(
        "attempts-that-take-too-long-and-are-handled: POLICY-7, RETRY-12",
        "Both attempts are over after 80 ms; the cause is a TimeoutError.",
        _spared(never("a"), "a?"),
        retry=PlannedRetry(max_attempts=2, attempt_timeout=80),
    ),
    _example(
        "late-in-a-back-off-and-handled: POLICY-1, POLICY-7, RETRY-11",
        "The deadline comes in the back-off: no attempt is left that could be waited for, and what "
        "the first one raised is not the cause.",
        _spared(raises("a", 40), "a?"),
        retry=PlannedRetry(initial=400),
        timeout=160,
        source_ends_at=800,
    ),
    _example(
        "many-failures-one-after-the-other: POLICY-1, POLICY-2, CAP-2",
        "Twelve records fail in turn, and each frees its slot.",
        *(_spared(raises(n, 40), -n) for n in range(1, 13)),
        capacity=2,
        of=[Record(n) for n in range(1, 13)],
    ),
    _example(
        "restored-and-failed: POLICY-1, REST-1",
        "What is restored fails and is handled like what is read; again after the crash.",
        _spared(raises("a", 120), "a?"),
        _spared(raises("c", 40), "c?"),
        of=(B, Barrier(1)),
        restore=Snapshot(9, (A, C)),
        crashes=(Crash(80),),
    ),
    _example(
        "handled-while-the-loop-is-blocked: POLICY-1, POLICY-2",
        "The handler itself blocks the loop for 120 ms, and b is late by then.",
        replace(raises("a", 40), failure=Handler("reply", ("a?",), blocks=120)),
        _spared(never("b"), "b?"),
        timeout=80,
    ),
    _example(
        "failed-while-nobody-reads: POLICY-2",
        "The consumer pauses; the failure waits for nobody's turn, nor does it end anything.",
        _spared(raises("a", 40), "a?"),
        sink=(SinkStep("pause", 120),),
    ),
    _example(
        "the-very-object-that-failed: POLICY-1, POLICY-2",
        "The handler is given the very object that was read, and what it gives comes out as it is.",
        _spared(raises("a", 40), ["a?"]),
        tracked=True,
    ),
    _example(
        "a-failure-handler-that-ends-the-program: FAIL-11",
        "What is meant for the program is nobody's failure.",
        replace(raises("a", 40), failure=Handler("raise", error="KeyboardInterrupt")),
    ),
    _example(
        "a-timeout-handler-that-gives-text-and-is-handled: POLICY-1, POLICY-2, POLICY-7",
        "At 80 the timeout handler gives a text, no results; the failure handler has some.",
        Plan(
            "a",
            (Step("never"),),
            Handler("misreturn", error="text"),
            failure=Handler("reply", ("a?",)),
        ),
        replies("b", 40, "b1"),
        timeout=80,
        handled=True,
    ),
)
