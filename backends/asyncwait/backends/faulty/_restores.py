"""REST: operators that restore wrongly."""

from asyncwait.backends.faulty._gallery import Faulty

FAULTY: tuple[Faulty, ...] = ()
