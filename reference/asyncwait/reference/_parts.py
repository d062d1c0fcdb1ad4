"""The parts of an operator, and the wires between them."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, ClassVar

import anyio.abc

from asyncwait.reference._calls import CallRunner
from asyncwait.reference._executor import MailboxExecutor
from asyncwait.reference._mail import OPERATOR
from asyncwait.reference._mailbox import TaskMailbox
from asyncwait.reference._outcomes import Outcome
from asyncwait.reference._output import Output
from asyncwait.reference._queues import (
    ElementQueue,
    Entry,
    OrderedQueue,
    RecordEntry,
    UnorderedQueue,
)
from asyncwait.reference._source import End, SourceReader
from asyncwait.reference._timers import TimerService
from asyncwait.spec import (
    Element,
    FunctionParts,
    Mode,
    OperatorConfig,
    Stored,
    running_loop,
)
from asyncwait.spec.mailbox import MAIN, MailboxClosedError


class OperatorParts(ABC):
    """What an operator consists of. The chapters after this one say what it does.

    A variation of the operator replaces a part by naming another class here.

    Args:
        config: mode, capacity, timeout.
        parts: the user's function.
        elements: the input.
        stored: what comes before the input.
    """

    mailbox_class: ClassVar[type[TaskMailbox]] = TaskMailbox
    timers_class: ClassVar[type[TimerService]] = TimerService
    calls_class: ClassVar[type[CallRunner]] = CallRunner
    source_class: ClassVar[type[SourceReader]] = SourceReader
    output_class: ClassVar[type[Output]] = Output
    queue_classes: ClassVar[Mapping[Mode, Callable[[], ElementQueue]]] = {
        "ordered": OrderedQueue,
        "unordered": UnorderedQueue,
    }

    _tasks: anyio.abc.TaskGroup

    def __init__(
        self,
        config: OperatorConfig,
        parts: FunctionParts,
        elements: AsyncIterable[Element],
        stored: tuple[Stored, ...],
    ) -> None:
        self._config = config
        self._parts = parts
        self._elements = elements
        self._stored = stored  # until the operator begins to restore it
        self._backlog: deque[Element] = deque()  # taken or restored, and not admitted
        self._end: End | None = None  # of the input, once it has ended
        self._in_flight: int = 0
        self._max_in_flight: int = 0
        self._undecided: int = 0
        self._timeouts: int = 0
        self._read: int = 0

    def _set_up(self) -> None:
        """Build the parts; that takes a running loop."""
        loop = running_loop()
        self._mailbox = self.mailbox_class(loop)
        self._main = MailboxExecutor(self._mailbox, MAIN)
        self._own = MailboxExecutor(self._mailbox, OPERATOR)
        self._timers = self.timers_class(loop, self._post, self._spawn)
        self._queue = self.queue_classes[self._config.mode]()
        self._output = self.output_class(self._queue, self._on_taken, self._on_overtaker_taken)
        self._source = self.source_class(self._elements, self._on_element, self._on_end)
        self._calls = self.calls_class(
            self._parts,
            self._config.capacity,
            timers=self._timers,
            post=self._post,
            spawn=self._spawn,
            on_call=self._on_call,
            on_outcome=self._on_outcome,
        )

    def _post(self, run: Callable[[], object]) -> None:
        """Send a mail that runs even while the operator waits for room."""
        with suppress(MailboxClosedError):  # the operator is over, and the mail of no use
            self._own.execute(run)

    def _post_main(self, run: Callable[[], object]) -> None:
        """Send a mail that waits while the operator waits for room."""
        with suppress(MailboxClosedError):  # as above
            self._main.execute(run)

    def _spawn(self, function: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> None:
        """Start a task that is cancelled when the operator is over."""
        self._tasks.start_soon(function, *args)

    @abstractmethod
    def _on_call(self, entry: RecordEntry) -> None:
        """Start the timeout of a record whose call begins in this step."""

    @abstractmethod
    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        """Decide a record by what its call came to."""

    @abstractmethod
    def _on_taken(self, entry: Entry) -> None:
        """Free the slot of an entry that is gone."""

    @abstractmethod
    def _on_overtaker_taken(self) -> None:
        """Let the reader on when what overtook the queue was taken."""

    @abstractmethod
    def _on_element(self, element: Element) -> None:
        """Queue an element that was read."""

    @abstractmethod
    def _on_end(self, end: End) -> None:
        """Take note that the input has ended."""
