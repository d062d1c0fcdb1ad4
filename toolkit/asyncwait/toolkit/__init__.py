"""What authors of operators build with: the function taken apart, calls, tasks, plain values."""

from asyncwait.spec.exports import claim_exports
from asyncwait.toolkit._batches import NoAnswer, answers_of, failure_of, results_of
from asyncwait.toolkit._call_table import CallTable, Cancel, LaneCalls, Served, Start
from asyncwait.toolkit._calls import (
    BackOffs,
    CallScope,
    attempt_timed_out,
    awaitable_of,
    call_failed,
    call_scope,
    collect_results,
    is_collection,
    not_awaitable,
    outcome_of,
    raise_self_cancellation,
    results_at_deadline,
    results_despite,
    run_hook,
)
from asyncwait.toolkit._context import OperatorContext
from asyncwait.toolkit._function import (
    FunctionParts,
    SingleEntry,
    check_arguments,
    check_restore,
    close_source,
    join_errors,
)
from asyncwait.toolkit._keys import NULL_KEY, PLAIN_KEYS, ByKey, invalid_key, stand_in
from asyncwait.toolkit._lane import Lane
from asyncwait.toolkit._loop import (
    Bell,
    JoinableTasks,
    is_own_cancellation,
    isolated,
    plain_error,
    reraise_fatal,
    running_loop,
    running_trio,
    start_task,
    supplied,
)
from asyncwait.toolkit._plain import plain_wait
from asyncwait.toolkit._plain_parts import (
    KeyedWait,
    OpenPlain,
    PlainFunction,
    PlainOne,
    PlainResults,
    PlainSource,
    PlainWait,
    no_end_in_disguise,
)
from asyncwait.toolkit._store import Store

__all__ = [
    "NULL_KEY",
    "PLAIN_KEYS",
    "BackOffs",
    "Bell",
    "ByKey",
    "CallScope",
    "CallTable",
    "Cancel",
    "FunctionParts",
    "JoinableTasks",
    "KeyedWait",
    "Lane",
    "LaneCalls",
    "NoAnswer",
    "OpenPlain",
    "OperatorContext",
    "PlainFunction",
    "PlainOne",
    "PlainResults",
    "PlainSource",
    "PlainWait",
    "Served",
    "SingleEntry",
    "Start",
    "Store",
    "answers_of",
    "attempt_timed_out",
    "awaitable_of",
    "call_failed",
    "call_scope",
    "check_arguments",
    "check_restore",
    "close_source",
    "collect_results",
    "failure_of",
    "invalid_key",
    "is_collection",
    "is_own_cancellation",
    "isolated",
    "join_errors",
    "no_end_in_disguise",
    "not_awaitable",
    "outcome_of",
    "plain_error",
    "plain_wait",
    "raise_self_cancellation",
    "reraise_fatal",
    "results_at_deadline",
    "results_despite",
    "results_of",
    "run_hook",
    "running_loop",
    "running_trio",
    "stand_in",
    "start_task",
    "supplied",
]

claim_exports(__name__)
