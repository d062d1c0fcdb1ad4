"""Checks of answers, of the end of a mailbox, of exclusive sections, and of futures."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding
from asyncwait.conformance.mailbox._history import (
    NEVER,
    RUNS_MAILS,
    TAKES,
    Execution,
    Letter,
    MailboxHistory,
    check,
    sees,
)
from asyncwait.spec.mailbox.program import OWNER


@check("MBX-29")
def mail_is_told(history: MailboxHistory) -> Iterator[Finding]:
    """`has_mail` is true while any mail waits, seen or unseen, and else false."""
    for asked in history.of("has_mail"):
        if asked.by != OWNER or not asked.is_well:
            continue
        value, inside = asked.seen.value, history.inside(asked.begin)
        if inside:
            text = f"that there is mail was denied; {inside[0].name} waits"
            yield None if value is True else (text, asked.end)
        elif not history.maybe_inside(asked) and not history.steered(asked.begin):
            text = "that there is mail was claimed; nothing waits"
            yield None if value is False else (text, asked.end)


@check("MBX-31")
def asking_takes_no_lock(history: MailboxHistory) -> Iterator[Finding]:
    """`has_mail` answers while another thread has the mailbox for itself."""
    for section in history.executions:
        if section.does != "exclusively" or section.by == OWNER:
            continue
        for asked in history.executions:
            is_amid = section.begin < asked.begin < section.end
            if asked.does == "has_mail" and asked.by == OWNER and is_amid:
                wrong = asked.end > section.end
                yield (f"{asked} waited for {section}", asked.begin) if wrong else None


@check("MBX-44")
def trying_says_whether_it_ran_one(history: MailboxHistory) -> Iterator[Finding]:
    """`try_run_one` is true if it ran a mail, else false."""
    for tried in history.of("try_run_one"):
        if not tried.is_well or tried.by != OWNER:
            continue
        ran, value = history.runs_amid(tried), tried.seen.value
        if ran:
            wrong = value is not True
            yield (f"{tried} gave {value}, and ran {ran[0].mail}", tried.end) if wrong else None
        elif not any(sees(tried, each) for each in history.maybe_inside(tried)):
            wrong = value is not False and not history.steered(tried.begin)
            yield (f"{tried} gave {value}, and ran nothing", tried.end) if wrong else None


@check("MBX-33")
def what_is_not_open_takes_nothing_in(history: MailboxHistory) -> Iterator[Finding]:
    """A mailbox that is quiesced or closed refuses mails."""
    for sent in history.of("execute", "submit"):
        if "open" not in (states := history.states(sent)):
            wrong = sent.seen.error != "closed"
            came = sent.seen.error or "was accepted"
            yield (f"{sent}: {came}; the mailbox is {min(states)}", sent.end) if wrong else None


def _takings(history: MailboxHistory, state: str) -> Iterator[Execution]:
    for taking in history.of("try_take_from_batch", *sorted(TAKES)):
        if taking.by == OWNER and history.states(taking) == {state}:
            yield taking


@check("MBX-34")
def what_is_quiesced_still_gives(history: MailboxHistory) -> Iterator[Finding]:
    """Quiescing lets takers take the mails inside."""
    for taking in _takings(history, "quiesced"):
        error = taking.seen.error
        wrong = error in {"closed", "refused"}
        yield (f"{taking} raised {error!r}; it is only quiesced", taking.end) if wrong else None


@check("MBX-35")
def what_is_closed_gives_nothing(history: MailboxHistory) -> Iterator[Finding]:
    """A closed mailbox refuses every taker."""
    for taking in _takings(history, "closed"):
        wrong = taking.seen.error != "closed"
        came = taking.seen.error or "nothing"
        yield (f"{taking} raised {came}; it is closed", taking.end) if wrong else None


def _all_given(history: MailboxHistory, giving: Execution) -> Finding:
    """Judge whether all mails were given back, in the order in which they would be taken."""
    mails = giving.seen.mails
    inside = history.inside(giving.begin)
    missing = [each.name for each in inside if each.name not in mails]
    if missing:
        return f"{giving} gave {', '.join(mails) or 'nothing'}, not {missing[0]}", giving.end
    given = sorted(inside, key=lambda each: mails.index(each.name))
    for place, first in enumerate(given):
        for second in given[place + 1 :]:
            if _goes_before(second, first):
                return f"{giving} gave {first.name} before {second.name}", giving.end
    return None


def _goes_before(one: Letter, other: Letter) -> bool:
    if one.post.urgent != other.post.urgent:
        return one.post.urgent
    return one.sent.end < other.sent.begin


@check("MBX-37")
def closing_gives_back_what_nobody_took(history: MailboxHistory) -> Iterator[Finding]:
    """Closing returns the mails inside, in the order in which they would have been taken."""
    for closed in history.of("close"):
        was_open = "closed" not in history.states(closed)
        if closed.is_well and was_open and history.inside(closed.begin):
            yield _all_given(history, closed)


@check("MBX-39")
def closing_cancels_futures(history: MailboxHistory) -> Iterator[Finding]:
    """No sender waits for a mail that will never run."""
    states = {future.mail: future.state for future in history.trace.futures}
    for letter in history.accepted:
        closings = [each for each in letter.given_back if each.does != "drain"]
        if letter.name in states and closings and not letter.runs:
            state = states[letter.name]
            text = f"the future of {letter.name} is {state}; the mailbox is closed"
            yield (text, closings[0].end) if state != "cancelled" else None


@check("MBX-40")
def draining_gives_everything(history: MailboxHistory) -> Iterator[Finding]:
    """`drain` takes batch and queue, in the order in which they would have been taken."""
    for drained in history.of("drain"):
        if drained.is_well and history.inside(drained.begin):
            yield _all_given(history, drained)


@check("MBX-41")
def a_section_is_not_interrupted(history: MailboxHistory) -> Iterator[Finding]:
    """Until the section is over, no other thread sends or closes."""
    for section in history.executions:
        if section.does != "exclusively":
            continue
        amid = [each for each in history.executions if section.begin < each.begin < section.end]
        own = [each for each in amid if each.amid is section]
        for other in amid:
            is_kept_out = other.by != section.by and other.does in {"execute", "submit", "close"}
            after = [each for each in own if each.begin > other.begin]
            if is_kept_out and after:
                wrong = other.end < after[-1].begin
                yield (f"{other} came into {section}", other.end) if wrong else None


@check("MBX-43")
def a_future_has_what_its_mail_gave(history: MailboxHistory) -> Iterator[Finding]:
    """The result or error of a submitted mail is in its future, and nowhere else."""
    states = {future.mail: future.state for future in history.trace.futures}
    for letter in history.accepted:
        if letter.name not in states or not letter.runs or letter.runs[0].over == NEVER:
            continue
        expected = f"raised {letter.name}" if letter.post.raises else f"returned {letter.name!r}"
        state, run = states[letter.name], letter.runs[0]
        if not state.startswith(expected):
            yield f"the future of {letter.name} is {state}; it {expected}", run.over
        elif run.amid and run.amid.seen.error == f"raised {letter.name}":
            yield f"{run.amid} raised what is in the future of {letter.name}", run.amid.end
        else:
            yield None


@check("MBX-46")
def the_error_of_a_mail_passes(history: MailboxHistory) -> Iterator[Finding]:
    """The step that runs a mail raises the mail's error unchanged."""
    for run in history.runs:
        letter, amid = history.letter_of(run), run.amid
        if letter is None or amid is None or amid.does not in RUNS_MAILS:
            continue
        if letter.post.raises and letter.sent.does == "execute" and amid.end < NEVER:
            wrong = amid.seen.error != f"raised {letter.name}"
            came = amid.seen.error or "nothing"
            yield (f"{amid} raised {came}, {letter.name} an error", amid.end) if wrong else None
