"""Figures of runs: their table, and their comparison with the log of the service."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, quantiles
from typing import NamedTuple

from service import Call, is_slow, score


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
