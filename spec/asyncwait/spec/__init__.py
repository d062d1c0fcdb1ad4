"""What is true of every asynchronous stream operator: elements, parameters, contract, rules."""

from asyncwait.spec._bell import Bell
from asyncwait.spec._call_scope import CallScope, call_scope, outcome_of, own_cancellation
from asyncwait.spec._checks import is_plain_function
from asyncwait.spec._config import MODES, Mode, OperatorConfig
from asyncwait.spec._contexts import supplied
from asyncwait.spec._elements import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Stored,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec._errors import (
    AsyncWaitError,
    CallFailed,
    CallTimedOut,
    InvalidConfig,
    InvalidKey,
    InvalidResult,
    MissingExtra,
    NotPortable,
    OperatorError,
    SnapshotCorrupt,
    SnapshotError,
    SnapshotVersionUnsupported,
    TooManyAbandonedCalls,
    join_errors,
)
from asyncwait.spec._function import (
    AsyncFunction,
    CallbackFunction,
    FailureHandler,
    FunctionParts,
    ResultFuture,
    awaitable_of,
    call_failed,
    collect_results,
    is_collection,
    results_at_deadline,
    results_despite,
    run_hook,
)
from asyncwait.spec._keys import ByKey, invalid_key
from asyncwait.spec._loop import (
    CallAt,
    Loop,
    let_pass,
    plain_error,
    running_loop,
    running_trio,
    was_asked_for,
)
from asyncwait.spec._operator import (
    OpenOperator,
    OperatorResults,
    SnapshotOnDemand,
    Statistics,
    check_arguments,
    check_restore,
    close_source,
)
from asyncwait.spec._plain import plain_wait
from asyncwait.spec._plain_parts import PlainFunction, PlainOne, PlainSource, no_end_in_disguise
from asyncwait.spec._plain_types import KeyedWait, OpenPlain, PlainResults, PlainWait
from asyncwait.spec._retry import BackOffs, Retry, RetryAfter, attempt_timed_out
from asyncwait.spec._snapshot import (
    Codec,
    JsonCodec,
    decode_snapshot,
    encode_snapshot,
    merge_snapshots,
    split_snapshot,
)
from asyncwait.spec._tasks import JoinableTasks
from asyncwait.spec._visit import Visit
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.texts import shown

__all__ = [
    "MODES",
    "AsyncFunction",
    "AsyncWaitError",
    "BackOffs",
    "Barrier",
    "Bell",
    "ByKey",
    "CallAt",
    "CallFailed",
    "CallScope",
    "CallTimedOut",
    "CallbackFunction",
    "Codec",
    "Element",
    "FailureHandler",
    "FunctionParts",
    "InvalidConfig",
    "InvalidKey",
    "InvalidResult",
    "JoinableTasks",
    "JsonCodec",
    "KeyedWait",
    "LatencyMarker",
    "Loop",
    "MissingExtra",
    "Mode",
    "NotPortable",
    "OpenOperator",
    "OpenPlain",
    "OperatorConfig",
    "OperatorError",
    "OperatorResults",
    "PlainFunction",
    "PlainOne",
    "PlainResults",
    "PlainSource",
    "PlainWait",
    "Record",
    "ResultFuture",
    "Retry",
    "RetryAfter",
    "Snapshot",
    "SnapshotCorrupt",
    "SnapshotError",
    "SnapshotOnDemand",
    "SnapshotVersionUnsupported",
    "Statistics",
    "Stored",
    "TooManyAbandonedCalls",
    "Visit",
    "Watermark",
    "WatermarkStatus",
    "attempt_timed_out",
    "awaitable_of",
    "call_failed",
    "call_scope",
    "check_arguments",
    "check_restore",
    "close_source",
    "collect_results",
    "decode_snapshot",
    "encode_snapshot",
    "invalid_key",
    "is_collection",
    "is_plain_function",
    "join_errors",
    "let_pass",
    "merge_snapshots",
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
    "shown",
    "split_snapshot",
    "supplied",
    "was_asked_for",
]

claim_exports(__name__)
