"""Spark as a backend: the partition operator in the workers of an embedded session."""

from asyncwait.backends.spark.conformance._backend import SparkBackend, backend

__all__ = ["SparkBackend", "backend"]
