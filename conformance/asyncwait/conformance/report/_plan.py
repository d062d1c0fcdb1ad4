"""Tells the plan of a scenario in a few lines."""

from collections.abc import Iterator

from asyncwait.conformance._words import counted
from asyncwait.conformance.report._timeline import bounded
from asyncwait.conformance.timeline import show, values
from asyncwait.spec.scenario import (
    Crash,
    Handler,
    PlannedBatch,
    PlannedCache,
    PlannedLimit,
    PlannedRetry,
    Scenario,
    Step,
)
from asyncwait.spec.texts import shown


def describe_scenario(scenario: Scenario) -> list[str]:
    """Return the plan of a scenario in a few lines."""
    timeout = "no timeout" if scenario.timeout is None else f"timeout {scenario.timeout} ms"
    handled = ", handled" if scenario.handled else ""
    held = "" if scenario.max_held is None else f", room for {scenario.max_held} finished"
    batched = "" if scenario.batch is None else _batch(scenario.batch)
    how = f"{scenario.form}{batched or ('' if scenario.cache is None else _cache(scenario.cache))}"
    lines = [f"{scenario.mode}, capacity {scenario.capacity}, {timeout}{handled}{held}, {how}"]
    if scenario.retry is not None:
        lines.append(f"  {_retry(scenario.retry)}")
    for plan in scenario.plans:
        steps = ", then ".join(map(_step, plan.steps))
        handler = f"; at its deadline {_handler(plan.handler)}" if scenario.handled else ""
        failure = f"; failing {_handler(plan.failure)}" if scenario.failures_handled else ""
        if scenario.is_uncopied(plan.value):
            steps = "there is no copy to be had, which raises"
        lines.append(f"  call of {shown(plan.value)}: {steps}{handler}{failure}")
        if scenario.limits:
            of = f", of key {shown(plan.group)}" if plan.group else ""
            lines.append(f"    it costs {plan.cost}{of}")
    lines += [f"  limit: {_limit(each)}" for each in scenario.limits]
    if scenario.restore is not None:
        lines.append(f"  restored: {show(scenario.restore)}")
    extras = [f"{step.does} {step.n or ''}".strip() for step in scenario.sink]
    if extras:
        lines.append(f"  consumer: {', '.join(extras)}")
    lines += [_crash(crash) for crash in scenario.crashes]
    lines += [f"  {line}" for line in _surroundings(scenario)]
    if scenario.copies:
        lines.append("  each call and each handler is given a copy of its value, and changes it")
    if scenario.figures_at:
        lines.append(f"  statistics read at {', '.join(map(str, scenario.figures_at))} ms")
    if scenario.cancel_at is not None:
        lines.append(f"  cancelled at {scenario.cancel_at} ms")
    return list(map(bounded, lines))


def _batch(batch: PlannedBatch) -> str:
    said = f", batches of {batch.max_size}, after {batch.max_wait} ms, {batch.in_flight} at a time"
    mapped = ", answered by a mapping" if batch.answers == "mapping" else ""
    return f"{said}{mapped}{', split when they fail' if batch.split else ''}"


def _limit(limit: PlannedLimit) -> str:
    what = "cost" if limit.costs or limit.told else "calls"
    room = {
        "window": f"{what} up to {limit.most} in {limit.per} ms, and {limit.latency} ms of latency",
        "in-flight": f"{what} up to {limit.most} at a time",
        "budget": f"{what} up to {limit.most} in all, then {limit.then}",
        "breaker": f"{limit.most} failures in {limit.per} ms, then a rest of {limit.rest} ms",
    }[limit.kind]
    return "".join(
        [
            room,
            ", as calls tell" if limit.told else "",
            ", for each key" if limit.by else "",
            "" if limit.burst is None else f", {limit.burst} together",
            "" if limit.max_wait is None else f", waited for {limit.max_wait} ms at most",
        ]
    )


def _cache(cache: PlannedCache) -> str:
    missing, ahead, stale = cache.missing_ttl, cache.refresh_ahead, cache.stale_if_error
    return "".join(
        [
            f", results of {counted(cache.max_keys, 'key')} kept for {cache.ttl} ms",
            "" if missing is None else f", empty ones for {missing} ms",
            "" if ahead is None else f", loaded ahead after {ahead} %",
            "" if stale is None else f", given {stale} ms longer where a load fails",
        ]
    )


def _retry(retry: PlannedRetry) -> str:
    grows = f", {retry.multiplier} times as long each time" if retry.multiplier > 1 else ""
    jitter, timeout = retry.jitter, retry.attempt_timeout
    return "".join(
        [
            f"retry: {counted(retry.max_attempts, 'attempt')}, back-off {retry.initial} ms{grows}",
            f", up to {retry.cap} ms" if retry.cap < PlannedRetry().cap else "",
            f", up to {jitter} % of it left out" if jitter else "",
            "" if timeout is None else f", each attempt up to {timeout} ms",
            _REPEATED_ERROR[retry.on_error],
            _REPEATED_RESULT[retry.on_result],
        ]
    )


_REPEATED_ERROR = {
    "any": "",
    "some": ", after errors of some classes",
    "asked": ", after errors that a predicate accepts",
    "told": ", or the 120 ms that a predicate tells",
    "at-once": ", or none, as a predicate tells",
    "breaks": "; the predicate of errors raises",
}
_REPEATED_RESULT = {
    "never": "",
    "empty": ", also after no results",
    "pair": ", also after two results",
    "breaks": "; the predicate of results raises",
}


def _crash(crash: Crash) -> str:
    changes = [
        *([] if crash.capacity is None else [f"capacity {crash.capacity}"]),
        *([] if crash.mode is None else [crash.mode]),
    ]
    return f"  crash at {crash.at} ms" + (f", then {', '.join(changes)}" if changes else "")


def _handler(handler: Handler) -> str:
    what = {
        "reply": f"give {values(handler.results)}",
        "none": "give no results",
        "raise": f"raise {handler.error or _OWN}",
        "misreturn": f"give {handler.error} instead of results",
    }[handler.does]
    return f"{what} (having blocked the loop for {handler.blocks} ms)" if handler.blocks else what


def _surroundings(scenario: Scenario) -> Iterator[str]:
    if scenario.source != "iterator":
        yield f"the source is {_A[scenario.source]}"
    if scenario.source_error:
        yield f"the source raises in place of its end{_ERROR_OF[scenario.source_error]}"
    if scenario.close_takes or scenario.close_error:
        raises = ", and raises" if scenario.close_error else ""
        yield f"closing the source takes {scenario.close_takes} ms{raises}"
    if scenario.function != "function":
        yield f"the function is {_A[scenario.function]}"
    if scenario.hook_takes:
        yield f"open and close take {scenario.hook_takes} ms each"
    if scenario.hook_error:
        yield f"{scenario.hook_error} raises"
    if scenario.cancel == "scope":
        yield "the consumer is cancelled by a scope of anyio: in each wait until it is out of it"
    if scenario.shields:
        yield "the consumer shields its reads from being cancelled"
    if scenario.unequal_keys:
        yield "keys that are texts stand for objects that are equal to nothing, not even themselves"
    if scenario.reuses:
        yield "what is given as a list of results is filled with something else later"
    if scenario.wrong_argument:
        yield f"the operator is opened with a text as `{scenario.wrong_argument}`"
    if scenario.company != "none":
        yield f"another operator runs {scenario.company} this one"


_A = {
    "iterable": "an iterable that is no iterator",
    "generator": "an async generator",
    "scope": "an async generator with a cancel scope round its yields",
    "partial": "a functools.partial",
    "object": "an object with an async __call__",
    "awaitable": "a plain function that returns an awaitable",
}
_ERROR_OF = {
    "own": "",
    "falsy": ": an error that is falsy",
    "contract": ": a CallFailed of its own",
    "cancelled": ": a CancelledError of its own",
    "interrupt": ": a KeyboardInterrupt",
    "no-element": ": a TypeError of the operator's, as it gives None",
}


_OWN = "an error"


def _step(step: Step) -> str:
    when = f" after {step.after} ms" if step.after else ""
    what = {
        "reply": f"give {values(step.results)}{when}",
        "raise": f"raise {step.error or _OWN}{when}",
        "misreturn": f"give {step.error} instead of results{when}",
        "never": "never answer",
    }[step.does]
    extras = [
        name
        for name, there in (
            (f"having blocked the loop for {step.blocks} ms", step.blocks),
            ("from a thread", step.thread),
            ("by a supplier", step.supplied),
            ("twice", step.twice),
            ("as there is no copy to be had", step.uncopied),
            (f"having given {values(step.results)}", step.throws),
            (f"telling to come back after {step.retry_after} ms", step.retry_after),
            ("all of its batch", step.whole and step.does != "reply"),
            ("left out of the answers of its batch", step.whole and step.does == "reply"),
            (f"go on {step.clean_up} ms when cancelled", step.clean_up or step.swallow),
        )
        if there
    ]
    return " ".join([what, *(f"({extra})" for extra in extras)])
