"""A scenario: everything that is decided before a run, as data.

Times are whole milliseconds since the run began. A plan belongs to a value: the harness counts the
calls of the value, and the k-th call follows step k of the plan, or the last step. With a cache,
the harness counts the calls of the function, not the calls of records that share one.
"""

import hashlib
import json
from functools import cached_property
from itertools import pairwise
from json.encoder import encode_basestring_ascii
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from asyncwait.spec._config import Mode, OperatorConfig
from asyncwait.spec._elements import Element, Number, Record, Snapshot
from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario._limits import (
    LIMITS,
    AllButOne,
    Items,
    Room,
    Timeout,
    Wait,
    decoded,
    require_between,
    require_element,
    require_limits,
)
from asyncwait.spec.scenario._plan import (
    Handler,
    Plan,
    PlannedBatch,
    PlannedCache,
    PlannedLimit,
    PlannedRetry,
    Step,
)


class Timed(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An input element, and the time at which the source can give it.

    Args:
        at: ms since the run began.
        element: the element.
        blocks: ms for which the source blocks the loop before it gives the element.
    """

    at: Wait
    element: Element
    blocks: Wait = 0

    def __post_init__(self) -> None:
        require_limits(self)
        require_element("element", self.element)


class SinkStep(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One step of the consumer; after the last step it reads to the end.

    Args:
        does: "read" `n` elements; "pause" for `n` ms, also after an error, before it leaves;
            "block" the loop for `n` ms; "give_up": wait for an element, and cancel the wait after
            `n` ms; "leave" the context; "raise" an error in its body: the error of an earlier read,
            or else an error of its own.
        n: number of elements, or of ms.

    Raises:
        InvalidConfig: `n` is out of its bounds.
    """

    does: Literal["read", "pause", "block", "give_up", "leave", "raise"]
    n: Wait = 0

    def __post_init__(self) -> None:
        require_limits(self)
        if self.does == "read":
            require_between("n", self.n, 0, LIMITS.count)


class SnapshotRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Request for a snapshot at a time, without a barrier.

    Args:
        at: ms since the run began.
        checkpoint_id: the number that the snapshot will carry.

    Raises:
        InvalidConfig: `at` is negative.
    """

    at: Wait
    checkpoint_id: Number

    def __post_init__(self) -> None:
        require_limits(self)


class Crash(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Crash of the run, which continues from its last snapshot with the same or another setup.

    Args:
        at: ms since the present leg began.
        capacity: capacity of the next leg; None for no change.
        mode: mode of the next leg; None for no change.

    Raises:
        InvalidConfig: `at` is negative, or `capacity` less than 1.
    """

    at: Wait
    capacity: Room | None = None
    mode: Mode | None = None

    def __post_init__(self) -> None:
        require_limits(self)


class Scenario(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, dict=True):
    """Plan of one run of an operator.

    Args:
        mode: order of the results: input order, completion order between two watermarks, or input
            order within each key.
        capacity: largest number of records admitted and not yet emitted.
        timeout: ms from a record's first call to its deadline; None for no deadline.
        retry: retry policy; None for no further attempts.
        batch: batches, in coroutine form; None for single calls.
        cache: cache of results, in coroutine form, without batches and copies; None for no cache.
            If it refreshes results or uses stale results, it needs room for the keys of all values,
            so that the trace determines its content.
        limits: limits for each call, without a cache; none by default.
        inputs: elements of the source, in the order of their times.
        plans: plans of the values; a value without a plan is answered at once with itself alone,
            and its handlers return None.
        handled: whether the function has a `timeout` handler at all.
        failures_handled: whether it has a `failure` handler.
        max_held: number of finished elements that take no room in the operator; None if all do.
        copies: whether the operator has to give each call and each handler a copy of its value.
            All of them change their copies.
        form: form of the function: "coroutine", or "callback", which takes a value and a future,
            and returns at once.
        function: in coroutine form, the object that returns the awaitables: a coroutine "function",
            a "partial" or an "object" with `__call__` around a coroutine function, or a plain
            function that returns an "awaitable" which is no coroutine.
        hooks: `open` and `close` of the function: absent, plain or coroutine functions.
        hook_takes: duration of each coroutine hook, in ms.
        hook_error: the hook that raises, "open" or "close"; empty for none.
        source: source of the operator: an async "iterator", an "iterable" that is not an iterator,
            or an async "generator".
        source_ends_at: earliest time at which the source can report its end, in ms since the run
            began.
        source_error: in place of its end the source raises an error of its "own", a "falsy" error
            of its own, an error of the "contract" (a CallFailed), a "cancelled" error, or a
            KeyboardInterrupt to "interrupt" the program; empty for none.
        close_takes: duration of closing the source, in ms.
        close_error: whether closing the source raises.
        sink: the consumer's script in the first leg; without a script it reads to the end.
        cancel_at: time in ms at which the consumer's task is cancelled, even if it is leaving
            already; in the first leg only.
        cancel: form of each cancellation on asyncio, also for a crash or a wait that is given up:
            "once", as `Task.cancel` and `asyncio.timeout` do; or by a "scope" of anyio, which
            cancels repeatedly until it is left. Trio only has scopes.
        requests: snapshots on demand; in the first leg only.
        figures_at: times at which the operator's statistics are read, in ms since each leg began;
            they are read again after leaving. Without a time they are never read.
        crashes: one crash for each leg but the last.
        restore: snapshot from which the first leg starts.
        tracked: whether values are objects of the harness, which counts the objects alive.
        contexts: whether each part of the run sets and reads a context variable: the consumer,
            before and after it enters, `open`, each call, handler and predicate, and the source.
        unshielded: whether cancelled calls clean up without a shield, as far as their loop lets
            them.
        name: name for reports.

    Raises:
        InvalidConfig: a field is invalid, or the inputs are not in order.
    """

    mode: Mode = "ordered"
    capacity: Room = 4
    timeout: Timeout | None = None
    retry: PlannedRetry | None = None
    inputs: Items[Timed] = ()
    plans: Items[Plan] = ()
    handled: bool = False
    failures_handled: bool = False
    max_held: Room | None = None
    copies: bool = False
    form: Literal["coroutine", "callback"] = "coroutine"
    function: Literal["function", "partial", "object", "awaitable"] = "function"
    hooks: Literal["none", "plain", "coroutine"] = "none"
    hook_takes: Wait = 0
    hook_error: Literal["", "open", "close"] = ""
    source: Literal["iterator", "iterable", "generator"] = "iterator"
    source_ends_at: Wait = 0
    source_error: Literal["", "own", "falsy", "contract", "cancelled", "interrupt"] = ""
    close_takes: Wait = 0
    close_error: bool = False
    sink: Items[SinkStep] = ()
    cancel_at: Wait | None = None
    cancel: Literal["once", "scope"] = "once"
    requests: Items[SnapshotRequest] = ()
    figures_at: Items[Wait] = ()
    crashes: AllButOne[Crash] = ()
    restore: Snapshot | None = None
    tracked: bool = False
    contexts: bool = False
    unshielded: bool = False
    batch: PlannedBatch | None = None
    cache: PlannedCache | None = None
    limits: Items[PlannedLimit] = ()
    name: str = field(default="")

    def __post_init__(self) -> None:
        require_limits(self)
        if self.restore is not None:
            require_element("restore", self.restore)
        self.config()
        for moment in self.figures_at:
            require_between("figures_at", moment, 0, LIMITS.duration)
        for earlier, later in pairwise(timed.at for timed in self.inputs):
            if later < earlier:
                raise InvalidConfig.of("inputs", [earlier, later], "in the order of their times")
        if self.batch is not None:
            self._require_batch()
        if self.cache is not None:
            self._require_cache(self.cache)
        if self.limits:
            self._require_limits()
        if self.horizon > LIMITS.duration:
            # The message names no single field: the horizon is the sum of all waits.
            expected = f"at most {LIMITS.duration} ms, all waits and deadlines together"
            raise InvalidConfig.of("the longest legal duration", self.horizon, expected)

    def _require_batch(self) -> None:
        for crash in self.crashes:
            self.config(crash)  # the batch has to fit into each leg
        if self.form != "coroutine":
            raise InvalidConfig.of("form", self.form, "'coroutine' where calls are batched")

    def _require_cache(self, cache: PlannedCache) -> None:
        if self.form != "coroutine":
            raise InvalidConfig.of("form", self.form, "'coroutine' where results are cached")
        if self.copies:
            raise InvalidConfig.of("copies", True, "False where results are cached")
        values = {identity(each.value) for each in self.elements if isinstance(each, Record)}
        is_bounded = cache.refresh_ahead is None and cache.stale_if_error is None
        if not is_bounded and cache.max_keys < len(values):
            expected = f"at least {len(values)}, as many as there are values: else no trace tells"
            raise InvalidConfig.of("cache.max_keys", cache.max_keys, expected)

    def _require_limits(self) -> None:
        if self.cache is not None:
            raise InvalidConfig.of("limits", self.limits, "none where results are cached")
        is_shared = self.form != "coroutine" or self.batch is not None
        if is_shared and any(each.told for each in self.limits):
            expected = "without costs that calls tell, but in coroutine form and without batches"
            raise InvalidConfig.of("limits", self.limits, expected)
        if self.batch is not None and any(each.by for each in self.limits):
            raise InvalidConfig.of("limits", self.limits, "without keys where calls are batched")

    def config(self, crash: Crash | None = None) -> OperatorConfig:
        """Return the operator's configuration without its limits, as changed by `crash`."""
        mode, capacity = self.mode, self.capacity
        if crash is not None:
            mode = mode if crash.mode is None else crash.mode
            capacity = capacity if crash.capacity is None else crash.capacity
        timeout = None if self.timeout is None else self.timeout / 1000
        retry = None if self.retry is None else self.retry.config()
        batch = None if self.batch is None else self.batch.config()
        cache = None if self.cache is None else self.cache.config()
        return OperatorConfig(
            mode, capacity, timeout, retry, self.max_held, batch=batch, cache=cache
        )

    @property
    def tells_apart(self) -> bool:
        """Whether a trace has to name the record of each call, because values may be equal.

        If records are called once and in order, the order of the calls identifies their records,
        but not the failed record for which a handler runs.
        """
        sharing = self.batch is not None or self.cache is not None
        is_told = sharing or self.retry is not None or self.failures_handled
        return is_told or bool(self.limits) or "key-ordered" in self.modes

    @cached_property
    def modes(self) -> frozenset[Mode]:
        """Modes of all legs."""
        modes: set[Mode] = {self.mode}
        modes.update(crash.mode for crash in self.crashes if crash.mode is not None)
        return frozenset(modes)

    @cached_property
    def plan_of(self) -> dict[str, Plan]:
        """Plans by the identity of their value; see `identity`."""
        return {identity(plan.value): plan for plan in self.plans}

    def step(self, value: Any, ordinal: int) -> Step:
        """Return the step of call number `ordinal` (from 0) of `value` in one leg."""
        plan = self.plan_of.get(identity(value))
        if plan is None:
            return Step(results=(value,))
        return plan.steps[min(ordinal, len(plan.steps) - 1)]

    def cost(self, value: Any) -> int:
        """Return the cost of a call for `value` that is known before the call."""
        plan = self.plan_of.get(identity(value))
        return 1 if plan is None else plan.cost

    def group(self, value: Any) -> str:
        """Return the key of `value` for limits."""
        plan = self.plan_of.get(identity(value))
        return "" if plan is None else plan.group

    def used(self, value: Any, step: Step) -> int | None:
        """Return the cost that a call with this step reports; None for no cost."""
        counts_costs = any(each.costs or each.told for each in self.limits)
        if not counts_costs or self.form != "coroutine" or self.batch is not None:
            return None
        is_told = any(each.told for each in self.limits)
        return self.cost(value) if step.used is None and is_told else step.used

    def handler(self, value: Any) -> Handler | None:
        """Return the plan of the timeout handler for `value`; None without a handler."""
        if not self.handled:
            return None
        plan = self.plan_of.get(identity(value))
        return Handler("none") if plan is None else plan.handler

    def failure_handler(self, value: Any) -> Handler | None:
        """Return the plan of the failure handler for `value`; None without a handler."""
        if not self.failures_handled:
            return None
        plan = self.plan_of.get(identity(value))
        return Handler("none") if plan is None else plan.failure

    @property
    def elements(self) -> tuple[Element, ...]:
        """All input elements: the restored elements of the first leg, and the inputs."""
        stored = () if self.restore is None else self.restore.in_flight
        return (*stored, *(timed.element for timed in self.inputs))

    @property
    def blocks(self) -> bool:
        """Whether a step, a handler, the source or the consumer blocks the loop."""
        plans = self.plans
        return (
            any(timed.blocks for timed in self.inputs)
            or any(step.blocks for plan in plans for step in plan.steps)
            or any(handler.blocks for plan in plans for handler in (plan.handler, plan.failure))
            or any(step.does == "block" for step in self.sink)
        )

    @property
    def is_timed(self) -> bool:
        """Whether the source has to wait for the time of an element, or of its end."""
        return bool(self.source_ends_at) or any(timed.at for timed in self.inputs)

    @cached_property
    def horizon(self) -> int:
        """An upper bound of the legal duration of a leg, in ms, where every call answers."""
        longest = max((self._lasts(step) for p in self.plans for step in p.steps), default=0)
        if self.retry is not None:
            lasts = self.retry.lasts(longest, self.plans)
            # Only a deadline can end a back-off that is longer than a leg may last.
            is_ended = lasts > LIMITS.duration and self.timeout is not None
            longest = self.timeout + longest if is_ended and self.timeout else lasts
        if self.batch is not None:
            attempts = 1 if self.retry is None else self.retry.max_attempts
            longest += attempts * self.batch.max_wait
        attempts = 1 if self.retry is None else self.retry.max_attempts
        longest += attempts * sum(each.lasts for each in self.limits)
        longest += sum(plan.handler.blocks + plan.failure.blocks for plan in self.plans)
        last = self.inputs[-1].at if self.inputs else 0
        pauses = sum(step.n for step in self.sink if step.does in {"pause", "block", "give_up"})
        pauses += sum(timed.blocks for timed in self.inputs)
        pauses += 2 * self.hook_takes + self.close_takes
        stops = [crash.at for crash in self.crashes] + [self.cancel_at or 0]
        stored = len(self.restore.in_flight) if self.restore else 0
        records = stored + sum(isinstance(t.element, Record) for t in self.inputs)
        return max(last, self.source_ends_at) + pauses + max(stops) + (records + 1) * longest

    def _lasts(self, step: Step) -> int:
        """Return the longest duration of a call, in ms; 0 for a call that never ends.

        A call reaches its deadline only if it is not answered before.
        """
        ends = [step.after] if step.does != "never" else []
        if self.timeout is not None:
            ends.append(self.timeout)
        return min(ends, default=0) + step.blocks + step.clean_up


_CANONICAL = json.JSONEncoder(sort_keys=True)


def identity(value: Any) -> str:
    """Return the text by which `value` is looked up: its canonical JSON, or its repr."""
    # The same text as by JSON, in a tenth of the time.
    if type(value) is str:
        return encode_basestring_ascii(value)
    if value is None or type(value) is int:
        return "null" if value is None else str(value)
    try:
        return _CANONICAL.encode(value)
    except (TypeError, ValueError):
        return repr(value)


def scenarios_to_json(scenarios: tuple[Scenario, ...]) -> bytes:
    """Return `scenarios` as JSON."""
    return msgspec.json.encode(scenarios)


def scenarios_from_json(data: bytes) -> tuple[Scenario, ...]:
    """Read scenarios from JSON.

    Raises:
        InvalidConfig: not JSON, or it breaks the schema or a limit; the message says where.
    """
    scenarios: tuple[Scenario, ...] = decoded(
        data, tuple[Scenario, ...], "the scenarios break their schema", "the scenarios are not JSON"
    )
    return scenarios


ID_DIGITS = 8
"""Digits of an id: among 10,000 scenarios, two share an id with a probability of 1 %."""


def key_of(scenario: Scenario) -> bytes:
    """Return the key that identifies a scenario: its JSON without defaults.

    The key omits the name, which does not affect the run.
    """
    return msgspec.json.encode(msgspec.structs.replace(scenario, name=""))


def size_of(scenario: Scenario) -> tuple[int, bytes]:
    """Return the size by which scenarios are compared: the length of their key, then the key.

    A scenario is smaller if more of its fields have their defaults, or if its numbers are smaller.
    """
    key = key_of(scenario)
    return len(key), key


def id_of(scenario: Scenario) -> str:
    """Return the id of a scenario for people: eight hexadecimal digits of its key's digest."""
    return hashlib.sha256(key_of(scenario)).hexdigest()[:ID_DIGITS]
