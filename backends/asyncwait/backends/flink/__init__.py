"""Flink's own operators, unmodified, in this process: the operators of Flink 2.3.0.

`open_operator` opens `AsyncWaitOperator`. `open_keyed_operator` opens
`TableKeyedAsyncWaitOperator` for the key-ordered mode: this operator of Flink's tables has no
retries, and refuses suppliers of results (KO-9).

This package plays the task around the operator, on the event loop. Unmodified parts of Flink are
the operator, its queues, its mailbox and executor, its processing-time service, its retry
strategies, its state backend and serializers. These parts are replaced or translated:

- Values and errors travel as tokens; Python keeps the objects. So keys, and values of any type,
  survive. Keys that are equal in Python share one token, by which Flink orders.
- A call in coroutine form is a task on the loop, whose end completes Flink's `ResultFuture`.
  Java cannot express results that are not a collection: they complete the future with
  `InvalidResult`. None is null.
- An error that Flink reports to its cluster about a record becomes `CallFailed` or
  `CallTimedOut`, or the operator error that is its cause, with the number of the record's calls;
  every other error is `FlinkFailed`.
- The task is cancelled as soon as Flink reports a failure. Until the consumer has taken all
  output, the task admits no element; mails and timers go on.
- Timers fire at their time, and not a millisecond later as in Flink's service for real clocks
  (TO-4): the clock is the loop's, which may be virtual.
- A barrier makes the operator take a snapshot, which Flink's state backend reads back. That
  backend also writes the elements to restore. Flink cannot restore a status (RS-6): from the
  first status on, the stored elements are read as input.
- In key-ordered mode Flink stores the records of each key with the watermark before each (KO-11).
  They are read back by watermark, the least first. A watermark that does not rise, or has no
  record right behind it, cannot be restored: from the first such watermark on, the stored
  elements are read as input, too.
- Records that were stored with a key are never forgotten, because Flink keeps them (KO-12).
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
