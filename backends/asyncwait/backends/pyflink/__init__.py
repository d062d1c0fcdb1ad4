"""PyFlink's own asynchronous operation, unmodified, in this process: that of PyFlink 2.3.0.

`open_operator` opens `AsyncOperation`, the class behind `AsyncDataStream.ordered_wait` and
`unordered_wait` in Python. In a cluster a worker feeds it, which a Java operator has started; here
this package does, on the event loop, without a cluster and without Java. What is PyFlink's own: the
operation, its queues, its emitter, its handlers of results and retries, its strategies of retries,
and the threads that all of these start. What is not, and what is translated:

- Its two modules are loaded once more among stand-ins for `threading`, `asyncio` and `datetime`. Of
  its threads one runs at a time, until it waits; while all wait, the event loop runs. Time is that
  of the loop, which may be a virtual one. Who waits for a second, and then again, is not woken as
  long as nothing has happened.
- Threads go on in the order in which they were started. That is one of the orders that threads of a
  machine may have, and the same each time.
- The function is called as a task on the loop on which the operator was opened, in a copy of the
  context in which PyFlink would run it; handlers and predicates are asked there, too. A list of
  results is passed on as it is, and what is no collection; all else is read when the call ends.
- What has come out is in flight until somebody has taken it: the emitter waits, as it waits for a
  full channel in a cluster.
- A barrier, and the end of input, have the operation finish its bundle, for which it waits until
  nothing is in flight (PY-10); no bundle ends by its size or its time. So a snapshot is empty, and
  nothing can be restored.
- PyFlink is given no watermarks, which are none of its elements (PY-3), and has no order by key.
- The error that it raises in the thread which feeds it becomes `CallFailed` or `CallTimedOut`, if
  it names a record; else it is `PyFlinkFailed`. Nobody else is told of it (PY-6).
- Without a timeout, retries have one that never comes, as PyFlink wants one (PY-11); and back-offs
  of 0, which its strategies refuse, are had by setting them afterwards.
- Leaving ends all threads where they wait, and cancels the calls; PyFlink leaves its timers, its
  emitter and its calls behind.
"""

from asyncwait.backends.pyflink._function import PyFlinkFailed
from asyncwait.backends.pyflink._load import RELEASE, PyFlinkUnavailable
from asyncwait.backends.pyflink._open import open_operator
from asyncwait.spec.exports import claim_exports

__all__ = ["RELEASE", "PyFlinkFailed", "PyFlinkUnavailable", "open_operator"]

claim_exports(__name__)
