"""The reference operator: slow enough to be read, sound enough to be believed."""

from asyncwait.reference._alarms import Alarm, LoopAlarm, TaskAlarm
from asyncwait.reference._calls import GRACE, Call, CallRunner
from asyncwait.reference._executor import MailboxExecutor
from asyncwait.reference._mail import OPERATOR, Mail
from asyncwait.reference._mailbox import TaskMailbox
from asyncwait.reference._operator import Operator, open_with
from asyncwait.reference._outcomes import Completion, Outcome, Raised, Returned
from asyncwait.reference._output import Output
from asyncwait.reference._processor import MailboxProcessor, Suspension
from asyncwait.reference._queues import (
    ElementQueue,
    Entry,
    FenceEntry,
    OrderedQueue,
    RecordEntry,
    Segment,
    UnorderedQueue,
)
from asyncwait.reference._source import End, SourceReader
from asyncwait.reference._timers import Timer, TimerService
from asyncwait.spec import plain_wait
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.mailbox import MAIN, MailboxClosedError, MailboxState

open_operator = open_with(Operator)
ordered_wait = plain_wait(open_operator, "ordered")
unordered_wait = plain_wait(open_operator, "unordered")

__all__ = [
    "GRACE",
    "MAIN",
    "OPERATOR",
    "Alarm",
    "Call",
    "CallRunner",
    "Completion",
    "ElementQueue",
    "End",
    "Entry",
    "FenceEntry",
    "LoopAlarm",
    "Mail",
    "MailboxClosedError",
    "MailboxExecutor",
    "MailboxProcessor",
    "MailboxState",
    "Operator",
    "OrderedQueue",
    "Outcome",
    "Output",
    "Raised",
    "RecordEntry",
    "Returned",
    "Segment",
    "SourceReader",
    "Suspension",
    "TaskAlarm",
    "TaskMailbox",
    "Timer",
    "TimerService",
    "UnorderedQueue",
    "open_operator",
    "open_with",
    "ordered_wait",
    "unordered_wait",
]

claim_exports(__name__)
