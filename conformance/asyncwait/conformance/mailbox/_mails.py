"""Checks of mails: lost, doubled, out of order, or wrongly seen; batches, urgent, deferrable."""

from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from asyncwait.conformance.judging import Finding
from asyncwait.conformance.mailbox._history import (
    FROM_BATCH,
    NEVER,
    TAKES,
    Execution,
    Letter,
    MailboxHistory,
    Run,
    check,
    sees,
)
from asyncwait.spec.mailbox.program import ANYBODYS, OWNER, WAITING, Does

OWNERS_ALONE = frozenset(get_args(Does)) - ANYBODYS - WAITING - {"has_mail", "fail"}
"""Steps that the mailbox must refuse to another thread."""


@check("MBX-1")
def once(history: MailboxHistory) -> Iterator[Finding]:
    """A mail is run or given back once."""
    for letter in history.letters.values():
        backs = (int(each.end) for each in letter.given_back)
        times = sorted([*(run.at for run in letter.runs), *backs])
        if len(times) > 1:
            yield f"{letter.name} came out {len(times)} times", times[1]
        elif times:
            yield None


@check("MBX-2")
def none_lost(history: MailboxHistory) -> Iterator[Finding]:
    """An accepted mail comes out, at the latest when the mailbox is closed."""
    if history.trace.ending != "whole":
        return
    for letter in history.accepted:
        lost = letter.gone == NEVER
        yield (f"{letter.name} was sent, and never came out", letter.sent.end) if lost else None


@check("MBX-3")
def accepted_while_open(history: MailboxHistory) -> Iterator[Finding]:
    """An open mailbox accepts every mail."""
    for sent in history.of("execute", "submit"):
        if history.states(sent) == {"open"}:
            error = sent.seen.error
            yield (f"{sent} raised {error!r}; the mailbox was open", sent.end) if error else None


def in_turn(
    history: MailboxHistory, concerns: Callable[[Letter, Letter, Run], bool], why: str
) -> Iterator[Finding]:
    """Yield a finding for each two letters of which the first waited when the second was sent."""
    for run in history.runs:
        second = history.letter_of(run)
        if second is None or run.amid is None or run is not second.runs[0]:
            continue
        for first in history.accepted:
            waited = first.sent.end < second.sent.begin and first.is_inside(second.sent.begin)
            if not waited or not sees(run.amid, first) or not concerns(first, second, run):
                continue
            wrong = first.is_inside(run.at)
            yield (f"{second.name} was run before {first.name}, {why}", run.at) if wrong else None


@check("MBX-4")
def first_sent_first_taken(history: MailboxHistory) -> Iterator[Finding]:
    """Mails of one kind come out in the order in which they were sent."""

    def are_alike(first: Letter, second: Letter, _: Run) -> bool:
        return first.post.priority == second.post.priority and _are_plain(first, second)

    return in_turn(history, are_alike, "which was sent before")


def _are_plain(*letters: Letter) -> bool:
    return not any(each.post.urgent or each.post.deferrable for each in letters)


@check("MBX-5")
def priority_is_no_order(history: MailboxHistory) -> Iterator[Finding]:
    """A higher priority does not overtake."""

    def differ(first: Letter, second: Letter, _: Run) -> bool:
        return first.post.priority < second.post.priority and _are_plain(first, second)

    return in_turn(history, differ, "which was sent before, with a lower priority")


def unseen(
    history: MailboxHistory, concerns: Callable[[Execution, Letter], bool]
) -> Iterator[Finding]:
    """Yield a finding for each letter that was inside while a taker that must not see it took."""
    for taking in history.executions:
        if taking.does not in TAKES:
            continue
        ran = {run.mail: run.at for run in history.runs_amid(taking)}
        for letter in history.letters.values():
            is_there = letter.sent.is_before(taking.end) and letter.gone > taking.begin
            if is_there and not sees(taking, letter) and concerns(taking, letter):
                text = f"{taking} ran {letter.name} (priority {letter.post.priority})"
                yield (text, ran[letter.name]) if letter.name in ran else None


@check("MBX-6")
def below_is_unseen(history: MailboxHistory) -> Iterator[Finding]:
    """A taker does not see mails below its priority."""
    return unseen(history, lambda _, letter: not letter.post.urgent and not letter.post.deferrable)


def taken(
    history: MailboxHistory,
    verbs: Sequence[str],
    concerns: Callable[[Execution, Letter], bool],
    text: str,
) -> Iterator[Finding]:
    """Yield a finding for each such step of the owner, by whether it took one of its mails."""
    for taking in history.of(*verbs):
        if taking.by != OWNER or taking.seen.error:
            continue
        for letter in history.inside(taking.begin):
            if concerns(taking, letter):
                took = history.runs_amid(taking) or taking.seen.mails or taking.seen.value is True
                said = text.format(taking=taking, mail=letter.name)
                yield None if took else (said, taking.end)
                break


@check("MBX-7")
def what_is_seen_is_taken(history: MailboxHistory) -> Iterator[Finding]:
    """A taker gets the first mail that it sees, past all mails that it does not see."""
    text = "{taking} took nothing; {mail} waited"
    return taken(history, ("try_take", "try_run_one"), sees, text)


@check("MBX-8")
def the_unseen_keep_their_places(history: MailboxHistory) -> Iterator[Finding]:
    """A mail that one taker did not see keeps its place for the next taker that sees it."""

    def was_passed(first: Letter, _: Letter, run: Run) -> bool:
        return not first.post.urgent and any(
            taking.does in TAKES
            and first.sent.end < taking.begin
            and taking.end < run.at
            and not sees(taking, first)
            for taking in history.executions
        )

    def concerns(first: Letter, second: Letter, run: Run) -> bool:
        return not second.post.urgent and was_passed(first, second, run)

    return in_turn(history, concerns, "which an earlier taker had not seen")


@check("MBX-9")
def the_refused_never_runs(history: MailboxHistory) -> Iterator[Finding]:
    """A mail that was refused is not inside."""
    for letter in history.letters.values():
        if letter.sent.seen.error:
            wrong = letter.gone < NEVER
            yield (f"{letter.name} was refused, and came out", letter.gone) if wrong else None


@check("MBX-10")
def mails_run_when_taken(history: MailboxHistory) -> Iterator[Finding]:
    """A mail runs in the owner's task, within the step that took it."""
    for run in history.runs:
        amid = run.amid
        if run.by != OWNER:
            yield f"{run.mail} was run by {run.by}", run.at
        elif amid is None or amid.does not in TAKES | FROM_BATCH:
            yield f"{run.mail} was run amid {amid}", run.at
        else:
            yield None


@check("MBX-11")
def a_mail_wakes_who_waits(history: MailboxHistory) -> Iterator[Finding]:
    """Each mail that a waiting taker sees wakes it."""
    for run in history.runs:
        amid = run.amid
        letter = history.letter_of(run)
        if amid and letter and amid.does in {"take", "run_one"} and letter.sent.begin > amid.begin:
            yield None
    for at, waiting in history.waits:
        if waiting.does in {"take", "run_one"}:
            for letter in history.inside(at):
                if sees(waiting, letter):
                    yield f"{waiting} waits; {letter.name} is there", at


@check("MBX-12")
def only_the_owner_takes(history: MailboxHistory) -> Iterator[Finding]:
    """All other threads are refused the owner's steps."""
    for tried in history.executions:
        if tried.by != OWNER and tried.does in OWNERS_ALONE:
            wrong = tried.is_well
            yield (f"{tried} was let do what is the owner's", tried.end) if wrong else None


@check("MBX-13")
def a_cancelled_wait_takes_none(history: MailboxHistory) -> Iterator[Finding]:
    """A mail that comes while a wait is cancelled stays for the next taker."""
    for waiting in history.of("take", "run_one"):
        if waiting.seen.error != "cancelled":
            continue
        for letter in history.accepted:
            if waiting.begin < letter.sent.end < waiting.end:
                wrong = letter.gone == NEVER
                text = f"{letter.name} was lost with {waiting}, which was cancelled"
                yield (text, waiting.end) if wrong else None


@check("MBX-62")
def it_comes_to_rest(history: MailboxHistory) -> Iterator[Finding]:
    """Whatever a step does to it, the mailbox comes to rest, and its thread is not blocked."""
    for at, waiting, turns in history.stirs:
        yield f"{waiting} waits, and took {turns} turns with nothing to do", at
    ending = history.trace.ending
    wrong = ending == "spins" or ending.startswith(("blocks", "died"))
    if wrong or ending == "whole":
        yield (f"it {ending}", len(history.trace.events)) if wrong else None


@check("MBX-15")
def a_batch_holds_all(history: MailboxHistory) -> Iterator[Finding]:
    """A mail that waited when the batch was made is taken from the batch."""

    def is_in_batch(taking: Execution, letter: Letter) -> bool:
        return history.batched(letter, taking.begin)

    text = "{taking} took nothing; {mail} is in the batch"
    return taken(history, ["try_take_from_batch"], is_in_batch, text)


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


def _ahead(
    history: MailboxHistory, concerns: Callable[[Letter, Letter, Run], bool], how: str
) -> Iterator[Finding]:
    """Yield a finding for each urgent mail and each other mail that could overtake it."""
    for run in history.runs:
        plain = history.letter_of(run)
        if plain is None or plain.post.urgent or run.amid is None:
            continue
        for urgent in history.accepted:
            if not (urgent.post.urgent and sees(run.amid, urgent) and concerns(plain, urgent, run)):
                continue
            if urgent.is_inside(run.looked) and urgent.is_inside(run.at):
                yield f"{plain.name} was {how}; {urgent.name} waited, which is urgent", run.at
            elif plain.is_accepted and plain.sent.end < urgent.gone < run.at:
                yield None


@check("MBX-19")
def urgent_mails_go_ahead(history: MailboxHistory) -> Iterator[Finding]:
    """An urgent mail is taken before all mails that are not urgent."""
    return _ahead(history, lambda *_: True, "run")


@check("MBX-20")
def urgent_mails_go_ahead_of_the_batch(history: MailboxHistory) -> Iterator[Finding]:
    """An urgent mail does not wait for the rest of the batch."""

    def is_in_batch(plain: Letter, urgent: Letter, run: Run) -> bool:
        return history.batched(plain, urgent.sent.begin) or _is_amid_loop(plain, urgent, run)

    return _ahead(history, is_in_batch, "taken from the batch")


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

    def was_behind(taking: Execution, letter: Letter) -> bool:
        return not letter.post.urgent and any(
            letter.is_inside(made.begin)
            and made.end < taking.begin
            and any(each.post.urgent for each in history.inside(made.begin))
            for made in history.of("create_batch")
            if made.is_well
        )

    text = "{taking} took nothing; {mail} waited behind an urgent mail"
    return taken(history, ["try_take_from_batch"], was_behind, text)


@check("MBX-24")
def the_deferrable_is_for_the_main_loop(history: MailboxHistory) -> Iterator[Finding]:
    """A taker above the lowest priority does not see a mail that can be deferred."""
    return unseen(history, lambda taking, each: each.post.deferrable and not _finishes(taking))


@check("MBX-26")
def who_finishes_sees_the_deferred(history: MailboxHistory) -> Iterator[Finding]:
    """An operator that finishes, with deferred mails, leaves none of its own mails behind."""

    def is_deferred(taking: Execution, letter: Letter) -> bool:
        return _finishes(taking) and letter.post.deferrable and sees(taking, letter)

    return taken(history, ["try_run_one"], is_deferred, "{taking} left {mail} behind")


def _finishes(taking: Execution) -> bool:
    return taking.step.with_deferred
