"""What is true of every asynchronous stream operator: elements, parameters, contract, rules."""

from asyncwait.spec._config import MODES, Mode, OperatorConfig, Retry
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
    InvalidResult,
    MissingExtra,
    NotPortable,
    OperatorError,
    SnapshotCorrupt,
    SnapshotError,
    SnapshotVersionUnsupported,
    TooManyAbandonedCalls,
)
from asyncwait.spec._function import (
    AsyncFunction,
    CallbackFunction,
    FunctionParts,
    ResultFuture,
    awaitable_of,
    call_failed,
    collect_results,
    run_hook,
)
from asyncwait.spec._operator import (
    OpenOperator,
    OperatorResults,
    SnapshotOnDemand,
    Statistics,
    check_restore,
)
from asyncwait.spec._plain import PlainWait, plain_wait
from asyncwait.spec._snapshot import (
    Codec,
    JsonCodec,
    decode_snapshot,
    encode_snapshot,
    merge_snapshots,
    split_snapshot,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "MODES",
    "AsyncFunction",
    "AsyncWaitError",
    "Barrier",
    "CallFailed",
    "CallTimedOut",
    "CallbackFunction",
    "Codec",
    "Element",
    "FunctionParts",
    "InvalidConfig",
    "InvalidResult",
    "JsonCodec",
    "LatencyMarker",
    "MissingExtra",
    "Mode",
    "NotPortable",
    "OpenOperator",
    "OperatorConfig",
    "OperatorError",
    "OperatorResults",
    "PlainWait",
    "Record",
    "ResultFuture",
    "Retry",
    "Snapshot",
    "SnapshotCorrupt",
    "SnapshotError",
    "SnapshotOnDemand",
    "SnapshotVersionUnsupported",
    "Statistics",
    "Stored",
    "TooManyAbandonedCalls",
    "Watermark",
    "WatermarkStatus",
    "awaitable_of",
    "call_failed",
    "check_restore",
    "collect_results",
    "decode_snapshot",
    "encode_snapshot",
    "merge_snapshots",
    "plain_wait",
    "run_hook",
    "split_snapshot",
]

claim_exports(__name__)
