"""The operator on Spark: a DataFrame in, a DataFrame out; it needs the extra `spark`."""

from asyncwait.backends.java import MissingJava
from asyncwait.backends.spark._gateway import SparkNotStarted
from asyncwait.backends.spark._session import EmbeddedSpark, embedded_spark
from asyncwait.backends.spark.carry._carry import Carry
from asyncwait.backends.spark.carry._drain import drain, save
from asyncwait.backends.spark.frame._errors import (
    EvaluatedTwice,
    SchemaMismatch,
    Share,
    TooManyFailed,
)
from asyncwait.backends.spark.frame._wait import (
    FrameWait,
    key_ordered_wait,
    ordered_wait,
    unordered_wait,
)
from asyncwait.backends.spark.join._join import lookup_join
from asyncwait.backends.spark.progress import JobFigures, Progress
from asyncwait.spec.exports import claim_exports

__all__ = [
    "Carry",
    "EmbeddedSpark",
    "EvaluatedTwice",
    "FrameWait",
    "JobFigures",
    "MissingJava",
    "Progress",
    "SchemaMismatch",
    "Share",
    "SparkNotStarted",
    "TooManyFailed",
    "drain",
    "embedded_spark",
    "key_ordered_wait",
    "lookup_join",
    "ordered_wait",
    "save",
    "unordered_wait",
]

claim_exports(__name__)
