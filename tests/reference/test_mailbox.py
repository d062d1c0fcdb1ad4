"""The mailbox, mail by mail."""

import threading
from typing import Any

import anyio
import pytest

from asyncwait.reference import (
    MAIN,
    OPERATOR,
    Mail,
    MailboxClosedError,
    MailboxExecutor,
    MailboxState,
    TaskMailbox,
)
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


def test_mails_are_taken_in_the_order_in_which_they_were_put(mailbox: TaskMailbox) -> None:
    """A mailbox is a queue."""
    first, second = put(mailbox, Mail(nothing), Mail(nothing))

    assert len(mailbox) == 2
    assert [mailbox.try_take(MAIN), mailbox.try_take(MAIN)] == [first, second]
    assert mailbox.try_take(MAIN) is None


def test_priority_is_a_filter_and_not_an_order(mailbox: TaskMailbox) -> None:
    """A higher priority does not overtake; it is only visible to more takers."""
    low, high = put(mailbox, Mail(nothing, MAIN), Mail(nothing, OPERATOR))

    assert mailbox.try_take(MAIN) is low
    assert mailbox.try_take(MAIN) is high


def test_a_taker_does_not_see_mails_below_its_priority(mailbox: TaskMailbox) -> None:
    """What the operator must not run now stays, in its place, for whoever may run it."""
    low, high = put(mailbox, Mail(nothing, MAIN), Mail(nothing, OPERATOR))

    assert mailbox.try_take(OPERATOR) is high
    assert mailbox.try_take(OPERATOR) is None
    assert mailbox.try_take(MAIN) is low


def test_urgent_mails_go_ahead_and_keep_their_own_order(mailbox: TaskMailbox) -> None:
    """An urgent mail overtakes all that are not urgent, but none that is."""
    late, first, second = put(
        mailbox, Mail(nothing), Mail(nothing, urgent=True), Mail(nothing, urgent=True)
    )

    assert [mailbox.try_take(MAIN) for _ in range(3)] == [first, second, late]


def test_an_urgent_mail_is_visible_to_no_more_takers_than_before(mailbox: TaskMailbox) -> None:
    """Urgency changes the order, not the filter."""
    urgent, plain = put(mailbox, Mail(nothing, MAIN, urgent=True), Mail(nothing, OPERATOR))

    assert mailbox.try_take(OPERATOR) is plain
    assert mailbox.try_take(MAIN) is urgent


def test_a_quiesced_mailbox_still_gives_but_no_longer_takes_in(mailbox: TaskMailbox) -> None:
    """Quiescing lets the mails inside come to their end."""
    (mail,) = put(mailbox, Mail(nothing))
    mailbox.quiesce()

    assert mailbox.state is MailboxState.QUIESCED
    with pytest.raises(MailboxClosedError) as caught:
        mailbox.put(Mail(nothing))
    assert str(caught.value) == (
        "putting a mail needs a mailbox that is open, this one is quiesced"
    )
    assert mailbox.try_take(MAIN) is mail


def test_a_closed_mailbox_gives_back_what_nobody_took(mailbox: TaskMailbox) -> None:
    """Nothing is lost in silence: urgent mails first, then the others."""
    plain, urgent = put(mailbox, Mail(nothing), Mail(nothing, urgent=True))

    assert mailbox.close() == [urgent, plain]
    assert mailbox.close() == []
    assert len(mailbox) == 0


def test_a_closed_mailbox_refuses_everything(mailbox: TaskMailbox) -> None:
    """There is no way back, not even to quiesced."""
    mailbox.close()
    mailbox.quiesce()

    with pytest.raises(MailboxClosedError, match="this one is closed"):
        mailbox.put(Mail(nothing))
    with pytest.raises(MailboxClosedError) as caught:
        mailbox.try_take(MAIN)
    assert str(caught.value) == (
        "taking a mail needs a mailbox that is open or quiesced, this one is closed"
    )


def test_another_thread_can_not_take_mails(mailbox: TaskMailbox) -> None:
    """Mails run in one thread, so what they touch needs no lock."""
    put(mailbox, Mail(nothing))
    raised: list[BaseException] = []

    def take() -> None:
        try:
            mailbox.try_take(MAIN)
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()

    assert [str(error) for error in raised] == [
        "mails are taken in the thread of the mailbox's loop, not elsewhere"
    ]


def test_running_a_mail_raises_what_the_mail_raises(mailbox: TaskMailbox) -> None:
    """An error leaves the mail for whoever runs it, and the mail is gone."""
    executor = MailboxExecutor(mailbox, OPERATOR)
    executor.execute(lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        executor.try_run_one()
    assert executor.try_run_one() is False


def test_an_executor_sends_and_runs_with_its_own_priority(mailbox: TaskMailbox) -> None:
    """The main loop runs everybody's mails, the operator only its own."""
    main, own = MailboxExecutor(mailbox, MAIN), MailboxExecutor(mailbox, OPERATOR)
    ran: list[str] = []
    main.execute(lambda: ran.append("main"))
    own.execute(lambda: ran.append("own"))
    own.execute(lambda: ran.append("urgent"), urgent=True)

    while own.try_run_one():
        pass
    assert ran == ["urgent", "own"]
    assert main.try_run_one() is True
    assert ran == ["urgent", "own", "main"]


@pytest.mark.anyio
async def test_a_waiting_taker_gets_the_first_mail_that_it_may_see() -> None:
    """A hidden mail wakes nobody for good."""
    mailbox = TaskMailbox(running_loop())
    hidden, visible = Mail(nothing, MAIN), Mail(nothing, OPERATOR)
    taken: list[Any] = []

    async def take() -> None:
        taken.append(await mailbox.take(OPERATOR))
        taken.append(anyio.current_time())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        await anyio.sleep(1)
        mailbox.put(hidden)
        await anyio.sleep(1)
        mailbox.put(visible)

    assert taken == [visible, 2.0]
    assert mailbox.try_take(MAIN) is hidden


@pytest.mark.anyio
async def test_closing_wakes_a_waiting_taker_with_an_error() -> None:
    """Nobody waits for mail that can't come any more."""
    mailbox = TaskMailbox(running_loop())

    async with anyio.create_task_group() as tasks:

        async def take() -> None:
            with pytest.raises(MailboxClosedError, match="this one is closed"):
                await mailbox.take(MAIN)

        tasks.start_soon(take)
        await anyio.sleep(1)
        mailbox.close()


@pytest.mark.anyio
async def test_a_mail_from_another_thread_wakes_the_taker() -> None:
    """Whoever completes a call in a thread of a client sends a mail."""
    mailbox = TaskMailbox(running_loop())
    mail = Mail(nothing)
    thread = threading.Thread(target=lambda: mailbox.put(mail))

    thread.start()

    assert await mailbox.take(OPERATOR) is mail
    thread.join()


def test_a_mail_to_a_loop_that_is_closed_wakes_nobody_and_raises_nothing() -> None:
    """A thread that answers after the program's loop has ended has done nothing wrong."""

    async def make() -> TaskMailbox:
        return TaskMailbox(running_loop())

    for backend in ("asyncio", "trio"):
        mailbox = anyio.run(make, backend=backend)
        thread = threading.Thread(target=mailbox.put, args=[Mail(nothing)])
        thread.start()
        thread.join()

        assert len(mailbox) == 1
