"""Plain values in, plain values out, with an event loop or without."""

import inspect
from collections.abc import AsyncIterable, Callable, Collection, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any

from asyncwait.backends.threads._blocking import Results
from asyncwait.backends.threads._operator import open_operator, open_plain
from asyncwait.backends.threads._source import ReadAhead
from asyncwait.backends.threads._types import KeyedThreadsWait, ThreadsWait
from asyncwait.spec import InvalidConfig, Mode
from asyncwait.spec.texts import shown
from asyncwait.toolkit import PlainResults, SingleEntry, bind, plain_wait, require_source


class Stream(AbstractAsyncContextManager[PlainResults[Any]], AbstractContextManager[Results]):
    """A stream of results that is opened by `async with`, by `with`, or by a `for` loop."""

    def __init__(
        self,
        wait: Callable[[Any], AbstractAsyncContextManager[PlainResults[Any]]],
        source: Iterable[Any] | AsyncIterable[Any],
    ) -> None:
        self._wait = wait
        self._source = source
        self._single_entry = SingleEntry()
        self._opened: AbstractAsyncContextManager[PlainResults[Any]] | None = None
        self._results: Results | None = None

    async def __aenter__(self) -> PlainResults[Any]:
        self._single_entry.enter()
        self._opened = self._wait(self._source)
        return await self._opened.__aenter__()

    async def __aexit__(self, *raised: Any) -> bool | None:
        self._single_entry.leave()
        assert self._opened is not None
        return await self._opened.__aexit__(*raised)

    def __enter__(self) -> Results:
        self._single_entry.enter(on_loop=False)
        source = _without_a_loop(self._source)
        self._results = Results(lambda: self._wait(source))
        return self._results

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._single_entry.leave()
        assert self._results is not None
        try:
            self._results.close()
        except Exception as late:
            if error is None or isinstance(error, GeneratorExit):  # leaving alone raises no error
                raise
            # The first error says more than a source that does not close after it.
            error.add_note(f"closing raised {shown(late)}")

    def __iter__(self) -> Iterator[Any]:
        with self as results:
            yield from results


def _without_a_loop(source: Any) -> Any:
    """Return the source in the form that is read without a loop."""
    if isinstance(source, AsyncIterable):
        raise InvalidConfig.of("source", source, "an iterable, or `async with` for an async one")
    require_source(source)
    # Reading a collection does not block.
    return source if isinstance(source, Collection) else ReadAhead(source)


def threads_wait(mode: Mode) -> Any:
    """Build the plain-value form of a mode."""
    wait: Any = plain_wait(open_operator, mode, open_plain, blocks=True)
    signature = inspect.signature(wait)

    def open_stream(*args: Any, **options: Any) -> Stream:
        bound = bind(wait.__name__, signature, args, options)
        source = bound.pop("source")
        return Stream(lambda read: wait(read, **bound), source)

    open_stream.__doc__ = _DOC + inspect.cleandoc(wait.__doc__)
    open_stream.__name__ = open_stream.__qualname__ = wait.__name__
    open_stream.__signature__ = signature.replace(return_annotation=Stream)  # type: ignore[attr-defined]
    return open_stream


_DOC = """Call `fn`, which may block, in threads for each value of `source`, many at a time.

`async with` opens the stream on a loop; `with` or a `for` loop opens it without a loop: see
`ThreadsStream`. Without a loop, a thread of its own reads a source that is no collection, some
values ahead; and finished results come together, and take no room any more. On leaving, a
RuntimeWarning names the calls that run on although their time is over: nothing can end them.

The arguments are those of the pool; only `fn` is a plain function here:

"""


ordered_wait: ThreadsWait = threads_wait("ordered")
unordered_wait: ThreadsWait = threads_wait("unordered")
key_ordered_wait: KeyedThreadsWait = threads_wait("key-ordered")
