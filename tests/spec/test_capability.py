"""What a backend may lack, and what becomes of a scenario without it."""

from typing import Any

import pytest

from asyncwait.conformance.evidence import scenario_of
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
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
        *((answer, None) for answer in (b'{"trace": {}}', b'{"error": "no trace"}', b"{}")),
    ],
)
def test_a_program_declares_in_its_first_line(
    line: bytes, capabilities: frozenset[Capability] | None
) -> None:
    assert declaration_from_json(line) == capabilities


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
