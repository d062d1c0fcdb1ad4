"""The checks of the mailbox: one for each rule, pure functions of a history."""

from asyncwait.conformance._checks import BookJudged
from asyncwait.conformance.mailbox._history import MailboxHistory, check
from asyncwait.conformance.mailbox.checks import _asking, _batches, _ending, _loop, _sending
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.mailbox.program import MailboxTrace

__all__ = ["MAILBOX_CHECKS", "judge_mailbox"]

_REGISTERED = (_sending, _batches, _asking, _ending, _loop)  # each has added its checks

MAILBOX_CHECKS = check
"""The check of each rule, by its id."""


def judge_mailbox(trace: MailboxTrace) -> BookJudged:
    """Judge `trace` by every rule; never raise, whatever it contains.

    The events of a program that did not finish count as well.
    """
    try:
        history = MailboxHistory(trace)
    except Exception as error:
        return BookJudged(error=f"reading the trace failed: {type(error).__name__}: {error}")
    return MAILBOX_CHECKS.judge(history)


claim_exports(__name__)
