"""ELEM: operators whose output does not belong to their input."""

from asyncwait.backends.faulty._gallery import Faulty

FAULTY: tuple[Faulty, ...] = ()
