"""Chooses among the explanations of a trace the one that speaks best for the operator."""

from asyncwait.conformance.judging._check import CHECKS
from asyncwait.conformance.judging._rest import History
from asyncwait.spec.scenario import Scenario, Trace

MOST_WAYS = 1_000
"""Explanations that are tried: half of twelve records that are alike and tie have fewer."""


def explain(scenario: Scenario, trace: Trace) -> History:
    """Return the history of `trace` that the checks have to judge.

    Where records can't be told apart there may be several. An operator is wrong only if each of
    them, up to `MOST_WAYS`, breaks a rule; then it is the likeliest one.
    """
    likeliest = History(scenario, trace)
    if likeliest.ways == 1:
        return likeliest
    for way in range(min(likeliest.ways, MOST_WAYS)):
        history = History(scenario, trace, way)
        if not any(check(history).violations for check in CHECKS.values()):
            return history
    return likeliest
