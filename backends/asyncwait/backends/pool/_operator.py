"""Opening and closing an operator."""

from collections.abc import AsyncIterable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

import anyio

from asyncwait.backends.pool._bell import interruption
from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._feeder import Feeder
from asyncwait.backends.pool._results import PoolResults
from asyncwait.backends.pool._sweep import Sweep
from asyncwait.backends.pool._workers import CallbackCrew, CoroutineCrew, Crew
from asyncwait.spec import (
    Element,
    FunctionParts,
    InvalidConfig,
    OperatorConfig,
    Snapshot,
    check_restore,
    plain_wait,
    run_hook,
)


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> AbstractAsyncContextManager[PoolResults]:
    """Open a pool operator; see `asyncwait.spec.OpenOperator`.

    Calls share a few long-lived tasks, and so their contexts: a ContextVar that `fn` sets may be
    seen by a later call. Cancellation is that of anyio on both loops: a cancelled call that still
    has to await something does so under `anyio.CancelScope(shield=True)`.

    Raises:
        InvalidConfig: an argument is not what it should be, or asks for retries or `max_held`.
    """
    if not isinstance(config, OperatorConfig):
        raise InvalidConfig.of("config", config, "an OperatorConfig")
    config.require_only("pool")
    if not isinstance(elements, AsyncIterable):
        raise InvalidConfig.of("elements", elements, "an async iterable")
    check_restore(restore)
    return _Pool(config, FunctionParts.of(fn), elements, restore)


ordered_wait = plain_wait(open_operator, "ordered")
unordered_wait = plain_wait(open_operator, "unordered")


class _Pool(AbstractAsyncContextManager[PoolResults]):
    """One operator from its opening to its close."""

    def __init__(
        self,
        config: OperatorConfig,
        parts: FunctionParts,
        elements: AsyncIterable[Element],
        restore: Snapshot | None,
    ) -> None:
        self._config = config
        self._parts = parts
        self._elements = elements
        self._core = Core(config, restore)

    async def __aenter__(self) -> PoolResults:
        self._feeder = Feeder(self._core, self._elements)
        try:
            await run_hook(self._parts.open)
        except BaseException as error:
            await self._feeder.close()
            _add_notes(error, [self._feeder.trouble])
            raise
        self._group = await anyio.create_task_group().__aenter__()
        self._sweep = Sweep(self._core, self._parts, self._config, self._group)
        self._crew = self._hire()
        self._core.on_pending = self._crew.help
        self._core.on_close = self._dismiss
        self._group.start_soon(self._feeder.run)
        return PoolResults(self._core)

    def _hire(self) -> Crew:
        crew = CoroutineCrew if self._parts.invoke is None else CallbackCrew
        function = self._parts.call or self._parts.invoke
        return crew(self._core, self._group, self._sweep, function)

    def _dismiss(self) -> None:
        self._feeder.stop()
        self._sweep.close()
        self._crew.dismiss()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._core.stop()
        try:
            await self._end_tasks()
        finally:
            troubles = [self._feeder.trouble, await self._close_function()]
        # What the body raised passes through; else the first that went wrong is raised.
        raised = next((error for error in (exc, *troubles) if error is not None), None)
        if raised is not None:
            _add_notes(raised, troubles)
            if raised is not exc:
                raise raised

    async def _end_tasks(self) -> None:
        # Whoever wants us to be elsewhere: calls that clean up are waited for.
        self._group.cancel_scope.shield = True
        try:
            await self._group.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            # KeyboardInterrupt or SystemExit: whatever else the tasks raise is an outcome.
            raise interruption(_first_of(group)) from None

    async def _close_function(self) -> Exception | None:
        if self._parts.close is None:
            return None
        try:
            with anyio.CancelScope(shield=True):
                await run_hook(self._parts.close)
        except Exception as error:
            return error
        return None


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first plain error in `group`."""
    error = group.exceptions[0]
    return _first_of(error) if isinstance(error, BaseExceptionGroup) else error


def _add_notes(error: BaseException, troubles: list[Exception | None]) -> None:
    """Tell on `error` what else went wrong."""
    for trouble in troubles:
        if trouble is not None and trouble is not error:
            error.add_note(f"Closing the operator raised, too: {trouble!r}")
