"""A picture of what records cost."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl

_COLOURS = {"pool": "tab:blue", "generator": "tab:green", "workers": "tab:green"}
"""Of flows by their first word: the pool, floors; everybody else is grey."""


def draw(costs: Mapping[str, float], path: Path) -> None:
    """Draw the microseconds that a record costs in each flow, on a logarithmic scale.

    Args:
        costs: by flow.
        path: where the picture goes; its suffix says in which format.
    """
    mpl.use("Agg")  # There may be no screen.
    mpl.rcParams["svg.hashsalt"] = "asyncwait"  # else two pictures of one thing differ
    from matplotlib import pyplot as plt  # only now it is known where to draw

    figure, axes = plt.subplots(figsize=(9, 0.32 * len(costs) + 1), layout="constrained")
    names = list(reversed(costs))
    colours = [_COLOURS.get(name.split()[0], "tab:gray") for name in names]
    bars = axes.barh(names, [costs[name] for name in names], color=colours)
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set_xscale("log")
    axes.set_xlabel("us a record: floors green, the pool blue")
    axes.margins(x=0.1)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
