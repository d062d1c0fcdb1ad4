"""Tables and pictures of measurements, and the machine that they were made on."""

import os
import platform
import statistics
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from rich.table import Table

Rows: TypeAlias = Iterable[Sequence[str]]


def shown(head: Sequence[str], rows: Rows) -> Table:
    table = Table(*head)
    for row in rows:
        table.add_row(*row)
    return table


def markdown(head: Sequence[str], rows: Rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def spread(rounds: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, ...]]:
    """Yield each flow with what it has cost in some rounds: the median, the least, the most."""
    for name in rounds[0]:
        each = [costs[name] for costs in rounds]
        yield name, *(f"{x:.2f}" for x in (statistics.median(each), min(each), max(each)))


def write(path: Path, text: str, *tables: tuple[Sequence[str], Rows]) -> None:
    path.write_text("\n".join((text, *(markdown(*table) for table in tables))), encoding="utf-8")


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


_COLOURS = {"generator": "tab:green", "workers": "tab:green", "no": "tab:green"}
"""Colours of floors, by the first word of the flow; peers are grey."""


def draw(costs: Mapping[str, float], path: Path, ours: tuple[str, str] = ("pool", "")) -> None:
    """Draw the microseconds that a record costs in each flow, on a logarithmic scale.

    Args:
        costs: by flow.
        path: where the picture goes; its suffix says in which format.
        ours: the first words of our own flows, which are blue.
    """
    import matplotlib as mpl

    mpl.use("Agg")  # There may be no screen.
    mpl.rcParams["svg.hashsalt"] = "asyncwait"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 0.32 * len(costs) + 1), layout="constrained")
    names = list(reversed(costs))
    first = [name.split()[0].rstrip(",") for name in names]
    colours = ["tab:blue" if word in ours else _COLOURS.get(word, "tab:gray") for word in first]
    bars = axes.barh(names, [costs[name] for name in names], color=colours)
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set_xscale("log")
    axes.set_xlabel(f"microseconds a record, on a logarithmic scale: floors green, {ours[0]} blue")
    axes.margins(x=0.1)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
