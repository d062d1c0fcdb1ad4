"""What authors of operators build with: the function taken apart, calls, tasks, plain values."""

from asyncwait.spec.exports import claim_exports
from asyncwait.toolkit._batches import NoAnswer, answers_of, failure_of, results_of
from asyncwait.toolkit._call_table import CallTable, Cancel, LaneCalls, Served, Start
from asyncwait.toolkit._calls import (
    BackOffs,
    attempt_timed_out,
    awaitable_of,
    call_failed,
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
from asyncwait.toolkit._limits import AnyLimit, LimitsTogether
from asyncwait.toolkit._limits._exchange import Ledger, Reply, Told
from asyncwait.toolkit._limits._limited import Limited
from asyncwait.toolkit._limits._limited_plain import (
    LimitedResults,
    LimitedValues,
    not_asked_at_the_end,
    unless_not_called,
)
from asyncwait.toolkit._limits._turns import CALL_IN_THREAD
from asyncwait.toolkit._limits._vocabulary import KeeperLost, LedgerLost, ends_all
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
    unless_cancelled,
)
from asyncwait.toolkit._plain import plain_wait, require_options
from asyncwait.toolkit._plain_parts import (
    PacedValues,
    PlainFunction,
    PlainOne,
    PlainSource,
    ValuesAhead,
    WholeDict,
    no_end_in_disguise,
)
from asyncwait.toolkit._plain_types import (
    Answers,
    KeyedWait,
    ManyResults,
    OneResult,
    OpenPlain,
    PlainResults,
    PlainWait,
)
from asyncwait.toolkit._scopes import CallScope, call_scope
from asyncwait.toolkit._stand_ins import IN_TURN, Hedge, HedgeFigures, Race, StandIns, Times
from asyncwait.toolkit._store import Store
from asyncwait.toolkit._transient import cause_or_self, causes, status_of, transient

__all__ = [
    "CALL_IN_THREAD",
    "IN_TURN",
    "NULL_KEY",
    "PLAIN_KEYS",
    "Answers",
    "AnyLimit",
    "BackOffs",
    "Bell",
    "ByKey",
    "CallScope",
    "CallTable",
    "Cancel",
    "FunctionParts",
    "Hedge",
    "HedgeFigures",
    "JoinableTasks",
    "KeeperLost",
    "KeyedWait",
    "Lane",
    "LaneCalls",
    "Ledger",
    "LedgerLost",
    "Limited",
    "LimitedResults",
    "LimitedValues",
    "LimitsTogether",
    "ManyResults",
    "NoAnswer",
    "OneResult",
    "OpenPlain",
    "OperatorContext",
    "PacedValues",
    "PlainFunction",
    "PlainOne",
    "PlainResults",
    "PlainSource",
    "PlainWait",
    "Race",
    "Reply",
    "Served",
    "SingleEntry",
    "StandIns",
    "Start",
    "Store",
    "Times",
    "Told",
    "ValuesAhead",
    "WholeDict",
    "answers_of",
    "attempt_timed_out",
    "awaitable_of",
    "call_failed",
    "call_scope",
    "cause_or_self",
    "causes",
    "check_arguments",
    "check_restore",
    "close_source",
    "collect_results",
    "ends_all",
    "failure_of",
    "invalid_key",
    "is_collection",
    "is_own_cancellation",
    "isolated",
    "join_errors",
    "no_end_in_disguise",
    "not_asked_at_the_end",
    "not_awaitable",
    "outcome_of",
    "plain_error",
    "plain_wait",
    "raise_self_cancellation",
    "require_options",
    "reraise_fatal",
    "results_at_deadline",
    "results_despite",
    "results_of",
    "run_hook",
    "running_loop",
    "running_trio",
    "stand_in",
    "start_task",
    "status_of",
    "supplied",
    "transient",
    "unless_cancelled",
    "unless_not_called",
]

claim_exports(__name__)
