"""The loop of a mailbox, round by round, and its executors."""

import threading
from typing import Any

import anyio
import pytest

from asyncwait.reference import (
    MAIN,
    OPERATOR,
    MailboxClosedError,
    MailboxExecutor,
    MailboxProcessor,
    MailboxState,
    TaskMailbox,
)
from asyncwait.spec.mailbox import Controller, DefaultAction, Loop, MailboxMetrics, Suspension
from asyncwait.toolkit import running_loop

pytestmark = pytest.mark.anyio


def open_processor(action: DefaultAction) -> MailboxProcessor:
    """Open one for the running task."""
    return MailboxProcessor(running_loop(), action)


def never(_: Controller) -> None:
    """Fail: this action must not run."""
    pytest.fail("the default action ran")


class Counted:
    """A default action that completes its loop when it has run so many times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.runs = 0

    def __call__(self, controller: Controller) -> None:
        """Count, and end the loop in time."""
        self.runs += 1
        if self.runs == self.times:
            controller.all_actions_completed()


async def test_the_default_action_runs_until_all_is_completed() -> None:
    """A completed loop never runs again."""
    action = Counted(3)
    processor = open_processor(action)

    await processor.run()
    await processor.run()

    assert action.runs == 3


async def test_a_coroutine_function_is_awaited_as_default_action() -> None:
    """Input is read by one."""
    times: list[float] = []

    async def act(controller: Controller) -> None:
        await anyio.sleep(1)
        times.append(anyio.current_time())
        controller.all_actions_completed()

    await open_processor(act).run()

    assert times == [1.0]


async def test_a_mail_that_sends_itself_again_runs_once_in_each_round() -> None:
    """Neither mails nor the default action wait for ever (FLINK-14304)."""
    action = Counted(3)
    processor = open_processor(action)
    runs: list[int] = []

    def again() -> None:
        runs.append(action.runs)
        processor.executor(MAIN).execute(again)

    again()
    await processor.run()

    assert runs == [0, 0, 1, 2]


async def test_a_suspended_action_does_not_run_until_another_thread_resumes_it() -> None:
    """Mails run meanwhile (FLINK-23220)."""
    log: list[str] = []
    suspensions: list[Suspension] = []

    def act(controller: Controller) -> None:
        log.append("action")
        if suspensions:
            controller.all_actions_completed()
            return
        suspensions.append(controller.suspend_default_action())
        executor.execute(lambda: log.append("mail"))
        executor.execute(threading.Thread(target=suspensions[0].resume).start)

    processor = open_processor(act)
    executor = processor.executor(OPERATOR)
    await processor.run()

    assert log == ["action", "mail", "action"]


async def test_another_task_of_the_loop_resumes_the_action_too() -> None:
    """The loop waits for a mail then, and must notice."""
    suspensions: list[Suspension] = []

    def act(controller: Controller) -> None:
        if suspensions:
            controller.all_actions_completed()
        else:
            suspensions.append(controller.suspend_default_action())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(open_processor(act).run)
        await anyio.sleep(1)
        suspensions[0].resume()

    assert anyio.current_time() == 1.0


async def test_a_stale_resume_does_nothing() -> None:
    """It belongs to a suspension that is over."""
    processor = open_processor(never)
    old = processor.suspend_default_action()
    old.resume()
    processor.suspend_default_action()
    old.resume()

    assert processor.executor(MAIN).is_idle() is True


async def test_a_second_suspension_is_refused() -> None:
    """Nobody could say which of two has to be resumed."""
    processor = open_processor(never)
    processor.suspend_default_action()

    with pytest.raises(RuntimeError) as caught:
        processor.suspend_default_action()
    assert str(caught.value) == ("the default action is suspended already; resume that suspension")


async def test_another_thread_can_not_suspend_the_action() -> None:
    """The action might just be running."""
    processor = open_processor(never)

    with pytest.raises(RuntimeError) as caught:
        await anyio.to_thread.run_sync(processor.suspend_default_action)
    assert str(caught.value) == "the default action is suspended in the thread of its loop"


async def test_a_suspended_loop_keeps_what_waits_for_its_next_run() -> None:
    """Suspending goes ahead of mails that were sent before."""
    action = Counted(1)
    processor = open_processor(action)
    ran: list[str] = []
    processor.executor(MAIN).execute(lambda: ran.append("mail"))
    processor.suspend()

    await processor.run()
    assert (ran, action.runs) == ([], 0)
    await processor.run()
    assert (ran, action.runs) == (["mail"], 1)


async def test_an_error_leaves_the_loop_as_it_is_and_the_other_mails_inside() -> None:
    """The loop can be run again: the mail that raised is gone."""
    action = Counted(1)
    processor = open_processor(action)
    error = ValueError("no")
    ran: list[str] = []
    processor.executor(MAIN).execute(lambda: ran.append("mail"))
    processor.report_error(error)

    with pytest.raises(ValueError, match="no") as caught:
        await processor.run()
    assert caught.value is error
    assert ran == []
    await processor.run()
    assert ran == ["mail"]


async def test_an_error_of_the_default_action_leaves_the_loop() -> None:
    """As that of a mail does."""

    def act(_: Controller) -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await open_processor(act).run()


async def test_draining_runs_each_mail_once_and_leaves_the_others_after_an_error() -> None:
    """What a mail sends then is refused."""
    processor = open_processor(never)
    executor = processor.executor(MAIN)
    refused: list[str] = []

    def send() -> None:
        try:
            executor.execute(send)
        except MailboxClosedError as error:
            refused.append(str(error))

    executor.execute(lambda: 1 / 0)
    executor.execute(send)
    processor.prepare_close()

    with pytest.raises(ZeroDivisionError):
        processor.drain()
    assert refused == []
    processor.drain()
    assert refused == ["putting a mail needs a mailbox that is open, this one is quiesced"]


async def test_after_closing_nothing_runs_and_what_steers_is_harmless() -> None:
    """Who is late has done nothing wrong; who starts the loop is told."""
    processor = open_processor(never)
    future = processor.executor(MAIN).submit(lambda: 1)
    processor.close()
    processor.suspend()
    processor.all_actions_completed()

    assert future.cancelled()
    with pytest.raises(MailboxClosedError) as caught:
        await processor.run()
    assert str(caught.value) == "running needs a mailbox that is open, this one is closed"


async def test_a_loop_whose_mailbox_is_quiesced_meanwhile_can_still_be_ended() -> None:
    """By its action, and by its own mails; other threads come too late."""
    action = Counted(2)
    processor = open_processor(action)
    processor.executor(MAIN).execute(processor.prepare_close)

    await processor.run()

    assert action.runs == 2
    assert processor.mailbox.state is MailboxState.QUIESCED


async def test_the_metrics_tell_what_ran_what_waits_and_how_long() -> None:
    """The latency is that of a mail which goes through the queue."""
    processor = open_processor(Counted(1))
    processor.measure_latency()
    await anyio.sleep(2)
    assert processor.metrics() == MailboxMetrics(0, None, 1)

    await processor.run()

    assert processor.metrics() == MailboxMetrics(2, 2.0, 0)


async def test_other_tasks_get_their_turn_in_each_round() -> None:
    """A default action that has always something to do does not keep the loop for itself."""
    rounds: list[int] = []
    action = Counted(10)

    async def look() -> None:
        while action.runs < action.times:
            rounds.append(action.runs)
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        await open_processor(action).run()

    assert len(rounds) >= 9


@pytest.fixture
def mailbox() -> TaskMailbox:
    """A mailbox whose taker never waits, so it needs no loop."""
    return TaskMailbox(Loop(lambda: 0.0, lambda function: function(), None))


def test_a_future_has_what_the_mail_returned_or_raised(mailbox: TaskMailbox) -> None:
    """An error is there, and nowhere else."""
    executor = MailboxExecutor(mailbox, OPERATOR)
    good, bad = executor.submit(lambda: 5), executor.submit(lambda: 1 / 0)

    assert [executor.try_run_one() for _ in range(3)] == [True, True, False]
    assert good.result(0) == 5
    assert isinstance(bad.exception(0), ZeroDivisionError)


def test_a_mail_whose_future_was_cancelled_does_nothing(mailbox: TaskMailbox) -> None:
    """Nobody wants it."""
    executor = MailboxExecutor(mailbox, OPERATOR)
    ran: list[Any] = []
    executor.submit(lambda: ran.append(1)).cancel()

    assert executor.try_run_one() is True
    assert ran == []


def test_what_is_for_the_whole_program_is_in_the_future_and_passes(mailbox: TaskMailbox) -> None:
    """KeyboardInterrupt is nobody's result."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    executor = MailboxExecutor(mailbox, OPERATOR)
    future = executor.submit(interrupt)

    with pytest.raises(KeyboardInterrupt):
        executor.try_run_one()
    assert isinstance(future.exception(0), KeyboardInterrupt)


def test_an_executor_is_idle_while_nothing_waits_and_something_could_come(
    mailbox: TaskMailbox,
) -> None:
    """A long computation need not make way then, either."""
    executor = MailboxExecutor(mailbox, OPERATOR)
    assert (executor.is_idle(), executor.should_interrupt()) == (True, False)

    executor.execute(mailbox.drain)
    assert (executor.is_idle(), executor.should_interrupt()) == (False, True)

    executor.try_run_one()
    mailbox.quiesce()
    assert (executor.is_idle(), executor.should_interrupt()) == (False, False)


def test_a_priority_below_that_of_the_main_loop_is_refused(mailbox: TaskMailbox) -> None:
    """Nobody would see its mails."""
    with pytest.raises(ValueError, match="priority") as caught:
        MailboxExecutor(mailbox, -2)
    assert str(caught.value) == "priority must be -1 (MAIN) or more, got -2"
