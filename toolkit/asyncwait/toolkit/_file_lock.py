"""A lock of a file that several processes of a machine share; where there are such locks."""

import fcntl
import time


def is_locked_within(file: int, seconds: float) -> bool:
    """Lock a file, and wait for that no longer than `seconds`; return whether it is ours.

    Nothing tells when another process lets go of one, but a wait without end: so it is asked each
    millisecond. Whoever has one needs it for microseconds.

    Raises:
        OSError: there are no locks here.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(0.001)
        else:
            return True
