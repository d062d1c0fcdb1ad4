"""Mailbox, executor and processor, as far as no program of the mailbox suite goes.

That is threads that come where they must not, a loop that is gone, and what errors say.
"""

import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import pytest

from asyncwait.reference import (
    MAIN,
    OPERATOR,
    Mail,
    MailboxClosedError,
    MailboxExecutor,
    MailboxProcessor,
    TaskMailbox,
)
from asyncwait.spec.mailbox import Controller, Loop
from asyncwait.toolkit import running_loop


@pytest.fixture
def mailbox() -> TaskMailbox:
    """A mailbox with a mail in it, whose taker never waits, so it needs no loop."""
    filled = TaskMailbox(Loop(lambda: 0.0, lambda function: function(), None))
    filled.put(Mail(nothing))
    return filled


def nothing() -> None:
    """Do nothing."""


def never(_: Controller) -> None:
    """Fail: this action must not run."""
    pytest.fail("the default action ran")


def in_thread(function: Callable[[], Any]) -> str:
    raised: list[str] = []

    def run() -> None:
        try:
            function()
        except RuntimeError as error:
            raised.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return "".join(raised)


def test_what_is_not_open_says_what_is_needed(mailbox: TaskMailbox) -> None:
    def refused(action: Callable[[], object]) -> str:
        with pytest.raises(MailboxClosedError) as caught:
            action()
        return str(caught.value)

    taking = "taking a mail needs a mailbox that is open or quiesced, this one is closed"
    putting = "putting a mail needs a mailbox that is open, this one is "
    mailbox.quiesce()
    assert refused(lambda: mailbox.put(Mail(nothing))) == f"{putting}quiesced"
    mailbox.close()
    assert refused(lambda: mailbox.put(Mail(nothing))) == f"{putting}closed"
    assert refused(lambda: mailbox.try_take(MAIN)) == taking
    assert refused(mailbox.try_take_from_batch) == taking


@pytest.mark.anyio
async def test_a_second_taker_is_refused_while_one_waits() -> None:
    mailbox = TaskMailbox(running_loop())
    mail = Mail(nothing)
    taken: list[Mail] = []

    async def take() -> None:
        taken.append(await mailbox.take(MAIN))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        await anyio.sleep(1)
        with pytest.raises(RuntimeError, match=r"^another task waits for a mail already; a mail"):
            await mailbox.take(MAIN)
        in_thread(lambda: mailbox.put(mail))

    assert taken == [mail]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_mail_to_a_loop_that_is_closed_wakes_nobody_and_raises_nothing(backend: str) -> None:
    async def make() -> TaskMailbox:
        return TaskMailbox(running_loop())

    mailbox = anyio.run(make, backend=backend)

    assert in_thread(lambda: mailbox.put(Mail(nothing))) == ""
    assert len(mailbox) == 1


def test_what_is_for_the_whole_program_is_in_the_future_and_passes(mailbox: TaskMailbox) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    executor = MailboxExecutor(mailbox, OPERATOR)
    executor.try_run_one()
    future = executor.submit(interrupt)

    with pytest.raises(KeyboardInterrupt):
        executor.try_run_one()
    assert isinstance(future.exception(0), KeyboardInterrupt)


def test_a_priority_below_that_of_the_main_loop_is_refused(mailbox: TaskMailbox) -> None:
    with pytest.raises(ValueError, match=r"^priority must be -1 \(MAIN\) or more, got -2$"):
        MailboxExecutor(mailbox, -2)


@pytest.mark.anyio
async def test_what_suspends_or_runs_too_late_or_elsewhere_is_told() -> None:
    processor = MailboxProcessor(running_loop(), never)

    with pytest.raises(RuntimeError, match=r"^the default action is suspended in the thread of"):
        await anyio.to_thread.run_sync(processor.suspend_default_action)
    processor.suspend_default_action()
    with pytest.raises(RuntimeError, match=r"^the default action is suspended already; resume t"):
        processor.suspend_default_action()
    processor.mailbox.close()
    with pytest.raises(MailboxClosedError, match=r"^running needs a mailbox that is open, this"):
        await processor.run()
