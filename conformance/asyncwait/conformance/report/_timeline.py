"""Draws a scenario and what happened in it as text, time from top to bottom."""

from collections.abc import Iterator

from asyncwait.conformance._words import counted
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.timeline import (
    MARK,
    ending_of,
    figures,
    how_ended,
    in_batch,
    show,
    values,
)
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Closed,
    Crash,
    Event,
    FailureAsked,
    FiguresRead,
    Handler,
    HandlerAsked,
    HookRun,
    Leg,
    Misuse,
    PlannedBatch,
    PlannedCache,
    Scenario,
    SinkGaveUp,
    SinkIntruded,
    SinkLeft,
    SinkTook,
    SinkWaits,
    SnapshotAsked,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Step,
    Taken,
    Trace,
)
from asyncwait.spec.texts import printable, shortened, shown

WIDTHS = (24, 34)
"""Of the columns for input and calls; output takes the rest."""

LONGEST = 1_000
"""Characters of a line: a value may be as long as it likes."""


def describe_scenario(scenario: Scenario) -> list[str]:
    """Return the plan of a scenario in a few lines."""
    timeout = "no timeout" if scenario.timeout is None else f"timeout {scenario.timeout} ms"
    handled = ", handled" if scenario.handled else ""
    batched = "" if scenario.batch is None else _batch(scenario.batch)
    how = f"{scenario.form}{batched or ('' if scenario.cache is None else _cache(scenario.cache))}"
    lines = [f"{scenario.mode}, capacity {scenario.capacity}, {timeout}{handled}, {how}"]
    for plan in scenario.plans:
        steps = ", then ".join(map(_step, plan.steps))
        handler = f"; at its deadline {_handler(plan.handler)}" if scenario.handled else ""
        failure = f"; failing {_handler(plan.failure)}" if scenario.failures_handled else ""
        if scenario.is_uncopied(plan.value):
            steps = "there is no copy to be had, which raises"
        lines.append(f"  call of {shown(plan.value)}: {steps}{handler}{failure}")
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
    return list(map(_bounded, lines))


def draw(scenario: Scenario, trace: Trace, violation: Violation | None = None) -> list[str]:
    """Return a timeline of `trace`, with a mark where `violation` is.

    Columns: milliseconds, input, calls, output.
    """
    lines: list[str] = []
    for number, leg in enumerate(trace.legs):
        if len(trace.legs) > 1:
            lines.append(f"leg {number + 1} ({leg.mode}, capacity {leg.capacity})")
        mark = violation if violation is not None and violation.leg == number else None
        lines += _draw_leg(scenario, leg, mark)
    return list(map(_bounded, lines))


def _bounded(line: str) -> str:
    return shortened(printable(line), LONGEST)


def _draw_leg(scenario: Scenario, leg: Leg, violation: Violation | None) -> Iterator[str]:
    yield HEAD
    marked = violation is None
    last = ""
    last_wait = _last_wait(leg)
    for event in leg.events:
        if not marked and violation is not None and event.at > violation.at:
            yield f"{violation.at:>6g}  {MARK} {violation.text}"
            marked = True
        if isinstance(event, _UNTOLD) and event is not last_wait:
            continue
        cells = _cells(scenario, event)
        at = f"{event.at:g}"
        yield _row("" if at == last else at, *cells)
        last = at
    ending = leg.ending
    if not marked and violation is not None:
        yield f"{violation.at:>6g}  {MARK} {violation.text}"
    yield f"{ending.at:>6g}  {ending_of(ending)}"


def _row(at: str, source: str, calls: str, sink: str) -> str:
    return f"{at:>6}  {source:<{WIDTHS[0]}}{calls:<{WIDTHS[1]}}{sink}".rstrip()


HEAD = _row("ms", "input", "calls", "output")
"""The names of the columns."""


def event_line(scenario: Scenario, event: Event) -> str:
    """Return the line of a timeline that an event has for itself, whatever it is."""
    return _row(f"{event.at:g}", *_cells(scenario, event))


_UNTOLD = (SourceAsked, SinkWaits, Closed)
"""What a timeline leaves out: it is plain from what comes of it."""


def _cells(scenario: Scenario, event: Event) -> tuple[str, str, str]:
    """Return what an event puts into the columns."""
    match event:
        case SourceAsked():
            return "(asked)", "", ""
        case Taken():
            return show(scenario.inputs[event.index].element), "", ""
        case SourceEnded():
            return "error" if event.raised else "end", "", ""
        case SourceClosed():
            return "closed", "", ""
        case CallStarted():
            return "", f"#{event.call} {shown(event.value)} called{in_batch(event.batch)}", ""
        case CallCancelled():
            return "", f"#{event.call} cancelled", ""
        case CallEnded():
            return "", f"#{event.call} {_ended(event)}", ""
        case HandlerAsked():
            return "", f"timeout({shown(event.value)}) asked", ""
        case FailureAsked():
            return "", f"failure({shown(event.value)}, {event.error}) asked", ""
        case HookRun():
            return "", event.hook, ""
        case Blocked():
            return "", f"(the loop is blocked until {event.until:g})", ""
        case Misuse():
            return "", f"({event.detail}: {event.what})", ""
        case SinkIntruded():
            return "", "", f"(a second task {event.got})"
        case SinkTook():
            return "", "", show(event.element)
        case FiguresRead():
            return "", "", f"({figures(event)})"
        case SnapshotAsked():
            return "", "", f"(snapshot {event.checkpoint_id} requested)"
        case SinkGaveUp():
            return "", "", "(gave up waiting)"
        case SinkLeft():
            return "", "", "(left, raising)" if event.raising else "(left)"
        case SinkWaits():
            return "", "", "(waits)"
        case Closed():
            return "", "", "(context left)"


def _last_wait(leg: Leg) -> Event | None:
    """A wait that nothing ends is worth a line; the others are plain from what they get."""
    for event in reversed(leg.events):
        if isinstance(event, SinkTook | SinkGaveUp | SinkLeft):
            return None
        if isinstance(event, SinkWaits):
            return event
    return None


def _ended(event: CallEnded) -> str:
    if event.how == "cancelled":
        return "ended"
    return how_ended(event)


def _batch(batch: PlannedBatch) -> str:
    said = f", batches of {batch.max_size}, after {batch.max_wait} ms, {batch.in_flight} at a time"
    mapped = ", answered by a mapping" if batch.answers == "mapping" else ""
    return f"{said}{mapped}{', split when they fail' if batch.split else ''}"


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
        "raise": f"raise {handler.error}",
        "misreturn": f"give {handler.error} instead of results",
    }[handler.does]
    return f"{what} (having blocked the loop for {handler.blocks} ms)" if handler.blocks else what


def _surroundings(scenario: Scenario) -> Iterator[str]:
    """Yield what is unusual about source, function and company."""
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
    "contract": ": a CallFailed of its own",
    "cancelled": ": a CancelledError of its own",
    "interrupt": ": a KeyboardInterrupt",
    "no-element": ": a TypeError of the operator's, as it gives None",
}


def _step(step: Step) -> str:
    when = f" after {step.after} ms" if step.after else ""
    what = {
        "reply": f"give {values(step.results)}{when}",
        "raise": f"raise {step.error}{when}",
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
            ("all of its batch", step.whole and step.does != "reply"),
            ("left out of the answers of its batch", step.whole and step.does == "reply"),
            (f"go on {step.clean_up} ms when cancelled", step.clean_up or step.swallow),
        )
        if there
    ]
    return " ".join([what, *(f"({extra})" for extra in extras)])
