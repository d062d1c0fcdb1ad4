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

StepKind: TypeAlias = Literal["reply", "raise", "misreturn", "never"]

_ERRORS: Mapping[str, tuple[str, ...]] = {
    "raise": (
        "ValueError",
        "StopIteration",
        "StopAsyncIteration",
        "CancelledError",
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
        error: "ValueError", "StopIteration", "StopAsyncIteration", "CancelledError" or
            "Unpicklable", or empty for an error of the harness's own; or what a misreturn gives.
        thread: the answer comes from another thread.
        twice: a second, different answer follows in the same instant (callback form).
        swallow: a cancelled call goes on for `clean_up` ms, then returns `results` all the same.
        clean_up: how long a cancelled call still runs, in ms.

    Raises:
        InvalidConfig: `error` names none that is known, or a time is negative.
    """

    does: StepKind = "reply"
    after: int = 0
    results: tuple[Any, ...] = ()
    error: str = ""
    thread: bool = False
    twice: bool = False
    swallow: bool = False
    clean_up: int = 0

    def __post_init__(self) -> None:
        _require_error(self.does, self.error)
        _require_not_negative(after=self.after, clean_up=self.clean_up)


class Handler(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the timeout handler gives for a value: results, None, an error, or a misreturn."""

    does: Literal["reply", "none", "raise", "misreturn"] = "reply"
    results: tuple[Any, ...] = ()
    error: str = ""

    def __post_init__(self) -> None:
        _require_error(self.does, self.error)


class Plan(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The calls of one value, one step each, and what its timeout handler does."""

    value: Any
    steps: tuple[Step, ...] = (Step(),)
    handler: Handler = Handler("none")

    def __post_init__(self) -> None:
        if not self.steps:
            raise InvalidConfig.of("steps", self.steps, "one step or more")


class Timed(Struct, frozen=True, forbid_unknown_fields=True):
    """An input element, and the time at which the source can give it."""

    at: int
    element: Element


class SinkStep(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the consumer does next; after the last step it reads to the end.

    Args:
        does: "read" `n` elements; "pause" for `n` ms; wait for one element and "give up" after
            `n` ms by cancelling the wait; "leave" the context.
        n: how many, or how long.
    """

    does: Literal["read", "pause", "give_up", "leave"]
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
        hooks: `open` and `close` of the function: absent, plain or coroutine functions.
        source_ends_at: the end of input is not known before this time, in ms.
        source_error: the source raises in place of its end.
        sink: the consumer's script.
        cancel_at: the consumer's task is cancelled then, in ms.
        requests: snapshots on demand.
        crashes: one for each leg but the last.
        restore: what the first leg starts from.
        name: for reports.
    """

    mode: Mode = "ordered"
    capacity: int = 4
    timeout: int | None = None
    inputs: tuple[Timed, ...] = ()
    plans: tuple[Plan, ...] = ()
    handled: bool = False
    form: Literal["coroutine", "callback"] = "coroutine"
    hooks: Literal["none", "plain", "coroutine"] = "none"
    source_ends_at: int = 0
    source_error: bool = False
    sink: tuple[SinkStep, ...] = ()
    cancel_at: int | None = None
    requests: tuple[SnapshotRequest, ...] = ()
    crashes: tuple[Crash, ...] = ()
    restore: Snapshot | None = None
    name: str = field(default="")

    def __post_init__(self) -> None:
        self.config()
        _require_not_negative(source_ends_at=self.source_ends_at, cancel_at=self.cancel_at)
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

    @property
    def is_timed(self) -> bool:
        """Whether the source has to wait for the time of an element, or of its end."""
        return bool(self.source_ends_at) or any(timed.at for timed in self.inputs)

    @cached_property
    def horizon(self) -> int:
        """An upper bound of the legal duration of a leg, in ms, where every call answers."""
        longest = 0
        for plan in self.plans:
            for step in plan.steps:
                end = step.after if step.does != "never" else 0
                longest = max(longest, end + step.clean_up)
        longest += self.timeout or 0
        stored = len(self.restore.in_flight) if self.restore else 0
        last = self.inputs[-1].at if self.inputs else 0
        pauses = sum(step.n for step in self.sink if step.does in {"pause", "give_up"})
        stops = [crash.at for crash in self.crashes] + [self.cancel_at or 0]
        records = stored + sum(isinstance(t.element, Record) for t in self.inputs)
        return max(last, self.source_ends_at) + pauses + max(stops) + (records + 1) * longest


def identity(value: Any) -> str:
    """Return the text under which `value` is looked up: its canonical JSON, or its repr."""
    try:
        return json.dumps(value, sort_keys=True)
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
