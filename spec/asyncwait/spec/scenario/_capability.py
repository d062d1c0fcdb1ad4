"""Capabilities that a backend may lack, and the change of a scenario for such a backend.

Only this module defines capabilities: the name, the description, the change of a scenario for a
backend without the capability, and the declaration by a backend. Large capabilities are *profiles*:
`core` with one mode is an operator already, and each profile is a further, optional part of the
specification.

Each change returns the same object if nothing has to change, and otherwise a scenario that tests as
much as possible.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Literal, Self, TypeAlias

from msgspec.structs import replace

from asyncwait.spec._config import Mode
from asyncwait.spec._elements import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario._legs import GRID
from asyncwait.spec.scenario._limits import LIMITS
from asyncwait.spec.scenario._plan import (
    FOR_THE_PROGRAM,
    Handler,
    Plan,
    PlannedLimit,
    PlannedRetry,
    Step,
)
from asyncwait.spec.scenario._scenario import Scenario, SinkStep, Timed, identity
from asyncwait.spec.scenario._times import with_times

Without: TypeAlias = Callable[[Scenario], Scenario]
"""Returns a scenario that does not need the capability; the same object if nothing changes."""

_ONCE = {"supplied": False, "twice": False, "again": 0, "throws": False}
"""Defaults of fields that have no meaning in coroutine form."""


_LONG = 10 * GRID
"""Duration in ms of planned endless calls on a backend that can't end them."""


def as_it_is(scenario: Scenario) -> Scenario:
    """Return the scenario unchanged: fewer rules apply to it."""
    return scenario


_INSTEAD: Mapping[Mode | None, Mode] = {
    "ordered": "unordered",
    "unordered": "key-ordered",
    "key-ordered": "ordered",
}


def without_mode(mode: Mode) -> Without:
    """Replace `mode` by the next mode in a cycle."""

    def without(scenario: Scenario) -> Scenario:
        if mode not in scenario.modes:
            return scenario
        crashes = tuple(
            replace(crash, mode=_INSTEAD[mode]) if crash.mode == mode else crash
            for crash in scenario.crashes
        )
        own = _INSTEAD[mode] if scenario.mode == mode else scenario.mode
        return replace(scenario, mode=own, crashes=crashes)

    return without


def _with_steps(scenario: Scenario, change: Callable[[Plan, Step], Step]) -> Scenario:
    """Return a scenario with changed steps; the same object if no step changes."""
    plans = tuple(
        replace(plan, steps=tuple(change(plan, step) for step in plan.steps))
        for plan in scenario.plans
    )
    return scenario if plans == scenario.plans else replace(scenario, plans=plans)


def without_cancelled_calls(scenario: Scenario) -> Scenario:
    """Adapt calls to run outside of the loop, where they block nothing, and have no task.

    A call that would end only by cancellation ends by itself, long after all other calls. A call
    that may outlive its record, and so fail second, raises no error for the whole program.
    """
    # A call that never ends holds its permit for ever.
    has_limit = _has_limit(scenario) and not scenario.limits
    adapted = _with_steps(scenario, lambda _, step: _elsewhere(step, has_limit=has_limit))
    return replace(adapted, unshielded=False) if scenario.unshielded else adapted


def _elsewhere(step: Step, *, has_limit: bool) -> Step:
    step = _ending(step, has_limit=has_limit)
    if step.error in FOR_THE_PROGRAM and step.after and has_limit:
        return replace(step, error="ValueError", blocks=0)
    return replace(step, blocks=0) if step.blocks else step


def without_timeouts(scenario: Scenario) -> Scenario:
    """Let each call that would end only at its deadline give its handler's results then."""
    if scenario.timeout is None and not scenario.handled:
        return scenario
    answered = _with_steps(scenario, lambda plan, step: _answering(scenario, plan, step))
    plans = tuple(replace(plan, handler=Handler("none")) for plan in answered.plans)
    retry = scenario.retry
    if retry is not None and retry.initial > LIMITS.duration:  # Nothing ends that back-off then.
        retry = replace(retry, initial=GRID)
    return replace(scenario, timeout=None, handled=False, plans=plans, retry=retry)


def _answering(scenario: Scenario, plan: Plan, step: Step) -> Step:
    if scenario.timeout is None or step.does != "never":
        return step
    handler = plan.handler if scenario.handled else Handler("none")
    return replace(
        step,
        does="raise" if handler.does == "none" else handler.does,
        after=scenario.timeout,
        results=handler.results,
        error=handler.error,
        blocks=handler.blocks,
        swallow=step.swallow and handler.does == "reply",
    )


def without_retry(scenario: Scenario) -> Scenario:
    """Answer each value at its first call with an outcome that is not repeated."""
    if scenario.retry is None:
        return scenario
    plans = tuple(_standing(scenario.retry, plan) for plan in scenario.plans)
    batch = scenario.batch
    if batch is not None and batch.split:
        batch = replace(batch, split=False)
    return replace(scenario, retry=None, batch=batch, plans=plans)


def _standing(retry: PlannedRetry, plan: Plan) -> Plan:
    """Drop the calls that are repeated; calls over an attempt's limit raise at that limit."""
    limit = retry.attempt_timeout
    steps = [step if limit is None else _within(step, limit) for step in plan.steps]
    standing = tuple(step for step in steps if not retry.repeats(step))
    return replace(plan, steps=standing or tuple(steps[-1:]))


def without_attempt_timeout(scenario: Scenario) -> Scenario:
    """Let an attempt that would end at its limit raise by itself at that time."""
    retry = scenario.retry
    if retry is None or retry.attempt_timeout is None:
        return scenario
    limit = retry.attempt_timeout
    limited = _with_steps(scenario, lambda _, step: _within(step, limit))
    return replace(limited, retry=replace(retry, attempt_timeout=None))


def _within(step: Step, limit: int) -> Step:
    if step.does != "never" and step.after < limit:
        return step
    return Step("raise", limit, error="ValueError")


def without_retry_after(scenario: Scenario) -> Scenario:
    """Replace each `RetryAfter`, of failed calls and of predicates, by a plain error or answer."""
    plain: dict[str, Any] = {"error": "ValueError", "retry_after": 0}
    scenario = _with_steps(
        scenario, lambda _, step: replace(step, **plain) if step.error == "RetryAfter" else step
    )
    if scenario.retry is None or scenario.retry.told_by_predicate() is None:
        return scenario
    answers: Literal["asked", "any"] = "asked" if scenario.retry.on_error == "told" else "any"
    return replace(scenario, retry=replace(scenario.retry, on_error=answers))


def without_jitter(scenario: Scenario) -> Scenario:
    """Remove the random part of back-offs."""
    if scenario.retry is None or not scenario.retry.jitter:
        return scenario
    return replace(scenario, retry=replace(scenario.retry, jitter=0))


def without_failure_handler(scenario: Scenario) -> Scenario:
    """Let calls reply with the results that their failure handler would give."""
    if not scenario.failures_handled:
        return scenario
    plans = tuple(_spared(scenario, plan) for plan in scenario.plans)
    is_late = scenario.timeout is not None and any(p.handler.does == "reply" for p in plans)
    handled = scenario.handled or is_late
    return replace(scenario, failures_handled=False, handled=handled, plans=plans)


def _spared(scenario: Scenario, plan: Plan) -> Plan:
    """Replace handled failures by results; failures that are repeated stay as they are."""
    results, retry = plan.failure.results, scenario.retry
    if plan.failure.does != "reply":
        return replace(plan, failure=Handler("none"))
    steps = tuple(
        _replying(step, results)
        if step.does in {"raise", "misreturn"} and not (retry and retry.repeats(step))
        else step
        for step in plan.steps
    )
    is_handled = scenario.handled and plan.handler.does == "reply"
    handler = plan.handler if is_handled or scenario.timeout is None else plan.failure
    return replace(plan, steps=steps, handler=handler, failure=Handler("none"))


def _replying(step: Step, results: tuple[Any, ...]) -> Step:
    step = replace(step, throws=False)
    return replace(step, does="reply", error="", results=results)


def without_field(name: str, without: Any) -> Without:
    """Return a change that sets the field `name` to `without`, its value without a capability."""

    def cleared(scenario: Scenario) -> Scenario:
        is_clear = getattr(scenario, name) == without
        return scenario if is_clear else replace(scenario, **{name: without})

    return cleared


without_requests = without_field("requests", ())
without_copies = without_field("copies", False)


def without_batches(scenario: Scenario) -> Scenario:
    """Call each record by itself; a step that would end a whole batch ends its own call."""
    if scenario.batch is None:
        return scenario
    alone = _with_steps(scenario, lambda _, step: replace(step, whole=False))
    return replace(alone, batch=None)


without_cache = without_field("cache", None)
without_limits = without_field("limits", ())


def without_callbacks(scenario: Scenario) -> Scenario:
    """Replace the function by a coroutine function, which answers once."""
    if scenario.form == "coroutine":
        return scenario
    return replace(_with_steps(scenario, lambda _, step: replace(step, **_ONCE)), form="coroutine")


def without_event_time(scenario: Scenario) -> Scenario:
    """Remove watermarks, statuses and markers, also from the restored snapshot."""
    fitting = without_elements(scenario, Watermark, WatermarkStatus, LatencyMarker)
    restore = scenario.restore
    if restore is None or not any(map(_is_fence, restore.in_flight)):
        return fitting
    records = tuple(element for element in restore.in_flight if not _is_fence(element))
    return replace(fitting, restore=replace(restore, in_flight=records))


def _is_fence(element: Element) -> bool:
    return isinstance(element, Watermark | WatermarkStatus)


def without_snapshots(scenario: Scenario) -> Scenario:
    """Remove barriers and requests; after a crash the run restores its initial state."""
    return without_requests(without_elements(scenario, Barrier, Snapshot))


def without_elements(scenario: Scenario, *kinds: type) -> Scenario:
    inputs = tuple(timed for timed in scenario.inputs if not isinstance(timed.element, kinds))
    return scenario if len(inputs) == len(scenario.inputs) else replace(scenario, inputs=inputs)


def without_restore(scenario: Scenario) -> Scenario:
    """Prepend the restored elements to the source, and remove the crashes."""
    if scenario.restore is None and not scenario.crashes:
        return scenario
    stored = () if scenario.restore is None else scenario.restore.in_flight
    first = tuple(Timed(0, element) for element in stored)
    return replace(scenario, inputs=first + scenario.inputs, restore=None, crashes=())


def without_planned_ends(scenario: Scenario) -> Scenario:
    """Let the source give all elements, and the consumer read to the end; all calls must end."""
    fitting = replace(
        scenario, sink=(), cancel_at=None, source_error="", close_error=False, close_takes=0
    )
    if fitting == scenario:
        return scenario
    has_limit = _has_limit(scenario)
    return _with_steps(fitting, lambda _, step: _ending(step, has_limit=has_limit))


def _has_limit(scenario: Scenario) -> bool:
    limits = scenario.timeout, None if scenario.retry is None else scenario.retry.attempt_timeout
    return any(limit is not None for limit in limits)


def _ending(step: Step, *, has_limit: bool) -> Step:
    if step.does != "never" or has_limit:
        return step
    return replace(step, does="reply", after=_LONG, blocks=0)


def without_timed_input(scenario: Scenario) -> Scenario:
    """Make all inputs, and the end, available at once."""
    if not scenario.is_timed:
        return scenario
    inputs = tuple(replace(timed, at=0) for timed in scenario.inputs)
    return replace(scenario, inputs=inputs, source_ends_at=0)


def without_virtual_time(scenario: Scenario) -> Scenario:
    """Round all times to the grid, and remove jitter, which would leave the grid."""
    scenario = with_times(scenario, lambda _, ms: ms - ms % GRID if ms > GRID else ms)
    on_grid = tuple(at - at % GRID for at in scenario.figures_at)
    if on_grid != scenario.figures_at:
        scenario = replace(scenario, figures_at=on_grid)
    limits = tuple(map(_on_grid, scenario.limits))
    if limits != scenario.limits:
        scenario = replace(scenario, limits=limits)
    return without_jitter(scenario)


def _on_grid(limit: PlannedLimit) -> PlannedLimit:
    per, latency = max(GRID, limit.per - limit.per % GRID), limit.latency - limit.latency % GRID
    burst = limit.burst
    if burst is not None and per * burst % (GRID * limit.most):
        burst = None
    return replace(limit, per=per, latency=latency, burst=burst)


def without_one_loop(scenario: Scenario) -> Scenario:
    """Remove what needs source, function and consumer on one loop with shared objects."""
    scenario = without_cache(without_copies(scenario))
    if scenario.tells_apart:
        scenario = _with_values_apart(scenario)
    fitting = replace(
        scenario,
        source="iterator",
        source_error=_SENT_AS.get(scenario.source_error, scenario.source_error),
        tracked=False,
        contexts=False,
        unshielded=False,
        cancel="once",
        # A consumer elsewhere takes results while the loop is blocked, which changes the figures.
        figures_at=() if scenario.blocks else scenario.figures_at,
        sink=tuple(_ON_ITS_OWN.get(step.does, step) for step in scenario.sink),
        plans=tuple(_uninterrupting(plan) for plan in scenario.plans),
    )
    return scenario if fitting == scenario else fitting


def _with_values_apart(scenario: Scenario) -> Scenario:
    """Give records with equal values distinct values, because their objects are not shared.

    The plan of the n-th record with a value begins at step n of the value's plan.
    """
    values = [each.value for each in scenario.elements if isinstance(each, Record)]
    if len(set(map(identity, values))) == len(values):
        return scenario
    plans: list[Plan] = []
    changed = iter([_apart(scenario, plans, element) for element in scenario.elements])
    restore = scenario.restore
    if restore is not None:
        restore = replace(restore, in_flight=tuple(next(changed) for _ in restore.in_flight))
    inputs = tuple(replace(timed, element=next(changed)) for timed in scenario.inputs)
    batch = scenario.batch
    if batch is not None:  # Lists cannot be keys of a mapping.
        batch = replace(batch, answers="list")
    return replace(scenario, inputs=inputs, restore=restore, plans=tuple(plans), batch=batch)


def _apart(scenario: Scenario, plans: list[Plan], element: Any) -> Any:
    """Return `element` with a distinct value, and add the value's plan to `plans`."""
    if not isinstance(element, Record):
        return element
    value = [len(plans), element.value]
    before = sum(identity(plan.value[1]) == identity(element.value) for plan in plans)
    plan = scenario.plan_of.get(identity(element.value), Plan(element.value))
    steps = plan.steps[min(before, len(plan.steps) - 1) :]
    if identity(element.value) not in scenario.plan_of:
        steps = (Step(results=(element.value,)),)
    plans.append(replace(plan, value=value, steps=steps))
    return replace(element, value=value)


_SENT_AS: Mapping[str, Any] = dict.fromkeys(("falsy", "cancelled", "interrupt"), "own")
"""Errors of a source outside of the operator's loop, by the planned errors."""

_ON_ITS_OWN = {"raise": SinkStep("leave")}
"""Steps of a consumer without a block around its operator, by the planned steps."""


def _uninterrupting(plan: Plan) -> Plan:
    steps = tuple(replace(step, error=_PLAIN.get(step.error, step.error)) for step in plan.steps)
    handler, failure = (
        replace(each, error=_PLAIN.get(each.error, each.error))
        for each in (plan.handler, plan.failure)
    )
    return replace(plan, steps=steps, handler=handler, failure=failure)


_OF_OTHERS = {"ExceptionGroup", "Chained", "Panic", "Unprintable"} | {
    *("CallFailed", "CallTimedOut", "InvalidConfig")
}
_PLAIN = dict.fromkeys(FOR_THE_PROGRAM | _OF_OTHERS, "ValueError")


CORE = "core"
"""The profile of every backend: results in the order of one mode, capacity, failures, end."""


class Capability(StrEnum):
    """A capability of a backend; a backend has each capability that it does not exclude by name.

    Attributes:
        brings: description in a few words.
        without: function that changes a scenario for a backend without the capability.
        is_profile: whether it is an optional part of the specification; else it is a detail of
            such a part, or of the way in which the backend is run.
        part_of: name of the profile to which the detail belongs; empty for none.
    """

    brings: str
    without: Without
    is_profile: bool
    part_of: str

    def __new__(
        cls, name: str, brings: str = "", without: Without = as_it_is, of: str | None = None
    ) -> Self:
        """Make a member, a profile if `of` is None; type checkers also see the look-up by name."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.brings, member.without = brings, without
        member.is_profile, member.part_of = of is None, of or ""
        return member

    ORDERED = "ordered", "results in input order", without_mode("ordered")
    UNORDERED = "unordered", "results as they are ready", without_mode("unordered")
    KEY_ORDERED = (
        "key-ordered",
        "calls and results of each key in input order",
        without_mode("key-ordered"),
    )
    TIMEOUTS = "timeouts", "deadlines, and handlers for late records", without_timeouts
    RETRY = "retry", "calls that are repeated, after back-offs", without_retry
    FAILURE_HANDLER = "failure-handler", "results in place of a failure", without_failure_handler
    MAX_HELD = "max-held", "room for finished results", without_field("max_held", None)
    COPIES = "copies", "a copy of its value for each call", without_copies
    STATISTICS = (
        "statistics",
        "figures that are right at any moment",
        without_field("figures_at", ()),
    )
    CONTEXTS = "contexts", "a context of its own for each call", without_field("contexts", False)
    BATCHES = "batches", "calls that several records share", without_batches
    CACHE = "cache", "results that are kept, and shared, by key", without_cache
    LIMITS = "limits", "calls that wait for limits and budgets", without_limits
    CALLBACKS = "callbacks", "functions in callback form", without_callbacks
    EVENT_TIME = "event-time", "watermarks, statuses and latency markers", without_event_time
    SNAPSHOTS = "snapshots", "barriers, and the snapshots they ask for", without_snapshots
    RESTORE = "restore", "going on from a snapshot", without_restore

    VIRTUAL_TIME = (
        "virtual-time",
        "runs on a clock that jumps; without it, on a grid of real time",
        without_virtual_time,
        "",
    )
    TIMED_INPUT = (
        "timed-input",
        "input is there at chosen times; without it, all is there at once",
        without_timed_input,
        "",
    )
    ONE_LOOP = (
        "one-loop",
        "source, function and consumer share a loop, and their objects, with the operator",
        without_one_loop,
        "",
    )
    PLANNED_ENDS = (
        "planned-ends",
        (
            "input ends or fails, and the consumer pauses or leaves, while calls run; without it, "
            "everything comes out first"
        ),
        without_planned_ends,
        "",
    )
    CANCEL_CALLS = (
        "cancel-calls",
        "calls run on the loop and can be cancelled; without it, in threads, to their end",
        without_cancelled_calls,
        "",
    )
    CANCELLATION_SEEN = (
        "cancellation-seen",
        "cancelling the operator is watched from inside; without it, it is simply gone",
        as_it_is,
        "",
    )
    ON_DEMAND_SNAPSHOT = (
        "on-demand-snapshot",
        "`request_snapshot` is there",
        without_requests,
        "snapshots",
    )
    ATTEMPT_TIMEOUT = (
        "attempt-timeout",
        "a limit for each attempt at a record",
        without_attempt_timeout,
        "retry",
    )
    RETRY_AFTER = (
        "retry-after",
        "a call that fails says when the next attempt may begin",
        without_retry_after,
        "retry",
    )
    JITTER = "jitter", "back-offs that chance shortens", without_jitter, "retry"
    IN_FLIGHT_SNAPSHOT = (
        "in-flight-snapshot",
        "a snapshot is taken while calls run; without it, after them",
        as_it_is,
        "snapshots",
    )


ALL_CAPABILITIES = frozenset(Capability)
PROFILES = tuple(capability for capability in Capability if capability.is_profile)
"""All profiles except core, in the order of a verdict."""


def needs(scenario: Scenario) -> frozenset[Capability]:
    """Return the capabilities that a backend needs to play `scenario` as planned."""
    return frozenset(each for each in Capability if each.without(scenario) is not scenario)


_MODES = {Capability.ORDERED, Capability.UNORDERED, Capability.KEY_ORDERED}


def declared(
    profiles: Iterable[str] | None = None, lacks: Iterable[str] = ()
) -> frozenset[Capability]:
    """Return the capabilities of a backend.

    Args:
        profiles: names of its profiles, with or without "core", which every backend has; at least
            one profile is a mode. None for every profile.
        lacks: names of further capabilities that it does not have.

    Raises:
        InvalidConfig: a name is unknown (the message names the nearest), or a mode is missing.
    """
    known = [CORE, *(profile.value for profile in PROFILES)]
    has = {CORE, *(known if profiles is None else _names("profiles", profiles, known))}
    missing = set(_names("lacks", lacks, [each.value for each in Capability]))
    if profiles is not None and (both := sorted(has & missing)):
        raise InvalidConfig.of("lacks", both[0], "no name that is among the profiles")
    has -= missing
    if not has & _MODES:
        got = [name for name in known if name in has]
        modes = "a list with 'ordered', 'unordered' or 'key-ordered'"
        raise InvalidConfig.of("profiles", got, modes)
    return frozenset(
        each
        for each in ALL_CAPABILITIES - missing
        if (each if each.is_profile else each.part_of or CORE) in has
    )


def _names(argument: str, given: Iterable[str], known: Sequence[str]) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidConfig.of(argument, given, "a list of names")
    names = list(given)
    for name in names:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            wrong = InvalidConfig.of(argument, name, f"among {', '.join(known)}")
            raise InvalidConfig(f"{wrong}{hint}")
    return names


def profiles_of(capabilities: Iterable[Capability]) -> tuple[str, ...]:
    """Return the names of the profiles among `capabilities`, core first."""
    return (CORE, *(profile.value for profile in PROFILES if profile in set(capabilities)))
