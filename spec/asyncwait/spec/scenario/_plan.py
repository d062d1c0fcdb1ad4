"""Plans as data: the calls of a value, its handlers, batches, cache, limits and retries."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.spec._config import Retry, RetryAfter
from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec._sharing import Batch, Cache
from asyncwait.spec.limits import AnyLimit, Breaker, Budget, InFlight, Limit
from asyncwait.spec.scenario._limits import (
    Items,
    OneOrMore,
    Percent,
    Room,
    Share,
    Timeout,
    Wait,
    require_flat,
    require_limits,
)

StepKind: TypeAlias = Literal["reply", "raise", "misreturn", "never"]

PLANNED_ERRORS: Mapping[str, tuple[str, ...]] = {
    "raise": (
        "ValueError",
        "StopIteration",
        "StopAsyncIteration",
        "CancelledError",
        "KeyboardInterrupt",
        "SystemExit",
        "Unpicklable",
        "RetryAfter",
        "ExceptionGroup",
        "Chained",
        "Panic",
        "Unprintable",
        "CallFailed",
        "CallTimedOut",
        "InvalidConfig",
        "",
    ),
    "misreturn": ("none", "text", "bytes", "number", "broken"),
}
"""Values of `error` for "raise" and "misreturn"; elsewhere `error` is empty."""

FOR_THE_PROGRAM = frozenset({"KeyboardInterrupt", "SystemExit"})
"""Planned errors that every operator must pass on."""


def _require_error(does: str, error: str) -> None:
    known = PLANNED_ERRORS.get(does, ("",))
    if error not in known:
        names = ", ".join(repr(name) for name in known)
        raise InvalidConfig.of("error", error, f"one of {names} where the plan is to {does!r}")


class Step(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Plan of one call.

    Args:
        does: "reply" with `results`; "raise" the error named by `error` (before the first await
            if `after` is 0); "misreturn" what `error` names: none, text, bytes, number, or
            broken, a collection that raises while it is read; "never" answer.
        after: ms from the start of the call to the answer; 0 for an answer without any await.
        results: results of a reply.
        error: "ValueError", "StopIteration", "StopAsyncIteration", "CancelledError",
            "KeyboardInterrupt", "SystemExit", "Unpicklable" or "RetryAfter"; an "ExceptionGroup";
            an error that is "Chained" to its cause; a "Panic", which is no Exception; an
            "Unprintable" error, whose texts raise; "CallFailed", "CallTimedOut" or "InvalidConfig"
            of another operator; or empty for an error of the harness; or the kind of a misreturn.
        retry_after: delay of a RetryAfter, in ms.
        blocks: ms for which the call blocks the loop before it answers.
        thread: whether the answer comes from another thread.
        supplied: whether the answer is a supplier, which is called on the loop (callback form).
        twice: whether further, different answers follow (callback form).
        again: ms until these further answers; 0 for the same instant.
        throws: whether the function completes its record with `results` before it raises (callback
            form, inside the call).
        swallow: whether a cancelled call goes on for `clean_up` ms and then answers as planned; a
            call that would never answer replies then.
        clean_up: how long a cancelled call still runs, in ms.
        used: cost that the call reports with its results, or with its error, under limits; None for
            no cost.
        whole: in a batch, whether the error or misreturn ends the whole batch; the first such step
            of a batch counts. A step that replies leaves its value out of the answers.

    Raises:
        InvalidConfig: `error` is unknown, or a time is negative.
    """

    does: StepKind = "reply"
    after: Wait = 0
    results: Items[Any] = ()
    error: str = ""
    retry_after: Wait = 0
    blocks: Wait = 0
    thread: bool = False
    supplied: bool = False
    twice: bool = False
    again: Wait = 0
    throws: bool = False
    swallow: bool = False
    clean_up: Wait = 0
    whole: bool = False
    used: Wait | None = None

    def __post_init__(self) -> None:
        _require_error(self.does, self.error)
        require_limits(self)
        require_flat("results", *self.results)
        raises_at_once = self.does == "raise" and not (self.after or self.thread)
        if self.throws and not raises_at_once:
            raise InvalidConfig.of("throws", True, "False but where a call raises at once")


class Handler(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Plan of a handler, for a deadline or for a failure, for one value.

    Args:
        does: "reply" with `results`; return None ("none"); "raise" the error named by `error`;
            "misreturn" what `error` names.
        results: results of a reply.
        error: see `Step.error`.
        blocks: ms for which the handler blocks the loop first.

    Raises:
        InvalidConfig: `error` is unknown, or a time is negative.
    """

    does: Literal["reply", "none", "raise", "misreturn"] = "reply"
    results: Items[Any] = ()
    error: str = ""
    blocks: Wait = 0

    def __post_init__(self) -> None:
        _require_error(self.does, self.error)
        require_limits(self)
        require_flat("results", *self.results)


class Plan(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Plan of the calls of one value, and of its handlers.

    Args:
        value: the value: the plan applies to the calls of all records whose value is the same as
            JSON, whatever the order of the keys in objects.
        steps: one step for each call of the value in a leg, in order; further calls follow the
            last step.
        handler: plan of the timeout handler for the value.
        failure: plan of the failure handler for the value.
        cost: cost, and weight, of a call for the value, known before the call.
        group: key of the value, for limits with room for each key.

    Raises:
        InvalidConfig: `steps` is empty.
    """

    value: Any
    steps: OneOrMore[Step] = (Step(),)
    handler: Handler = Handler("none")
    failure: Handler = Handler("none")
    cost: Wait = 1
    group: str = ""

    def __post_init__(self) -> None:
        require_limits(self)
        require_flat("value", self.value)


class PlannedBatch(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Plan of batches; see `asyncwait.spec.Batch`.

    Args:
        max_size: largest number of records in one call.
        max_wait: longest time in ms that a record waits for others.
        in_flight: largest number of calls that records wait for at a time.
        split: whether a failed batch is called again in smaller batches.
        answers: form of the function's answers: a "list", or a "mapping" from values.

    Raises:
        InvalidConfig: a field is beyond its limits.
    """

    max_size: Room = 2
    max_wait: Wait = 40
    in_flight: Room = 2
    split: bool = False
    answers: Literal["list", "mapping"] = "list"

    def __post_init__(self) -> None:
        require_limits(self)

    def config(self) -> Batch:
        """Return the operator's configuration."""
        wait = self.max_wait / 1000
        size, calls = self.max_size, self.in_flight
        return Batch(max_size=size, max_wait=wait, in_flight=calls, split=self.split)

    def together(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """Return the steps of a batch after its records have been joined in one call.

        Args:
            steps: the planned step of each record.
        """
        common: dict[str, Any] = {
            "after": max(s.after for s in steps),
            "blocks": sum(s.blocks for s in steps),
            "clean_up": max(s.clean_up for s in steps),
            "swallow": any(s.swallow for s in steps),
            "thread": any(s.thread for s in steps),
            "throws": False,
        }
        if any(s.does == "never" for s in steps):
            never = {"does": "never", "error": "", "whole": False, **common}
            return tuple(replace(s, **never) for s in steps)
        ending = next((s for s in steps if _ends_all(s)), None)
        if ending is not None:
            return (replace(ending, whole=True, **common),) * len(steps)
        left_out = Step("misreturn", error="none", whole=True)
        if self.answers == "list" and any(s.whole for s in steps):
            return (replace(left_out, **common),) * len(steps)
        return tuple(replace(left_out if s.whole else s, **common) for s in steps)


def _ends_all(step: Step) -> bool:
    """Return whether a step ends its whole batch, as errors for the whole program do."""
    return (step.whole and step.does != "reply") or step.error in FOR_THE_PROGRAM


class PlannedCache(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Plan of the cache; see `asyncwait.spec.Cache`. The key of a record is its value.

    If these times are off the grid of all other times, no result expires in the instant of its use.

    Args:
        max_keys: largest number of keys.
        ttl: ms for which results are fresh.
        missing_ttl: the same for empty results; None for not caching empty results.
        refresh_ahead: percent of `ttl` after which the first use begins a load; None for never.
        stale_if_error: ms for which stale results may be used; None for never.

    Raises:
        InvalidConfig: a field is beyond its limits.
    """

    max_keys: Room = 8
    ttl: Timeout = 100
    missing_ttl: Timeout | None = None
    refresh_ahead: Share | None = None
    stale_if_error: Timeout | None = None

    def __post_init__(self) -> None:
        require_limits(self)

    def config(self) -> Cache:
        """Return the operator's configuration, without the function that returns keys."""
        share = None if self.refresh_ahead is None else self.refresh_ahead / 100
        missing, stale = _seconds(self.missing_ttl), _seconds(self.stale_if_error)
        return Cache(self.max_keys, self.ttl / 1000, missing, share, stale)

    def refresh_from(self, began: float) -> float:
        """Return the time in ms from which a use refreshes results; infinity for never.

        Args:
            began: time at which their load began, in ms.
        """
        share = self.refresh_ahead
        return math.inf if share is None else round(began + self.ttl * share / 100, 3)

    def good_until(self, began: float, results: Sequence[Any]) -> float:
        """Return the time in ms at which results expire; `began` if they are not cached."""
        ttl = self.ttl if results else self.missing_ttl or 0
        return round(began + ttl, 3)

    def stale_until(self, began: float, results: Sequence[Any]) -> float:
        """Return the time in ms until which results may replace a failed load."""
        stale = self.stale_if_error or 0
        return round(self.good_until(began, results) + (stale if results else 0), 3)


class PlannedLimit(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Plan of a limit on the calls of an operator; see `asyncwait.spec.limits`.

    Args:
        kind: a "window" of time, a number of calls "in-flight", a "budget", or a "breaker".
        most: calls, or cost, in a window, at a time, or in all; failed calls that open a breaker.
        per: length of a window in ms, or ms within which failures open a breaker.
        costs: whether the limit counts the costs of calls instead of their number.
        told: whether it is a budget of costs that only the calls themselves report.
        latency: latency of a window, in ms.
        by: whether each key has its own room.
        burst: calls, or cost, that may start together; None for `most`.
        max_wait: ms that a call may wait for it; None for no bound.
        then: whether the stream of a spent budget has to "fail" or to "stop".
        rest: pause of a breaker, in ms.

    Raises:
        InvalidConfig: a field is beyond its limits, or does not fit the kind.
    """

    kind: Literal["window", "in-flight", "budget", "breaker"] = "window"
    most: Room = 2
    per: Timeout = 200
    costs: bool = False
    told: bool = False
    latency: Wait = 0
    by: bool = False
    burst: Room | None = None
    max_wait: Timeout | None = None
    then: Literal["fail", "stop"] = "fail"
    rest: Timeout = 200

    def __post_init__(self) -> None:
        require_limits(self)
        if self.told and self.kind != "budget":
            raise InvalidConfig.of("told", True, "False but for a budget")
        if self.by and self.kind not in {"window", "in-flight"}:
            raise InvalidConfig.of("by", True, "False but for windows and calls in flight")
        if self.burst is not None and (self.kind != "window" or self.burst > self.most):
            raise InvalidConfig.of("burst", self.burst, "None but for a window, and at most `most`")

    def limit(self, cost: Callable[[Any], float], by: Callable[[Any], Any]) -> AnyLimit:
        """Return the operator's configuration of the limit.

        Args:
            cost: returns the cost of a call for a value.
            by: returns the key of a value.
        """
        wait = _seconds(self.max_wait)
        costs, key = cost if self.costs else None, by if self.by else None
        match self.kind:
            case "window":
                return Limit(
                    calls=None if self.costs else self.most,
                    cost=costs,
                    up_to=self.most if self.costs else None,
                    per=self.per / 1000,
                    latency=self.latency / 1000,
                    by=key,
                    burst=self.burst,
                    max_wait=wait,
                )
            case "in-flight":
                return InFlight(self.most, costs, key, wait)
            case "budget":
                unit = "cost" if self.costs or self.told else "calls"
                estimate = None if self.told else costs
                return Budget(self.most, unit, estimate, then=self.then)
            case _:
                over, rest = self.per / 1000, self.rest / 1000
                return Breaker(failures=self.most, over=over, rest=rest)

    @property
    def lasts(self) -> int:
        """Longest time in ms for which a call delays another call after its own end."""
        return {"window": self.per + self.latency, "breaker": self.rest}.get(self.kind, 0)


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000


def is_null(value: Any) -> bool:
    """Return whether a value is null as a key: None, or a list with a null part."""
    return value is None or (isinstance(value, list) and any(map(is_null, value)))


class PlannedRetry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Plan of a retry policy; see `asyncwait.spec.Retry`.

    Args:
        max_attempts: largest number of calls of one record.
        initial: back-off before the second call, in ms.
        multiplier: factor from each back-off to the next.
        cap: longest back-off, in ms.
        jitter: largest random reduction of each back-off, in percent.
        attempt_timeout: ms that one attempt may take; None for no limit.
        on_error: errors after which another attempt follows: "any" error; "some", only ValueErrors,
            given as classes; "asked", the same by a predicate; "told", the same by a predicate that
            answers with a `RetryAfter` of 120 ms; "at-once", any error, by a predicate that answers
            with a `RetryAfter` of 0 ms; "breaks", the predicate raises.
        on_result: results after which another attempt follows: "never"; "empty" results, or a
            "pair" of results, by a predicate; "breaks", the predicate raises.

    Raises:
        InvalidConfig: a field is beyond its limits.
    """

    max_attempts: Room = 3
    initial: Timeout = 40
    multiplier: Room = 2
    cap: Timeout = 60_000
    jitter: Percent = 0
    attempt_timeout: Timeout | None = None
    on_error: Literal["any", "some", "asked", "told", "at-once", "breaks"] = "any"
    on_result: Literal["never", "empty", "pair", "breaks"] = "never"

    def __post_init__(self) -> None:
        require_limits(self)

    def config(self) -> Retry:
        """Return the operator's configuration."""
        return Retry(
            max_attempts=self.max_attempts,
            initial=self.initial / 1000,
            multiplier=self.multiplier,
            cap=self.cap / 1000,
            jitter=self.jitter / 100,
            rejected="accept",
            seed=0,
            attempt_timeout=_seconds(self.attempt_timeout),
            on_error=_ON_ERROR[self.on_error],
            on_result=_ON_RESULT[self.on_result],
        )

    def lasts(self, longest: int, plans: tuple[Plan, ...]) -> int:
        """Return the longest duration of a record, in ms.

        Args:
            longest: longest duration of a call, in ms.
            plans: plans of the calls, which may set back-offs.
        """
        told = max((step.retry_after for plan in plans for step in plan.steps), default=0)
        told = max(told, _TOLD if self.on_error == "told" else 0)
        pauses = (max(told, self.back_off(n)) for n in range(1, self.max_attempts))
        return self.max_attempts * longest + sum(pauses)

    def repeats(self, step: Step) -> bool:
        """Return whether another attempt follows the outcome of a call, while attempts are left.

        If the call completes its record before it raises, the completion counts.
        """
        match step.does:
            case "reply" | "raise" if step.does == "reply" or step.throws:
                return len(step.results) == {"empty": 0, "pair": _PAIR}.get(self.on_result)
            case "raise":
                return step.error == "RetryAfter" or self.repeats_after(step.error)
            case "misreturn":
                return step.error == "broken" and self.repeats_after("")
            case _:
                return False

    def repeats_after(self, error: str) -> bool:
        """Return whether another call follows the error of a step, or a TimeoutError."""
        if self.on_error in {"any", "at-once"}:
            return error not in {"CancelledError", "Panic", *FOR_THE_PROGRAM}  # no `Exception`
        return self.on_error != "breaks" and error in {"ValueError", "InvalidConfig"}

    def told_after(self, step: Step) -> int | None:
        """Return the ms of the `RetryAfter` that follows a step; None without a `RetryAfter`."""
        if step.does == "misreturn":
            return self.told_by_predicate() if self.repeats(step) else None
        if step.does != "raise":
            return None
        if step.error == "RetryAfter":
            return step.retry_after
        return self.told_by_predicate() if self.repeats_after(step.error) else None

    def told_by_predicate(self) -> int | None:
        """Return the ms of the predicate's `RetryAfter`; None if it answers without one."""
        return {"told": _TOLD, "at-once": 0}.get(self.on_error)

    def back_off(self, attempts: int) -> int:
        """Return the back-off after this number of attempts, in ms, without jitter."""
        grown = self.initial * int(self.multiplier ** min(attempts - 1, 60))
        return min(grown, self.cap)


_PAIR = 2

_TOLD = 120
"""Delay of a predicate's `RetryAfter`, in ms."""


def _is_value_error(error: BaseException) -> bool:
    return isinstance(error, ValueError)


def _tells(error: BaseException) -> RetryAfter | bool:
    return _is_value_error(error) and RetryAfter(_TOLD / 1000)


def _tells_at_once(error: BaseException) -> RetryAfter | bool:
    return isinstance(error, Exception) and RetryAfter(0)


def _is_empty(results: tuple[Any, ...]) -> bool:
    return not results


def _is_a_pair(results: tuple[Any, ...]) -> bool:
    return len(results) == _PAIR


def _breaks(_outcome: object) -> bool:
    raise LookupError("planned")


_ON_ERROR: Mapping[str, Any] = {
    "any": Exception,
    "some": (ValueError, KeyError),
    "asked": _is_value_error,
    "told": _tells,
    "at-once": _tells_at_once,
    "breaks": _breaks,
}
_ON_RESULT: Mapping[str, Any] = {
    "never": None,
    "empty": _is_empty,
    "pair": _is_a_pair,
    "breaks": _breaks,
}
