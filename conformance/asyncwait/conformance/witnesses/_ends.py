"""Witnesses of this area."""

from asyncwait.conformance.witnesses._witness import Witness

WITNESSES: tuple[Witness, ...] = ()
