"""The search for the smallest scenario that breaks a rule: what is played serves all rules."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from asyncwait.conformance.shrinking._reduce import reductions
from asyncwait.conformance.verdict import Failure
from asyncwait.spec.scenario import Scenario, key_of

FIRST_BATCH, LARGEST_BATCH = 8, 64
"""Candidates played at a time: few while most of them fail and make the others pointless, many
when few do, because some backends need no longer for many than for one."""

TryOut: TypeAlias = Callable[[Sequence[Scenario]], Iterable[Mapping[str, Failure]]]
"""Plays scenarios, and gives for each the failures that it shows, by the id of the rule."""


class Search:
    """Looks for smaller failures, as long as it may.

    Args:
        try_out: plays candidates; each only once.
        is_over: whether the search has to end; asked whenever something was played.
    """

    def __init__(self, try_out: TryOut, is_over: Callable[[], bool]) -> None:
        self._try_out = try_out
        self._is_over = is_over
        self._tried: set[bytes] = set()
        self._smallest: dict[str, Failure] = {}

    def smallest(self, rule: str, failure: Failure) -> Failure:
        """Return the smallest failure of `rule` that is found, `failure` if there is none.

        What other searches have come across counts too, also when the time is over.
        """
        self._keep(rule, failure)
        while not self._is_over():
            best = self._smallest[rule]
            self._play_smaller_than(best, rule)
            if self._smallest[rule] is best:
                break
        return self._smallest[rule]

    def best(self, rule: str) -> Failure:
        """Return the smallest failure of `rule` so far, in a search that was cut short."""
        return self._smallest[rule]

    def _play_smaller_than(self, best: Failure, rule: str) -> None:
        """Play reductions of `best`, until one breaks the rule or none is left."""
        untried = self._untried(reductions(best.case.planned))
        size = FIRST_BATCH
        while self._smallest[rule] is best and (batch := list(islice(untried, size))):
            for failures in self._try_out(batch):
                for broken, failure in failures.items():
                    self._keep(broken, failure)
                if self._is_over():
                    return
            size = min(2 * size, LARGEST_BATCH)

    def _untried(self, scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
        for scenario in scenarios:
            key = key_of(scenario)
            if key not in self._tried:
                self._tried.add(key)
                yield scenario

    def _keep(self, rule: str, failure: Failure) -> None:
        known = self._smallest.get(rule)
        if known is None or failure.case.size < known.case.size:
            self._smallest[rule] = failure
