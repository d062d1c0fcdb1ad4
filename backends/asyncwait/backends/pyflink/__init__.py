"""PyFlink's own asynchronous operation, unmodified, in this process: the class of PyFlink 2.3.0.

`open_operator` opens `AsyncOperation`, the class behind `AsyncDataStream.ordered_wait` and
`unordered_wait` in Python. In a cluster a worker feeds it, which a Java operator has started; here
this package does, on the event loop, without a cluster and without Java. Unmodified parts of
PyFlink are the operation, its queues, its emitter, its handlers of results and retries, its retry
strategies, and the threads that all of these start. These parts are replaced or translated:

- Its two modules are loaded a second time with replacements for `threading`, `asyncio` and
  `datetime`. One of its threads runs at a time, until it waits; while all threads wait, the event
  loop runs. Time is the loop's time, which may be virtual. A thread that polls every second is
  not woken while nothing has happened.
- Threads go on in the order in which they were started: one of the possible orders of real
  threads, and the same order each time.
- The function is called as a task on the loop on which the operator was opened, in a copy of the
  context in which PyFlink would run it; handlers and predicates run on that loop, too. A list of
  results, or an object that is not a collection, is passed on unchanged; any other collection is
  read when the call ends.
- Output is in flight until the consumer has taken it: the emitter waits, as it waits for a full
  channel in a cluster.
- A barrier, and the end of input, make the operation finish its bundle, for which it waits until
  nothing is in flight (PY-10); no bundle ends by its size or its time. So a snapshot is empty, and
  nothing can be restored.
- PyFlink takes no watermarks, because they are not among its elements (PY-3), and has no order by
  key.
- The error that it raises in the thread that feeds it becomes `CallFailed` or `CallTimedOut`, if
  the error names a record; otherwise it becomes `PyFlinkFailed`. PyFlink reports the error
  nowhere else (PY-6).
- Without a timeout, retries get a timeout that never comes, because PyFlink requires one (PY-11).
  Its strategies refuse back-offs of 0, which are therefore set after construction.
- Leaving ends all threads where they wait, and cancels the calls; PyFlink itself leaves its
  timers, its emitter and its calls running.
"""

from asyncwait.backends.flink import RELEASE
from asyncwait.backends.pyflink._function import PyFlinkFailed
from asyncwait.backends.pyflink._load import PyFlinkUnavailable
from asyncwait.backends.pyflink._open import open_operator
from asyncwait.spec.exports import claim_exports

__all__ = ["RELEASE", "PyFlinkFailed", "PyFlinkUnavailable", "open_operator"]

claim_exports(__name__)
