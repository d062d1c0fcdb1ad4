"""Spark as a backend: the partition operator in the workers of an embedded session."""

from typing import TYPE_CHECKING

from asyncwait.backends.spark._java import find_java
from asyncwait.backends.spark._session import import_context_class

if TYPE_CHECKING:
    from asyncwait.backends.spark.conformance._backend import SparkBackend


def backend() -> "SparkBackend":
    """Return Spark on the embedded session, which starts with the first scenario.

    Raises:
        MissingExtra: pyspark is not installed.
        MissingJava: there is no usable Java runtime.
    """
    import_context_class()
    find_java()
    from asyncwait.backends.spark.conformance._backend import SparkBackend

    return SparkBackend()


__all__ = ["backend"]
