"""A picture of runs, drawn from the log of the service."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from looking import Run, in_flight

KINDS = {
    200: ("answered", "tab:blue"),
    429: ("told to come again (429)", "tab:orange"),
    500: ("failed (500)", "tab:red"),
    0: ("cancelled by the client", "black"),
}


def draw(runs: Sequence[Run], path: Path) -> None:
    """Draw calls in flight, and the latency of each, over time; a row for each run.

    Args:
        runs: at least one.
        path: where the picture goes; its suffix says in which format.
    """
    mpl.use("Agg")  # There may be no screen.
    from matplotlib import pyplot as plt  # only now it is known where to draw

    figure, rows = plt.subplots(
        len(runs), 2, figsize=(10, 2.8 * len(runs)), layout="constrained", squeeze=False
    )
    for run, (left, right) in zip(runs, rows, strict=True):
        _draw_in_flight(run, left)
        _draw_latency(run, right)
    for axes in rows[-1]:
        axes.set_xlabel("seconds")
    figure.legend(*rows[0][1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _draw_in_flight(run: Run, axes: Any) -> None:
    moments = in_flight(run.log)
    axes.step([at for at, _ in moments], [level for _, level in moments], where="post", lw=0.7)
    axes.axhline(run.job.capacity, color="tab:gray", ls="--", lw=0.8)
    axes.set_title(f"{run.on}: calls in flight at the service", fontsize="medium")
    axes.set_ylim(bottom=0)


def _draw_latency(run: Run, axes: Any) -> None:
    first = min((call.began for call in run.log), default=0)
    for status, (name, colour) in KINDS.items():
        calls = run.answered(status)
        latencies = [1000 * (call.ended - call.began) for call in calls]
        axes.scatter([call.began - first for call in calls], latencies, 4, colour, label=name)
    axes.set_yscale("log")
    axes.set_title(f"{run.on}: latency of each call, in ms", fontsize="medium")
