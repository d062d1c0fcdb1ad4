"""CAP: operators that hold too much, or work too little."""

from asyncwait.backends.faulty._gallery import Faulty

FAULTY: tuple[Faulty, ...] = ()
