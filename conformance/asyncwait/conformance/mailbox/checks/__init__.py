"""The checks of the mailbox: one for each rule, pure functions of a history."""

from asyncwait.conformance.mailbox.checks import _asking, _batches, _ending, _loop, _sending
from asyncwait.conformance.mailbox.checks._check import MAILBOX_CHECKS, MailboxCheck
from asyncwait.spec.exports import claim_exports

__all__ = ["MAILBOX_CHECKS", "MailboxCheck"]

_REGISTERED = (_sending, _batches, _asking, _ending, _loop)  # each has added its checks

claim_exports(__name__)
