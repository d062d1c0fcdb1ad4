"""FAIL: operators that fail wrongly, or not at all."""

from asyncwait.backends.faulty._gallery import Faulty

FAULTY: tuple[Faulty, ...] = ()
