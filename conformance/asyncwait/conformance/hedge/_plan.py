"""Plans of calls with fallbacks and hedges: the outcome of each call, and the limits."""

import random
from collections.abc import Iterator
from itertools import product

from msgspec import Struct


class Step(Struct, frozen=True):
    """The outcome of a call.

    Args:
        after: milliseconds until the outcome.
        fails: whether the call raises rather than gives a result.
    """

    after: int
    fails: bool = False


class Attempt(Struct, frozen=True):
    """One call of the function with its fallbacks and hedges.

    Args:
        at: milliseconds.
        steps: for each function in order: its first call, and its hedge.
        cancelled: milliseconds after `at`; None for never.
    """

    at: int
    steps: tuple[tuple[Step, Step], ...]
    cancelled: int | None = None


class HedgePlan(Struct, frozen=True):
    """A run of one function with fallbacks and hedges.

    No two moments with different meanings are equal: calls begin at tens of milliseconds, or where
    an earlier call ends, and end 3 milliseconds, or 6, or 9, behind tens; attempts are cancelled in
    the middle of ten.

    Args:
        attempts: by their moments.
        after: milliseconds until a hedge, or a share of calls; None for no hedges.
        at_most: share of calls that may have a hedge.
    """

    attempts: tuple[Attempt, ...]
    after: int | str | None = 10
    at_most: float = 1


_SHORT, _LONG, _LATE = 3, 23, 43


def small_plans() -> Iterator[HedgePlan]:
    """Yield every small run: one attempt of two functions, or two attempts of one function."""
    steps = [Step(after, fails) for after in (_SHORT, _LONG, _LATE) for fails in (False, True)]
    pairs = list(product(steps, steps))
    for one, cancelled in product(pairs, (None, 5, 15, 35)):
        yield HedgePlan((Attempt(0, (one,), cancelled),))
        for other in pairs if one[0].fails else ():
            yield HedgePlan((Attempt(0, (one, other), cancelled),))
    for one, other in product(pairs, pairs):
        yield HedgePlan((Attempt(0, (one,)), Attempt(10, (other,))), at_most=0.5)


def random_plans(count: int, seed: int) -> Iterator[HedgePlan]:
    """Yield `count` runs of up to sixty attempts."""
    drawn = random.Random(seed)
    for _ in range(count):
        after = drawn.choice([None, 10, 20, "p50", "p95"])
        is_measured = isinstance(after, str)
        functions = 1 if is_measured else drawn.randint(1, 3)
        attempts = tuple(
            _attempt(drawn, 10 * place, functions, is_measured=is_measured)
            for place in range(drawn.randint(30, 60) if is_measured else drawn.randint(1, 6))
        )
        yield HedgePlan(attempts, after, drawn.choice([0.1, 0.5, 1]))


def _attempt(drawn: random.Random, at: int, functions: int, *, is_measured: bool) -> Attempt:
    def step() -> Step:
        return Step(10 * drawn.choice([0, 0, 1, 2, 5, 9]) + 3, drawn.random() < 0.3)  # noqa: PLR2004

    steps = tuple((step(), step()) for _ in range(functions))
    is_cancelled = not is_measured and drawn.random() < 0.2  # noqa: PLR2004
    return Attempt(at, steps, 10 * drawn.randint(0, 9) + 5 if is_cancelled else None)
