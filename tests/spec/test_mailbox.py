"""The book of rules of the task mailbox, and programs and traces as data."""

import re
from importlib import resources

import pytest
from msgspec.structs import replace

from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.mailbox import MailboxClosedError
from asyncwait.spec.mailbox.program import (
    FutureSeen,
    MailboxTrace,
    Post,
    Program,
    Seen,
    Step,
    mailbox_trace_from_json,
    mailbox_trace_to_json,
    program_from_json,
    program_id,
    program_to_json,
    require_program,
)
from asyncwait.spec.rules import mailbox_rules

FLINK_ID = re.compile(r"\b(?!FLINK|MBX)[A-Z]{2}-\d+")


def test_the_rules_of_the_mailbox_are_many_and_of_one_area() -> None:
    """Numbers go up by one: the registry's parser sees to that, as for any chapter."""
    assert list(mailbox_rules()) == [f"MBX-{number}" for number in range(1, 65)]


def test_every_source_is_explained() -> None:
    """And nothing else is."""
    sources = resources.files("asyncwait.spec.rules").joinpath("mailbox", "sources.md")
    rows = re.findall(r"^\| ([A-Z]+-\d+) \|", sources.read_text(encoding="utf-8"), re.MULTILINE)
    cited = {found for rule in mailbox_rules().values() for found in FLINK_ID.findall(rule.source)}

    assert len(rows) == len(set(rows))
    assert cited - set(rows) == set()


def test_a_closed_mailbox_is_an_error_of_ours_and_a_runtime_error() -> None:
    """Whoever knows neither catches it all the same."""
    assert issubclass(MailboxClosedError, AsyncWaitError)
    assert issubclass(MailboxClosedError, RuntimeError)


PROGRAM = Program(
    (
        Step("execute", "a", Post("m", 2, urgent=True, does=(Step("execute", mail=Post("n")),))),
        Step("exclusively", within=(Step("count"),)),
        Step("take", priority=1),
    ),
    action=((Step("suspend_action"),),),
)


def test_a_program_comes_back_from_its_json() -> None:
    """What stands at its default is left out."""
    data = program_to_json(PROGRAM)

    assert program_from_json(data) == PROGRAM
    assert data.startswith(b'{"steps":[{"does":"execute","by":"a","mail":{"name":"m","priority":2')
    assert program_id(PROGRAM) == program_id(program_from_json(data))


def test_a_trace_comes_back_from_its_json() -> None:
    """With what it saw of futures."""
    seen = (Seen("begin", of=1, step=Step("take")), Seen("end", of=1, mails=("m",)))
    trace = MailboxTrace(seen, (FutureSeen("m", "pending"),), "spins")

    assert mailbox_trace_from_json(mailbox_trace_to_json(trace)) == trace


SEND = Step("execute", mail=Post("m"))


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ((replace(SEND, by="x"),), "^by .* got 'x'"),
        ((Step("submit"),), "^submit needs a mail"),
        ((SEND, replace(SEND, does="submit")), "unique.*: m$"),
        ((Step("execute", mail=Post("m", does=(Step("take"),))),), "not take$"),
    ],
    ids=["by", "mail", "name", "wait"],
)
def test_a_program_that_can_not_be_played_is_refused(steps: tuple[Step, ...], told: str) -> None:
    """The message says what to change."""
    with pytest.raises(InvalidConfig, match=told):
        require_program(Program(steps))


def test_what_is_no_program_is_refused() -> None:
    """JSON of something else, or none."""
    with pytest.raises(InvalidConfig, match="the program breaks its schema: "):
        program_from_json(b'{"steps": [{"does": "fly"}]}')
    with pytest.raises(InvalidConfig, match="the trace breaks its schema: "):
        mailbox_trace_from_json(b"[")


def test_what_needs_threads_is_seen_from_the_steps() -> None:
    """Somebody else does what is the owner's, or comes into a section."""
    assert PROGRAM.needs_threads is False
    assert Program((Step("close", "a"),)).needs_threads is True
    inner = (Step("execute", "b", Post("m")),)
    assert Program((Step("exclusively", within=inner),)).needs_threads is True
