"""ORD: operators that get the order wrong, of results or of calls."""

from asyncwait.backends.faulty._gallery import Faulty

FAULTY: tuple[Faulty, ...] = ()
