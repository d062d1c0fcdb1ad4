"""The batch of a mailbox, its urgent and deferrable mails, and its end."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import anyio
import pytest

from asyncwait.reference import MAIN, OPERATOR, Mail, MailboxClosedError, TaskMailbox
from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import running_loop


@pytest.fixture
def mailbox() -> TaskMailbox:
    """A mailbox whose taker never waits, so it needs no loop."""
    return TaskMailbox(Loop(lambda: 0.0, lambda function: function(), None))


def nothing() -> None:
    """Do nothing."""


def put(mailbox: TaskMailbox, *mails: Mail) -> tuple[Mail, ...]:
    """Put all `mails` and return them."""
    for mail in mails:
        mailbox.put(mail)
    return mails


def in_thread(function: Callable[[], Any]) -> str:
    """Return what `function` raises in another thread, or "" if nothing."""
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


def test_a_batch_holds_what_was_there_when_it_was_made(mailbox: TaskMailbox) -> None:
    """A mail that comes later is in the next batch."""
    first, second = put(mailbox, Mail(nothing), Mail(nothing))

    assert mailbox.create_batch() is True
    (late,) = put(mailbox, Mail(nothing))
    assert [mailbox.try_take_from_batch() for _ in range(3)] == [first, second, None]
    assert mailbox.create_batch() is True
    assert mailbox.try_take_from_batch() is late
    assert mailbox.create_batch() is False


def test_a_batch_is_made_longer_and_taken_from_first(mailbox: TaskMailbox) -> None:
    """Taking without a batch looks into it first; what is left of it stays ahead."""
    first, second = put(mailbox, Mail(nothing), Mail(nothing))
    mailbox.create_batch()
    (third,) = put(mailbox, Mail(nothing))

    assert mailbox.try_take(MAIN) is first
    mailbox.create_batch()
    assert [mailbox.try_take_from_batch() for _ in range(2)] == [second, third]


def test_an_urgent_mail_goes_ahead_of_the_rest_of_the_batch(mailbox: TaskMailbox) -> None:
    """Several keep their order, before a batch and during one (FLINK-35051)."""
    plain, other = put(mailbox, Mail(nothing), Mail(nothing))
    mailbox.create_batch()
    first, second = put(mailbox, Mail(nothing, urgent=True), Mail(nothing, urgent=True))

    taken = [mailbox.try_take_from_batch() for _ in range(4)]
    assert taken == [first, second, plain, other]


def test_a_mail_behind_the_batch_is_taken_past_one_in_it_that_is_not_seen(
    mailbox: TaskMailbox,
) -> None:
    """The filter goes through the batch, too."""
    low, high = put(mailbox, Mail(nothing, MAIN), Mail(nothing, OPERATOR))
    mailbox.create_batch()
    (later,) = put(mailbox, Mail(nothing, OPERATOR))

    assert [mailbox.try_take(OPERATOR) for _ in range(3)] == [high, later, None]
    assert mailbox.try_take_from_batch() is low


def test_a_deferrable_mail_is_seen_by_the_main_loop_only(mailbox: TaskMailbox) -> None:
    """Unless somebody asks for those: then it counts with the priority that it has."""
    (mail,) = put(mailbox, Mail(nothing, OPERATOR, deferrable=True))

    assert mailbox.try_take(OPERATOR) is None
    assert mailbox.try_take(OPERATOR + 1, with_deferred=True) is None
    assert mailbox.try_take(OPERATOR, with_deferred=True) is mail


def test_a_description_is_worked_out_when_somebody_asks(mailbox: TaskMailbox) -> None:
    """Most mails are described to nobody."""
    asked: list[int] = []

    def describe() -> str:
        asked.append(1)
        return "timer at 5"

    put(mailbox, Mail(nothing, about=describe), Mail(nothing, about="timer at 6"))
    first, second = mailbox.drain()

    assert asked == []
    assert [first.description, second.description] == ["timer at 5", "timer at 6"]
    assert asked == [1]


def test_what_waits_is_counted_in_batch_and_queue(mailbox: TaskMailbox) -> None:
    """The batch is part of the mailbox."""
    put(mailbox, Mail(nothing))
    mailbox.create_batch()
    put(mailbox, Mail(nothing), Mail(nothing, urgent=True))

    assert (len(mailbox), mailbox.has_mail) == (3, True)
    assert len(mailbox.drain()) == 3
    assert (len(mailbox), mailbox.has_mail) == (0, False)


def test_whether_there_is_mail_is_told_without_the_lock(mailbox: TaskMailbox) -> None:
    """The loop asks between any two mails (FLINK-14747)."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        done.wait(60)

    thread = threading.Thread(target=mailbox.run_exclusively, args=[hold])
    thread.start()
    held.wait(60)

    assert (mailbox.has_mail, len(mailbox)) == (False, 0)
    done.set()
    thread.join()


def test_draining_gives_urgent_mails_then_the_batch_then_the_queue(mailbox: TaskMailbox) -> None:
    """The order in which they would have run."""
    (first,) = put(mailbox, Mail(nothing))
    mailbox.create_batch()
    last, urgent = put(mailbox, Mail(nothing), Mail(nothing, urgent=True))

    assert mailbox.drain() == [urgent, first, last]


def test_closing_cancels_the_futures_of_what_nobody_took(mailbox: TaskMailbox) -> None:
    """Whoever waits for such a future would wait for ever."""
    future: Future[None] = Future()
    (mail,) = put(mailbox, Mail(nothing, future=future))

    assert mailbox.close() == [mail]
    assert future.cancelled()


def test_an_exclusive_section_puts_in_one_step(mailbox: TaskMailbox) -> None:
    """Within it, the mailbox can be used as ever; what it returns is passed on."""
    first, second = Mail(nothing), Mail(nothing)

    assert mailbox.run_exclusively(lambda: put(mailbox, first, second)) == (first, second)
    assert mailbox.drain() == [first, second]


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(TaskMailbox.create_batch, id="create_batch"),
        pytest.param(TaskMailbox.try_take_from_batch, id="try_take_from_batch"),
        pytest.param(TaskMailbox.drain, id="drain"),
        pytest.param(TaskMailbox.quiesce, id="quiesce"),
        pytest.param(TaskMailbox.close, id="close"),
    ],
)
def test_another_thread_can_not_do_what_is_the_owners(
    mailbox: TaskMailbox, use: Callable[[TaskMailbox], Any]
) -> None:
    """Only sending is for any thread."""
    put(mailbox, Mail(nothing))

    assert in_thread(lambda: use(mailbox)) == (
        "mails are taken in the thread of the mailbox's loop, not elsewhere"
    )
    assert len(mailbox) == 1


def test_a_closed_mailbox_gives_nothing_from_a_batch_either(mailbox: TaskMailbox) -> None:
    """The message says what is needed."""
    mailbox.close()

    with pytest.raises(MailboxClosedError) as caught:
        mailbox.try_take_from_batch()
    assert str(caught.value) == (
        "taking a mail needs a mailbox that is open or quiesced, this one is closed"
    )


@pytest.mark.anyio
async def test_a_second_taker_is_refused_while_one_waits() -> None:
    """It would take the other's wake-up."""
    mailbox = TaskMailbox(running_loop())
    mail = Mail(nothing)
    taken: list[Mail] = []

    async def take() -> None:
        taken.append(await mailbox.take(MAIN))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        await anyio.sleep(1)
        with pytest.raises(RuntimeError) as caught:
            await mailbox.take(MAIN)
        mailbox.put(mail)

    assert str(caught.value) == ("another task waits for a mail already; a mailbox has one taker")
    assert taken == [mail]


@pytest.mark.anyio
async def test_a_cancelled_wait_takes_no_mail() -> None:
    """What comes then is there for the next taker."""
    mailbox = TaskMailbox(running_loop())
    mail = Mail(nothing)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(mailbox.take, MAIN)
        await anyio.sleep(1)
        tasks.cancel_scope.cancel()
        mailbox.put(mail)

    assert await mailbox.take(MAIN) is mail
