"""What a backend may lack, and what becomes of a scenario without it."""

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from asyncwait.spec import (
    MODES,
    Barrier,
    InvalidConfig,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    PROFILES,
    Capability,
    Crash,
    Handler,
    Plan,
    PlannedRetry,
    Scenario,
    SnapshotRequest,
    Step,
    Timed,
    declaration_from_json,
    declared,
    needs,
    profiles_of,
)

A, B = Timed(0, Record("a")), Timed(40, Record("b"))
FENCES = (Timed(0, Watermark(1)), Timed(0, WatermarkStatus(True)), Timed(0, LatencyMarker(1)))


@pytest.mark.parametrize("capability", Capability)
def test_a_scenario_that_needs_nothing_stays_as_it_is(capability: Capability) -> None:
    """The very same, except that some mode is needed."""
    plain = Scenario(inputs=(A,), plans=(Plan("a", (Step("raise"),), Handler("raise")),))

    assert needs(plain) == {Capability.ORDERED}
    assert (capability.without(plain) is plain) == (capability != Capability.ORDERED)


@pytest.mark.parametrize(
    ("scenario", "needed"),
    [
        (Scenario("unordered"), {"unordered"}),
        (Scenario("key-ordered"), {"key-ordered"}),
        (Scenario(crashes=(Crash(5, mode="unordered"),)), {"ordered", "unordered", "restore"}),
        (Scenario(timeout=40), {"ordered", "timeouts"}),
        (Scenario(handled=True), {"ordered", "timeouts"}),
        (Scenario(failures_handled=True), {"ordered", "failure-handler"}),
        (Scenario(max_held=1), {"ordered", "max-held"}),
        (Scenario(copies=True), {"ordered", "copies", "one-loop"}),
        (Scenario(figures_at=(0,)), {"ordered", "statistics"}),
        (Scenario(contexts=True), {"ordered", "contexts", "one-loop"}),
        (Scenario(unshielded=True), {"ordered", "one-loop", "cancel-calls"}),
        (Scenario(unequal_keys=True), {"ordered", "one-loop"}),
        (Scenario(plans=(Plan("a", (Step("never"),)),)), {"ordered", "cancel-calls"}),
        (Scenario(plans=(Plan("a", (Step(blocks=5),)),)), {"ordered", "cancel-calls"}),
        (Scenario(form="callback"), {"ordered", "callbacks"}),
        *((Scenario(inputs=(fence,)), {"ordered", "event-time"}) for fence in FENCES),
        (Scenario(restore=Snapshot(1)), {"ordered", "restore"}),
        (
            Scenario(restore=Snapshot(1, (Watermark(1),))),
            {"ordered", "restore", "event-time"},
        ),
        (Scenario(inputs=(Timed(0, Barrier(1)),)), {"ordered", "snapshots"}),
        (Scenario(inputs=(Timed(0, Snapshot(1)),)), {"ordered", "snapshots"}),
        (
            Scenario(requests=(SnapshotRequest(0, 1),)),
            {"ordered", "snapshots", "on-demand-snapshot"},
        ),
        (Scenario(inputs=(B,)), {"ordered", "timed-input"}),
        (Scenario(source_ends_at=5), {"ordered", "timed-input"}),
    ],
)
def test_a_scenario_needs_what_its_fields_ask_for(scenario: Scenario, needed: set[str]) -> None:
    """A backend that lacks one of these is given another scenario."""
    assert needs(scenario) == needed


@pytest.mark.parametrize(("mode", "other"), [*pairwise([*MODES, MODES[0]])])
def test_without_a_mode_everything_is_played_in_the_next(mode: Any, other: Any) -> None:
    """Before and after each crash."""
    scenario = Scenario(mode, crashes=(Crash(5, 2, other), Crash(6, 3), Crash(7, mode=mode)))

    without = Capability(mode).without(scenario)

    crashes = Crash(5, 2, other), Crash(6, 3), Crash(7, mode=other)
    assert without == Scenario(other, crashes=crashes)


@pytest.mark.parametrize(
    ("handler", "step"),
    [
        (Handler("reply", ("late",)), Step("reply", 80, ("late",), swallow=True, clean_up=40)),
        (Handler("reply"), Step("reply", 80, (), swallow=True, clean_up=40)),
        (Handler("none"), Step("raise", 80, clean_up=40)),
        (Handler("raise", error="ValueError"), Step("raise", 80, error="ValueError", clean_up=40)),
        (Handler("misreturn", error="text"), Step("misreturn", 80, error="text", clean_up=40)),
    ],
)
def test_without_timeouts_a_call_does_at_its_deadline_what_its_handler_would(
    handler: Handler, step: Step
) -> None:
    """So the scenario still comes to its end, and as it would have."""
    endless = Step("never", results=("later",), swallow=True, clean_up=40)
    answers = Step(after=200, results=("a",))
    scenario = Scenario(timeout=80, handled=True, plans=(Plan("a", (endless, answers), handler),))

    assert Capability.TIMEOUTS.without(scenario) == Scenario(plans=(Plan("a", (step, answers)),))


FAILING = (Step("raise", 40, error="ValueError"), Step("misreturn", error="none"))
INSTEAD, LATE = Handler("reply", ("a?",)), Handler("reply", ("late",))
AGAIN, RETRY = Step("raise", error="ValueError"), PlannedRetry(on_error="some")
TWICE = Step(after=40, results=("a",), thread=True, twice=True)
CARRIED = Timed(40, Snapshot(2, (Watermark(1),)))
BARRIERS = (Timed(0, Barrier(1)), Timed(0, Snapshot(2)))
ASKED = (SnapshotRequest(0, 1),)
STORED = (Record("c"), Watermark(1))

WITHOUT: dict[str, tuple[Capability, Scenario, Scenario]] = {
    "a deadline that nobody handles is an error of the call": (
        Capability.TIMEOUTS,
        Scenario(timeout=80, plans=(Plan("a", (Step("never"),), LATE),)),
        Scenario(plans=(Plan("a", (Step("raise", 80),)),)),
    ),
    "a call gives what its failure handler would; what that lets fail, fails": (
        Capability.FAILURE_HANDLER,
        Scenario(
            timeout=80,
            handled=True,
            failures_handled=True,
            plans=(
                Plan("a", FAILING, Handler("none"), INSTEAD),
                Plan("b", (Step("never"),), LATE, INSTEAD),
                Plan("c", FAILING, failure=Handler("raise")),
            ),
        ),
        Scenario(
            timeout=80,
            handled=True,
            plans=(
                Plan("a", (Step(after=40, results=("a?",)), Step(results=("a?",))), INSTEAD),
                Plan("b", (Step("never"),), LATE),
                Plan("c", FAILING),
            ),
        ),
    ),
    "what is repeated is still repeated": (
        Capability.FAILURE_HANDLER,
        Scenario(
            retry=RETRY,
            failures_handled=True,
            plans=(Plan("a", (AGAIN, Step("raise")), failure=INSTEAD),),
        ),
        Scenario(retry=RETRY, plans=(Plan("a", (AGAIN, Step(results=("a?",)))),)),
    ),
    "a function without callbacks answers once, from a thread or not": (
        Capability.CALLBACKS,
        Scenario(form="callback", plans=(Plan("a", (TWICE,)),)),
        Scenario(plans=(Plan("a", (replace(TWICE, twice=False),)),)),
    ),
    "records and barriers are left, also of what is stored; what is carried along stays": (
        Capability.EVENT_TIME,
        Scenario(inputs=(A, *FENCES, CARRIED), restore=Snapshot(1, STORED)),
        Scenario(inputs=(A, CARRIED), restore=Snapshot(1, STORED[:1])),
    ),
    "nobody asks for a snapshot, and a crash goes on from the beginning": (
        Capability.SNAPSHOTS,
        Scenario(inputs=(A, *BARRIERS, B), requests=ASKED, crashes=(Crash(5),)),
        Scenario(inputs=(A, B), crashes=(Crash(5),)),
    ),
    "what was stored is read first, and the run is not torn down": (
        Capability.RESTORE,
        Scenario(inputs=(B,), crashes=(Crash(5),), restore=Snapshot(1, STORED)),
        Scenario(inputs=(*(Timed(0, each) for each in STORED), B)),
    ),
    "everything is there at once, and so is the end": (
        Capability.TIMED_INPUT,
        Scenario(inputs=(A, B), source_ends_at=120),
        Scenario(inputs=(A, Timed(0, Record("b")))),
    ),
    "only what is on demand goes": (
        Capability.ON_DEMAND_SNAPSHOT,
        Scenario(inputs=BARRIERS, requests=ASKED),
        Scenario(inputs=BARRIERS),
    ),
}


@pytest.mark.parametrize("what", WITHOUT)
def test_without_a_capability_a_scenario_is_as_telling_as_it_was(what: str) -> None:
    """As far as that goes."""
    capability, scenario, without = WITHOUT[what]

    assert capability.without(scenario) == without


def test_where_calls_can_not_be_cancelled_each_comes_to_an_end() -> None:
    """By itself, if there is no limit; and none blocks the loop, on which it does not run."""
    never, blocks = Step("never"), Step(after=40, blocks=80)
    scenario = Scenario(plans=(Plan("a", (never, blocks)),), company="inside", unshielded=True)
    without = Capability.CANCEL_CALLS.without(scenario)
    ends = Step("reply", after=400)
    assert without == Scenario(plans=(Plan("a", (ends, Step(after=40))),))
    limited = Scenario(timeout=40, plans=(Plan("a", (never,)),))
    assert Capability.CANCEL_CALLS.without(limited) is limited


def test_where_calls_can_not_be_cancelled_none_ends_the_program_behind_its_record() -> None:
    """With a limit a call may outlive its record; what raises at once, or without one, does not."""
    later, at_once = Step("raise", 40, error="SystemExit"), Step("raise", error="KeyboardInterrupt")
    plans = (Plan("a", (later, at_once)),)
    instead = (Plan("a", (replace(later, error="ValueError"), at_once)),)
    for limit in ({"timeout": 80}, {"retry": PlannedRetry(2, attempt_timeout=80)}):
        scenario = Scenario(plans=plans, **limit)
        assert Capability.CANCEL_CALLS.without(scenario) == Scenario(plans=instead, **limit)
    unlimited = Scenario(plans=plans)
    assert Capability.CANCEL_CALLS.without(unlimited) is unlimited


def test_retries_may_be_had_without_limits_hints_and_chance() -> None:
    """What an attempt's limit would end, raises then; who says when to come again says nothing."""
    told = Step("raise", 40, error="RetryAfter", retry_after=200)
    steps = (Step("never"), told, Step("reply", after=80), Step("reply", after=40))
    scenario = Scenario(
        retry=PlannedRetry(jitter=50, attempt_timeout=80), plans=(Plan("a", steps),)
    )
    late, untold = Step("raise", 80, error="ValueError"), Step("raise", 40, error="ValueError")
    expected = {
        "attempt-timeout": (PlannedRetry(jitter=50), (late, told, late, steps[3])),
        "retry-after": (scenario.retry, (steps[0], untold, *steps[2:])),
        "jitter": (PlannedRetry(attempt_timeout=80), steps),
    }
    for name, (retry, kept) in expected.items():
        without = Capability(name).without(scenario)
        assert without == Scenario(retry=retry, plans=(Plan("a", kept),))
        assert Capability(name).without(without) is without


def test_who_declares_nothing_has_everything() -> None:
    """Capabilities are taken away by name."""
    assert declared() == ALL_CAPABILITIES
    assert declared(lacks=["timeouts"]) == ALL_CAPABILITIES - {"timeouts"}


def test_who_declares_profiles_has_no_others_and_no_part_of_others() -> None:
    """What is of the core, or of how the backend is run, stays."""
    of_the_core = {each for each in Capability if not each.is_profile and not each.part_of}

    assert declared(["ordered", "timeouts"]) == {"ordered", "timeouts", *of_the_core}
    assert {"virtual-time", "cancel-calls"} < of_the_core
    assert declared(["core", "ordered", "snapshots"], ["on-demand-snapshot"]) == declared(
        ["ordered"]
    ) | {"snapshots", "in-flight-snapshot"}


def test_profiles_are_named_with_the_core_in_front() -> None:
    """In one order, whatever the order of the declaration."""
    assert profiles_of(declared(["timeouts", "ordered"])) == ("core", "ordered", "timeouts")
    assert profiles_of(ALL_CAPABILITIES) == ("core", *PROFILES)


MODE = "'ordered', 'unordered' or 'key-ordered'"
NAMES = ", ".join(profiles_of(ALL_CAPABILITIES))


@pytest.mark.parametrize(
    ("profiles", "lacks", "told"),
    [
        (["ordered", "timeout"], [], f"profiles .*{NAMES}, got 'timeout' .* mean 'timeouts'?"),
        (["ordered", "speed"], [], f"profiles .*{NAMES}, got 'speed' "),
        (["ordered", 7], [], f"profiles .*{NAMES}, got 7 "),
        ("ordered", [], "profiles .* list .* got 'ordered' "),
        (7, [], "profiles .* list .* got 7 "),
        ([], [], f"profiles .*{MODE}, got "),
        (["ordered"], ["ordered"], "lacks .* got 'ordered' "),
        (None, "timeouts", "lacks .* list .* got 'timeouts' "),
        (None, ["unordered", "ordered", "key-ordered"], MODE),
        (None, ["on-demand-snapshots"], "lacks .*, jitter, .* mean 'on-demand-snapshot'?"),
    ],
)
def test_what_can_not_be_meant_is_refused(profiles: Any, lacks: Any, told: str) -> None:
    """With what was expected, what came, and the nearest name."""
    with pytest.raises(InvalidConfig, match=told):
        declared(profiles, lacks)


@pytest.mark.parametrize(
    ("line", "capabilities"),
    [
        (b"\n", ALL_CAPABILITIES),
        (b"", ALL_CAPABILITIES),
        (b'{"profiles": ["ordered", "timeouts"]}\n', declared(["ordered", "timeouts"])),
        (b'{"lacks": ["restore"]}', declared(lacks=["restore"])),
        (
            b'{"profiles": ["core", "unordered"], "lacks": ["timed-input"]}',
            declared(["unordered"], ["timed-input"]),
        ),
    ],
)
def test_a_program_declares_in_its_first_line(
    line: bytes, capabilities: frozenset[Capability]
) -> None:
    """The same, in the same words; an empty line declares nothing missing."""
    assert declaration_from_json(line) == capabilities


@pytest.mark.parametrize("line", [b'{"trace": {}}', b'{"error": "no trace"}', b"{}"])
def test_an_answer_in_the_first_line_declares_nothing(line: bytes) -> None:
    """A program need not speak before it is asked; whether the answer is whole is seen later."""
    assert declaration_from_json(line) is None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"ready", "byte 0"),
        (b'{"profile": ["ordered"]}', "`profile`"),
        (b'{"profiles": ["\xff"]}', "byte 0xff"),
        (b'["ordered"]', "`array`"),
        (b'{"profiles": "ordered"}', r"\$.profiles"),
    ],
)
def test_a_first_line_that_declares_nothing_sensible_is_refused(line: bytes, told: str) -> None:
    """With an example of one that does."""
    with pytest.raises(InvalidConfig, match=f'like {{"profiles": .*{told}'):
        declaration_from_json(line)


def test_a_first_line_with_a_slip_is_refused_like_any_declaration() -> None:
    """With the nearest name."""
    with pytest.raises(InvalidConfig, match=r"got 'orderd' .* mean 'ordered'?"):
        declaration_from_json(b'{"profiles": ["orderd"]}')
