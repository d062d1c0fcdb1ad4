"""Figures of runs: their table, their comparison with the log of the service, and a picture."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from service import SLOW, Call, is_slow, score

TICKS = (0.5, 1, 2, 5, 10, 20, 50)
"""Seconds that the axis of the picture marks."""


class Payment(NamedTuple):
    """A row of the input."""

    id: int
    account: int
    at: float


class Scored(NamedTuple):
    """A row of the output, and the moment at which it came out."""

    payment: Payment
    score: float
    at: float


@dataclass(frozen=True)
class Run:
    """A run in two starts; moments are those of the wall clock, in seconds.

    Args:
        way: "carry" or "drained".
        payments: of the input.
        scored: of the output, in its order.
        log: of the service.
        killed: when the stream was killed.
        under_way: calls that the service was working on then.
        warm: number of first payments, which came one file after the other.
    """

    way: str
    payments: Sequence[Payment]
    scored: Sequence[Scored]
    log: Sequence[Call]
    killed: float
    under_way: int
    warm: int = 0

    @property
    def is_carried(self) -> bool:
        """Whether calls stay in flight from one micro-batch to the next."""
        return self.way == "carry"

    @property
    def zero(self) -> float:
        """When payments began to come independently of the output."""
        return self.payments[self.warm].at

    @property
    def goes_on(self) -> float:
        """When the first score came out after the kill."""
        return min(each.at for each in self.scored if each.at > self.killed)

    def often(self) -> Counter[int]:
        """Return how often each payment came out."""
        return Counter(each.payment.id for each in self.scored)

    def paid(self) -> Counter[int]:
        """Return how many scores of each payment the service has billed."""
        return Counter(call.payment for call in self.log if call.status == 200)

    def disorder(self) -> int:
        """Return the number of payments that came out before an earlier one of their account."""
        accounts = dict[int, list[int]]()
        for each in self.scored:
            accounts.setdefault(each.payment.account, []).append(each.payment.id)
        return sum(a > b for ids in accounts.values() for a, b in pairwise(ids))

    def latencies(self) -> list[float]:
        """Return the seconds of payments with fast calls that came out before the kill."""
        return [
            each.at - each.payment.at
            for each in self.scored
            if self.zero <= each.payment.at and each.at < self.killed
            if not is_slow(each.payment.id)
        ]


def column(run: Run) -> dict[str, str]:
    """Return the figures of a run by their names."""
    often, paid, seconds = run.often(), run.paid(), run.latencies()
    middle, last = "-", "-"
    if len(seconds) > 1:
        middle, last = f"{median(seconds):.1f} s", f"{quantiles(seconds, n=100)[-1]:.1f} s"
    return {
        "payments in": f"{len(run.payments)}",
        "calls under way at the kill": f"{run.under_way}",
        "scores out once": f"{_once(often)}",
        "out twice": f"{len(often) - _once(often)}",
        "lost": f"{len(run.payments) - len(often)}",
        "out of their account's order": f"{run.disorder()}" if run.is_carried else "-",
        "paid for once": f"{_once(paid)}",
        "paid for twice": f"{len(paid) - _once(paid)}",
        "errors (500), called again": f"{sum(call.status != 200 for call in run.log)}",
        "fast, before the kill: median": middle,
        "fast, before the kill: 99 %": last,
    }


def _once(counted: Counter[int]) -> int:
    return sum(each == 1 for each in counted.values())


def mismatches(run: Run) -> list[str]:
    """Return the figures that are wrong, in words."""
    return [
        f"{run.way}: {name}: {found}, and not {right}"
        for name, found, right in _compared(run)
        if found != right
    ]


def _compared(run: Run) -> Iterator[tuple[str, int, int]]:
    often, paid = run.often(), run.paid()
    yield "scores out", len(often), len(run.payments)
    yield "scores out twice", len(run.scored) - len(often), 0
    wrong = sum(each.score != score(each.payment.id) for each in run.scored)
    yield "scores of other payments", wrong, 0
    yield "payments paid for", len(paid), len(run.payments)
    if run.is_carried:
        yield "payments paid for twice", len(paid) - _once(paid), 0
        yield "payments out of their account's order", run.disorder(), 0


def show(runs: Sequence[Run]) -> None:
    """Print a column for each run."""
    columns = [column(run) for run in runs]
    print(f"{'':30}", *(f"{run.way:>10}" for run in runs))
    for name in columns[0]:
        print(f"{name:30}", *(f"{each[name]:>10}" for each in columns))


def draw(runs: Sequence[Run], path: Path) -> None:
    """Draw the latency of each payment over time, a panel for each run."""
    import matplotlib as mpl

    mpl.use("Agg")  # There may be no screen.
    from matplotlib import pyplot as plt  # only now it is known where to draw

    size = 5.5 * len(runs), 3.8
    figure, panels = plt.subplots(
        1, len(runs), figsize=size, layout="constrained", squeeze=False, sharey=True
    )
    for run, axes in zip(runs, panels[0], strict=True):
        _draw(run, axes)
    panels[0][0].set_ylabel("seconds from file to sink")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=100)


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
