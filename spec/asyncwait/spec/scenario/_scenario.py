"""A scenario: everything that is decided before a run, as data.

Times are whole milliseconds since the run began. A plan belongs to a value: the k-th call of a
value follows step k of its plan (the last step once they run out), counted by the harness.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from asyncwait.spec._config import Mode, OperatorConfig, require_whole
from asyncwait.spec._elements import Element, Record, Snapshot
from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario._capability import Capability

StepKind: TypeAlias = Literal["reply", "raise", "misreturn", "never"]

_ERRORS: Mapping[str, tuple[str, ...]] = {
    "raise": (
        "ValueError",
        "StopIteration",
        "StopAsyncIteration",
        "CancelledError",
        "KeyboardInterrupt",
        "SystemExit",
        "Unpicklable",
        "",
    ),
    "misreturn": ("none", "text", "bytes", "number", "broken"),
}
"""What `error` can be where something is raised or misreturned; elsewhere it is empty."""


def _require_error(does: str, error: str) -> None:
    known = _ERRORS.get(does, ("",))
    if error not in known:
        names = ", ".join(repr(name) for name in known)
        raise InvalidConfig.of("error", error, f"one of {names} where the plan is to {does!r}")


def _require_not_negative(**numbers: int | None) -> None:
    for name, value in numbers.items():
        if value is not None and value < 0:
            raise InvalidConfig.of(name, value, "a whole number >= 0")


class Step(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one call does.

    Args:
        does: "reply" with `results`; "raise" the error named by `error` (before the first await
            if `after` is 0); "misreturn" what `error` names: none, text, bytes, number, or
            broken, a collection that raises while it is read; "never" answer.
        after: milliseconds until then; 0 is without any await.
        results: of a reply.
        error: "ValueError", "StopIteration", "StopAsyncIteration", "CancelledError",
            "KeyboardInterrupt", "SystemExit" or "Unpicklable", or empty for an error of the
            harness's own; or what a misreturn gives.
        blocks: before it answers, the call blocks the loop for so many ms.
        thread: the answer comes from another thread.
        supplied: the answer is a supplier, which is asked on the loop (callback form).
        twice: further, different answers follow in the same instant (callback form).
        throws: before it raises, the function completes its record with `results` (callback form,
            inside the call).
        swallow: a cancelled call goes on for `clean_up` ms, then returns `results` all the same.
        clean_up: how long a cancelled call still runs, in ms.

    Raises:
        InvalidConfig: `error` names none that is known, or a time is negative.
    """

    does: StepKind = "reply"
    after: int = 0
    results: tuple[Any, ...] = ()
    error: str = ""
    blocks: int = 0
    thread: bool = False
    supplied: bool = False
    twice: bool = False
    throws: bool = False
    swallow: bool = False
    clean_up: int = 0

    def __post_init__(self) -> None:
        _require_error(self.does, self.error)
        _require_not_negative(after=self.after, blocks=self.blocks, clean_up=self.clean_up)
        if self.throws and (self.does != "raise" or self.after or self.thread):
            raise InvalidConfig.of("throws", self.throws, "False but where a call raises at once")


class Handler(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the timeout handler gives for a value: results, None, an error, or a misreturn.

    Args:
        does: "reply" with `results`; give "none"; "raise" or "misreturn" what `error` names.
        results: of a reply.
        error: as in a Step.
        blocks: before that, it blocks the loop for so many ms.
    """

    does: Literal["reply", "none", "raise", "misreturn"] = "reply"
    results: tuple[Any, ...] = ()
    error: str = ""
    blocks: int = 0

    def __post_init__(self) -> None:
        _require_error(self.does, self.error)
        _require_not_negative(blocks=self.blocks)


class Plan(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The calls of one value, one step each, and what its timeout handler does."""

    value: Any
    steps: tuple[Step, ...] = (Step(),)
    handler: Handler = Handler("none")

    def __post_init__(self) -> None:
        if not self.steps:
            raise InvalidConfig.of("steps", self.steps, "one step or more")


class Timed(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An input element, and the time at which the source can give it.

    Args:
        at: ms since the run began.
        element: what it gives.
        blocks: before it gives it, the source blocks the loop for so many ms.
    """

    at: int
    element: Element
    blocks: int = 0

    def __post_init__(self) -> None:
        _require_not_negative(blocks=self.blocks)


class SinkStep(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the consumer does next; after the last step it reads to the end.

    Args:
        does: "read" `n` elements; "pause" for `n` ms; "block" the loop for `n` ms; wait for one
            element and "give up" after `n` ms by cancelling the wait; "intrude": read one while a
            second task reads, too; "leave" the context.
        n: how many, or how long.
    """

    does: Literal["read", "pause", "block", "give_up", "intrude", "leave"]
    n: int = 0

    def __post_init__(self) -> None:
        _require_not_negative(n=self.n)


class SnapshotRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A snapshot asked for at a time, not by a barrier."""

    at: int
    checkpoint_id: int

    def __post_init__(self) -> None:
        _require_not_negative(at=self.at)


class Crash(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The run is torn down, and goes on from its last snapshot, maybe set up differently.

    Args:
        at: ms since the present leg began.
        capacity: of the next leg; None for no change.
        mode: of the next leg; None for no change.
    """

    at: int
    capacity: int | None = None
    mode: Mode | None = None

    def __post_init__(self) -> None:
        _require_not_negative(at=self.at)
        if self.capacity is not None:
            require_whole("capacity", self.capacity)


class Scenario(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, dict=True):
    """One run of an operator, planned.

    Args:
        mode: of the operator.
        capacity: of the operator.
        timeout: in ms; None for none.
        inputs: what the source gives, in order.
        plans: of the values; a value without one is answered at once with itself.
        handled: whether the function has a `timeout` handler at all.
        form: "coroutine" or "callback".
        function: in coroutine form, what gives the awaitables: a coroutine "function", a
            "partial" or an "object" with `__call__` around one, or a plain function that returns
            an "awaitable" which is no coroutine.
        hooks: `open` and `close` of the function: absent, plain or coroutine functions.
        hook_takes: each coroutine hook takes so many ms.
        hook_error: the hook that raises, "open" or "close"; empty for none.
        source: what the operator is given: an async "iterator", an "iterable" that is none, an
            async "generator", or a generator with a cancel "scope" of its own round its yields.
        source_ends_at: the end of input is not known before this time, in ms.
        source_error: in place of its end the source raises an error of its "own", one of the
            "contract" (a CallFailed), or a "cancelled" error; empty for none.
        close_takes: closing the source takes so many ms.
        close_error: closing the source raises.
        sink: the consumer's script.
        cancel_at: the consumer's task is cancelled then, in ms.
        requests: snapshots on demand.
        crashes: one for each leg but the last.
        restore: what the first leg starts from.
        tracked: values are objects of the harness, which counts those that are alive.
        company: another operator on the same loop: none, one "beside" this one, one "before" it,
            whose output is this one's source, or one "inside" the first call.
        name: for reports.
    """

    mode: Mode = "ordered"
    capacity: int = 4
    timeout: int | None = None
    inputs: tuple[Timed, ...] = ()
    plans: tuple[Plan, ...] = ()
    handled: bool = False
    form: Literal["coroutine", "callback"] = "coroutine"
    function: Literal["function", "partial", "object", "awaitable"] = "function"
    hooks: Literal["none", "plain", "coroutine"] = "none"
    hook_takes: int = 0
    hook_error: Literal["", "open", "close"] = ""
    source: Literal["iterator", "iterable", "generator", "scope"] = "iterator"
    source_ends_at: int = 0
    source_error: Literal["", "own", "contract", "cancelled"] = ""
    close_takes: int = 0
    close_error: bool = False
    sink: tuple[SinkStep, ...] = ()
    cancel_at: int | None = None
    requests: tuple[SnapshotRequest, ...] = ()
    crashes: tuple[Crash, ...] = ()
    restore: Snapshot | None = None
    tracked: bool = False
    company: Literal["none", "beside", "before", "inside"] = "none"
    name: str = field(default="")

    def __post_init__(self) -> None:
        self.config()
        _require_not_negative(
            source_ends_at=self.source_ends_at,
            cancel_at=self.cancel_at,
            hook_takes=self.hook_takes,
            close_takes=self.close_takes,
        )
        times = [timed.at for timed in self.inputs]
        if times != sorted(times) or any(at < 0 for at in times):
            raise InvalidConfig.of("inputs", times, "in the order of their times, from 0 on")

    def config(self, crash: Crash | None = None) -> OperatorConfig:
        """Return the operator's configuration, as changed by `crash`."""
        mode, capacity = self.mode, self.capacity
        if crash is not None:
            mode = mode if crash.mode is None else crash.mode
            capacity = capacity if crash.capacity is None else crash.capacity
        return OperatorConfig(mode, capacity, None if self.timeout is None else self.timeout / 1000)

    @cached_property
    def plan_of(self) -> dict[str, Plan]:
        """Plans by the identity of their value; see `identity`."""
        return {identity(plan.value): plan for plan in self.plans}

    def step(self, value: Any, ordinal: int) -> Step:
        """Return what the call number `ordinal` (0-based) of `value` does in one leg."""
        plan = self.plan_of.get(identity(value))
        if plan is None:
            return Step(results=(value,))
        return plan.steps[min(ordinal, len(plan.steps) - 1)]

    def handler(self, value: Any) -> Handler | None:
        """Return what the timeout handler does for `value`; None without a handler."""
        if not self.handled:
            return None
        plan = self.plan_of.get(identity(value))
        return Handler("none") if plan is None else plan.handler

    @cached_property
    def needs(self) -> frozenset[Capability]:
        """The abilities without which the scenario can't be played as planned."""
        needed = set()
        if self.requests:
            needed.add(Capability.ON_DEMAND_SNAPSHOT)
        if self.source_ends_at or any(timed.at for timed in self.inputs):
            needed.add(Capability.TIMED_INPUT)
        return frozenset(needed)

    @cached_property
    def horizon(self) -> int:
        """An upper bound of the legal duration of a leg, in ms, where every call answers."""
        longest = 0
        for plan in self.plans:
            for step in plan.steps:
                end = step.after if step.does != "never" else 0
                longest = max(longest, end + step.clean_up + step.blocks)
            longest += plan.handler.blocks
        longest += self.timeout or 0
        stored = len(self.restore.in_flight) if self.restore else 0
        last = self.inputs[-1].at if self.inputs else 0
        pauses = sum(step.n for step in self.sink if step.does in {"pause", "block", "give_up"})
        pauses += sum(timed.blocks for timed in self.inputs)
        pauses += 2 * self.hook_takes + self.close_takes
        stops = [crash.at for crash in self.crashes] + [self.cancel_at or 0]
        records = stored + sum(isinstance(t.element, Record) for t in self.inputs)
        return max(last, self.source_ends_at) + pauses + max(stops) + (records + 1) * longest


_CANONICAL = json.JSONEncoder(sort_keys=True)


def identity(value: Any) -> str:
    """Return the text under which `value` is looked up: its canonical JSON, or its repr."""
    if value is None or type(value) is int:
        return "null" if value is None else str(value)  # What JSON says, in a tenth of the time.
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
        InvalidConfig: not JSON, or it breaks the schema; the message says where.
    """
    try:
        return msgspec.json.decode(data, type=tuple[Scenario, ...])
    except msgspec.ValidationError as error:
        raise InvalidConfig(f"the scenarios break their schema: {error}") from error
    except msgspec.DecodeError as error:
        raise InvalidConfig(f"the scenarios are not JSON: {error}") from error
