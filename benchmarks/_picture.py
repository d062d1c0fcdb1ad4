"""A picture of what records cost."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl

_COLOURS = {"generator": "tab:green", "workers": "tab:green", "no": "tab:green"}
"""Of floors, by the first word of the flow; everybody else is grey, but for us."""


def draw(costs: Mapping[str, float], path: Path, ours: tuple[str, str] = ("pool", "")) -> None:
    """Draw the microseconds that a record costs in each flow, on a logarithmic scale.

    Args:
        costs: by flow.
        path: where the picture goes; its suffix says in which format.
        ours: the first words of the flows that are ours, which are blue.
    """
    mpl.use("Agg")  # There may be no screen.
    mpl.rcParams["svg.hashsalt"] = "asyncwait"  # else two pictures of one thing differ
    from matplotlib import pyplot as plt  # only now it is known where to draw

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
