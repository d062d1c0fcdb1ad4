"""What a backend declares, and what that takes out of a scenario."""

import sys
from types import ModuleType
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from asyncwait.conformance import Lacks, StreamBackend, stream_backend
from asyncwait.conformance.harness import play
from asyncwait.conformance.running import (
    UnknownBackend,
    load_backend,
)
from asyncwait.conformance.running._served import MOST_TEXT, checked
from asyncwait.reference import open_operator
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import (
    PROFILES,
    Capability,
    Misuse,
    Scenario,
    Trace,
    declared,
)

HINT = "; did you mean 'ordered'?"


MAPPING = "must be a mapping of ids of rules to reasons, like {'END-4': 'the reason'}"
LACKS = "{'copies': Lacks('not yet', 'with 2.0')}"
SET = "must be a set of capabilities; see asyncwait.spec.scenario.declared"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"open_operator": 7}, "open_operator must be callable, got 7 (int)"),
        ({"loop": "uvloop"}, "loop must be 'asyncio' or 'trio', got 'uvloop' (str)"),
        (
            {"profiles": ["ordred"]},
            f"profiles must be among core, {', '.join(PROFILES)}, got 'ordred' (str){HINT}",
        ),
        (
            {"lacks": ["speed"]},
            f"lacks must be among {', '.join(Capability)}, got 'speed' (str)",
        ),
        ({"expected_failures": ["END-4"]}, f"expected_failures {MAPPING}, got ['END-4'] (list)"),
        (
            {"expected_failures": {"ORD-1": 7}},
            f"expected_failures {MAPPING}, got {{'ORD-1': 7}} (dict)",
        ),
        ({"spec": 0.1}, "version must be two numbers, like '0.1', got 0.1 (float)"),
        ({"spec": "new"}, "version must be two numbers, like '0.1', got 'new' (str)"),
        (
            {"lacks": {"copies": "soon"}},
            f"lacks['copies'] must be a Lacks, like {LACKS}, got 'soon' (str)",
        ),
    ],
)
def test_wrong_arguments_are_refused(changes: dict[str, Any], said: str) -> None:
    arguments: dict[str, Any] = {"open_operator": open_operator, **changes}

    with pytest.raises(InvalidConfig) as caught:
        stream_backend(**arguments)

    assert str(caught.value) == said


def test_what_is_lacked_may_say_how_far_away_it_is() -> None:
    lacks = {"copies": Lacks("not yet", "with 2.0"), "retry": Lacks("impossible")}

    backend = stream_backend(open_operator, lacks=lacks)

    assert backend.capabilities == declared(lacks=["copies", "retry"])
    assert backend.lacking == lacks


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"capabilities": None}, f"capabilities {SET}, got None (NoneType)"),
        ({"capabilities": {"speed"}}, f"capabilities {SET}, got {{'speed'}} (set)"),
        ({"expected_failures": None}, f"expected_failures {MAPPING}, got None (NoneType)"),
    ],
)
def test_a_backend_that_declares_nonsense_is_refused(
    changes: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments: dict[str, Any] = {"open_operator": open_operator, **changes}
    module = ModuleType("nonsense")
    module.backend = lambda: StreamBackend(**arguments)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nonsense", module)

    with pytest.raises(UnknownBackend) as caught:
        load_backend("nonsense:backend")

    assert str(caught.value) == f"backend 'nonsense:backend': {said}"


def test_a_text_of_megabytes_is_cut_before_a_trace_is_kept() -> None:
    (leg,) = play(open_operator, Scenario()).legs
    text = "x" * 10**7
    ending = replace(leg.ending, detail=text, traceback=text)
    events = (*leg.events, Misuse(leg.ending.at, "copied", text))
    run = checked(Scenario(), Trace((replace(leg, ending=ending, events=events, refused=text),)))

    assert isinstance(run, Trace)
    assert len(msgspec.json.encode(run)) < 5 * MOST_TEXT
