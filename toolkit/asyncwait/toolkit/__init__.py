"""Building blocks of operators; `__all__` lists them in the order in which an author needs them."""

from asyncwait.spec.exports import claim_exports
from asyncwait.toolkit._calls import (
    FINAL,
    LOG,
    BackOffs,
    KeeperLost,
    NoAnswer,
    answers_of,
    attempt_timed_out,
    awaitable_of,
    call_failed,
    collect_results,
    failure_of,
    is_collection,
    is_whole,
    outcome_of,
    raise_self_cancellation,
    results_at_deadline,
    results_despite,
    run_hook,
    timed_out,
)
from asyncwait.toolkit._context import OperatorContext, SourceTask
from asyncwait.toolkit._function import (
    FunctionParts,
    SingleEntry,
    WrongFunction,
    awaited,
    check_arguments,
    check_restore,
    close_source,
    collected,
    is_holder,
    is_result,
    is_value,
    join_errors,
    part_of,
    require_kind,
    settled,
    skip,
    uncosted,
)
from asyncwait.toolkit._keys import NULL_KEY, PLAIN_KEYS, ByKey, Store, invalid_key, stand_in
from asyncwait.toolkit._limits._gate import HELD_LIMITS, IN_HAND, Gate, Hand
from asyncwait.toolkit._limits._ledger import Ledger, Limits, Reply, Told
from asyncwait.toolkit._limits._lines import Permit, arrive
from asyncwait.toolkit._loop import (
    Bell,
    CallScope,
    HomeLoop,
    JoinableTasks,
    LeftEarly,
    call_scope,
    driven,
    is_own_cancellation,
    isolated,
    plain_error,
    reraise_fatal,
    running_loop,
    running_trio,
    start_task,
    supplied,
    unless_cancelled,
)
from asyncwait.toolkit._plain import bind, entered_once, plain_wait
from asyncwait.toolkit._plain_parts import (
    PlainFunction,
    PlainOne,
    PlainSource,
    ValuesAhead,
    WholeDict,
    no_end_in_disguise,
    require_source,
)
from asyncwait.toolkit._plain_types import (
    AllMany,
    AllOne,
    Answers,
    Key,
    KeyedWait,
    Many,
    One,
    OpenPlain,
    PlainResults,
    PlainWait,
    Priced,
    Source,
)
from asyncwait.toolkit._transient import cause_or_self, causes, status_of, transient

__all__ = [  # noqa: RUF022 - in the order in which an author needs them
    # Opening and leaving: the user's function and the arguments.
    "FunctionParts", "check_arguments", "check_restore", "require_kind", "WrongFunction",
    "OperatorContext", "SingleEntry", "HomeLoop", "run_hook", "isolated", "part_of",
    # The source.
    "SourceTask", "close_source", "join_errors",
    # The loop, tasks and cancellation.
    "running_loop", "running_trio", "Bell", "JoinableTasks", "start_task", "CallScope",
    "call_scope", "is_own_cancellation", "unless_cancelled", "raise_self_cancellation",
    "reraise_fatal", "plain_error", "supplied", "driven",
    # Calls and their results.
    "awaitable_of", "awaited", "outcome_of", "collect_results", "collected", "settled", "uncosted",
    "is_collection", "is_whole", "is_value", "is_holder", "is_result", "call_failed",
    # Deadlines, failures and retries.
    "results_at_deadline", "timed_out", "attempt_timed_out", "results_despite", "skip", "BackOffs",
    "cause_or_self", "KeeperLost", "FINAL", "LOG",
    # Batches.
    "answers_of", "failure_of", "NoAnswer",
    # Keys and caches.
    "ByKey", "invalid_key", "stand_in", "NULL_KEY", "PLAIN_KEYS", "Store",
    # Limits: the gate between admission and call.
    "Gate", "Permit", "Hand", "HELD_LIMITS", "IN_HAND", "arrive", "Limits", "Ledger", "Told",
    "Reply",
    # Plain values.
    "plain_wait", "PlainFunction", "PlainOne", "PlainSource", "ValuesAhead", "WholeDict",
    "no_end_in_disguise", "require_source", "bind", "entered_once", "LeftEarly", "OpenPlain",
    "PlainWait", "KeyedWait", "PlainResults", "One", "Many", "AllOne", "AllMany", "Answers",
    "Priced", "Source", "Key",
    # Services: errors that may pass.
    "transient", "status_of", "causes",
]  # fmt: skip

claim_exports(__name__)
