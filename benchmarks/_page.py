"""Tables and pictures of measurements, and the machine that they were made on."""

import json
import os
import platform
import statistics
import sysconfig
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from rich.console import Console
from rich.progress import track
from rich.table import Table

F = TypeVar("F")
Rows: TypeAlias = Iterable[Sequence[str]]
Figures: TypeAlias = tuple[Sequence[str], Rows]
"""A table: its head, and its rows."""


def shown(head: Sequence[str], rows: Rows) -> Table:
    table = Table(*head)
    for row in rows:
        table.add_row(*row)
    return table


def markdown(head: Sequence[str], rows: Rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def parser(about: str, runs: int, *, writes: bool = True) -> ArgumentParser:
    """Return the arguments of a benchmark in rounds, which may write a page with a picture."""
    made = ArgumentParser(description=about)
    made.add_argument("--runs", type=int, default=runs, help="rounds; the median counts")
    if writes:
        made.add_argument("--json", type=Path, help="a file for the rounds, in lines of JSON")
        made.add_argument("--plot", type=Path, help="a file for a picture, .svg or .png")
        made.add_argument("--page", type=Path, help="a file for a page in Markdown; with --plot")
    return made


def measured(flows: Mapping[str, F], cost: Callable[[F], float], title: str) -> dict[str, float]:
    """Return what each flow costs, in one round."""
    return {name: cost(flow) for name, flow in track(flows.items(), title, transient=True)}


def medians(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}


def finish(
    asked: Namespace,
    lines: Iterable[Any],
    costs: Mapping[str, float],
    page: str,
    tables: Sequence[Figures],
    *,
    ours: tuple[str, str] = ("pool", ""),
) -> None:
    """Print tables, and write what the arguments ask for."""
    Console().print(*(shown(*table) for table in reversed(tables)), sep="\n")
    if asked.json:
        asked.json.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    if asked.plot:
        draw(costs, asked.plot, ours)
    if asked.page:
        about = {"rounds": asked.runs, "machine": machine(), "picture": asked.plot.name}
        write(asked.page, page.format(**about), *tables)


def spread(rounds: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, ...]]:
    """Yield each flow with what it has cost in some rounds: the median, the least, the most."""
    for name in rounds[0]:
        each = [costs[name] for costs in rounds]
        yield name, *(f"{x:.2f}" for x in (statistics.median(each), min(each), max(each)))


def write(path: Path, text: str, *tables: Figures) -> None:
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
