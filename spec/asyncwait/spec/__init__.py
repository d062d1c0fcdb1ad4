"""Specification of every asynchronous stream operator: elements, configuration, contract, rules."""

from asyncwait.spec._config import Mode, OperatorConfig, Retry, RetryAfter
from asyncwait.spec._elements import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
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
    OperatorError,
    ResultRejected,
    TooManyAbandonedCalls,
)
from asyncwait.spec._function import AsyncFunction, CallbackFunction, FailureHandler, ResultFuture
from asyncwait.spec._operator import OpenOperator, OperatorResults, SnapshotOnDemand, Statistics
from asyncwait.spec._sharing import Batch, Cache
from asyncwait.spec.exports import claim_exports

__all__ = [
    "AsyncFunction",
    "AsyncWaitError",
    "Barrier",
    "Batch",
    "Cache",
    "CallFailed",
    "CallTimedOut",
    "CallbackFunction",
    "Element",
    "FailureHandler",
    "InvalidConfig",
    "InvalidKey",
    "InvalidResult",
    "LatencyMarker",
    "MissingExtra",
    "Mode",
    "OpenOperator",
    "OperatorConfig",
    "OperatorError",
    "OperatorResults",
    "Record",
    "ResultFuture",
    "ResultRejected",
    "Retry",
    "RetryAfter",
    "Snapshot",
    "SnapshotOnDemand",
    "Statistics",
    "TooManyAbandonedCalls",
    "Watermark",
    "WatermarkStatus",
]

claim_exports(__name__)
