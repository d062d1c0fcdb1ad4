"""Reads files of unknown origin: regular files only, up to a limit of bytes."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from asyncwait.spec.scenario import LIMITS


def open_file(file: Path) -> BinaryIO:
    """Open a file for reading; refuse files on which reading could wait.

    Raises:
        OSError: it can't be opened, or is a folder, a pipe or a device.
    """
    opened = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # not on Windows
    mode = os.fstat(opened).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(opened, "rb")
    os.close(opened)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    raise OSError(errno.EINVAL, "it is no file, but a pipe or a device", str(file))


def file_bytes(file: Path, most: int = LIMITS.bytes) -> bytes:
    """Return the contents of a file.

    Args:
        file: its path.
        most: limit in bytes.

    Raises:
        OSError: as for `open_file`; or the file is longer.
    """
    with open_file(file) as opened:
        data = opened.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it holds more than {most:,} bytes", str(file))
    return data
