"""Whether a trace can be what a run of its scenario gave, whoever wrote it."""

from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Leg,
    Scenario,
    SinkTook,
    SinkWaits,
    Taken,
    Trace,
    identity,
)


def impossible(scenario: Scenario, trace: Trace) -> str | None:
    """Return why `trace` can't belong to `scenario`, or None.

    An operator may be wrong in any way and its trace is still possible; impossible is what only
    whoever writes the trace can get wrong: the plan's own doings.
    """
    if not trace.legs:
        return "it has no leg"
    if len(trace.legs) > len(scenario.crashes) + 1:
        return f"it has {len(trace.legs)} legs, the scenario crashes {len(scenario.crashes)} times"
    began_at = 0
    for number, leg in enumerate(trace.legs):
        why = _impossible_setting(scenario, number, leg) or _impossible_leg(scenario, leg, began_at)
        if why is not None:
            return f"leg {number}: {why}"
        began_at += scenario.crashes[number].at if number < len(scenario.crashes) else 0
    return None


def _impossible_setting(scenario: Scenario, number: int, leg: Leg) -> str | None:
    """Compare how the operator was opened with the plan; a leg without events tells nothing."""
    if not leg.events:
        return None
    mode, capacity = scenario.mode, scenario.capacity
    for crash in scenario.crashes[:number]:
        mode = crash.mode or mode
        capacity = crash.capacity or capacity
    if (leg.mode, leg.capacity) != (mode, capacity):
        return f"{leg.mode}, capacity {leg.capacity}; planned is {mode}, capacity {capacity}"
    if number == 0 and (leg.restored, leg.first_index) != (scenario.restore, 0):
        return f"it was restored from {leg.restored}, planned is {scenario.restore}"
    return None


def _impossible_leg(scenario: Scenario, leg: Leg, began_at: int) -> str | None:
    taken, at, waiting = leg.first_index, 0.0, False
    calls: dict[int, CallStarted] = {}
    ended: set[int] = set()
    for event in leg.events:
        if event.at < at:
            return f"{event} stands behind an event at {at:g}"
        at = event.at
        match event:
            case Taken() if event.index != taken or taken >= len(scenario.inputs):
                return f"input {event.index} was taken, the next one is {taken}"
            case Taken() if began_at + at < scenario.inputs[taken].at:
                return f"input {taken} was taken before its time"
            case Taken():
                taken += 1
            case CallStarted() if event.call in calls:
                return f"call {event.call} started twice"
            case CallStarted():
                calls[event.call] = event
            case CallCancelled() if event.call not in calls:
                return f"call {event.call} was cancelled before it started"
            case CallEnded() if event.call not in calls or event.call in ended:
                return f"call {event.call} ended without having started, or twice"
            case CallEnded():
                ended.add(event.call)
                if (why := _impossible_end(scenario, calls, event)) is not None:
                    return why
            case SinkWaits():
                waiting = True
            case SinkTook() if not waiting:
                return f"{event.element} was taken by a consumer that did not wait"
            case _:
                pass
    return None


def _impossible_end(
    scenario: Scenario, calls: dict[int, CallStarted], event: CallEnded
) -> str | None:
    """Compare the end of a call with the step that its plan has for it."""
    started = calls[event.call]
    key = identity(started.value)
    ordinal = sum(identity(c.value) == key and c.call < event.call for c in calls.values())
    step = scenario.step(started.value, ordinal)
    may_return = step.does == "reply" or (step.does == "never" and step.swallow)
    if event.how == "returned" and not (may_return and event.results == step.results):
        return f"call {event.call} of {started.value!r} gave {event.results}, planned is {step}"
    if event.how in {"raised", "misreturned"} and step.does == "reply":
        return f"call {event.call} of {started.value!r} {event.how}, planned is {step}"
    if event.how == "returned" and not step.swallow and event.at < started.at + step.after:
        return f"call {event.call} of {started.value!r} answered before its time"
    return None
