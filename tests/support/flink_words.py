"""The words of known scenarios in Java: retries, what a call comes to, and what was raised."""

from collections.abc import Iterator
from typing import Any

from known_traces import Entry, Retrying

from asyncwait.backends.flink._jvm import flink, java
from asyncwait.backends.flink._retries import no_retry
from asyncwait.backends.flink._surroundings import proxy
from asyncwait.backends.flink._values import java_null


def strategy(retry: Retrying | None) -> Any:
    """Return Flink's strategy of retries, with its own predicates."""
    if retry is None:
        return no_retry()
    strategies = "streaming.util.retryable.AsyncRetryStrategies$"
    if retry.kind == "fixed":
        fixed = flink(f"{strategies}FixedDelayRetryStrategyBuilder")
        builder = fixed(retry.max_attempts, retry.backoff_ms)
    else:
        exponential = flink(f"{strategies}ExponentialBackoffDelayRetryStrategyBuilder")
        builder = exponential(retry.max_attempts, retry.initial_ms, retry.max_ms, retry.multiplier)
    predicates = flink("streaming.util.retryable.RetryPredicates")
    if retry.if_empty:
        builder.ifResult(predicates.EMPTY_RESULT_PREDICATE)
    if retry.if_exception:
        builder.ifException(predicates.HAS_EXCEPTION_PREDICATE)
    return builder.build()


def complete(future: Any, outcome: Entry) -> None:
    """Complete Flink's future with what a call came to.

    Raises:
        java.lang.RuntimeException: Flink refuses it.
    """
    match outcome:
        case {"complete": None}:
            future.complete(java_null())
        case {"complete": [*results]}:
            future.complete(
                java("java.util.Arrays").asList(*map(java("java.lang.String"), results))
            )
        case {"supplier_error": error}:
            future.complete(_raising_supplier(error))
        case {"fail": error}:
            future.completeExceptionally(raised(error))
        case {"throw": error}:
            raise raised(error)


def _raising_supplier(error: str) -> Any:
    def get() -> None:
        raise raised(error)

    return proxy("streaming.api.functions.async.CollectionSupplier", {"get": get})


def raised(text: str) -> Any:
    """Return an error of the user's."""
    return java("java.lang.RuntimeException")(text)


def complete_late(future: Any) -> None:
    """Do what Flink's own handler does, where the function has none."""
    late = java("java.util.concurrent.TimeoutException")
    future.completeExceptionally(late("Async function call has timed out."))


def said(error: Any) -> str:
    """Return the name and the text of an error."""
    name, text = error.getClass().getSimpleName(), error.getMessage()
    return str(name) if text is None else f"{name}: {text}"


def chain(error: Any) -> Iterator[Any]:
    """Go from an error to its cause, and on."""
    while error is not None:
        yield error
        error = error.getCause()


def cancellation() -> Any:
    """Return what ends Flink's thread wherever it waits."""
    return flink("runtime.execution.CancelTaskException")()
