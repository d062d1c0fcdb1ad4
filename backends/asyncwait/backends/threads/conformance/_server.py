"""A server on the loop that answers the operator's threads with the planned outcomes of calls."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterable, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import count
from types import coroutine
from typing import Any

import anyio
from msgspec.structs import replace

from asyncwait.backends.threads._operator import open_with
from asyncwait.backends.threads._thread_pool import Call, ThreadPool
from asyncwait.backends.threads.conformance._loops import PatientLoop
from asyncwait.spec import Element, OperatorConfig, OperatorResults, Snapshot
from asyncwait.toolkit import FunctionParts

_number: ContextVar[int] = ContextVar("_number", default=-1)
"""Number of calls that threads took before the present one."""


class Hired(ThreadPool):
    """Threads that number their calls in the order in which they take them."""

    def __init__(self, loop: PatientLoop, server: "Server") -> None:
        super().__init__()
        self._loop = loop
        self._server = server
        self._taking = threading.Lock()
        self._numbers = count()

    def take(self) -> Call:
        """Take a call, and number it before another thread takes a call."""
        with self._taking:
            call = super().take()
            assert call.context is not None
            call.context.run(_number.set, next(self._numbers))
        return call

    def _end(self, call: Call) -> None:
        super()._end(call)
        self._loop.look()

    def close(self) -> None:
        """Note the possible numbers of calls that run on: perhaps also those not back yet."""
        self._server.running_on = range(self._server.present, len(self.present) + 1)
        super().close()

    def running(self) -> list[Any]:
        """Report the calls that run on to the server only.

        If operators are left at the same time, each would otherwise catch the warnings of all.
        """
        self._server.told = len(super().running())
        return []


class _Request:
    """Request of a thread, which waits for the answer.

    Args:
        value: the argument.
        copy: the function to copy the value with; None for a call.
    """

    def __init__(self, value: Any, copy: Callable[[Any], Any] | None = None) -> None:
        self.value = value
        self.copy = copy
        self.number = _number.get()
        self.context = copy_context()
        self._answered = threading.Event()
        self._returned: Any = None
        self._error: BaseException | None = None

    def answer(self, function: Callable[[Any], Any]) -> None:
        """Answer with the result of `function` for the value, or its error."""
        try:
            self._returned = function(self.value)
        except BaseException as error:
            self._error = error
        self._answered.set()

    def wait(self) -> Any:
        """Wait for the answer, and return or raise it."""
        self._answered.wait()
        error, self._error = self._error, None
        if error is None:
            return self._returned
        try:
            raise error
        finally:
            del error


def _raise(error: BaseException) -> Any:
    raise error


class Server:
    """Answers the requests of one operator as the planned function does.

    Requests of one instant are processed together, in the order in which threads took their calls:
    on their way, which takes no time, they may overtake each other.
    """

    def __init__(self, fn: Any, loop: PatientLoop) -> None:
        self._fn = fn
        self._loop = loop
        self._requests: deque[_Request] = deque()
        self._answers: dict[asyncio.Task[None], Any] = {}
        self._open = 0
        self.running_on = range(1)
        """Possible numbers of calls that ran on when the threads ended."""
        self.told = 0
        """Number of calls running on that the operator has reported."""
        parts = FunctionParts.of(fn)
        for name in ("open", "close", "timeout", "failure"):
            if (part := getattr(parts, name)) is not None:
                setattr(self, name, part)

    @property
    def is_asked(self) -> bool:
        """Whether the server has requests that it has not begun."""
        return bool(self._requests)

    @property
    def present(self) -> int:
        """Number of requests without an answer."""
        return len(self._requests) + self._open

    def __call__(self, value: Any) -> Any:
        """Send a request from a thread, and block until the answer comes."""
        return self._ask(_Request(value))

    def copies(self, copy: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a function that copies on the loop, from any thread."""
        thread = threading.get_ident()

        def asked(value: Any) -> Any:
            is_here = threading.get_ident() == thread
            return copy(value) if is_here else self._ask(_Request(value, copy))

        return asked

    def _ask(self, request: _Request) -> Any:
        self._requests.append(request)
        self._loop.look()
        return request.wait()

    def serve(self) -> bool:
        """Process all waiting requests; return whether there were any."""
        requests = sorted(self._requests, key=lambda each: each.number)
        for request in requests:
            self._requests.remove(request)
            if request.copy is not None:
                run: Any = request.context.run
                request.answer(partial(run, request.copy))
                break  # The request's call comes next, before all others.
            self._open += 1
            self._begin(request)
        return bool(requests)

    def _begin(self, request: _Request) -> None:
        """Call the function in this step: the loop may be blocked before its next turn."""
        call = self._answered(request)
        try:
            awaited = request.context.run(call.send, None)
        except StopIteration:
            return
        task = self._loop.create_task(_rest(call, awaited), context=request.context)
        self._answers[task] = call
        task.add_done_callback(self._answers.pop)
        # The task may be cancelled before it begins, and then nothing else would answer.
        task.add_done_callback(lambda _: call.close())

    async def _answered(self, request: _Request) -> None:
        returned, error = None, None
        try:
            returned = await self._fn(request.value)
        except BaseException as raised:
            error = raised
        self._open -= 1
        request.answer(lambda _: returned if error is None else _raise(error))

    def check_told(self) -> None:
        """Compare the calls that the operator has reported on leaving with those that run on.

        Raises:
            AssertionError: the numbers differ.
        """
        assert self.told in self.running_on, f"{self.told} calls are told of, not {self.running_on}"

    async def shut(self) -> None:
        """Answer no further request, and end the running answers."""
        left = dict(self._answers)
        for task, call in left.items():
            call.close()
            task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*left, return_exceptions=True)


async def _rest(call: Coroutine[Any, Any, None], awaited: Any) -> None:
    await _go_on(call, awaited)


@coroutine
def _go_on(call: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    step: Callable[[Any], Any] = call.send
    while True:
        try:
            sent = yield awaited
            step = call.send
        except BaseException as error:
            step, sent = call.throw, error
        try:
            awaited = step(sent)
        except StopIteration:
            return


class _Served(AbstractAsyncContextManager[OperatorResults]):
    def __init__(
        self, opened: AbstractAsyncContextManager[OperatorResults], server: Server
    ) -> None:
        self._opened = opened
        self._server = server

    async def __aenter__(self) -> OperatorResults:
        return await self._opened.__aenter__()

    async def __aexit__(self, *raised: Any) -> bool | None:
        try:
            swallowed = await self._opened.__aexit__(*raised)
            self._server.check_told()
            return swallowed
        finally:
            await self._server.shut()


def open_served(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
    *,
    pool: Callable[[PatientLoop, Server], Hired] = Hired,
) -> AbstractAsyncContextManager[OperatorResults]:
    """Open the operator with a function that sends requests to a server on the loop."""
    loop: Any = asyncio.get_running_loop()
    server = Server(fn, loop)

    def hire() -> ThreadPool:
        hired = pool(loop, server)
        loop.pools.append(hired)
        return hired

    if not callable(fn) or hasattr(fn, "async_invoke"):
        return open_with(hire, config, fn, elements, restore)
    if (copy := getattr(config, "copy", None)) is not None:
        config = replace(config, copy=server.copies(copy))
    loop.servers.append(server)
    return _Served(open_with(hire, config, server, elements, restore), server)
