"""What the failure handler makes of a record that has failed."""

from msgspec.structs import replace

from asyncwait.conformance.judging._calls import Course
from asyncwait.conformance.judging._decision import Decision, expected_error
from asyncwait.conformance.judging._observe import Call, Facts


def with_failure_handler(facts: Facts, course: Course, decision: Decision) -> Decision:
    """Return a decision as it is when the failure handler was asked, if it has to be.

    It is not asked about what the function raises that has completed its record, nor about what is
    raised for the whole program.
    """
    handler = facts.scenario.failure_handler(course.first.value)
    if facts.scenario.is_uncopied(course.first.value):
        return decision  # The handler could not be given a copy either.
    is_none = not decision.wrong or decision.results is not None
    if handler is None or is_none or _ends_the_program(facts, course, decision):
        return decision
    failed = replace(decision, failure=decision.wrong, failure_cause=decision.cause)
    request = facts.despite.get(-1 if course.first.record is None else course.first.record)
    if request is not None:  # It tells when the failure was noticed, unless that was too late.
        seq, event = request
        at = min(event.at, failed.decided_at)
        failed = replace(failed, decided_at=at, decided_seq=seq)
    match handler.does:
        case "reply":
            return replace(failed, results=handler.results, wrong="", cause="")
        case "raise":
            return replace(failed, cause=handler.error or PLANNED)
        case "misreturn" if handler.error != "none":
            wrong = expected_error(handler.does, handler.error)
            cause = PLANNED if wrong == "CallFailed" else ""
            return replace(failed, wrong=wrong, cause=cause)
        case _:
            return failed


def _ends_the_program(facts: Facts, course: Course, decision: Decision) -> bool:
    """Whether what was raised passes: a KeyboardInterrupt, say."""
    if not decision.timed_out:
        return course.last.step.error in FOR_THE_PROGRAM and is_raised(facts, course.last)
    handler = facts.scenario.handler(course.first.value)
    return handler is not None and handler.error in FOR_THE_PROGRAM


FOR_THE_PROGRAM = frozenset({"KeyboardInterrupt", "SystemExit"})
"""Errors that no operator keeps for itself."""


def is_raised(facts: Facts, call: Call, *, is_late: bool = False) -> bool:
    """Whether a call raised in the operator's own task.

    A completion with an error does not, nor does its supplier if the completion was late: nobody
    asks it.
    """
    if call.ended is None or call.ended.how != "raised":
        return False
    at_once = call.step.after == 0 and not call.step.thread
    is_asked = call.step.supplied and not is_late
    return facts.scenario.form == "coroutine" or at_once or is_asked


PLANNED = "Planned"
"""Class of the errors that are the harness's own."""
