"""What a run comes to, and whether it is what it should be."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, quantiles

from files import Payment, Scored
from service import Call, is_slow, score


@dataclass(frozen=True)
class Run:
    """All that was seen of a run; moments are those of the wall clock, in seconds.

    Args:
        way: "carry" or "drained".
        payments: that came in.
        scored: what came out, in that order.
        log: of the service.
        killed: when the stream was.
        under_way: calls that the service was working on then.
        warm: payments that came first, one file after the other.
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
        """When payments began to come whatever came out."""
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

    def wrong(self) -> int:
        """Count scores of other payments."""
        return sum(each.score != score(each.payment.id) for each in self.scored)

    def disorder(self) -> int:
        """Count payments that came out before an earlier one of their account."""
        accounts = dict[int, list[int]]()
        for each in self.scored:
            accounts.setdefault(each.payment.account, []).append(each.payment.id)
        return sum(a > b for ids in accounts.values() for a, b in pairwise(ids))

    def latencies(self) -> list[float]:
        """Return how many seconds payments took whose calls are fast, and that no kill held up."""
        return [
            each.at - each.payment.at
            for each in self.scored
            if self.zero <= each.payment.at and each.at < self.killed
            if not is_slow(each.payment.id)
        ]


def column(run: Run) -> dict[str, str]:
    """Return the figures of a run by their names."""
    often, paid = run.often(), run.paid()
    ends = _ends(run.latencies())
    return {
        "payments in": f"{len(run.payments)}",
        "calls under way at the kill": f"{run.under_way}",
        "scores out once": f"{_times(often, 1)}",
        "out twice": f"{len(often) - _times(often, 1)}",
        "lost": f"{len(run.payments) - len(often)}",
        "out of their account's order": f"{run.disorder()}" if run.is_carried else "-",
        "paid for once": f"{_times(paid, 1)}",
        "paid for twice": f"{len(paid) - _times(paid, 1)}",
        "errors (500), called again": f"{sum(call.status != 200 for call in run.log)}",
        "fast, before the kill: median": ends[0],
        "fast, before the kill: 99 %": ends[1],
    }


def _ends(seconds: Sequence[float]) -> tuple[str, str]:
    """Return the median, and what one in a hundred exceeds; few seconds have neither."""
    if len(seconds) < 2:
        return "-", "-"
    return f"{median(seconds):.1f} s", f"{quantiles(seconds, n=100)[-1]:.1f} s"


def _times(counted: Counter[int], times: int) -> int:
    return sum(each == times for each in counted.values())


def mismatches(run: Run) -> list[str]:
    """Say in which figures a run is not what it should be."""
    return [f"{run.way}: {what}: {found}, and not {right}" for what, found, right in _told(run)]


def _told(run: Run) -> Iterator[tuple[str, int, int]]:
    often, paid = run.often(), run.paid()
    compared = [
        ("scores out", len(often), len(run.payments)),
        ("scores out twice", len(run.scored) - len(often), 0),
        ("scores of other payments", run.wrong(), 0),
        ("payments paid for", len(paid), len(run.payments)),
    ]
    if run.is_carried:
        compared += [
            ("payments paid for twice", len(paid) - _times(paid, 1), 0),
            ("payments out of their account's order", run.disorder(), 0),
        ]
    return (each for each in compared if each[1] != each[2])
