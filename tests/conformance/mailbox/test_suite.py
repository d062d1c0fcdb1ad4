"""The suite of the mailbox: evidence of each rule, the player, and generated programs."""

import threading
from collections import Counter

import pytest
from msgspec.structs import replace
from odd.mailbox import SortsItsInbox
from sample import some

from asyncwait.backends.faulty.mailbox import processor_with
from asyncwait.conformance.mailbox import (
    MAILBOX_EXAMPLES,
    MailboxExample,
    judge_mailbox,
    mailbox_plans,
    notation_of,
    play_program,
    program,
    program_of,
    random_programs,
    trace_lines,
)
from asyncwait.reference import MailboxProcessor
from asyncwait.spec.mailbox import DefaultAction, Loop, OpenProcessor, Processor
from asyncwait.spec.mailbox.program import STAGES, Stage
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


each_stage = pytest.mark.parametrize("stage", STAGES)


@each_stage
def test_a_trace_reads_like_the_program(stage: Stage) -> None:
    trace = play_program(program("take a.execute:m"), MailboxProcessor, stage)

    assert list(trace_lines(trace)) == [
        "   0  owner  take",
        "   1  owner    take waits",
        "   2  a      execute:m",
        "   3  a      execute ended",
        "   4  owner    run m",
        "   5  owner    ran m",
        "   6  owner  take gave m",
        "   7  owner  close",
        "   8  owner  close ended",
    ]


def test_senders_are_threads_where_there_are_some() -> None:
    seen: dict[str, set[bool]] = {}

    def opened(stage: Stage) -> None:
        class Watching(MailboxProcessor):
            def suspend(self) -> None:
                is_main = threading.current_thread() is threading.main_thread()
                seen.setdefault(stage, set()).add(is_main)

        play_program(program("a.suspend b.suspend"), Watching, stage)

    for stage in STAGES:
        opened(stage)

    assert seen == {"asyncio": {True}, "trio": {True}, "threads": {False}}


@each_stage
def test_what_goes_round_in_circles_is_ended(stage: Stage) -> None:
    class SendsForEver(MailboxProcessor):
        def all_actions_completed(self) -> None:
            """Never."""

    trace = play_program(program("run"), SendsForEver, stage)

    assert trace.ending == "spins"


def test_a_mailbox_that_can_not_be_opened_is_no_verdict() -> None:
    def refuse(_: Loop, __: DefaultAction) -> Processor:
        raise ValueError("not today")

    ending = play_program(program("take"), refuse, "asyncio").ending

    assert ending.startswith("broken: ValueError: not today")


COUNT = 1_000
FEW = 150

sampled = pytest.mark.sampled


def convicted(opened: OpenProcessor, count: int, stage: Stage, seed: int = 0) -> list[object]:
    wrong: list[object] = []
    for drawn in some(list(random_programs(count, seed)), 5, f"programs {stage} {seed}"):
        trace = play_program(drawn, opened, stage)
        judged = judge_mailbox(trace)
        errors = [found.error for found in judged.by_rule.values() if found.error]
        if trace.ending != "whole" or judged.broken or errors:
            wrong.append((drawn, trace.ending, judged.broken, errors))
    return wrong


@sampled
@each_stage
def test_the_reference_is_never_convicted(stage: Stage) -> None:
    assert convicted(MailboxProcessor, COUNT, stage) == []


@sampled
@each_stage
def test_a_sound_mailbox_of_another_design_is_never_convicted(stage: Stage) -> None:
    sound = processor_with(SortsItsInbox)
    examples = [
        judge_mailbox(play_program(plan.program, sound, stage)).broken
        for _, plan, _ in mailbox_plans(0, stages=[stage])
    ]

    assert [found for found in examples if found] == []
    assert convicted(sound, FEW, stage, seed=1) == []


def test_the_same_seed_gives_the_same_programs() -> None:
    first, again, other = (list(random_programs(20, seed)) for seed in (5, 5, 6))

    assert first == again
    assert first != other


def test_most_rules_apply_to_generated_programs() -> None:
    applied: set[str] = set()
    for drawn in random_programs(COUNT, 1):
        judged = judge_mailbox(play_program(drawn, MailboxProcessor, "asyncio"))
        applied |= {rule for rule, found in judged.by_rule.items() if found.applied}

    assert set(mailbox_rules()) - applied <= {"MBX-12", "MBX-13", "MBX-31", "MBX-41"}
