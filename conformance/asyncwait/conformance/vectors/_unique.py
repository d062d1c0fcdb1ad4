"""Whether all operators that keep the rules come to the same in a scenario.

They do if two things hold. The plan alone says what each record comes to: no clock, no race and no
order of calls has a part in it. And the consumer reads to the end, so that all of it comes out, or
the one error that there can be. What is left open then is the order inside a segment.

Where that can't be told by the simple looks below, a scenario counts as one of several outcomes.
"""

from collections import Counter

from asyncwait.spec import Record
from asyncwait.spec.scenario import Plan, Scenario, Step, identity

_READS = {"read", "pause", "block"}
_FOR_THE_PROGRAM = {"KeyboardInterrupt", "SystemExit"}


def has_one_outcome(scenario: Scenario) -> bool:
    """Return whether `scenario` has one outcome for sure, but for the order inside a segment."""
    return (
        _reads_to_the_end(scenario)
        and _is_undisturbed(scenario)
        and all(_is_settled(scenario, plan) for plan in scenario.plans)
        and _is_called_in_order(scenario)
        and _failures(scenario) <= 1
    )


def _reads_to_the_end(scenario: Scenario) -> bool:
    reads = all(step.does in _READS for step in scenario.sink)
    return reads and scenario.cancel_at is None and not scenario.crashes


def _is_undisturbed(scenario: Scenario) -> bool:
    """Whether nothing outside the records ends the run, and nothing else runs."""
    odd = (
        scenario.source_error not in {"", "own"},
        scenario.hook_error,
        scenario.close_error,
        scenario.wrong_argument,
        scenario.company != "none",
        scenario.timeout is not None and _blocks(scenario),
    )
    return not any(odd)


def _blocks(scenario: Scenario) -> bool:
    """Whether anything blocks the loop, which may carry an answer past a deadline."""
    return (
        any(step.does == "block" for step in scenario.sink)
        or any(timed.blocks for timed in scenario.inputs)
        or any(
            blocks
            for plan in scenario.plans
            for blocks in (
                plan.handler.blocks,
                plan.failure.blocks,
                *(step.blocks for step in plan.steps),
            )
        )
    )


def _is_settled(scenario: Scenario, plan: Plan) -> bool:
    """Whether each call of a value comes to what its step says, whenever it begins."""
    retry = scenario.retry
    if retry is not None and (scenario.timeout is not None or retry.attempt_timeout is not None):
        return False
    errors = {plan.handler.error, plan.failure.error, *(step.error for step in plan.steps)}
    if errors & _FOR_THE_PROGRAM or (scenario.copies and plan.uncopied):
        return False
    return all(_is_step_settled(scenario, step) for step in plan.steps)


def _is_step_settled(scenario: Scenario, step: Step) -> bool:
    if step.throws or (step.twice and scenario.form == "callback" and scenario.retry is not None):
        return False
    if scenario.timeout is None:
        return step.does != "never"
    # In the instant of its deadline either may win; what runs on may be one too many.
    return step.after != scenario.timeout and not step.swallow and not step.clean_up


def _values(scenario: Scenario) -> Counter[str]:
    """Return how many records have each value."""
    stored = () if scenario.restore is None else scenario.restore.in_flight
    elements = (*stored, *(timed.element for timed in scenario.inputs))
    return Counter(identity(each.value) for each in elements if isinstance(each, Record))


def _is_called_in_order(scenario: Scenario) -> bool:
    """Whether it is known which step each record gets: equal values share a plan."""
    if scenario.retry is None and scenario.mode != "key-ordered":
        return True  # First calls start in input order.
    plans = scenario.plan_of
    return not any(
        count > 1 and value in plans and len(plans[value].steps) > 1
        for value, count in _values(scenario).items()
    )


def _failures(scenario: Scenario) -> int:
    """Return how many records may fail at most; the one that fails first is not known of two."""
    count = 0
    for value, records in _values(scenario).items():
        plan = scenario.plan_of.get(value)
        if plan is None or not any(_may_fail(scenario, plan, step) for step in plan.steps):
            continue
        count += records
    return count + bool(scenario.source_error and count)


def _may_fail(scenario: Scenario, plan: Plan, step: Step) -> bool:
    is_handled = scenario.failures_handled and plan.failure.does == "reply"
    is_late = scenario.timeout is not None and (
        step.does == "never" or step.after > scenario.timeout
    )
    if is_late and scenario.handled and plan.handler.does == "reply":
        return False
    if is_handled:
        return False
    if scenario.retry is not None and scenario.retry.on_result == "breaks":
        return True
    return is_late or step.does in {"raise", "misreturn"}
