"""Files that several processes of a machine share: their locks, where the system has them."""

import fcntl
import os
import time
from pathlib import Path


def is_locked_within(file: int, seconds: float) -> bool:
    """Lock a file, and wait for that no longer than `seconds`; return whether it is ours.

    The system reports the release of a lock only to a wait without end, so this function asks each
    millisecond. A process needs such a lock for microseconds.

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


def is_private(folder: Path) -> bool:
    """Make a folder if it is missing, and return whether only this user can enter it.

    A file, or a link that leads nowhere, in its place is no such folder.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    found = folder.lstat()
    return found.st_uid == os.getuid() and not found.st_mode & 0o077 and not folder.is_symlink()
