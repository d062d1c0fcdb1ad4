"""Checks of the loop, and of the errors raised in it."""

from collections.abc import Iterator
from itertools import chain

from asyncwait.conformance.judging import Finding
from asyncwait.conformance.mailbox._history import (
    FROM_BATCH,
    GIVES_BACK,
    NEVER,
    RUNS_MAILS,
    STEERS,
    TAKES,
    Execution,
    MailboxHistory,
    Run,
    check,
)
from asyncwait.spec.mailbox.program import ANYBODYS, OWNER, WAITING

_COMPLETES = "all_actions_completed"


def _is_suspended(history: MailboxHistory, moment: float) -> bool | None:
    """Return whether the default action was suspended then; None if the trace leaves it open."""
    made = [each for each in history.of("suspend_action") if each.is_well and each.end < moment]
    if not made:
        return False
    last = _resumes(history, len(made) - 1)
    resumed = [each for each in last if made[-1].end < each.begin < moment]
    if not resumed:
        return True
    return False if any(each.by == OWNER and each.end < moment for each in resumed) else None


def _loops(history: MailboxHistory) -> list[Execution]:
    return [each for each in history.executions if each.does == "run"]


def _actions(history: MailboxHistory, loop: Execution) -> list[int]:
    return [at for at in history.actions if loop.begin < at < loop.end]


def _sender_run(history: MailboxHistory, run: Run) -> Run | None:
    letter = history.letter_of(run)
    if letter is None or letter.sent.by != OWNER:
        return None
    begin = letter.sent.begin
    return next((each for each in history.runs if each.at < begin < each.over), None)


@check("MBX-47")
def one_batch_one_action(history: MailboxHistory) -> Iterator[Finding]:
    """A mail that a mail sends waits for the next round."""
    for run in history.runs:
        letter, sender = history.letter_of(run), _sender_run(history, run)
        if letter is None or sender is None or letter.post.urgent or run.amid is None:
            continue
        if run.amid.does != "run" or sender.amid is not run.amid:
            continue
        if any(each.begin < run.at for each in history.of("suspend_action")):
            continue
        acted = any(letter.sent.end < at < run.at for at in history.actions)
        text = f"{letter.name} was run in the round in which {sender.mail} sent it"
        yield None if acted else (text, run.at)


@check("MBX-48")
def all_that_is_there_runs_first(history: MailboxHistory) -> Iterator[Finding]:
    """Mails that wait when a round begins run before its action."""
    for loop in _loops(history):
        start = loop.begin
        for action in _actions(history, loop):
            for letter in history.inside(start) if start < action else ():
                wrong = letter.is_inside(action)
                yield (f"the action was run, {letter.name} waited", action) if wrong else None
            start = min((at for at in history.acted if at > action), default=action)


def _suspensions(history: MailboxHistory) -> list[tuple[Execution, float]]:
    made = [each for each in history.of("suspend_action") if each.is_well]
    found = []
    for number, suspended in enumerate(made):
        own = (each.begin for each in _resumes(history, number) if each.begin > suspended.end)
        found.append((suspended, min(own, default=NEVER)))
    return found


def _resumes(history: MailboxHistory, number: int) -> Iterator[Execution]:
    return (e for e in history.executions if e.does == "resume" and e.step.number == number)


@check("MBX-49")
def a_suspended_action_does_not_run(history: MailboxHistory) -> Iterator[Finding]:
    """From its suspension on the action waits until a thread resumes it."""
    for suspended, resumed in _suspensions(history):
        early = [at for at in history.actions if suspended.end < at < resumed]
        yield ("the action was run; it is suspended", early[0]) if early else None


@check("MBX-50")
def a_resumed_action_runs(history: MailboxHistory) -> Iterator[Finding]:
    """A loop whose action was resumed does not wait any longer."""
    for _, begun in _suspensions(history):
        resume = next((each for each in history.executions if each.begin == begun), None)
        if resume is None or not resume.is_well or history.states(resume) != {"open"}:
            continue
        if any(each.begin > begun for each in history.of("drain")):
            continue  # It may have taken the mail that was to resume the action.
        stuck = [at for at, each in history.waits if each.does == "run" and at > resume.end]
        acted = [at for at in history.actions if at > resume.begin]
        if stuck and not any(at < stuck[0] for at in acted) and _is_last(history, resume, stuck[0]):
            yield "the loop waits; its action was resumed", stuck[0]
        elif acted:
            yield None


def _is_last(history: MailboxHistory, resume: Execution, moment: float) -> bool:
    """Whether the action was not suspended once more."""
    again = (each for each in history.of("suspend_action") if each.is_well)
    return not any(resume.begin < each.begin < moment for each in again)


@check("MBX-51")
def mails_run_while_the_action_is_suspended(history: MailboxHistory) -> Iterator[Finding]:
    """A loop that waits has run all mails."""
    for run in history.runs:
        amid = run.amid
        if amid and amid.does == "run" and _is_suspended(history, run.at):
            yield None
    for at, waiting in history.waits:
        if waiting.does == "run":
            for letter in history.inside(at):
                yield f"the loop waits; {letter.name} is there", at


@check("MBX-52")
def a_stale_resume_does_nothing(history: MailboxHistory) -> Iterator[Finding]:
    """A resume of an earlier suspension does not resume the present suspension."""
    for number, (suspended, resumed) in enumerate(_suspensions(history)):
        earlier = chain.from_iterable(_resumes(history, each) for each in range(number))
        stale = sorted(each.begin for each in earlier if suspended.end < each.begin < resumed)
        if stale:
            early = [at for at in history.actions if stale[0] < at < resumed]
            text = "the action was run; only an earlier suspension was resumed"
            yield (text, early[0]) if early else None


def _stopped(history: MailboxHistory, verb: str) -> Iterator[tuple[Execution, Execution]]:
    """Yield each stop, and the loop that it ends: the running or the next one."""
    for stop in history.of(verb):
        if not stop.is_well or history.states(stop) != {"open"}:
            continue
        loop = next((each for each in _loops(history) if each.end > stop.begin), None)
        if (
            loop is None
            or _is_over_before(history, loop)
            or "open" not in history.states_at(loop.begin, loop.begin)
        ):
            continue
        if not _is_taken_between(history, stop, loop):
            yield stop, loop


def _is_taken_between(history: MailboxHistory, stop: Execution, loop: Execution) -> bool:
    others = TAKES | GIVES_BACK | FROM_BATCH - {"run"}
    return any(
        each.does in others and stop.begin < each.begin < loop.end for each in history.executions
    )


def _is_over_before(history: MailboxHistory, loop: Execution) -> bool:
    return any(each.begin < loop.begin for each in history.of("all_actions_completed")) and any(
        each.end < loop.begin for each in _loops(history)
    )


def _went_on(history: MailboxHistory, loop: Execution, since: float) -> Finding:
    for at in _actions(history, loop):
        if at > since:
            return "the action was run; the loop was to stop", at
    for run in history.runs:
        letter = history.letter_of(run)
        if run.amid is loop and run.at > since and letter and not letter.post.urgent:
            return f"{run.mail} was run; the loop was to stop", run.at
    waits = [at for at, each in history.waits if each is loop and at > since]
    return ("the loop waits; it was to stop", waits[0]) if waits else None


@check("MBX-54")
def a_suspended_loop_stops_at_once(history: MailboxHistory) -> Iterator[Finding]:
    """Suspending the loop goes ahead of the waiting mails, which stay for the next run."""
    for stop, loop in _stopped(history, "suspend"):
        yield _went_on(history, loop, max(stop.end, loop.begin))
    yield from _ended_untold(history)


def _ended_untold(history: MailboxHistory) -> Iterator[Finding]:
    """Yield each run that ended before all actions are completed: a suspension ends one run."""
    told = [each.begin for each in history.executions if each.does == "suspend"]
    completed = min((e.begin for e in history.executions if e.does == _COMPLETES), default=NEVER)
    ended = [loop for loop in _loops(history) if loop.is_well and loop.end < completed]
    for number, loop in enumerate(ended, 1):
        wrong = sum(at < loop.end for at in told) < number
        yield ("the loop ended, and no step had stopped it", loop.end) if wrong else None


@check("MBX-55")
def a_completed_loop_never_runs_again(history: MailboxHistory) -> Iterator[Finding]:
    """When all is completed, the loop ends, and no later run of it does anything."""
    for stop, loop in _stopped(history, "all_actions_completed"):
        if loop.seen.error:
            continue
        found = _went_on(history, loop, max(stop.end, loop.begin))
        for later in _loops(history):
            if found is None and later.begin > loop.end:
                found = _went_on(history, later, later.begin)
        yield found


@check("MBX-56")
def steering_what_is_over_is_harmless(history: MailboxHistory) -> Iterator[Finding]:
    """Steering a loop whose mailbox is not open raises no error."""
    for steered in history.of(*STEERS):
        if "open" not in history.states(steered):
            error, text = steered.seen.error, f"{steered} raised {steered.seen.error!r}"
            yield (f"{text}; the mailbox is over", steered.end) if error else None


_NEEDS_OPEN = {"execute", "submit"} | FROM_BATCH | TAKES
"""Steps whose refusal other rules judge."""

_NEVER_REFUSED = {"has_mail", "close"} | STEERS


@check("MBX-63")
def nothing_else_is_raised(history: MailboxHistory) -> Iterator[Finding]:
    """A step returns its result, or raises a permitted error."""
    for done in history.executions:
        if done.end < NEVER:
            error = done.seen.error
            wrong = error and not _may_raise(history, done, error)
            yield (f"{done} raised {error!r}", done.end) if wrong else None


def _may_raise(history: MailboxHistory, done: Execution, error: str) -> bool:
    match error:
        case "closed":
            is_over = history.states(done) != {"open"}
            return done.does in _NEEDS_OPEN or (is_over and done.does not in _NEVER_REFUSED)
        case "refused":
            is_elsewhere = done.by != OWNER and done.does not in ANYBODYS
            return is_elsewhere or done.does == "suspend_action"
        case "cancelled":
            return done.does in WAITING
        case _:
            return error.startswith("raised ") and done.does in RUNS_MAILS


@check("MBX-64")
def the_error_of_the_action_passes(history: MailboxHistory) -> Iterator[Finding]:
    """The run of a loop raises the error of its default action unchanged."""
    for failed in history.failed:
        loop = next((each for each in _loops(history) if each.begin < failed < each.end), None)
        came = loop.seen.error or ("nothing" if loop.end < NEVER else "nothing yet") if loop else ""
        if came:
            wrong = came != "raised action"
            yield (f"the action raised an error, the loop {came}", failed) if wrong else None
