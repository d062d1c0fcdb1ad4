"""A table of what runs came to, and a picture drawn from the logs of their services."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figures import Call, Run, column

KINDS = {
    200: ("answered", "tab:blue"),
    429: ("told to come again (429)", "tab:orange"),
    500: ("failed (500)", "tab:red"),
}


def in_flight(log: Sequence[Call], zero: float = 0) -> list[tuple[float, int]]:
    """Return how many calls the service had, from which second on."""
    steps = Counter[float]()
    for call in log:
        steps[call.began - zero] += 1
        steps[call.ended - zero] -= 1
    level, levels = 0, []
    for moment in sorted(steps):
        level += steps[moment]
        levels.append((moment, level))
    return levels


def show(runs: Sequence[Run]) -> None:
    """Print a column for each run."""
    from rich.console import Console
    from rich.table import Table

    table = Table("", *(run.on for run in runs))
    for each in table.columns[1:]:
        each.justify = "right"
    columns = [column(run) for run in runs]
    for name in columns[0]:
        table.add_row(name, *(each[name] for each in columns))
    Console().print(table)


def draw(runs: Sequence[Run], path: Path) -> None:
    """Draw calls in flight, and the latency of each, over time; a row for each run.

    Args:
        runs: at least one.
        path: where the picture goes; its suffix says in which format.
    """
    import matplotlib as mpl

    mpl.use("Agg")  # There may be no screen.
    from matplotlib import pyplot as plt  # only now it is known where to draw

    figure, rows = plt.subplots(
        len(runs), 2, figsize=(10, 2.8 * len(runs)), layout="constrained", squeeze=False
    )
    for run, (left, right) in zip(runs, rows, strict=True):
        _draw_in_flight(run, left)
        _draw_latency(run, right)
        for axes in (left, right):
            killed = run.moments.killed - run.zero
            axes.axvline(killed, color="black", ls=":", lw=1, label="killed (SIGKILL)")
    for axes in rows[-1]:
        axes.set_xlabel("seconds")
    figure.legend(*rows[0][1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _draw_in_flight(run: Run, axes: Any) -> None:
    moments = in_flight(run.log, run.zero)
    axes.step([at for at, _ in moments], [level for _, level in moments], where="post", lw=0.5)
    axes.axhline(run.job.capacity, color="tab:gray", ls="--", lw=0.8)
    axes.set_title(f"{run.on}: calls in flight at the service", fontsize="medium")
    axes.set_ylim(bottom=0)


def _draw_latency(run: Run, axes: Any) -> None:
    for status, (name, colour) in KINDS.items():
        calls = [call for call in run.log if call.status == status]
        if not calls:
            continue
        # What is refused at once would not be seen.
        latencies = [max(1, 1000 * (call.ended - call.began)) for call in calls]
        size = 4 if len(run.log) < 10_000 else 1
        axes.scatter([call.began - run.zero for call in calls], latencies, size, colour, label=name)
    axes.set_yscale("log")
    axes.set_title(f"{run.on}: latency of each call, in ms", fontsize="medium")
