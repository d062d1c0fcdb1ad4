"""The user's function, as Flink's operator calls it, and the handles that complete its calls."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

from asyncwait.backends.flink._jvm import java
from asyncwait.backends.flink._stage import Stage
from asyncwait.backends.flink._surroundings import proxy
from asyncwait.backends.flink._values import Collection, Result, Tokens, java_collection, java_null
from asyncwait.spec import Record
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    CallScope,
    FunctionParts,
    call_scope,
    collect_results,
    is_own_cancellation,
    outcome_of,
    reraise_fatal,
    supplied,
)

Spawn: TypeAlias = Callable[..., object]
"""Starts a coroutine function as a task of the operator; called on the loop."""

Tell: TypeAlias = Callable[[Any, BaseException | None], object]
"""Takes the results of a call, or else its error."""


class Handle:
    """Completes a call in callback form: Flink's `ResultFuture` behind this package's interface."""

    def __init__(
        self,
        token: str,
        future: Any,
        tokens: Tokens,
        stage: Stage,
        on_emitted: Callable[[], object],
    ) -> None:
        self._token, self._future = token, future
        self._tokens, self._stage, self._on_emitted = tokens, stage, on_emitted

    def complete(self, results: Any) -> None:
        """Complete with results: None is null; an object that is no collection becomes an error."""
        try:
            given = self._java(results)
        except Exception as error:
            self.complete_exceptionally(error)
        else:
            self._future.complete(given)

    def complete_with(self, supplier: Callable[[], Any]) -> None:
        """Complete with a supplier. Flink calls it in its thread (CO-10); it runs on the loop."""

        def get() -> Any:
            return self._stage.ask(lambda: self._java(supplied(supplier)))

        name = "streaming.api.functions.async.CollectionSupplier"
        self._future.complete(proxy(name, {"get": self._tokens.through_java(get)}))

    def complete_exceptionally(self, error: Any) -> None:
        """Complete with an error. Java takes only throwables: other objects become a TypeError."""
        if not isinstance(error, BaseException):
            error = TypeError(f"complete_exceptionally() takes an exception, got {shown(error)}")
        self._future.completeExceptionally(self._tokens.thrown(error, self._token))

    def _java(self, results: Any) -> Any:
        """Return `results` for Java: a list unchanged; any other collection is read first.

        Raises:
            OperatorError: `results` is not a collection, or reading it has raised.
        """
        if results is None:
            return java_null()
        tokens = self._tokens
        record: Record = tokens.meaning(self._token)
        if not isinstance(results, list):
            results = collect_results(record, results)
        return java_collection(
            Collection(results, lambda value: tokens.of(Result(record, value)), self._on_emitted)
        )


class ForeignCalls:
    """Calls the user's function for Flink or PyFlink, each call in a task of our loop."""

    def __init__(self, parts: FunctionParts, spawn: Spawn) -> None:
        self.parts, self._spawn = parts, spawn
        self._scopes: dict[CallScope, None] = {}
        self.calls = self.retries = self.timeouts = 0

    def count(self, attempt: int) -> None:
        """Count a call that begins now."""
        self.calls += 1
        self.retries += attempt > 1

    def cancel(self) -> None:
        """Cancel the running calls; the operator waits for them with its other tasks."""
        for scope in self._scopes:
            scope.cancel()

    async def await_call(self, record: Record, scope: CallScope, tell: Tell) -> None:
        """Await a call in coroutine form, and report its outcome unless it was cancelled."""
        self._scopes[scope] = None
        try:
            with scope:
                if not scope.cancel_called:
                    await self._tell_end(record, scope, tell)
        finally:
            del self._scopes[scope]

    async def _tell_end(self, record: Record, scope: CallScope, tell: Tell) -> None:
        call: Any = self.parts.call
        try:
            results = self.read(record, await outcome_of(record, call(record.value), scope))
        except BaseException as error:
            reraise_fatal(error)
            if scope.cancel_called and isinstance(error, Exception):
                return  # The call was cancelled before; its error is dropped.
            if scope.cancel_called or is_own_cancellation(error):
                raise
            tell(None, error)
        else:
            tell(results, None)

    def read(self, _record: Record, results: Any) -> Any:
        """Return the results of a call in the form in which `tell` takes them."""
        return results


class CalledFunction(ForeignCalls):
    """Calls the user's function for Flink: Flink has its own thread, the calls run on the loop."""

    def __init__(
        self, parts: FunctionParts, tokens: Tokens, stage: Stage, spawn: Spawn, *, forgets: bool
    ) -> None:
        super().__init__(parts, spawn)
        self._forgets = forgets
        self._tokens, self._stage = tokens, stage
        self._called: dict[str, int] = {}

    def java(self) -> Any:
        """Return the function as an object of Java."""
        through = self._tokens.through_java
        methods = {"asyncInvoke": through(self._invoke), "timeout": through(self._time_out)}
        return proxy("streaming.api.functions.async.AsyncFunction", methods)

    def attempts(self, token: str) -> int:
        """Return the number of calls of the function for a record."""
        return self._called.get(token, 0)

    # In Flink's thread

    def _invoke(self, token: Any, future: Any) -> None:
        self._stage.ask(partial(self._call, str(token), self._handle(token, future)))

    def _time_out(self, token: Any, future: Any) -> None:
        """Call the timeout handler; without a handler, fail as Flink's own does (TO-7)."""
        self.timeouts += 1
        record, asked = self._tokens.meaning(token), self.parts.timeout
        if asked is None:
            late = java("java.util.concurrent.TimeoutException")
            future.completeExceptionally(late("Async function call has timed out."))
            return
        results = self._stage.ask(lambda: asked(record.value))  # Flink handles its errors (TO-10)
        if results is not None:  # otherwise the handler does nothing (TO-9)
            handle = self._handle(token, future)
            self._stage.ask(lambda: handle.complete(results))

    def _handle(self, token: Any, future: Any) -> Handle:
        return Handle(
            str(token), future, self._tokens, self._stage, partial(self._emitted, str(token))
        )

    def _emitted(self, token: str) -> None:
        if self._forgets:
            self._tokens.taken(token)
            del self._called[token]

    # On the loop

    def _call(self, token: str, handle: Handle) -> None:
        record = self._tokens.meaning(token)
        self._called[token] = attempt = self.attempts(token) + 1
        self.count(attempt)
        if self.parts.invoke is None:
            self._spawn(self.await_call, record, call_scope(), partial(_complete, handle))
        else:
            self.parts.invoke(record.value, handle)  # Flink handles its errors (FA-1)


def _complete(handle: Handle, results: Any, error: BaseException | None) -> None:
    """Complete a call in coroutine form, and drop what Flink throws at the completion (CO-8)."""
    with suppress(java("java.lang.Throwable")):
        if error is None:
            handle.complete(results)
        else:
            handle.complete_exceptionally(error)
