"""Running a call in a context of its own without a task of its own."""

from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from types import coroutine
from typing import Any


@coroutine
def within(context: Context, call: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Await `call`, each step of which runs in `context`; its task and its cancellation stay.

    Args:
        context: nobody runs in it.
        call: not begun.
    """
    step: Callable[[Any], Any] = call.send
    sent: Any = None
    while True:
        try:
            awaited = context.run(step, sent)
        except StopIteration as end:
            return end.value
        try:
            sent = yield awaited
            step = call.send
        except GeneratorExit:
            context.run(call.close)
            raise
        except BaseException as error:
            step, sent = call.throw, error
