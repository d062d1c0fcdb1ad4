"""What a backend declares, and what that takes out of a scenario."""

from typing import Any

import pytest

from asyncwait.conformance import Backend, stream_backend
from asyncwait.conformance.running import (
    UnknownBackend,
    adapted,
    known_backends,
    load_backend,
    shipped_backends,
)
from asyncwait.reference import open_operator
from asyncwait.spec import InvalidConfig, Record
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
    Scenario,
    SnapshotRequest,
    Timed,
)

TIMED = Scenario(
    inputs=(Timed(0, Record("a")), Timed(80, Record("b"))),
    source_ends_at=120,
    requests=(SnapshotRequest(40, 1),),
)


def test_a_backend_can_do_everything_unless_it_says_otherwise() -> None:
    """Capabilities are taken away by name."""
    backend = stream_backend(open_operator)

    assert isinstance(backend, Backend)
    assert backend.capabilities == ALL_CAPABILITIES
    assert (backend.loop, backend.exceptions, backend.in_child) == ("asyncio", {}, True)


def test_what_a_backend_lacks_is_taken_away() -> None:
    """By the capability, or by its text."""
    backend = stream_backend(open_operator, lacks=[Capability.TIMED_INPUT, "cancel-calls"])

    assert ALL_CAPABILITIES - backend.capabilities == {"timed-input", "cancel-calls"}


def test_draining_at_barriers_is_the_lack_of_an_ability() -> None:
    """It has a name of its own because so many operators do it."""
    backend = stream_backend(open_operator, drains_at_barrier=True)

    assert ALL_CAPABILITIES - backend.capabilities == {Capability.IN_FLIGHT_SNAPSHOT}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"open_operator": 7}, "open_operator must be callable, got 7 (int)"),
        ({"loop": "uvloop"}, "loop must be 'asyncio' or 'trio', got 'uvloop' (str)"),
        (
            {"lacks": ["speed"]},
            f"lacks must be among {', '.join(sorted(ALL_CAPABILITIES))}, got 'speed' (str)",
        ),
    ],
)
def test_wrong_arguments_are_refused(changes: dict[str, Any], said: str) -> None:
    """With the name, what was expected, and what came."""
    arguments: dict[str, Any] = {"open_operator": open_operator, **changes}

    with pytest.raises(InvalidConfig) as caught:
        stream_backend(**arguments)

    assert str(caught.value) == said


def test_the_shipped_backends_are_registered() -> None:
    """One by one; the faulty ones are a family and are only named on demand."""
    names = ["pool-asyncio", "pool-trio", "reference-asyncio", "reference-trio", "spark"]

    assert set(names) <= set(shipped_backends())
    assert not [name for name in shipped_backends() if name.startswith("faulty-")]
    assert [name for name in known_backends() if name.startswith("faulty-")]


def test_an_unknown_name_is_an_error_of_ours() -> None:
    """Whoever loads backends can catch it."""
    with pytest.raises(UnknownBackend, match=r"^no backend is named 'x'; known: "):
        load_backend("x")


def test_an_able_backend_gets_the_scenario_as_it_is() -> None:
    """The very same."""
    assert adapted(TIMED, ALL_CAPABILITIES) is TIMED


def test_without_snapshots_on_demand_none_is_requested() -> None:
    """The rest of the scenario is played."""
    fitting = adapted(TIMED, ALL_CAPABILITIES - {Capability.ON_DEMAND_SNAPSHOT})

    assert (fitting.requests, fitting.inputs) == ((), TIMED.inputs)


def test_without_timed_input_everything_is_there_at_once() -> None:
    """And so is the end."""
    fitting = adapted(TIMED, ALL_CAPABILITIES - {Capability.TIMED_INPUT})

    assert [timed.at for timed in fitting.inputs] == [0, 0]
    assert [timed.element for timed in fitting.inputs] == [Record("a"), Record("b")]
    assert fitting.source_ends_at == 0
