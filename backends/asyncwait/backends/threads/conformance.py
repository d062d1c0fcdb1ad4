"""The operator with threads as a backend: real threads, on a clock that waits for them.

What a call does is played on the loop, as everywhere; the function that runs in a thread asks for
it there, as a client asks its server, and blocks until it has the answer. Time stands still while a
thread is on its way, to the server or back: it takes none.
"""

import asyncio
import threading
import warnings
from collections.abc import (
    AsyncIterable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from types import TracebackType, coroutine
from typing import Any

import anyio

from asyncwait.backends.threads._crew import Crew
from asyncwait.backends.threads._operator import open_with
from asyncwait.conformance.harness import VirtualLoop, play
from asyncwait.spec import Element, FunctionParts, OperatorConfig, OperatorResults, Snapshot
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario, Trace

LACKS = frozenset({Capability.CANCEL_CALLS})
"""Nothing ends a thread from outside."""


class ThreadsBackend:
    """Plays scenarios one after the other, each in an event loop of its own."""

    capabilities: frozenset[Capability] = ALL_CAPABILITIES - LACKS
    exceptions: Mapping[str, str] = {}
    batch = False

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`."""
        for scenario in scenarios:
            yield play(open_served, scenario, loop_factory=PatientLoop)


def backend() -> ThreadsBackend:
    """Return the operator with threads."""
    return ThreadsBackend()


class PatientLoop(VirtualLoop):
    """A loop whose time stands still while a thread is on its way, to the server or back."""

    def __init__(self) -> None:
        self.crews: list[Crew] = []
        self.servers: list[_Server] = []
        super().__init__()

    def _moving(self) -> int:
        """Return how many calls are neither with their server nor over."""
        present = sum(len(crew.present) for crew in self.crews)
        return present - sum(server.asked for server in self.servers)

    def may_jump(self) -> bool:
        """Return whether each call waits for its answer, and none has just told its own."""
        return not self._moving() and not self._ready  # type: ignore[attr-defined]

    def look(self) -> None:
        """Have the loop look again whether time may move; from a thread."""
        with suppress(RuntimeError):  # It is gone.
            self.call_soon_threadsafe(int)

    def jump(self, seconds: float) -> None:
        """Move the clock; where somebody blocks the loop, threads go on until they wait."""
        while self._moving():
            for server in self.servers:
                server.serve(patience=_LOOK)
        super().jump(seconds)


_LOOK = 0.001
"""Real seconds from look to look whether threads are on their way."""


class _Request:
    """What a thread waits for."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.context = copy_context()
        self.answered = threading.Event()
        self.returned: Any = None
        self.error: BaseException | None = None

    def answer(self) -> Any:
        """Wait for the answer, and return it; or raise it."""
        self.answered.wait()
        error, self.error = self.error, None
        if error is None:
            return self.returned
        try:
            raise error
        finally:
            del error


class _Server:
    """Answers the requests of one operator as the planned function does.

    Args:
        fn: the planned function, in coroutine form.
        loop: where it answers.
    """

    def __init__(self, fn: Any, loop: PatientLoop) -> None:
        self._fn = fn
        self._loop = loop
        self._requests: SimpleQueue[_Request] = SimpleQueue()
        self._answers: dict[asyncio.Task[None], Any] = {}
        self.asked = 0
        """Requests that are not answered."""
        parts = FunctionParts.of(fn)
        for name in ("open", "close", "timeout", "failure"):
            if (part := getattr(parts, name)) is not None:
                setattr(self, name, part)

    def __call__(self, value: Any) -> Any:
        """Ask for an answer from a thread, and block until it is there."""
        request = _Request(value)
        self._requests.put(request)
        self._loop.call_soon_threadsafe(self.serve)
        return request.answer()

    def serve(self, patience: float | None = None) -> None:
        """Begin with all requests that are there.

        Args:
            patience: real seconds to wait for the first, where the loop is blocked: no turn of it
                will begin with anything, so it is begun here and now. None where it is not.
        """
        with suppress(Empty):
            request = self._requests.get(block=patience is not None, timeout=patience)
            while True:
                self._begin(request, at_once=patience is not None)
                request = self._requests.get_nowait()

    def _begin(self, request: _Request, *, at_once: bool) -> None:
        self.asked += 1
        call: Any = self._answered(request)
        if at_once:
            try:
                call = _go_on(call, request.context.run(call.send, None))
            except StopIteration:
                return
        task = self._loop.create_task(call, context=request.context)
        self._answers[task] = call
        task.add_done_callback(self._answers.pop)

    async def _answered(self, request: _Request) -> None:
        try:
            request.returned = await self._fn(request.value)
        except BaseException as error:
            request.error = error
        finally:
            self.asked -= 1
            request.answered.set()

    async def shut(self) -> None:
        """Answer nobody any more; what is broken off so does not notice."""
        left = dict(self._answers)
        for task, call in left.items():
            call.close()
            task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*left, return_exceptions=True)


@coroutine
def _go_on(call: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """Await the rest of a call that awaits something already."""
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
    """The operator, and the server that its calls ask.

    Args:
        opened: the operator.
        server: ends when that is left.
    """

    def __init__(
        self, opened: AbstractAsyncContextManager[OperatorResults], server: _Server
    ) -> None:
        self._opened = opened
        self._server = server

    async def __aenter__(self) -> OperatorResults:
        return await self._opened.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of calls that run on, by plan
                return await self._opened.__aexit__(kind, error, traceback)
        finally:
            await self._server.shut()


def open_served(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> AbstractAsyncContextManager[OperatorResults]:
    """Open the operator with a function that asks a server on the loop."""
    loop: Any = asyncio.get_running_loop()

    def hire() -> Crew:
        crew = Crew()
        crew.on_over = loop.look
        loop.crews.append(crew)
        return crew

    if not callable(fn) or hasattr(fn, "async_invoke"):
        return open_with(hire, config, fn, elements, restore)
    server = _Server(fn, loop)
    loop.servers.append(server)
    return _Served(open_with(hire, config, server, elements, restore), server)


__all__ = ["backend"]
