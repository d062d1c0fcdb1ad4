"""SNAP: operators that take wrong snapshots."""

from asyncwait.backends.faulty._gallery import Faulty

FAULTY: tuple[Faulty, ...] = ()
