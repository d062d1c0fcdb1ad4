"""The operator on Spark: a DataFrame in, a DataFrame out; it needs the extra `spark`."""

from asyncwait.backends.spark._gateway import SparkNotStarted
from asyncwait.backends.spark._java import MissingJava
from asyncwait.backends.spark._session import EmbeddedSpark, embedded_spark
from asyncwait.spec.exports import claim_exports

__all__ = ["EmbeddedSpark", "MissingJava", "SparkNotStarted", "embedded_spark"]

claim_exports(__name__)
