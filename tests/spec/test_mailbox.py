"""The book of rules of the task mailbox, and programs and traces as data."""

import re
from importlib import resources

import pytest
from msgspec.structs import replace

from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.mailbox import MailboxClosedError
from asyncwait.spec.mailbox.program import Post, Program, Step
from asyncwait.spec.rules import mailbox_rules

FLINK_ID = re.compile(r"\b(?!FLINK|MBX)[A-Z]{2}-\d+")


def test_every_source_is_explained() -> None:
    sources = resources.files("asyncwait.spec.rules").joinpath("mailbox", "sources.md")
    rows = re.findall(r"^\| ([A-Z]+-\d+) \|", sources.read_text(encoding="utf-8"), re.MULTILINE)
    cited = {found for rule in mailbox_rules().values() for found in FLINK_ID.findall(rule.source)}

    assert len(rows) == len(set(rows))
    assert cited - set(rows) == set()


def test_a_closed_mailbox_is_an_error_of_ours_and_a_runtime_error() -> None:
    assert issubclass(MailboxClosedError, AsyncWaitError)
    assert issubclass(MailboxClosedError, RuntimeError)


PROGRAM = Program(
    (
        Step("execute", "a", Post("m", 2, urgent=True, does=(Step("execute", mail=Post("n")),))),
        Step("exclusively", within=(Step("has_mail"),)),
        Step("take", priority=1),
    ),
    action=((Step("suspend_action"),),),
)


SEND = Step("execute", mail=Post("m"))


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ((replace(SEND, by="x"),), "^by .* got 'x'"),
        ((Step("submit"),), "^submit needs a mail"),
        ((SEND, replace(SEND, does="submit")), "of its own: m$"),
        ((Step("execute", mail=Post("m", does=(Step("take"),))),), "wait: take$"),
    ],
    ids=["by", "mail", "name", "wait"],
)
def test_a_program_that_can_not_be_played_is_refused(steps: tuple[Step, ...], told: str) -> None:
    with pytest.raises(InvalidConfig, match=told):
        Program(steps)


def test_what_needs_threads_is_seen_from_the_steps() -> None:
    assert PROGRAM.needs_threads is False
    assert Program((Step("close", "a"),)).needs_threads is True
    inner = (Step("execute", "b", Post("m")),)
    assert Program((Step("exclusively", within=inner),)).needs_threads is True
