"""Sound operators that are unlike the others: no rule may convict them."""

from asyncwait.backends.faulty._gallery import Variation

ODD: tuple[Variation, ...] = ()
