"""Where a trace of a mailbox is judged, by every rule."""

from collections.abc import Mapping

from msgspec import Struct

from asyncwait.conformance.judging import Judgement
from asyncwait.conformance.mailbox._history import MailboxHistory
from asyncwait.conformance.mailbox.checks import MAILBOX_CHECKS, MailboxCheck
from asyncwait.spec.mailbox.program import MailboxTrace


class MailboxJudged(Struct, frozen=True):
    """What the checks say of one trace.

    Args:
        error: why nothing can be judged; empty if it was.
    """

    by_rule: Mapping[str, Judgement] = {}
    error: str = ""

    @property
    def broken(self) -> dict[str, Judgement]:
        """The judgements of the rules that are broken."""
        return {rule: found for rule, found in self.by_rule.items() if found.violations}


def judge_mailbox(
    trace: MailboxTrace, checks: Mapping[str, MailboxCheck] = MAILBOX_CHECKS
) -> MailboxJudged:
    """Judge `trace` by all `checks`; never raise, whatever is in it.

    What was seen counts also if the program did not come to its end: what was broken is broken.
    """
    try:
        history = MailboxHistory(trace)
    except Exception as error:
        return MailboxJudged(error=f"reading the trace failed: {type(error).__name__}: {error}")
    return MailboxJudged({rule: check(history) for rule, check in checks.items()})
