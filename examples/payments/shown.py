"""A table of what runs came to, and a picture of how long each payment took."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figures import Run, column
from service import SLOW, is_slow

TICKS = (0.5, 1, 2, 5, 10, 20, 50)
"""Seconds of which the picture tells where they are."""


def show(runs: Sequence[Run]) -> None:
    """Print a column for each run."""
    columns = [column(run) for run in runs]
    print(f"{'':30}", *(f"{run.way:>10}" for run in runs))
    for name in columns[0]:
        print(f"{name:30}", *(f"{each[name]:>10}" for each in columns))


def draw(runs: Sequence[Run], path: Path) -> None:
    """Draw the latency of each payment over time, a panel for each run.

    Args:
        runs: at least one.
        path: where the picture goes; its suffix says in which format.
    """
    import matplotlib as mpl

    mpl.use("Agg")  # There may be no screen.
    from matplotlib import pyplot as plt  # only now it is known where to draw

    figure, panels = plt.subplots(
        1,
        len(runs),
        figsize=(5.5 * len(runs), 3.8),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for run, axes in zip(runs, panels[0], strict=True):
        _draw(run, axes)
    panels[0][0].set_ylabel("seconds from file to sink")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def _draw(run: Run, axes: Any) -> None:
    from matplotlib.ticker import NullLocator

    zero = run.zero
    axes.axvspan(
        run.killed - zero, run.goes_on - zero, color="0.9", label="from the kill to the next score"
    )
    for slow, name in ((False, "fast call"), (True, f"slow call ({SLOW:g} s)")):
        later = [each for each in run.scored if each.payment.at >= zero]
        taken = [each for each in later if is_slow(each.payment.id) is slow]
        came = [each.payment.at - zero for each in taken]
        axes.scatter(
            came, [each.at - each.payment.at for each in taken], 25 if slow else 6, label=name
        )
    axes.set_yscale("log")
    axes.set_yticks(TICKS, [f"{each:g}" for each in TICKS])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title(run.way, fontsize="medium")
    axes.set_xlabel("second in which the payment came")
