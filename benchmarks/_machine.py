"""The machine that something is measured on."""

import os
import platform
from pathlib import Path


def machine() -> str:
    """Return what the figures were measured on, in words."""
    cores = os.cpu_count()
    return (
        f"Python {platform.python_version()}, {platform.system()}, {cores} cores of {_processor()}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not on Linux
        return platform.machine()
    names = (line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
