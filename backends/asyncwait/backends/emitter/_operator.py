"""Entering and leaving an operator."""

from collections.abc import AsyncIterable
from contextlib import AbstractAsyncContextManager, ExitStack
from contextvars import copy_context
from typing import Any

import anyio

from asyncwait.backends.emitter._parts import Parts
from asyncwait.backends.emitter._results import EmitterResults
from asyncwait.spec import Element, OpenOperator, OperatorConfig, Snapshot
from asyncwait.toolkit import (
    JoinableTasks,
    SingleEntry,
    check_arguments,
    close_source,
    join_errors,
    plain_wait,
    run_hook,
)


class EmitterOperator(AbstractAsyncContextManager[EmitterResults]):
    """An operator with an emitter: see `asyncwait.spec.OpenOperator`.

    Args:
        config: mode, capacity, timeout, retry.
        fn: the user's function.
        elements: the input.
        restore: what an earlier operator had in flight.

    Raises:
        InvalidConfig: an argument is not what it should be.
    """

    parts_class: type[Parts] = Parts

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        self._function = check_arguments(
            config, fn, elements, restore, "the emitter operator", "retry", "max_held"
        )
        self._single_entry = SingleEntry()
        self._config = config
        self._elements = elements
        self._stored = () if restore is None else restore.in_flight

    async def __aenter__(self) -> EmitterResults:
        self._single_entry.enter()
        with ExitStack() as scopes:
            # Outside of whatever scope `open` leaves open for `close`, so that it can shield both.
            self._guard = scopes.enter_context(anyio.CancelScope())
            await self._open()
            self._scopes = scopes.pop_all()
        self._parts = parts = self.parts_class(
            self._config, self._function.within(copy_context()), self._elements, self._stored
        )
        self._stored = ()
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        self._scope = anyio.CancelScope()
        self._group.start_soon(self._run)
        return EmitterResults(parts.outlet, parts.checkpoints, parts.statistics)

    async def _open(self) -> None:
        """Run the function's `open`; if it raises, the source is closed (END-12)."""
        try:
            await run_hook(self._function.open)
        except BaseException as error:
            self._guard.shield = True
            join_errors(error, await close_source(self._elements))
            raise

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Let nothing more out, wait for what cleans up, and close everything (END-3 to END-6).

        Raises:
            BaseException: it is for the whole program, or cancels the task; or closing raised it,
                and the body nothing.
        """
        self._single_entry.leave()
        with self._group.scopes(self._scopes):
            self._parts.life.leave(self._group.misplaced)
            self._scope.shield = True
            urgent = await self._group.join()
            if not self._group.is_elsewhere:
                self._guard.shield = True
            await self._parts.reader.close()  # unless its task did
            trouble = await self._close_function()
            reason = error if urgent is None else urgent
            first = join_errors(reason, self._parts.reader.trouble, trouble)
            if first is not None and first is not error:
                raise first

    async def _run(self) -> None:
        with self._scope:
            await self._parts.run()

    async def _close_function(self) -> Exception | None:
        try:
            await run_hook(self._function.close)
        except Exception as error:
            return error
        return None


def open_with(operator_class: type[EmitterOperator]) -> OpenOperator:
    """Return the function that opens operators of a class.

    Args:
        operator_class: the operator, or a variation of it.
    """

    def open_operator(
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> EmitterOperator:
        """Open an emitter operator; see `asyncwait.spec.OpenOperator`."""
        return operator_class(config, fn, elements, restore)

    return open_operator


open_operator = open_with(EmitterOperator)
ordered_wait = plain_wait(open_operator, "ordered")
unordered_wait = plain_wait(open_operator, "unordered")
key_ordered_wait = plain_wait(open_operator, "key-ordered")
