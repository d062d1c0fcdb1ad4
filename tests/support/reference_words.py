"""The words of known scenarios for the reference: its making, what a call comes to, failures."""

from typing import Any

from known_traces import Entry, Retrying, Scenario
from standing_clock import MILLISECOND

from asyncwait.spec import CallTimedOut, OperatorConfig, OperatorError, ResultFuture, Retry


def complete(result: ResultFuture, outcome: Entry) -> None:
    """Complete a record with what its call came to, or raise what it throws.

    Raises:
        RuntimeError: it throws.
    """
    match outcome:
        case {"complete": results}:
            result.complete(results)
        case {"supplier_error": error}:
            result.complete_with(lambda: _raise(error))
        case {"fail": error}:
            result.complete_exceptionally(RuntimeError(error))
        case {"throw": error}:
            _raise(error)


def _raise(error: str) -> Any:
    raise RuntimeError(error)


def said(error: OperatorError) -> Entry:
    """Return what is compared of a failure: the record it names, and what the call has raised."""
    cause = error.__cause__
    late = "timed out" if isinstance(error, CallTimedOut) else ""
    record = None if error.record is None else error.record.value
    return {"record": record, "why": late if cause is None else str(cause)}


def config(scenario: Scenario) -> OperatorConfig:
    """Return how the operator of a scenario is made.

    Raises:
        InvalidConfig: it can't be.
    """
    timeout = scenario.timeout_ms
    return OperatorConfig(
        scenario.mode,
        scenario.capacity,
        None if timeout is None else timeout * MILLISECOND,
        None if scenario.retry is None else _retry(scenario.retry),
    )


def _retry(retry: Retrying) -> Retry:
    is_fixed = retry.kind == "fixed"
    return Retry(
        max_attempts=retry.max_attempts + 1,
        initial=(retry.backoff_ms if is_fixed else retry.initial_ms) * MILLISECOND,
        multiplier=1 if is_fixed else retry.multiplier,
        cap=(retry.backoff_ms if is_fixed else retry.max_ms) * MILLISECOND,
        on_error=Exception if retry.if_exception else lambda _: False,
        on_result=(lambda results: not results) if retry.if_empty else None,
    )
