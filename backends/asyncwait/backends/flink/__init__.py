"""Flink's own operators, unmodified, in this process: those of Flink 2.3.0.

`open_operator` opens `AsyncWaitOperator`, and `open_keyed_operator`, in key-ordered mode,
`TableKeyedAsyncWaitOperator`, which is of its tables: it repeats no calls, and refuses suppliers of
results (KO-9).

Around it is what a task of Flink would be: this package's, on the event loop. What is Flink's own:
the operator, its queues, its mailbox and executor, its processing-time service, its strategies of
retries, its state backend and serializers. What is not, and what is translated:

- Values and errors travel as tokens; Python keeps them. So keys, and values of any kind, survive.
  Keys that are the same in Python have one token, by which Flink orders.
- A call in coroutine form is a task here, whose end completes Flink's `ResultFuture`. Results that
  are no collection have no word in Java: they complete it with `InvalidResult`. None is null.
- What Flink tells its cluster about a record becomes `CallFailed` or `CallTimedOut`, or the error
  of ours that is its cause, and tells the calls of that record; all else is `FlinkFailed`.
- The task is cancelled as soon as Flink tells of a failure. As long as something that came out is
  not taken, nothing is admitted; mails and timers go on.
- Timers fire at their time, and not a millisecond later, as Flink's service for real clocks has
  them do (TO-4): the clock is the loop's, which may be a virtual one.
- A barrier has the operator take a snapshot, which is read back by Flink's state backend. What is
  restored is written by that backend; from the first status on, which Flink can't restore (RS-6),
  it is read as input.
- In key-ordered mode Flink stores the records of each key, with the watermark before each (KO-11).
  That is read back by watermarks, the least first. A watermark that does not rise, or has no record
  right behind it, can't be stored for a restore: from the first one on all is read as input, too.
- What was stored with a key is never forgotten here, since Flink does not forget it (KO-12).
"""

from asyncwait.backends.flink._jvm import RELEASE, FlinkUnavailable, start_java
from asyncwait.backends.flink._open import open_keyed_operator, open_operator
from asyncwait.backends.flink._values import FlinkFailed
from asyncwait.spec.exports import claim_exports

__all__ = [
    "RELEASE",
    "FlinkFailed",
    "FlinkUnavailable",
    "open_keyed_operator",
    "open_operator",
    "start_java",
]

claim_exports(__name__)
