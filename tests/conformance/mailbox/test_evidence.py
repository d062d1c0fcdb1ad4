"""Every rule of the mailbox has its evidence: an example and a check."""

from collections import Counter

import pytest
from msgspec.structs import replace

from asyncwait.conformance.mailbox import (
    MAILBOX_EXAMPLES,
    MailboxExample,
    judge_mailbox,
    notation_of,
    play_program,
    program,
    program_of,
)
from asyncwait.reference import MailboxProcessor
from asyncwait.spec.rules import mailbox_rules

each_example = pytest.mark.parametrize("example", MAILBOX_EXAMPLES, ids=lambda each: each.name)


def test_every_rule_has_an_example() -> None:
    assert {rule for each in MAILBOX_EXAMPLES for rule in each.rules} == set(mailbox_rules())


def test_names_of_examples_are_unique() -> None:
    names = Counter(example.name for example in MAILBOX_EXAMPLES)

    assert [name for name, count in names.items() if count > 1] == []


@each_example
def test_an_example_comes_back_from_its_notation(example: MailboxExample) -> None:
    assert program_of(notation_of(example.program)) == example.program


def test_what_can_not_be_read_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="is no step") as caught:
        program("execute:m execute!!m")

    assert str(caught.value) == "'execute!!m' is no step; see the notation"


def test_a_trace_that_nobody_can_have_seen_is_an_error_and_no_verdict() -> None:
    trace = play_program(program("execute:m"), MailboxProcessor, "asyncio")
    broken = replace(trace, events=trace.events[1:])

    assert judge_mailbox(broken).error == "reading the trace failed: KeyError: 1"
