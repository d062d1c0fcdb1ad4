"""The operator on Spark: a DataFrame in, a DataFrame out; it needs the extra `spark`."""

from asyncwait.backends.spark._gateway import SparkNotStarted
from asyncwait.backends.spark._java import MissingJava
from asyncwait.backends.spark._session import EmbeddedSpark, embedded_spark

__all__ = ["EmbeddedSpark", "MissingJava", "SparkNotStarted", "embedded_spark"]
