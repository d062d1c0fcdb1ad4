"""Generated programs: the same for the same seed, and no sound mailbox is convicted by one."""

import pytest
from odd.mailbox import SortsItsInbox
from sample import some

from asyncwait.backends.faulty.mailbox import processor_with
from asyncwait.conformance.mailbox import (
    judge_mailbox,
    mailbox_plans,
    play_program,
    random_programs,
)
from asyncwait.reference import MailboxProcessor
from asyncwait.spec.mailbox import OpenProcessor
from asyncwait.spec.mailbox.program import STAGES, Stage
from asyncwait.spec.rules import mailbox_rules

COUNT = 1_000
FEW = 150

sampled = pytest.mark.sampled
each_stage = pytest.mark.parametrize("stage", STAGES)


def convicted(opened: OpenProcessor, count: int, stage: Stage, seed: int = 0) -> list[object]:
    wrong: list[object] = []
    for program in some(list(random_programs(count, seed)), 5, f"programs {stage} {seed}"):
        trace = play_program(program, opened, stage)
        judged = judge_mailbox(trace)
        errors = [found.error for found in judged.by_rule.values() if found.error]
        if trace.ending != "whole" or judged.broken or errors:
            wrong.append((program, trace.ending, judged.broken, errors))
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
    for program in random_programs(COUNT, 1):
        judged = judge_mailbox(play_program(program, MailboxProcessor, "asyncio"))
        applied |= {rule for rule, found in judged.by_rule.items() if found.applied}

    assert set(mailbox_rules()) - applied <= {"MBX-12", "MBX-13", "MBX-31", "MBX-41", "MBX-60"}
