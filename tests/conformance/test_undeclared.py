"""Profiles that are not declared are tried, and what passes is told."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import suite
from msgspec.structs import replace

from asyncwait.backends.reference import refusing
from asyncwait.conformance import stream_backend
from asyncwait.conformance._undeclared import TRIES, seemingly_there
from asyncwait.conformance._verify import Coverage, verify
from asyncwait.reference import open_operator
from asyncwait.spec import OpenOperator, OperatorConfig, Snapshot
from asyncwait.spec.scenario import PROFILES, Capability, Scenario, Trace, declared, needs

ORDERED = declared(["ordered"])
OTHERS = tuple(profile for profile in PROFILES if profile != Capability.ORDERED)


def ignoring(**settings: Any) -> OpenOperator:
    """The reference, deaf to some of its settings."""

    def open_deaf(
        config: OperatorConfig, fn: Any, elements: Any, restore: Snapshot | None = None
    ) -> AbstractAsyncContextManager[Any]:
        return open_operator(replace(config, **settings), fn, elements, restore)

    return open_deaf


def seems_there(operator: OpenOperator, profile: Capability) -> bool:
    """Whether an operator that declares all but a profile seems to have that, too."""
    return profile in seemingly_there(stream_backend(operator).run, declared(lacks=[profile]))


@pytest.mark.parametrize("batch", [False, True])
def test_an_operator_that_has_everything_is_told_so(*, batch: bool) -> None:
    asked: list[int] = []

    def play(scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        asked.append(len(scenarios))
        return stream_backend(open_operator).run(scenarios)

    assert seemingly_there(play, ORDERED, batch=batch) == OTHERS
    assert len(asked) == (1 if batch else TRIES)


def test_of_a_batch_only_what_fails_is_not_there() -> None:
    play = stream_backend(refusing(Capability.RETRY)).run
    expected = tuple(other for other in OTHERS if other != Capability.RETRY)
    assert seemingly_there(play, ORDERED, batch=True) == expected


@pytest.mark.sampled(5)
@pytest.mark.parametrize("lacked", OTHERS)
def test_what_is_refused_is_not_there(lacked: Capability) -> None:
    assert not seems_there(refusing(lacked), lacked)


@pytest.mark.parametrize(
    ("settings", "lacked"),
    [({"mode": "ordered"}, Capability.UNORDERED), ({"timeout": None}, Capability.TIMEOUTS)],
)
def test_what_is_ignored_is_not_there(settings: Any, lacked: Capability) -> None:
    assert not seems_there(ignoring(**settings), lacked)


def test_what_is_declared_is_not_tried() -> None:
    asked: list[Scenario] = []

    def play(scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        asked.extend(scenarios)
        return stream_backend(open_operator).run(scenarios)

    found = seemingly_there(play, declared(lacks=["restore"]))

    assert found == (Capability.RESTORE,)
    assert len(asked) == TRIES
    assert all(Capability.RESTORE in needs(scenario) for scenario in asked)


def test_the_verdict_tells_it_at_the_end_of_its_line() -> None:
    with suite.playing(suite.each_rule_once(ORDERED)):
        verdict = verify("partly:backend", Coverage(1))

    assert verdict.line.startswith("partly:backend: conformant: core, ordered (")
    assert verdict.line.endswith(f"; it seems to have {', '.join(OTHERS)}: declare them")


@pytest.mark.usefixtures("few_examples")
def test_nothing_is_tried_for_a_part_of_the_rules() -> None:
    verdict = verify("partly:backend", Coverage(1, rules=("ORD-1",)))

    assert verdict.line == "partly:backend: conformant: core, ordered as to ORD-1 (1 rule passes)"


@pytest.fixture(autouse=True)
def partly(outside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that declares less than its operator has."""
    outside.write(
        "partly.py",
        """
        from asyncwait.conformance import stream_backend
        from asyncwait.reference import open_operator


        def backend():
            return stream_backend(open_operator, profiles=["ordered"])
        """,
    )
    monkeypatch.syspath_prepend(outside.path)
