"""The last line of a verdict names profiles that are declared and lacked, or the reverse."""

from functools import partial
from typing import Any

import pytest
import suite
from msgspec.structs import replace

from asyncwait.backends.reference import refusing
from asyncwait.conformance import stream_backend
from asyncwait.conformance._profile_hints import seemingly_there
from asyncwait.conformance._verify import Coverage, verify
from asyncwait.reference import open_operator
from asyncwait.spec import OpenOperator, OperatorConfig
from asyncwait.spec.scenario import PROFILES, Capability, declared

OTHERS = tuple(profile for profile in PROFILES if profile != Capability.ORDERED)

MODULE = """
from asyncwait.backends.reference import refusing
from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import Capability

lacking = refusing(Capability.EVENT_TIME)
silent = lambda: stream_backend(lacking)
declares = lambda: stream_backend(lacking, profiles=["ordered", "timeouts", "event-time"])
honest = lambda: stream_backend(lacking, profiles=["ordered", "timeouts"])
broken = lambda: stream_backend(lambda *_: 1 / 0)
modest = lambda: stream_backend(open_operator, profiles=["ordered"])
"""


@pytest.fixture(autouse=True)
def module(outside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(outside.path)
    outside.write("hinted.py", MODULE)


@pytest.mark.parametrize(
    ("name", "lacks"),
    [
        ("hinted:silent", "event-time"),
        ("hinted:declares", "event-time"),
        ("hinted:honest", ""),
        ("hinted:broken", ""),  # in the core, first of all
        ("faulty-lets-statuses-cancel-each-other", ""),
    ],
)
def test_the_verdict_names_a_profile_that_is_declared_and_lacked(name: str, lacks: str) -> None:
    verdict = verify(name, Coverage(20, shrinks=False))

    hint = f"; it seems to lack {lacks}: name it in `lacks`"
    assert verdict.line.endswith(hint) if lacks else not verdict.lacks
    assert bool(verdict.failed) == (name != "hinted:honest")


def test_the_verdict_names_profiles_that_are_there_and_not_declared() -> None:
    with suite.playing(suite.each_rule_once(declared(["ordered"]))):
        line = verify("hinted:modest", Coverage(1)).line
    assert line.endswith(f"; it seems to have {', '.join(OTHERS)}: declare them")


def ignoring(config: OperatorConfig, *arguments: Any, settings: Any) -> Any:
    return open_operator(replace(config, **settings), *arguments)


@pytest.mark.parametrize(
    ("operator", "lacked"),
    [
        *((refusing(lacked), lacked) for lacked in OTHERS),
        (partial(ignoring, settings={"mode": "ordered"}), Capability.UNORDERED),
        (partial(ignoring, settings={"timeout": None}), Capability.TIMEOUTS),
    ],
)
def test_what_is_refused_or_ignored_is_not_there(operator: OpenOperator, lacked: str) -> None:
    assert not [*seemingly_there(stream_backend(operator).run, declared(lacks=[lacked]))]
