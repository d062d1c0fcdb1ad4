"""The gallery of mailboxes: what is faulty is convicted by its rule."""

import inspect

import pytest

from asyncwait.backends.faulty.mailbox import FAULTY_MAILBOXES, FaultyMailbox
from asyncwait.conformance.mailbox import (
    MailboxCase,
    judge_mailbox,
    mailbox_cases,
    play_program,
)
from asyncwait.conformance.mailbox._examples import MAILBOX_EXAMPLES
from asyncwait.spec.rules import mailbox_rules

MOST_LINES = 20
FEWEST = 35

each_faulty = pytest.mark.parametrize("faulty", FAULTY_MAILBOXES, ids=lambda each: each.name)


@each_faulty
def test_an_example_convicts_it_by_its_rule(faulty: FaultyMailbox) -> None:
    about = {example.name for example in MAILBOX_EXAMPLES if faulty.rule in example.rules}
    cases = [case for case in mailbox_cases(0) if case.name in about]

    assert any(breaks(faulty, case) for case in cases), f"{faulty.rule} holds in all its examples"


def breaks(faulty: FaultyMailbox, case: MailboxCase) -> bool:
    trace = play_program(case.program, faulty.open_processor, case.stage)
    return faulty.rule in judge_mailbox(trace).broken


def test_every_rule_convicts_one() -> None:
    assert {faulty.rule for faulty in FAULTY_MAILBOXES} == set(mailbox_rules())
    assert len(FAULTY_MAILBOXES) >= FEWEST


def test_names_are_unique() -> None:
    names = [faulty.name for faulty in FAULTY_MAILBOXES]

    assert len(set(names)) == len(names)


@each_faulty
def test_it_is_one_small_change_that_says_what_it_is(faulty: FaultyMailbox) -> None:
    methods = [
        name
        for name, value in vars(faulty.change).items()
        if callable(value) or isinstance(value, property)
    ]
    lines = inspect.getsource(faulty.change).splitlines()

    assert [name for name in methods if name.startswith("_") and name[:2] != "__"] == []
    assert len([name for name in methods if name != "__init__"]) <= 1
    assert len(lines) <= MOST_LINES
    assert faulty.sentence.endswith(".")
