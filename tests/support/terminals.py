"""Consoles of rich, and what was written on them."""

import io
import re

from rich.console import Console


def terminal(width: int = 120) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)


def log(width: int = 120) -> Console:
    return Console(file=io.StringIO(), force_terminal=False, width=width)


def written(console: Console) -> str:
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def drawn(console: Console) -> list[str]:
    text = re.sub(r"\x1b\[[?0-9]*[a-zA-Z]", "", written(console))
    lines = (re.sub("[━╸╺ ]+", " ", line).strip() for line in re.split("[\r\n]+", text))
    return [line for line in lines if line]
