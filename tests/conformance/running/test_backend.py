"""What a backend declares, what that takes out of a scenario, and what is no operator."""

import sys
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import pytest
from odd import ODD
from sample import some

from asyncwait.backends.faulty import FAULTY, Variation
from asyncwait.conformance import Lacks, StreamBackend, stream_backend
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.running import (
    UnknownBackend,
    adapted,
    load_backend,
)
from asyncwait.conformance.running._child import probe
from asyncwait.reference import open_operator
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    PROFILES,
    Capability,
    Scenario,
    declared,
    needs,
    scenarios_from_json,
    scenarios_to_json,
)

PARTIAL = {
    **{f"all-but-{lacked}": declared(lacks=[lacked]) for lacked in Capability},
    **{f"core-{mode}": declared([mode]) for mode in ("ordered", "unordered")},
}


@pytest.fixture(scope="module")
def many(quick_scenarios: tuple[Scenario, ...]) -> tuple[Scenario, ...]:
    every = (*(example.scenario for example in EXAMPLES), *quick_scenarios)
    return tuple(some(every, 4, "adapted"))


def test_an_able_backend_gets_each_scenario_as_it_is(many: tuple[Scenario, ...]) -> None:
    assert all(adapted(scenario, ALL_CAPABILITIES) is scenario for scenario in many)


@pytest.mark.parametrize("capabilities", PARTIAL.values(), ids=PARTIAL)
def test_an_adapted_scenario_needs_nothing_that_is_missing(
    many: tuple[Scenario, ...], capabilities: frozenset[Capability]
) -> None:
    possible = [scenario for scenario in many if needs(scenario) <= capabilities]
    fitting = tuple(adapted(scenario, capabilities) for scenario in many)

    assert [scenario for scenario in fitting if not needs(scenario) <= capabilities] == []
    assert possible
    assert all(adapted(each, capabilities) is each for each in (*possible, *fitting))
    assert scenarios_from_json(scenarios_to_json(fitting)) == fitting


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_is_needed_by_some_examples(profile: Capability) -> None:
    needing = [e.name for e in EXAMPLES if profile in needs(e.scenario)]

    assert len(needing) >= 8


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


async def coroutine(*arguments: Any) -> Any:
    return open_operator(*arguments)


async def iterator(*arguments: Any) -> AsyncIterator[Any]:
    async with open_operator(*arguments) as results:
        async for element in results:
            yield element


def three(config: Any, fn: Any, elements: Any) -> Any:
    return open_operator(config, fn, elements)


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (coroutine, "expected an async context manager"),
        (iterator, "expected an async context manager"),
        (three, "open_operator(config, fn, elements, restore)"),
    ],
)
def test_what_is_no_operator_is_refused(adapter: Any, said: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        probe(stream_backend(adapter))

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("variation", [*FAULTY, *ODD], ids=lambda each: each.name)
def test_an_operator_that_is_wrong_is_one(variation: Variation) -> None:
    probe(variation.backend())
