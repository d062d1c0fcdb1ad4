"""The player: steps in their order, who does them, and how it ends."""

import threading

import pytest

from asyncwait.conformance.mailbox import play_program, program, trace_lines
from asyncwait.reference import MailboxProcessor
from asyncwait.spec.mailbox import DefaultAction, Loop, Processor
from asyncwait.spec.mailbox.program import STAGES, Stage

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
