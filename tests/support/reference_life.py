"""One operator of the reference's, from its opening to its end, for a player of known scenarios."""

from contextlib import AsyncExitStack
from typing import Any, ClassVar

import anyio
from known_traces import Entry, Notes, Scenario, scripted, token_of
from msgspec.structs import replace
from reference_words import complete, config, said

from asyncwait.reference import REFERENCE, Mail, Output, TaskMailbox, open_operator, open_with
from asyncwait.spec import Element, InvalidConfig, OperatorError, ResultFuture, Snapshot
from asyncwait.spec.mailbox import MailboxState
from asyncwait.spec.snapshots import Stored


class StoppedMailbox(TaskMailbox):
    """A mailbox with a stop in front of it: mails get into it when they are let."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._stopped: list[Mail] = []

    def put(self, mail: Mail) -> None:
        """Stop a mail, unless it is one with which the task steers itself."""
        if mail.urgent or self.state is not MailboxState.OPEN:
            super().put(mail)
        else:
            self._stopped.append(mail)

    def let_in(self, most: int) -> None:
        """Let so many mails in, if there are so many."""
        going, self._stopped = self._stopped[:most], self._stopped[most:]
        for mail in going:
            super().put(mail)


open_stopped = open_with(replace(REFERENCE, mailbox=StoppedMailbox))


class ReferenceLife:
    """An operator, and around it a source, a function in callback form, and a consumer.

    Args:
        scenario: how it is made, and what its function does.
        notes: where all that is seen goes.
        before: the one that it is restored after.
    """

    def __init__(
        self, scenario: Scenario, notes: Notes, before: "ReferenceLife | None" = None
    ) -> None:
        self.scenario, self._notes = scenario, notes
        self._handles: dict[str, list[ResultFuture]] = {} if before is None else before._handles
        self._around = AsyncExitStack()
        self._source, self._elements = anyio.create_memory_object_stream[Element]()
        self._results: Any = None
        self._is_restoring = False
        self.has_failed = self.is_over = self.has_ended = False

    # What it is asked

    @property
    def takes_input(self) -> bool:
        """Whether the source is being asked for an element."""
        return self._source.statistics().tasks_waiting_receive > 0

    @property
    def queued(self) -> int:
        """How many elements are in its queue."""
        assert isinstance(self._results, Output)
        return len(self._results.queue)

    @property
    def blocked_on(self) -> str | None:
        """What it is blocked on, if it is."""
        if self.is_over:
            return None
        if self._is_restoring:
            return "restore"
        if self._results.statistics().waiting:
            return "put"
        return "drain" if self.has_ended else None

    left: ClassVar[Entry] = {}
    """What else is noted at the end: mails and timers are not compared."""

    # What is done to it

    async def begin(self, stored: tuple[Stored, ...] | None = None) -> bool:
        """Open the operator; return whether it can be made."""
        opened = open_operator if self.scenario.auto_drain else open_stopped
        restore = None if stored is None else Snapshot(0, stored)
        try:
            stream = opened(config(self.scenario), self, self._elements, restore)
        except InvalidConfig:
            self._notes.add("rejected")
            return False
        self._is_restoring = stored is not None
        self._results = await self._around.enter_async_context(stream)
        return True

    def give(self, element: Element) -> None:
        """Give an element to whoever asks the source."""
        self._source.send_nowait(element)

    def end_input(self) -> None:
        """Have the source end."""
        self.has_ended = True
        self._source.close()

    def look(self) -> None:
        """Note if all that was stored has found room."""
        if self._is_restoring and self.takes_input:
            self._is_restoring = False
            self._notes.add("restored")

    async def take(self) -> bool:
        """Take one element, if there is one, and note it; return whether there was."""
        if self.is_over:
            return False
        with anyio.CancelScope() as scope:
            scope.cancel()  # what there is comes without waiting
            try:
                element = await anext(self._results)
            except StopAsyncIteration:
                self._end("input_ended")
            except OperatorError as error:
                self.has_failed = True
                self._end("fail", **said(error))
            else:
                self._note(element)
                return True
        return False

    def _note(self, element: Element) -> None:
        if isinstance(element, Snapshot):
            self._notes.snapshot(element.in_flight)
        else:
            self._notes.emit(element)

    def _end(self, kind: str, **details: Any) -> None:
        self._notes.add(kind, **details)
        self.is_over = True

    def complete(self, value: Any, attempt: int, outcome: Entry) -> None:
        """Complete a call from outside; note it if there was no such call."""
        handles = self._handles[token_of(value)]
        if attempt >= len(handles):
            self._notes.add("ignored", why="no such call")
        else:
            complete(handles[attempt], outcome)

    def let_mails_in(self, most: int) -> None:
        """Let so many of the mails run that wait."""
        mailbox = self._results.task.mailbox
        assert isinstance(mailbox, StoppedMailbox)
        mailbox.let_in(most)

    async def end(self) -> None:
        """Leave the operator."""
        self._source.close()
        self._elements.close()
        await self._around.aclose()

    # The function

    def async_invoke(self, value: Any, result: ResultFuture) -> None:
        """Note a call, keep what it is completed with, and do what the script says."""
        self._notes.invoke(value)
        self._handles.setdefault(token_of(value), []).append(result)
        complete(result, scripted(self.scenario.on_invoke, value))

    def timeout(self, value: Any) -> list[str] | None:
        """Note that a record is late, and give what the script says."""
        self._notes.add("timeout", value=value)
        match scripted(self.scenario.on_timeout, value):
            case {"complete": [*results]}:
                return results
            case {"fail": error} | {"throw": error}:
                raise RuntimeError(error)
        return None
