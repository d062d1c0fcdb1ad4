"""What a backend may lack, and what becomes of a scenario without it."""

from itertools import pairwise
from typing import Any, get_args

import pytest

from asyncwait.conformance.evidence import scenario_of
from asyncwait.spec import InvalidConfig, Mode
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
    Crash,
    Scenario,
    declaration_from_json,
    declared,
    needs,
    profiles_of,
)


@pytest.mark.parametrize("capability", Capability)
def test_a_scenario_that_needs_nothing_stays_as_it_is(capability: Capability) -> None:
    plain = scenario_of("0: a; a: raises own, late raises own")

    assert needs(plain) == {Capability.ORDERED}
    assert (capability.without(plain) is plain) == (capability != Capability.ORDERED)


@pytest.mark.parametrize(
    ("told", "needed"),
    [
        ("unordered", {"unordered"}),
        ("key-ordered", {"key-ordered"}),
        ("crashes 5 mode=unordered", {"ordered", "unordered", "restore"}),
        ("timeout 40", {"ordered", "timeouts"}),
        ("handled", {"ordered", "timeouts"}),
        ("failures_handled", {"ordered", "failure-handler"}),
        ("max_held 1", {"ordered", "max-held"}),
        ("copies", {"ordered", "copies", "one-loop"}),
        ("figures_at 0", {"ordered", "statistics"}),
        ("contexts", {"ordered", "contexts", "one-loop"}),
        ("unshielded", {"ordered", "one-loop", "cancel-calls"}),
        ("unequal_keys", {"ordered", "one-loop"}),
        ("a: never", {"ordered", "cancel-calls"}),
        ("a: gives with blocks=5", {"ordered", "cancel-calls"}),
        ("form callback", {"ordered", "callbacks"}),
        *((f"0: {fence}", {"ordered", "event-time"}) for fence in ("~1", "~idle", "!1")),
        ("restore |1", {"ordered", "restore"}),
        ("restore |1(~1)", {"ordered", "restore", "event-time"}),
        ("0: ^1", {"ordered", "snapshots"}),
        ("0: |1", {"ordered", "snapshots"}),
        ("requests 0 1", {"ordered", "snapshots", "on-demand-snapshot"}),
        ("40: b", {"ordered", "timed-input"}),
        ("source_ends_at 5", {"ordered", "timed-input"}),
    ],
)
def test_a_scenario_needs_what_its_fields_ask_for(told: str, needed: set[str]) -> None:
    assert needs(scenario_of(told)) == needed


@pytest.mark.parametrize(("mode", "other"), [*pairwise([*get_args(Mode), get_args(Mode)[0]])])
def test_without_a_mode_everything_is_played_in_the_next(mode: Any, other: Any) -> None:
    scenario = Scenario(mode, crashes=(Crash(5, 2, other), Crash(6, 3), Crash(7, mode=mode)))

    without = Capability(mode).without(scenario)

    crashes = Crash(5, 2, other), Crash(6, 3), Crash(7, mode=other)
    assert without == Scenario(other, crashes=crashes)


@pytest.mark.parametrize(
    ("handler", "step"),
    [
        ("gives late", "80 gives late with swallow clean_up=40"),
        ("gives", "80 gives with swallow clean_up=40"),
        ("none", "80 raises own with clean_up=40"),
        ("raises", "80 raises with clean_up=40"),
        ("misreturns text", "80 misreturns text with clean_up=40"),
    ],
)
def test_without_timeouts_a_call_does_at_its_deadline_what_its_handler_would(
    handler: str, step: str
) -> None:
    calls = "outlives 40 later, 200 gives a"
    scenario = scenario_of(f"timeout 80; handled; a: {calls}, late {handler}")

    assert Capability.TIMEOUTS.without(scenario) == scenario_of(f"a: {step}, 200 gives a")


WITHOUT: dict[str, tuple[Capability, str, str]] = {
    "a deadline that nobody handles is an error of the call": (
        Capability.TIMEOUTS,
        "timeout 80; a: never, late gives late",
        "a: 80 raises own",
    ),
    "a call gives what its failure handler would; what that lets fail, fails": (
        Capability.FAILURE_HANDLER,
        (
            "timeout 80; handled; failures_handled; "
            "a: 40 raises, misreturns none, failed gives a?; "
            "b: never, late gives late, failed gives a?; "
            "c: 40 raises, misreturns none, failed raises own"
        ),
        (
            "timeout 80; handled; a: 40 gives a?, gives a?, late gives a?; "
            "b: never, late gives late; c: 40 raises, misreturns none"
        ),
    ),
    "what is repeated is still repeated": (
        Capability.FAILURE_HANDLER,
        ("failures_handled; retry on_error=some; a: raises, raises own, failed gives a?"),
        "retry on_error=some; a: raises, gives a?",
    ),
    "a function without callbacks answers once, from a thread or not": (
        Capability.CALLBACKS,
        "form callback; a: 40 gives a with thread twice",
        "a: 40 gives a with thread",
    ),
    "records and barriers are left, also of what is stored; what is carried along stays": (
        Capability.EVENT_TIME,
        "restore |1(c+~1); 0: a ~1 ~idle !1; 40: |2(~1)",
        "restore |1(c); 0: a; 40: |2(~1)",
    ),
    "nobody asks for a snapshot, and a crash goes on from the beginning": (
        Capability.SNAPSHOTS,
        "0: a ^1 |2; 40: b; requests 0 1; crashes 5",
        "0: a; 40: b; crashes 5",
    ),
    "what was stored is read first, and the run is not torn down": (
        Capability.RESTORE,
        "restore |1(c+~1); 40: b; crashes 5",
        "0: c ~1; 40: b",
    ),
    "everything is there at once, and so is the end": (
        Capability.TIMED_INPUT,
        "0: a; 40: b; source_ends_at 120",
        "0: a b",
    ),
    "only what is on demand goes": (
        Capability.ON_DEMAND_SNAPSHOT,
        "0: ^1 |2; requests 0 1",
        "0: ^1 |2",
    ),
}


@pytest.mark.parametrize("what", WITHOUT)
def test_without_a_capability_a_scenario_is_as_telling_as_it_was(what: str) -> None:
    capability, told, without = WITHOUT[what]

    assert capability.without(scenario_of(told)) == scenario_of(without)


def test_where_calls_can_not_be_cancelled_each_comes_to_an_end() -> None:
    scenario = scenario_of("a: never, 40 gives with blocks=80; company inside; unshielded")
    limited = scenario_of("timeout 40; a: never")

    assert Capability.CANCEL_CALLS.without(scenario) == scenario_of("a: 400 gives, 40 gives")
    assert Capability.CANCEL_CALLS.without(limited) is limited


def test_retries_may_be_had_without_limits_hints_and_chance() -> None:
    told = "40 raises RetryAfter with retry_after=200"
    calls = f"never, {told}, 80 gives, 40 gives"
    retry = "retry jitter=50 attempt_timeout=80"
    scenario = scenario_of(f"{retry}; a: {calls}")
    expected = {
        "attempt-timeout": f"retry jitter=50; a: 80 raises, {told}, 80 raises, 40 gives",
        "retry-after": f"{retry}; a: never, 40 raises, 80 gives, 40 gives",
        "jitter": f"retry attempt_timeout=80; a: {calls}",
    }
    for name, kept in expected.items():
        without = Capability(name).without(scenario)
        assert without == scenario_of(kept)
        assert Capability(name).without(without) is without


def test_who_declares_nothing_has_everything() -> None:
    assert declared() == ALL_CAPABILITIES
    assert declared(lacks=["timeouts"]) == ALL_CAPABILITIES - {"timeouts"}


def test_who_declares_profiles_has_no_others_and_no_part_of_others() -> None:
    of_the_core = {each for each in Capability if not each.is_profile and not each.part_of}

    assert declared(["ordered", "timeouts"]) == {"ordered", "timeouts", *of_the_core}
    assert {"virtual-time", "cancel-calls"} < of_the_core
    assert declared(["core", "ordered", "snapshots"], ["on-demand-snapshot"]) == declared(
        ["ordered"]
    ) | {"snapshots", "in-flight-snapshot"}


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
    assert declaration_from_json(line) == capabilities


@pytest.mark.parametrize("line", [b'{"trace": {}}', b'{"error": "no trace"}', b"{}"])
def test_an_answer_in_the_first_line_declares_nothing(line: bytes) -> None:
    assert declaration_from_json(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b"ready",
        b'{"profile": ["ordered"]}',
        b'{"profiles": ["\xff"]}',
        b'["ordered"]',
        b'{"profiles": "ordered"}',
    ],
)
def test_a_first_line_that_declares_nothing_sensible_is_refused(line: bytes) -> None:
    with pytest.raises(InvalidConfig, match=r'like \{"profiles": ') as caught:
        declaration_from_json(line)

    assert str(caught.value).endswith(str(caught.value.__cause__))
