"""WM: operators for which watermarks and statuses are no fences."""

from asyncwait.backends.faulty._gallery import Faulty

FAULTY: tuple[Faulty, ...] = ()
