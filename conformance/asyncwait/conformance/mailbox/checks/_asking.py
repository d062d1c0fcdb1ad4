"""Checks of questions to a mailbox: whether it has mail, how much, and whether it is idle."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding
from asyncwait.conformance.mailbox._history import Execution, MailboxHistory, check, sees
from asyncwait.spec.mailbox.program import OWNER


@check("MBX-28")
def the_count_is_right(history: MailboxHistory) -> Iterator[Finding]:
    """The count covers batch and queue together."""
    for asked in history.of("count"):
        fewest, most = len(history.inside(asked.begin)), len(history.maybe_inside(asked))
        most += history.steered(asked.begin)
        value = asked.seen.value
        if not isinstance(value, int):
            continue
        wrong = not fewest <= value <= most
        yield (f"{value} were counted; {fewest} are inside", asked.end) if wrong else None


def _tells(history: MailboxHistory, asked: Execution, what: str) -> Finding | str:
    """Judge an answer about waiting mail; a text if the trace leaves the right answer open."""
    value = asked.seen.value
    inside = history.inside(asked.begin)
    if inside:
        text = f"{what} was denied; {inside[0].name} waits"
        return None if value is True else (text, asked.end)
    if history.maybe_inside(asked) or history.steered(asked.begin):
        return "unknown"
    return None if value is False else (f"{what} was claimed; nothing waits", asked.end)


@check("MBX-29")
def mail_is_told(history: MailboxHistory) -> Iterator[Finding]:
    """`has_mail` is true while any mail waits, seen or unseen, and else false."""
    yield from _answers_about_mail(history, "has_mail")


@check("MBX-30")
def long_work_makes_way(history: MailboxHistory) -> Iterator[Finding]:
    """`should_interrupt` is true while any mail waits, even if this executor does not see it."""
    yield from _answers_about_mail(history, "should_interrupt")


def _answers_about_mail(history: MailboxHistory, asks: str) -> Iterator[Finding]:
    for asked in history.of(asks):
        found = _tells(history, asked, "that there is mail")
        if asked.by == OWNER and asked.is_well and not isinstance(found, str):
            yield found


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


def is_suspended(history: MailboxHistory, moment: float) -> bool | None:
    """Return whether the default action was suspended then; None if the trace leaves it open."""
    made = [each for each in history.of("suspend_action") if each.is_well and each.end < moment]
    if not made:
        return False
    resumed = [
        each
        for each in history.executions
        if each.does == "resume"
        and each.step.number == len(made) - 1
        and made[-1].end < each.begin < moment
    ]
    if not resumed:
        return True
    return False if any(each.by == OWNER and each.end < moment for each in resumed) else None


@check("MBX-32")
def idle_is_who_waits_for_a_mail(history: MailboxHistory) -> Iterator[Finding]:
    """Idle means: the action is suspended, no mail waits, and a mail could still come."""
    for asked in history.of("is_idle"):
        suspended = is_suspended(history, asked.begin)
        states = history.states(asked)
        inside, maybe = history.inside(asked.begin), history.maybe_inside(asked)
        if suspended is None or len(states) > 1 or not asked.is_well:
            continue
        why_not = [
            *(["the action is not suspended"] if not suspended else []),
            *([f"{inside[0].name} waits"] if inside else []),
            *([f"the mailbox is {min(states)}"] if states != {"open"} else []),
        ]
        if why_not:
            wrong = asked.seen.value is not False
            yield (f"said to be idle, but {why_not[0]}", asked.end) if wrong else None
        elif not maybe and not history.steered(asked.begin):
            wrong = asked.seen.value is not True
            yield ("said not to be idle; it is", asked.end) if wrong else None


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
