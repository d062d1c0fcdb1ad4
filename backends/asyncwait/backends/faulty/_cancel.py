"""CANCEL: operators that cancel calls as no loop does, or let them see how they are run."""

import asyncio
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import Attempt, Outcome, Raised


class CancelsByAScope(Attempt):
    """Cancels each wait of a call, that of its clean-up too, as a scope of anyio does."""

    def start(self) -> None:
        if self.operator.function.invoke is not None:
            super().start()
        else:
            self.scope = anyio.CancelScope()
            self.operator.spawn(self.run, self.scope)


class _KnowsItsTask(Attempt):
    """Knows the task of its call."""

    task: Any = None

    async def invoke(self) -> Outcome:
        self.task = asyncio.current_task()
        return await super().invoke()


class InsistsOnItsCancellation(_KnowsItsTask):
    """Cancels a call once more if it has not ended soon."""

    def cancel(self) -> None:
        super().cancel()
        if self.task is not None:
            timers = self.operator.timers
            _ = timers.register(timers.now() + 0.002, self.task.cancel)


class CancelsTwiceAtOnce(_KnowsItsTask):
    """Cancels the scope of a call, and to be sure its task as well."""

    def cancel(self) -> None:
        super().cancel()
        if self.task is not None:
            self.task.cancel()


class LimitsCallsByAScope(Attempt):
    """Has a scope round each call, with a deadline somewhat behind that of its record."""

    async def invoke(self) -> Outcome:
        timeout, outcome = self.operator.config.timeout, Raised(TimeoutError(), 0)
        with anyio.move_on_after(None if timeout is None else timeout + 1):
            return await super().invoke()
        return outcome


FAULTY: tuple[Faulty, ...] = (
    Faulty(CancelsByAScope, rule="CANCEL-1"),
    Faulty(InsistsOnItsCancellation, rule="CANCEL-1"),
    Faulty(CancelsTwiceAtOnce, rule="CANCEL-2"),
    Faulty(LimitsCallsByAScope, rule="CANCEL-3"),
)
