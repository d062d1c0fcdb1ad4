"""The reference operator, written to be read rather than to be fast.

The mailbox. A mail is a plain function that never awaits. Any thread may put a mail into the
`TaskMailbox`; one task takes the mails and runs one after the other (`MailboxProcessor`).

The one task. `StreamTask.run` is this task. After each batch of mails it runs the default action,
`StreamTask.process_input`, which processes one input element. The action is suspended while no
element waits, or while the queue has no room, and `StreamTask.resume` lets it run again.

The way of a record through tasks and mails:

    source's task    SourceReader.take            read one element, and wait until it has room
                     StreamTask.on_element        append it to the backlog
    default action   AsyncWaitOperator.process    admission: the record takes a slot of the queue
                     KeyLines.enter               in key-ordered mode: wait for the key
                     Attempt.start                join a batch or a load, or wait for a permit
    call's task      TaskCall.run                 call: await the function, and send a mail
    mail of a call   ResultHandler.on_outcome     results, a back-off, or a failure
    mail of a timer  ResultHandler.on_deadline    results of the timeout handler, or a failure
    either mail      ResultHandler.decide         decision: the first mail sets the outputs
    consumer's task  Output.take                  output: the mode's queue gives the next one;
                                                  the last output of a record frees its slot

A freed slot resumes the default action, and an admitted element lets the source read the next one.
A failure is an error that leaves its mail, and with it the loop of the one task: `StreamTask.fail`
then ends the output, and `StreamTask.stop` cancels everything else.

Why the operator needs no lock. All of these tasks run on one event loop, which switches between
tasks only at an await. The code between two awaits is a step, and no two steps overlap. Each mail,
each default action, each append to the backlog, each begin of a call and each output is one step,
and leaves the state consistent. Other threads never touch this state: they put mails, and the lock
inside `TaskMailbox` guards nothing but its queues. A snapshot is taken in one step, too, so it
holds each record once.
"""

from asyncwait.reference._abandoned import GRACE, CancelledCalls, Watch
from asyncwait.reference._batches import BatchCall, Gathering
from asyncwait.reference._cache import LoadCall, ResultCache
from asyncwait.reference._calls import TaskCall
from asyncwait.reference._counts import (
    BreakerCount,
    BudgetCount,
    Caller,
    Count,
    InFlightCount,
    Need,
    Permit,
    Waiter,
    WindowCount,
)
from asyncwait.reference._gate import Gate
from asyncwait.reference._handler import Attempt, ResultHandler
from asyncwait.reference._mailbox import OPERATOR, Mail, MailboxExecutor, TaskMailbox
from asyncwait.reference._operator import AsyncWaitOperator, KeyLines
from asyncwait.reference._outcomes import Completion, Outcome, Raised, Returned
from asyncwait.reference._output import Output
from asyncwait.reference._processor import MailboxProcessor, Suspension
from asyncwait.reference._queues import (
    ElementQueue,
    Entry,
    FenceEntry,
    KeyOrderedQueue,
    OrderedQueue,
    RecordEntry,
    Segment,
    UnorderedQueue,
)
from asyncwait.reference._source import End, SourceReader
from asyncwait.reference._task import (
    QUEUES,
    REFERENCE,
    InputStatus,
    Parts,
    ResultStream,
    StreamTask,
    open_with,
)
from asyncwait.reference._timers import Alarm, LoopAlarm, TaskAlarm, Timer, TimerService
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.mailbox import MAIN, MailboxClosedError, MailboxState
from asyncwait.toolkit import plain_wait

open_operator = open_with()
ordered_wait = plain_wait(open_operator, "ordered")
unordered_wait = plain_wait(open_operator, "unordered")
key_ordered_wait = plain_wait(open_operator, "key-ordered")

__all__ = [
    "GRACE",
    "MAIN",
    "OPERATOR",
    "QUEUES",
    "REFERENCE",
    "Alarm",
    "AsyncWaitOperator",
    "Attempt",
    "BatchCall",
    "BreakerCount",
    "BudgetCount",
    "Caller",
    "CancelledCalls",
    "Completion",
    "Count",
    "ElementQueue",
    "End",
    "Entry",
    "FenceEntry",
    "Gate",
    "Gathering",
    "InFlightCount",
    "InputStatus",
    "KeyLines",
    "KeyOrderedQueue",
    "LoadCall",
    "LoopAlarm",
    "Mail",
    "MailboxClosedError",
    "MailboxExecutor",
    "MailboxProcessor",
    "MailboxState",
    "Need",
    "OrderedQueue",
    "Outcome",
    "Output",
    "Parts",
    "Permit",
    "Raised",
    "RecordEntry",
    "ResultCache",
    "ResultHandler",
    "ResultStream",
    "Returned",
    "Segment",
    "SourceReader",
    "StreamTask",
    "Suspension",
    "TaskAlarm",
    "TaskCall",
    "TaskMailbox",
    "Timer",
    "TimerService",
    "UnorderedQueue",
    "Waiter",
    "Watch",
    "WindowCount",
    "key_ordered_wait",
    "open_operator",
    "open_with",
    "ordered_wait",
    "unordered_wait",
]

claim_exports(__name__)
