"""The first function of a chain: all results of a record travel in a bundle, so none is silent.

Whoever counts what comes out then knows when a record is gone, be its results many or none.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextvars import copy_context
from typing import Any

from asyncwait.spec import ResultFuture
from asyncwait.toolkit import FunctionParts, is_collection, reraise_fatal


def bundling(fn: Any, *, shared: bool = False) -> "_BundlingCall | _BundlingCallback":
    """Return a function that does as `fn` does, with the results of each record in one tuple.

    Args:
        fn: the function.
        shared: whether several records share a call of it.
    """
    parts = FunctionParts.of(fn)
    if parts.invoke is not None:
        return _BundlingCallback(parts)
    return _BundlingCall(parts, _bundle_for_each if shared else _bundle)


def _bundle(returned: Any) -> Any:
    """Return what a function gave as one result, which the operator collects as it does others.

    What is no collection stays what it is: the operator has its own words for that.
    """
    return _read(returned) if is_collection(returned) else returned


def _bundle_for_each(answers: Any) -> Any:
    """Return the same for what a shared call gave for each of its records; see `_bundle`.

    A set has no order, so that it is left to the operator to refuse.
    """
    if isinstance(answers, Mapping):
        return {value: _bundle_now(answers[value]) for value in answers}
    if isinstance(answers, AbstractSet) or not is_collection(answers):
        return answers
    return [*map(_bundle_now, answers)]


def _bundle_now(answer: Any) -> Any:
    """Return a bundle that can be read several times: equal values in a batch share it."""
    if isinstance(answer, BaseException) or not is_collection(answer):
        return answer
    try:
        return (copy_context().run(tuple, answer),)
    except BaseException as error:
        reraise_fatal(error)
        return error


def _read(results: Any) -> Iterator[tuple[Any, ...]]:
    yield tuple(results)


class _Bundling:
    """What both forms have: handlers whose results are bundles as well, and the hooks as they are.

    Only what is there is set; an operator asks whether it is.
    """

    def __init__(self, parts: FunctionParts) -> None:
        given: dict[str, Any] = {
            name: getattr(parts, name) for name in ("open", "close", "timeout", "failure")
        }
        for name, part in given.items():
            if part is not None:
                setattr(self, name, part if name in ("open", "close") else _then_bundle(part))


def _then_bundle(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: _bundle(function(*given))


class _BundlingCall(_Bundling):
    """A function in coroutine form."""

    def __init__(self, parts: FunctionParts, bundle: Callable[[Any], Any]) -> None:
        super().__init__(parts)
        assert parts.call is not None
        self._call = parts.call
        self._bundle = bundle

    def __call__(self, value: Any) -> Any:
        returned: Any = self._call(value)
        return self._bundle_of(returned) if inspect.isawaitable(returned) else returned

    async def _bundle_of(self, returned: Any) -> Any:
        return self._bundle(await returned)


class _BundlingCallback(_Bundling):
    """A function in callback form."""

    def __init__(self, parts: FunctionParts) -> None:
        super().__init__(parts)
        assert parts.invoke is not None
        self._invoke = parts.invoke

    def async_invoke(self, value: Any, result: ResultFuture) -> None:
        """Start the call; what it is completed with comes in a bundle."""
        self._invoke(value, _BundlingFuture(result))


class _BundlingFuture:
    """Hands each completion on, the results in a bundle."""

    def __init__(self, future: ResultFuture) -> None:
        self._future = future
        self.complete_exceptionally = future.complete_exceptionally

    def complete(self, results: Any) -> None:
        self._future.complete(_bundle(results))

    def complete_with(self, supplier: Callable[[], Any]) -> None:
        self._future.complete_with(_then_bundle(supplier))
