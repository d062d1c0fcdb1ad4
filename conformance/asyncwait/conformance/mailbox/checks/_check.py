"""Where the checks of mailboxes are."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from asyncwait.conformance._checks import Checks
from asyncwait.conformance.judging import Judgement
from asyncwait.conformance.mailbox._history import MailboxHistory

MailboxCheck: TypeAlias = Callable[[MailboxHistory], Judgement]

check = Checks[MailboxHistory]()
MAILBOX_CHECKS: Mapping[str, MailboxCheck] = check
"""The check of each rule, by its id."""
