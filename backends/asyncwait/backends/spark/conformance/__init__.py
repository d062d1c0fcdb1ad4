"""Spark as a backend: the partition operator in the workers of an embedded session."""

from typing import TYPE_CHECKING

from asyncwait.backends.java import find_java
from asyncwait.backends.spark._session import require_pyspark

if TYPE_CHECKING:
    from asyncwait.backends.spark.conformance._backends import (
        FrameBackend,
        SparkBackend,
        StreamBackend,
    )


def backend() -> "SparkBackend":
    """Return Spark on the embedded session, which starts with the first scenario.

    Raises:
        MissingExtra: pyspark is not installed.
        MissingJava: there is no usable Java runtime.
    """
    _require()
    from asyncwait.backends.spark.conformance._backends import SparkBackend

    return SparkBackend()


def frame_backend() -> "FrameBackend":
    """Return `ordered_wait` and its like on DataFrames, with the same session; see `backend`."""
    _require()
    from asyncwait.backends.spark.conformance._backends import FrameBackend

    return FrameBackend()


def stream_backend() -> "StreamBackend":
    """Return them on streams, where calls stay in flight, with the same session."""
    _require()
    from asyncwait.backends.spark.conformance._backends import StreamBackend

    return StreamBackend()


def _require() -> None:
    require_pyspark()
    find_java("Spark", "spark")


__all__ = ["backend", "frame_backend", "stream_backend"]
