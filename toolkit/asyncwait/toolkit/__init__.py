"""What authors of operators build with: the function taken apart, calls, tasks, plain values."""

from asyncwait.spec.exports import claim_exports
from asyncwait.toolkit._back_offs import BackOffs, attempt_timed_out
from asyncwait.toolkit._bell import Bell
from asyncwait.toolkit._call_scope import CallScope, call_scope, outcome_of, own_cancellation
from asyncwait.toolkit._contexts import supplied
from asyncwait.toolkit._keys import ByKey, invalid_key
from asyncwait.toolkit._loop import (
    let_pass,
    plain_error,
    running_loop,
    running_trio,
    was_asked_for,
)
from asyncwait.toolkit._opening import check_arguments, check_restore, close_source, join_errors
from asyncwait.toolkit._outcomes import (
    awaitable_of,
    call_failed,
    collect_results,
    is_collection,
    results_at_deadline,
    results_despite,
    run_hook,
)
from asyncwait.toolkit._parts import FunctionParts
from asyncwait.toolkit._plain import plain_wait
from asyncwait.toolkit._plain_parts import PlainFunction, PlainOne, PlainSource, no_end_in_disguise
from asyncwait.toolkit._plain_types import KeyedWait, OpenPlain, PlainResults, PlainWait
from asyncwait.toolkit._single_entry import Visit
from asyncwait.toolkit._tasks import JoinableTasks, start_task

__all__ = [
    "BackOffs",
    "Bell",
    "ByKey",
    "CallScope",
    "FunctionParts",
    "JoinableTasks",
    "KeyedWait",
    "OpenPlain",
    "PlainFunction",
    "PlainOne",
    "PlainResults",
    "PlainSource",
    "PlainWait",
    "Visit",
    "attempt_timed_out",
    "awaitable_of",
    "call_failed",
    "call_scope",
    "check_arguments",
    "check_restore",
    "close_source",
    "collect_results",
    "invalid_key",
    "is_collection",
    "join_errors",
    "let_pass",
    "no_end_in_disguise",
    "outcome_of",
    "own_cancellation",
    "plain_error",
    "plain_wait",
    "results_at_deadline",
    "results_despite",
    "run_hook",
    "running_loop",
    "running_trio",
    "start_task",
    "supplied",
    "was_asked_for",
]

claim_exports(__name__)
