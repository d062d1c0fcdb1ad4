"""Who declares a profile, or none at all, and lacks it is told what to declare."""

from pathlib import Path
from typing import Any

import pytest

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.report import rule_lines
from asyncwait.conformance.verdict import Verdict
from asyncwait.spec.scenario import PROFILES

SOME = Coverage(20, shrinks=False)

LACKING = """
from asyncwait.backends.reference import refusing
from asyncwait.conformance import stream_backend
from asyncwait.spec.scenario import Capability

lacking = refusing(Capability.EVENT_TIME)


def silent():
    return stream_backend(lacking)


def declares():
    return stream_backend(lacking, profiles=["ordered", "timeouts", "event-time"])


def refuses_retries():
    lacking = refusing(Capability.RETRY)
    return stream_backend(lacking, profiles=["ordered", "timeouts", "retry"])


def honest():
    return stream_backend(lacking, profiles=["ordered", "timeouts"])


def broken():
    return stream_backend(lambda *_: 1 / 0)
"""


@pytest.fixture(autouse=True)
def lacking(outside: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with an operator that has never heard of watermarks."""
    monkeypatch.syspath_prepend(outside.path)
    return outside.write("lacking.py", LACKING)


def notes(verdict: Verdict) -> set[str]:
    """Return what is noted beside failures."""
    return {result.note for result in verdict.failed if result.note}


def test_a_profile_that_check_arguments_may_refuse_is_told_with_the_way_to_have_it() -> None:
    told = notes(verify("lacking:refuses_retries", SOME))
    way = '; if it has, `check_arguments(..., "retry")` lets it be asked for'
    assert any(note.endswith(f"leave out retry{way}") for note in told)


def test_who_declares_nothing_and_fails_at_a_watermark_is_told_to_declare() -> None:
    verdict = verify("lacking:silent", SOME)

    advice = (
        "  note: next to no scenario with event-time holds; without `profiles` a backend is held "
        "to all of them: if the operator does not have that, declare the profiles that it has, "
        "and leave out event-time"
    )
    assert verdict.capabilities.issuperset(PROFILES)
    assert advice in list(rule_lines(verdict.backend, verdict.failed[0]))
    assert verdict.line.endswith("; it seems to lack event-time: declare the profiles that it has")


def test_who_declares_what_is_not_there_is_told_to_leave_it_out() -> None:
    verdict = verify("lacking:declares", SOME)

    (note,) = notes(verdict)
    assert note == (
        "next to no scenario with event-time holds: if the operator does not have that, declare "
        "the profiles that it has, and leave out event-time"
    )


def test_who_declares_what_is_there_is_told_nothing() -> None:
    verdict = verify("lacking:honest", SOME)

    assert (verdict.failed, verdict.lacks) == ((), ())


@pytest.mark.parametrize(
    "name",
    [
        "lacking:broken",  # in the core, first of all
        "faulty-lets-statuses-cancel-each-other",
    ],
)
def test_a_bug_is_taken_for_no_lack(name: str) -> None:
    verdict = verify(name, SOME)

    assert verdict.failed
    assert (verdict.lacks, notes(verdict)) == ((), set())
