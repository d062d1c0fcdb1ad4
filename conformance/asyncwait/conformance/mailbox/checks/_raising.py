"""What is raised: what the contract tells of, and nothing else."""

from collections.abc import Iterator

from asyncwait.conformance.mailbox._history import (
    NEVER,
    RUNS_MAILS,
    TAKES,
    Execution,
    MailboxHistory,
)
from asyncwait.conformance.mailbox.checks._check import Spot, check
from asyncwait.spec.mailbox.program import ANYBODYS, ASKING, OWNER, WAITING

_NEEDS_OPEN = frozenset({"execute", "submit", "report_error", "try_take_from_batch", "run"}) | TAKES
"""What other rules say of when it is to be refused."""

_NEVER_REFUSED = ASKING | {"close", "close_processor", "suspend", "all_actions_completed", "resume"}


@check("MBX-63")
def nothing_else_is_raised(history: MailboxHistory) -> Iterator[Spot]:
    """A step gives what it has to give, or raises what it may."""
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
def the_error_of_the_action_passes(history: MailboxHistory) -> Iterator[Spot]:
    """What the default action raises is raised, as it is, by the run of its loop."""
    loops = [each for each in history.executions if each.does == "run"]
    for failed in history.failed:
        loop = next((each for each in loops if each.begin < failed < each.end), None)
        came = loop.seen.error or ("nothing" if loop.end < NEVER else "nothing yet") if loop else ""
        if came:
            wrong = came != "raised action"
            yield (f"the action raised an error, the loop {came}", failed) if wrong else None
