"""What authors of operators build with: the function taken apart, calls, tasks, plain values."""

from asyncwait.spec.exports import claim_exports
from asyncwait.toolkit._back_offs import BackOffs, attempt_timed_out
from asyncwait.toolkit._bell import Bell
from asyncwait.toolkit._call_scope import CallScope, call_scope, outcome_of, raise_self_cancellation
from asyncwait.toolkit._contexts import supplied
from asyncwait.toolkit._keys import ByKey, invalid_key
from asyncwait.toolkit._loop import (
    is_own_cancellation,
    plain_error,
    reraise_fatal,
    running_loop,
    running_trio,
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
from asyncwait.toolkit._single_entry import SingleEntry
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
    "SingleEntry",
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
    "is_own_cancellation",
    "join_errors",
    "no_end_in_disguise",
    "outcome_of",
    "plain_error",
    "plain_wait",
    "raise_self_cancellation",
    "reraise_fatal",
    "results_at_deadline",
    "results_despite",
    "run_hook",
    "running_loop",
    "running_trio",
    "start_task",
    "supplied",
]

claim_exports(__name__)
