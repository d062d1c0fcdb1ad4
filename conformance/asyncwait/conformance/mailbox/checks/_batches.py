"""Checks of batches, urgent mails, and mails that can be deferred."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding
from asyncwait.conformance.mailbox._history import (
    FROM_BATCH,
    Execution,
    Letter,
    MailboxHistory,
    Run,
    check,
    sees,
)
from asyncwait.conformance.mailbox.checks._sending import gave_nothing, in_turn, unseen
from asyncwait.spec.mailbox import MAIN
from asyncwait.spec.mailbox.program import OWNER


@check("MBX-15")
def a_batch_holds_all(history: MailboxHistory) -> Iterator[Finding]:
    """A mail that waited when the batch was made is taken from the batch."""
    for taking in history.of("try_take_from_batch"):
        inside = [
            each for each in history.inside(taking.begin) if history.batched(each, taking.begin)
        ]
        if inside and taking.is_well:
            text = f"{taking} took nothing; {inside[0].name} is in the batch"
            yield (text, taking.end) if gave_nothing(history, taking) else None


@check("MBX-16")
def a_batch_holds_no_more(history: MailboxHistory) -> Iterator[Finding]:
    """A mail that came after the batch was made is not taken from it, unless it is urgent."""
    for taking in history.of("try_take_from_batch"):
        ran = {run.mail: run.at for run in history.runs_amid(taking)}
        for letter in history.accepted:
            late = not letter.post.urgent and history.unbatched(letter, taking.begin)
            if late and letter.sent.end < taking.begin and letter.gone > taking.begin:
                text = f"{letter.name} was taken from a batch made before it was sent"
                yield (text, ran[letter.name]) if letter.name in ran else None


@check("MBX-17")
def the_batch_comes_first(history: MailboxHistory) -> Iterator[Finding]:
    """A taker looks into the batch before the queue."""

    def is_in_batch(first: Letter, second: Letter, run: Run) -> bool:
        if first.post.urgent or second.post.urgent:
            return False
        return history.batched(first, second.sent.begin) and history.unbatched(second, run.at)

    return in_turn(history, is_in_batch, "which was in the batch")


@check("MBX-18")
def making_a_batch_says_whether_it_holds_anything(history: MailboxHistory) -> Iterator[Finding]:
    """`create_batch` reports whether the batch holds any mail."""
    for made in history.of("create_batch"):
        if not made.is_well:
            continue
        value = made.seen.value
        inside = history.inside(made.begin)
        if inside:
            wrong = value is not True
            yield (f"{made} gave {value}; {inside[0].name} is inside", made.end) if wrong else None
        elif not history.maybe_inside(made) and not history.steered(made.begin):
            wrong = value is not False
            yield (f"{made} gave {value}; nothing is inside", made.end) if wrong else None


def _ahead(history: MailboxHistory) -> Iterator[tuple[Letter, Letter, Run]]:
    for run in history.runs:
        plain = history.letter_of(run)
        if plain is None or plain.post.urgent or run.amid is None:
            continue
        for urgent in history.accepted:
            if urgent.post.urgent and sees(run.amid, urgent):
                yield urgent, plain, run


@check("MBX-19")
def urgent_mails_go_ahead(history: MailboxHistory) -> Iterator[Finding]:
    """An urgent mail is taken before all mails that are not urgent."""
    for urgent, plain, run in _ahead(history):
        if urgent.is_inside(run.looked) and urgent.is_inside(run.at):
            yield f"{plain.name} was run; {urgent.name} waited, which is urgent", run.at
        elif plain.is_accepted and plain.sent.end < urgent.gone < run.at:
            yield None


@check("MBX-20")
def urgent_mails_go_ahead_of_the_batch(history: MailboxHistory) -> Iterator[Finding]:
    """An urgent mail does not wait for the rest of the batch."""
    for urgent, plain, run in _ahead(history):
        if not history.batched(plain, urgent.sent.begin) and not _is_amid_loop(plain, urgent, run):
            continue
        if urgent.is_inside(run.looked) and urgent.is_inside(run.at):
            text = f"{plain.name} was taken from the batch; {urgent.name} waited, which is urgent"
            yield text, run.at
        elif urgent.gone < run.at:
            yield None


def _is_amid_loop(plain: Letter, urgent: Letter, run: Run) -> bool:
    amid = run.amid
    if amid is None or amid.does not in FROM_BATCH or urgent.sent.by != OWNER:
        return False
    return plain.sent.is_before(amid.begin) and amid.begin < urgent.sent.begin


@check("MBX-21")
def urgent_mails_keep_their_order(history: MailboxHistory) -> Iterator[Finding]:
    """Urgent mails are taken in the order of their sending."""
    return in_turn(
        history,
        lambda first, second, _: first.post.urgent and second.post.urgent,
        "which is urgent as well and was sent before",
    )


@check("MBX-22")
def urgency_opens_no_eyes(history: MailboxHistory) -> Iterator[Finding]:
    """Urgency shows a mail to no further takers."""
    return unseen(history, lambda _, letter: letter.post.urgent and not letter.post.deferrable)


@check("MBX-23")
def an_urgent_mail_keeps_none_out_of_the_batch(history: MailboxHistory) -> Iterator[Finding]:
    """A batch that is made while an urgent mail waits holds all the other mails, too."""
    for made in history.of("create_batch"):
        inside = history.inside(made.begin)
        if not made.is_well or not any(each.post.urgent for each in inside):
            continue
        plain = [each for each in inside if not each.post.urgent]
        for taking in history.of("try_take_from_batch"):
            left = [each for each in plain if each.is_inside(taking.begin)]
            if taking.begin > made.end and left and taking.is_well:
                text = f"{taking} took nothing; {left[0].name} waited behind an urgent mail"
                yield (text, taking.end) if gave_nothing(history, taking) else None


@check("MBX-24")
def the_deferrable_is_for_the_main_loop(history: MailboxHistory) -> Iterator[Finding]:
    """A taker above the lowest priority does not see a mail that can be deferred."""
    return unseen(history, lambda taking, each: each.post.deferrable and not _finishes(taking))


@check("MBX-25")
def the_deferrable_keeps_its_place(history: MailboxHistory) -> Iterator[Finding]:
    """For the main loop a mail that can be deferred is like all other mails."""

    def is_deferrable(first: Letter, second: Letter, run: Run) -> bool:
        amid = run.amid
        if first.post.urgent or second.post.urgent or not first.post.deferrable or amid is None:
            return False
        return amid.step.priority == MAIN or amid.does in FROM_BATCH

    return in_turn(history, is_deferrable, "which can be deferred, but only by others")


@check("MBX-26")
def who_finishes_sees_the_deferred(history: MailboxHistory) -> Iterator[Finding]:
    """An operator that finishes, with deferred mails, leaves none of its own mails behind."""
    for taking in history.of("try_run_one"):
        if not _finishes(taking) or taking.by != OWNER or taking.seen.error:
            continue
        inside = history.inside(taking.begin)
        deferred = [each for each in inside if each.post.deferrable and sees(taking, each)]
        if deferred:
            wrong = gave_nothing(history, taking)
            yield (f"{taking} left {deferred[0].name} behind", taking.end) if wrong else None


@check("MBX-27")
def who_finishes_sees_no_more(history: MailboxHistory) -> Iterator[Finding]:
    """With deferred mails, the priority with which a mail was sent still counts."""
    return unseen(history, lambda taking, each: each.post.deferrable and _finishes(taking))


def _finishes(taking: Execution) -> bool:
    return taking.step.with_deferred
