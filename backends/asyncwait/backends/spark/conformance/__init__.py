"""Spark as a backend: the partition operator in the workers of an embedded session."""

from typing import TYPE_CHECKING

from asyncwait.backends.java import find_java
from asyncwait.backends.spark._session import import_context_class

if TYPE_CHECKING:
    from asyncwait.backends.spark.conformance._backend import SparkBackend
    from asyncwait.backends.spark.conformance._frame_backend import FrameBackend


def backend() -> "SparkBackend":
    """Return Spark on the embedded session, which starts with the first scenario.

    Raises:
        MissingExtra: pyspark is not installed.
        MissingJava: there is no usable Java runtime.
    """
    import_context_class()
    find_java("Spark", "spark")
    from asyncwait.backends.spark.conformance._backend import SparkBackend

    return SparkBackend()


def frame_backend() -> "FrameBackend":
    """Return `ordered_wait` and its like on DataFrames, with the same session.

    Raises:
        MissingExtra: pyspark is not installed.
        MissingJava: there is no usable Java runtime.
    """
    import_context_class()
    find_java("Spark", "spark")
    from asyncwait.backends.spark.conformance._frame_backend import FrameBackend

    return FrameBackend()


__all__ = ["backend", "frame_backend"]
