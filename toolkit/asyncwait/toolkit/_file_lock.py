"""Locks of files that several processes of a machine share, on systems with such locks."""

import fcntl
import os
import time
from pathlib import Path


def is_locked_within(file: int, seconds: float) -> bool:
    """Lock a file within `seconds`; return whether this process has the lock.

    The system has no wait for a lock with a time limit, so this function tries again each
    millisecond. A process holds such a lock for microseconds.

    Raises:
        OSError: the file system has no locks.
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

    A file, or a broken link, in its place is not such a folder.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    found = folder.lstat()
    return found.st_uid == os.getuid() and not found.st_mode & 0o077 and not folder.is_symlink()
