"""The machine that something is measured on."""

import os
import platform
import sysconfig
from pathlib import Path


def machine() -> str:
    free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    python = f"Python {platform.python_version()}{free}"
    return f"{python}, {platform.system()}, {os.cpu_count()} cores of {_processor()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not on Linux
        return platform.machine()
    names = (line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
