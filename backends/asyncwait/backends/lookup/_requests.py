"""Requests for the keys of one chunk that are not cached, until each key is decided."""

from collections.abc import Mapping
from typing import Any

import anyio
from msgspec.structs import replace

from asyncwait.backends.lookup._loads import Load, Loads, Read
from asyncwait.backends.lookup._table import Figures, LookedUp, Rows, table_closed
from asyncwait.spec import (
    Batch,
    CallFailed,
    InvalidConfig,
    InvalidResult,
    OperatorError,
    Retry,
)
from asyncwait.spec.checks import at_most_infinite, require_timeout
from asyncwait.spec.texts import shown
from asyncwait.toolkit import BackOffs, Store, call_failed, cause_or_self, timed_out


class Policy:
    """Deadline, retries and batches of the requests for the keys of a row.

    Args:
        timeout: seconds from the first request to the deadline; None for no deadline.
        retry: how failed requests are repeated; None for never.
        retry_missing: how requests for a key without a row are repeated; None for never.
        batch: how keys of several rows gather for a request; None for no gathering.

    Raises:
        InvalidConfig: an argument is invalid, or has an option that does not apply to it.
    """

    def __init__(
        self,
        timeout: float | None,
        retry: Retry | None,
        retry_missing: Retry | None,
        batch: Batch | None,
    ) -> None:
        require_timeout("timeout", timeout)
        self.given: dict[str, Any] = {
            "timeout": timeout,
            "retry": retry,
            "retry_missing": retry_missing,
            "batch": batch,
        }
        for name, kind in (("retry", Retry), ("retry_missing", Retry), ("batch", Batch)):
            if not isinstance(self.given[name], kind | None):
                raise InvalidConfig.of(name, self.given[name], f"a {kind.__name__} or None")
        results = "None: retry_missing says what becomes of keys without rows"
        for name, part, expected in (
            ("batch", "split", "False: a table answers for each key"),
            ("retry", "on_result", results),
            ("retry_missing", "on_result", results),
            ("retry_missing", "attempt_timeout", "None: `retry` has it"),
        ):
            if value := getattr(self.given[name], part, None):
                raise InvalidConfig.of(f"{name}.{part}", value, expected)
        self.batch = batch
        self.timeout = None if timeout is None else at_most_infinite(timeout)
        self.attempt_timeout = None if retry is None else retry.attempt_timeout
        self._failed = None if retry is None else BackOffs(retry)
        self._missing: BackOffs | None = None
        if retry_missing is not None:
            self._missing = BackOffs(replace(retry_missing, on_result=lambda _: True))
        self.takes_misses = retry_missing is None
        """Whether a key without a row is not requested again."""

    def after_failure(self, failure: OperatorError, attempts: int, left: float) -> float | None:
        """Return the seconds to wait before the next attempt; None for no attempt.

        Args:
            failure: the failure of a key.
            attempts: requests so far.
            left: seconds until the deadline, before which the wait must end.
        """
        return None if self._failed is None else self._failed.after_failure(failure, attempts, left)

    def after_miss(self, key: Any, attempts: int, left: float) -> float | None:
        """Return the seconds to wait before a key without a row is read again; None for never."""
        assert self._missing is not None
        return self._missing.after_results(LookedUp(key), (), attempts, left)


class KeyRequests:
    """The rows of one chunk whose keys are not cached.

    Args:
        missing: their keys, by stand-in; empty in the end.
        times: number of rows with each key.
        at_once: whether the first failed key ends all requests, and not only its own rows.
    """

    def __init__(
        self,
        missing: dict[Any, Any],
        times: Mapping[Any, int],
        loads: Loads,
        store: Store,
        figures: Figures,
        *,
        at_once: bool,
    ) -> None:
        self._missing = missing
        self._times = times
        self._loads = loads
        self._store = store
        self._figures = figures
        self._at_once = at_once
        self._begun = {place for place in missing if place not in loads.by_key}
        self._attempts_begun = 0
        self._under_way: dict[Any, Load] = {}
        self._errors: dict[Any, BaseException] = {}
        """The errors of the last attempts, by stand-in."""
        self.found: dict[Any, Rows | OperatorError] = {}
        """The outcomes, by stand-in."""
        figures.loads += len(self._begun)
        figures.shared += sum(map(times.__getitem__, missing)) - len(self._begun)

    async def run(self, policy: Policy, clock: Any) -> None:
        """Request until each key has its rows or its failure.

        Raises:
            OperatorError: a key has failed, and `at_once` is set; the error names the key.
            RuntimeError: the table is closed.
        """
        with anyio.move_on_after(policy.timeout) as scope:
            await self._attempts(policy, clock, scope.deadline)
        if scope.cancelled_caught:
            if self._attempts_begun == 1:  # later ones waited less
                self._loads.give_up(self._under_way.values())
            for place, key in self._late(policy).items():
                if not self._give_stale(place, clock()):
                    assert policy.timeout is not None
                    late = f"the table gave no answer within {policy.timeout:g} s"
                    self._fail(place, timed_out(LookedUp(key), late, self._errors.get(place)))

    def _late(self, policy: Policy) -> dict[Any, Any]:
        """Take the available answers, and return all other keys: those without any first."""
        unanswered, retried = {}, {}
        for place, key in list(self._missing.items()):
            load = self._under_way.get(place)
            answer = None if load is None or load.answers is None else load.answers[place]
            if type(answer) is tuple and (answer or policy.takes_misses):
                self._decide(place, answer)
            elif answer is None:
                unanswered[place] = key
            else:
                retried[place] = key
        return unanswered | retried

    async def _attempts(self, policy: Policy, clock: Any, deadline: float) -> None:
        missing, found = self._missing, self.found
        while missing:
            self._attempts_begun += 1
            attempts = self._attempts_begun
            answers = await self._attempt(policy.attempt_timeout)
            back_offs: list[float] = []
            left = deadline - anyio.current_time()
            for place, answer in answers.items():
                if type(answer) is tuple and (answer or policy.takes_misses):
                    found[place] = answer
                    del missing[place]
                elif isinstance(answer, tuple):
                    again = policy.after_miss(missing[place], attempts, left)
                    if again is None:
                        self._decide(place, answer)
                    else:
                        back_offs.append(again)
                elif not self._give_stale(place, clock()):
                    failure = _failure(LookedUp(missing[place]), answer)
                    self._errors[place] = cause_or_self(failure)
                    again = policy.after_failure(failure, attempts, left)
                    if again is None:
                        self._fail(place, failure.after(attempts))
                    else:
                        back_offs.append(again)
            if back_offs:
                with anyio.move_on_after(max(back_offs)):
                    await self._loads.closed.wait()

    async def _attempt(self, limit: float | None) -> Read:
        by_key, missing = self._loads.by_key, self._missing
        own = {place: key for place, key in missing.items() if place not in by_key}
        if own:
            self._loads.begin(own)
        loads = self._under_way = {place: by_key[place] for place in missing}
        with anyio.move_on_after(limit) as scope:
            await self._loads.wait_for(set(loads.values()))
        if scope.cancelled_caught:
            self._loads.give_up(loads.values())
        if any(load.answers is None and load.ended.is_set() for load in loads.values()):
            raise table_closed()
        return {
            place: _no_answer(limit) if load.answers is None else load.answers[place]
            for place, load in loads.items()
        }

    def _decide(self, place: Any, outcome: Rows | OperatorError) -> None:
        self.found[place] = outcome
        del self._missing[place]

    def _fail(self, place: Any, failure: OperatorError) -> None:
        if self._at_once:
            raise failure from failure.__cause__
        self._decide(place, failure)

    def _give_stale(self, place: Any, now: float) -> bool:
        """Decide a key by stale rows, if it has some; return whether it had."""
        rows = self._store.stale(place, now)
        if rows is None:
            return False
        self._decide(place, rows)
        figures, times, own = self._figures, self._times[place], place in self._begun
        figures.loads -= own
        figures.shared -= times - own
        figures.stale += times
        return True


def _no_answer(limit: float | None) -> Exception:
    return TimeoutError(f"no answer after {limit:g} s")


def _failure(record: LookedUp, error: Exception) -> OperatorError:
    if isinstance(error, InvalidResult):
        failure: OperatorError = InvalidResult(record, error.reason)
        failure.__cause__ = error.__cause__
        return failure
    failure = call_failed(record, error)
    name = type(error).__name__
    if f"{name}(" not in failure.reason:  # as for Redis's errors, whose own text says too little
        failure = CallFailed(record, f"the call failed: {name}({shown(str(error))})")
        failure.__cause__ = error
    return failure
