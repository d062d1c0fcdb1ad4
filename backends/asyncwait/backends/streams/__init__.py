"""Calls of a stream that micro-batches carry on: lanes of records, and tables of calls."""

from asyncwait.backends.streams._call_table import CallTable, LaneCalls, Served
from asyncwait.backends.streams._lane import Lane
from asyncwait.spec.exports import claim_exports

__all__ = ["CallTable", "Lane", "LaneCalls", "Served"]

claim_exports(__name__)
