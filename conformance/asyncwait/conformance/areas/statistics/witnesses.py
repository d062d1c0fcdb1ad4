"""STAT: runs whose figures are wrong, and their legal neighbours."""

from typing import Any

from asyncwait.conformance.evidence import (
    Events,
    NearMiss,
    Run,
    Witness,
    asked,
    at,
    called,
    cancelled,
    ends,
    fails,
    failure_asked,
    figures,
    finished,
    never,
    one_leg,
    outlives,
    raises,
    replies,
    taken,
    took,
    waits,
)
from asyncwait.spec import Record, Watermark
from asyncwait.spec.scenario import Blocked, Handler, Plan, PlannedRetry, Scenario, SinkStep

A, B, C = (Record(value) for value in "abc")
_A1, _B1, _LATE = Record("a1"), Record("b1"), Record("late")

_PLANS = (replies("a", 80, "a1"), replies("b", 40, "b1"))
_TWO = Scenario(inputs=at(0, A, B), plans=_PLANS, figures_at=(60,))
_SAVED = Scenario(inputs=at(0, A, Watermark(1), B), plans=_PLANS, figures_at=(60,))
_FULL = Scenario(capacity=1, inputs=at(0, A, B), plans=_PLANS, figures_at=(60,))


def _read(scenario: Scenario = _TWO, /, **told: Any) -> Run:
    """Both are called at once, b is answered first, and the figures are read in between."""
    number = len(scenario.inputs)
    fences = [timed.element for timed in scenario.inputs if timed.element not in (A, B)]
    return finished(
        scenario,
        "0: waits",
        taken(0, *range(number)),
        "0: calls a b; 40: #1 gives b1",
        figures(60, **told),
        "80: #0 gives a1",
        took(80, _A1, *fences, _B1),
    )


def _read_twice(first: int, second: int) -> Run:
    """One record after the other; the figures are read when each is decided and gone."""
    scenario = Scenario(
        inputs=at(0, A) + at(100, B), plans=_PLANS, figures_at=(20, 160), source_ends_at=160
    )
    return finished(
        scenario,
        "0: waits, takes 0, calls a",
        figures(20, in_flight=1, calls=1, max_in_flight=first, oldest=20),
        "80: #0 gives a1, out a1; 100: takes 1, calls b; 140: #1 gives b1, out b1",
        figures(160, calls=2, max_in_flight=second, max_held=1),
    )


def _waits(waiting: int) -> Run:
    return finished(
        _FULL,
        "0: waits, takes 0 1, calls a",
        figures(60, in_flight=1, waiting=waiting, calls=1, max_in_flight=1, oldest=60),
        "80: #0 gives a1, out a1, calls b; 120: #1 gives b1, out b1",
    )


_REPEATED = Scenario(
    inputs=at(0, A),
    plans=(fails("a", 1, "a1", after=40),),
    retry=PlannedRetry(initial=40),
    figures_at=(60, 100),
    source_ends_at=100,
)


def _repeated(first: int, second: int) -> Run:
    return finished(
        _REPEATED,
        "0: waits, takes 0, calls a; 40: #0 raises",
        figures(60, in_flight=1, calls=1, retries=first, max_in_flight=1, oldest=60),
        "80: calls a, #1 gives a1, out a1",
        figures(100, calls=2, retries=second, max_in_flight=1),
    )


_DUE = Scenario(
    inputs=at(0, A),
    timeout=40,
    handled=True,
    plans=(never("a", "late"),),
    figures_at=(60,),
    source_ends_at=60,
)


def _due(timeouts: int) -> Run:
    begins: Events = (*waits(0), *taken(0, 0), *called(0, "a"))
    decided: Events = (*asked(40, "a"), *cancelled(40, 0), *took(40, _LATE))
    return finished(_DUE, begins, decided, figures(60, calls=1, timeouts=timeouts, max_in_flight=1))


_SPARED = Scenario(
    inputs=at(0, A),
    plans=(Plan("a", raises("a", 40).steps, failure=Handler("reply")),),
    failures_handled=True,
    figures_at=(60,),
    source_ends_at=60,
)


def _spared(number: int) -> Run:
    return finished(
        _SPARED,
        "0: waits, takes 0, calls a; 40: #0 raises",
        failure_asked(40, "a", "CallFailed", "ValueError"),
        figures(60, calls=1, failures_handled=number, max_in_flight=1),
    )


_OUTLIVED = Scenario(
    inputs=at(0, A),
    timeout=40,
    handled=True,
    plans=(outlives("a", 200, "a1", "late"),),
    figures_at=(120,),
    source_ends_at=300,
)


def _outlived(abandoned: int) -> Run:
    return one_leg(
        _OUTLIVED,
        ends("finished", 300),
        "0: waits, takes 0, calls a; 40: asks a, #0 told, out late",
        figures(120, calls=1, timeouts=1, abandoned=abandoned, max_in_flight=1),
        "240: #0 gives a1; 300: end",
        abandoned=1,
    )


_FAILING = Scenario(inputs=at(0, A), plans=(raises("a", 40),), figures_at=(20, 60))


def _failing(**told: Any) -> Run:
    return one_leg(
        _FAILING,
        ends("failed", 80, error="CallFailed", record=A, cause="ValueError"),
        "0: takes 0, calls a, end",
        figures(20, in_flight=1, calls=1, max_in_flight=1, oldest=20),
        "40: #0 raises",
        figures(60, calls=1, max_in_flight=1, **told),
        "80: waits, closes, closed",
        figures(80, calls=1, max_in_flight=1),
    )


_RIGHT: dict[str, Any] = {
    "in_flight": 2,
    "held": 1,
    "calls": 2,
    "max_in_flight": 2,
    "max_held": 1,
    "oldest": 60,
}


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "STAT-1",
        violating=_read(_SAVED, **_RIGHT | {"in_flight": 3}),
        legal=_read(_SAVED, **_RIGHT),
        text="in_flight is 3, expected 2",
    ),
    Witness("STAT-2", violating=_waits(0), legal=_waits(1), text="waiting is 0, expected 1"),
    Witness(
        "STAT-3",
        violating=_read(**_RIGHT | {"held": 0}),
        legal=_read(**_RIGHT),
        text="held is 0, expected 1",
    ),
    Witness(
        "STAT-4",
        violating=_read(**_RIGHT | {"calls": 1}),
        legal=_read(**_RIGHT),
        text="calls is 1, expected 2",
    ),
    Witness(
        "STAT-5", violating=_repeated(1, 1), legal=_repeated(0, 1), text="retries is 1, expected 0"
    ),
    Witness("STAT-6", violating=_due(0), legal=_due(1), text="timeouts is 0, expected 1"),
    Witness(
        "STAT-7", violating=_spared(0), legal=_spared(1), text="failures_handled is 0, expected 1"
    ),
    Witness(
        "STAT-8", violating=_outlived(0), legal=_outlived(1), text="abandoned is 0, expected 1"
    ),
    Witness(
        "STAT-9",
        violating=_read_twice(1, 2),
        legal=_read_twice(1, 1),
        text="max_in_flight is 2, expected 1",
    ),
    Witness(
        "STAT-10",
        violating=_read(**_RIGHT | {"oldest": 20}),
        legal=_read(**_RIGHT),
        text="oldest is 20 ms, expected 60",
    ),
    Witness(
        "STAT-11",
        violating=_failing(in_flight=1),
        legal=_failing(),
        text="in_flight is 1 after the end",
    ),
)

_SHORT_PLANS = (replies("a", 40, "a1"), replies("b", 40))
_PAUSE = 80


def _paused(ms: int, *parts: Any) -> Run:
    """One record, called at 0 and answered at 40, while the consumer pauses until 80."""
    scenario = Scenario(
        inputs=at(0, A), plans=_SHORT_PLANS, sink=(SinkStep("pause", _PAUSE),), figures_at=(ms,)
    )
    over = "80: waits, out a1, end"
    return one_leg(scenario, ends("finished", 80), "0: takes 0, calls a", *parts, over)


def _held(ms: int, held: int) -> Events:
    there = {"in_flight": 1, "calls": 1, "max_in_flight": 1}
    return figures(ms, **there, held=held, max_held=held, oldest=ms)


def _silent(ms: int, in_flight: int) -> Run:
    """A record without results, decided at 40; the consumer waits from 80 on."""
    scenario = Scenario(
        inputs=at(0, B),
        plans=_SHORT_PLANS,
        sink=(SinkStep("pause", _PAUSE),),
        source_ends_at=160,
        figures_at=(ms,),
    )
    held = {"max_held": in_flight, "held": in_flight, "oldest": ms * in_flight}
    read = figures(ms, in_flight=in_flight, calls=1, max_in_flight=1, **held)
    parts = (read, "80: waits") if ms < _PAUSE else ("80: waits", read)
    begins = "0: takes 0, calls b; 40: #0 gives"
    return one_leg(scenario, ends("finished", 160), begins, *parts, "160: end")


def _freed(in_flight: int, waiting: int) -> Run:
    """The loop is free again at 40, when the first call begins, and the figures are read."""
    return one_leg(
        Scenario(inputs=at(0, A), plans=_SHORT_PLANS, figures_at=(40,)),
        ends("finished", 80),
        "0: waits, takes 0",
        (Blocked(0, 40),),
        figures(40, in_flight=in_flight, waiting=waiting, max_in_flight=in_flight),
        "40: calls a; 80: #0 gives a1, out a1, end",
    )


def _never_called(blocked: int) -> Run:
    """The consumer blocks the loop, then leaves at 40."""
    return one_leg(
        Scenario(
            inputs=at(0, A),
            plans=_SHORT_PLANS,
            sink=(SinkStep("block", blocked), SinkStep("leave")),
            figures_at=(0,),
        ),
        ends("left", 40),
        "0: takes 0",
        figures(0, in_flight=1, max_in_flight=1),
        (Blocked(0, blocked),),
        "40: left",
    )


def _full(waiting: int) -> Run:
    """A watermark is read behind a record that takes all room."""
    return one_leg(
        Scenario(capacity=1, inputs=at(0, A, Watermark(1)), plans=_SHORT_PLANS, figures_at=(20,)),
        ends("finished", 40),
        "0: waits, takes 0 1, calls a",
        figures(20, in_flight=1, waiting=waiting, calls=1, max_in_flight=1, oldest=20),
        "40: #0 gives a1, out a1 ~1, end",
    )


NEAR_MISSES: tuple[NearMiss, ...] = (
    # What happens in the instant of a reading may count or not: it may have been known.
    NearMiss("STAT-3", _paused(40, _held(40, 0), "40: #0 gives a1")),
    NearMiss("STAT-3", _paused(40, _held(40, 1), "40: #0 gives a1")),
    # In another instant it counts if it was before, and else does not.
    NearMiss(
        "STAT-3",
        _paused(20, _held(20, 1), "40: #0 gives a1"),
        "held is 1, expected 0",
        also="STAT-9",
    ),
    NearMiss("STAT-3", _paused(60, "40: #0 gives a1", _held(60, 0)), "held is 0, expected 1"),
    # A record without results may leave from its decision on, until the consumer has waited.
    NearMiss("STAT-1", _silent(60, 1)),
    NearMiss("STAT-1", _silent(60, 0)),
    NearMiss("STAT-1", _silent(120, 0), applies=False),
    NearMiss("STAT-1", _silent(120, 1), "in_flight is 1, expected 0", also="STAT-10 STAT-3"),
    NearMiss("STAT-3", _silent(120, 1), "held is 1, expected 0", also="STAT-1 STAT-10"),
    NearMiss(
        "STAT-10",
        _silent(120, 1),
        "oldest is 120 ms, expected 0: nothing is in flight",
        also="STAT-1 STAT-3",
    ),
    # A blocked loop admits a record before its call begins, or not: nobody knows.
    *(NearMiss("STAT-1", _freed(*each)) for each in ((1, 0), (0, 1), (0, 0), (1, 1))),
    # If it was blocked all the time the call had no turn; else the call would have begun.
    NearMiss("STAT-1", _never_called(40)),
    NearMiss("STAT-1", _never_called(20), "in_flight is 1, expected 0", also="STAT-9"),
    # That a watermark takes a slot is no must.
    NearMiss("STAT-2", _full(0)),
    NearMiss("STAT-2", _full(1)),
)
