"""Join a stream of orders with a table of prices in Redis that changes meanwhile.

python examples/lookup/orders.py --plot orders.svg

The same orders run four times: as they come, with a cache, with batches, and with both. A
`redis-server` on PATH is started for it, on a socket.
"""

import argparse
import asyncio
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from joining import WAYS, Plan, Run, joined, server

FIGURES = "hit rate", "median ms", "p99 ms", "requests/s", "keys a request"


def show(runs: Sequence[Run]) -> None:
    """Print a line for each run."""
    print(f"{'':18}", *(f"{name:>18}" for name in FIGURES))
    for run in runs:
        print(f"{run.name:18}", *(f"{figure:18.3g}" for figure in run.figures()))


def draw(runs: Sequence[Run], path: Path) -> None:
    """Draw the hit rate, the latency and the requests of each run over time."""
    import matplotlib as mpl

    mpl.use("Agg")  # There may be no screen.
    from matplotlib import pyplot as plt  # only now it is known where to draw

    figure, panels = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
    titles = "hit rate", "median latency of an order, ms", "requests a second"
    for place, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        for run in runs:
            moments = run.moments()
            axes.plot([each[0] for each in moments], [each[1 + place] for each in moments])
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel("seconds")
        axes.set_ylim(bottom=0)
    figure.legend([run.name for run in runs], loc="outside lower center", ncols=len(runs))
    figure.savefig(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0; 1 if an order has a price that is too old; 2 without a Redis."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orders", type=int, default=10_000, metavar="N", help="(default: 10000)")
    parser.add_argument("--rate", type=int, default=2_000, metavar="N", help="orders a second")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the orders")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the runs (.png, .svg)")
    options = parser.parse_args(arguments)
    found = shutil.which("redis-server") or shutil.which(
        "redis-server", path=str(Path(sys.executable).parent)
    )
    if found is None:
        print("error: there is no redis-server on PATH; install it", file=sys.stderr)
        return 2
    plan = Plan(options.orders, options.rate, options.seed)
    with server(found) as url:
        runs = [asyncio.run(joined(name, plan, url)) for name in WAYS]
    show(runs)
    if options.plot:
        draw(runs, options.plot)
    wrong = [line for run in runs for line in run.too_old()]
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
