"""Two backends play the same scenarios, and their runs are compared."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import tee

from asyncwait.conformance._shrink import Search
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.comparing._compare import Comparison, Pair, Side, compare_runs
from asyncwait.conformance.generation import generate
from asyncwait.conformance.running import Broken, Served, adapted, lost
from asyncwait.conformance.verdict import Case, Failure
from asyncwait.spec.scenario import Capability, Scenario, key_of

SHRINK_SECONDS = 20.0
"""How long a smaller scenario is looked for that is unexplained, too."""

Progress = Callable[[int, int], None]
"""Told how many scenarios of how many are compared."""


class Comparing:
    """Compares two backends."""

    def __init__(self, first: Served, second: Served) -> None:
        self.backends = (first, second)
        self.can: frozenset[Capability] = first.capabilities & second.capabilities
        """What both can do: scenarios ask for nothing else."""
        self.sides = (_side(first), _side(second))

    def run(self, count: int, seed: int, progress: Progress = lambda *_: None) -> Comparison:
        """Compare the runs of all examples, and of so many generated scenarios."""
        comparison = Comparison((self.sides[0].name, self.sides[1].name))
        total = count + len(EXAMPLES)
        for number, (case, pair) in enumerate(self._pairs(self._cases(count, seed))):
            progress(number, total)
            if isinstance(pair, Pair):
                comparison.add(pair)
            else:
                comparison.fail(case, pair)
        return comparison

    def smallest(self, pair: Pair, seconds: float = SHRINK_SECONDS) -> Pair:
        """Return the smallest pair that is unexplained, as `pair` is, and that is found in time."""
        ends = time.monotonic() + seconds
        found = {pair.case.id: pair}

        def try_out(candidates: Sequence[Scenario]) -> Iterator[Mapping[str, Failure]]:
            cases = (self._case("shrunk", candidate) for candidate in candidates)
            for case, tried in self._pairs(cases):
                if isinstance(tried, Pair) and tried.kind == "unexplained":
                    found[case.id] = tried
                    yield {"": _failure(tried, self)}
                else:
                    yield {}

        search = Search(try_out, is_over=lambda: time.monotonic() > ends)
        return found[search.smallest("", _failure(pair, self)).case.id]

    def _pairs(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Pair | str]]:
        """Yield each case with its two runs compared, or with why there are not two."""
        asked: list[Case] = []

        def noted() -> Iterator[Scenario]:
            for case in cases:
                asked.append(case)
                yield case.scenario

        shared = zip(self.backends, tee(noted()), strict=True)
        first, second = (backend.play(scenarios) for backend, scenarios in shared)
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            case = asked[number]
            broken = [
                f"{side.name}: {why}"
                for side, run in zip(self.sides, (one, other), strict=True)
                if (why := lost(run))
            ]
            if broken or isinstance(one, Broken) or isinstance(other, Broken):
                yield case, "; ".join(broken)
            else:
                yield case, compare_runs(case, one, other, self.sides)

    def _cases(self, count: int, seed: int) -> Iterator[Case]:
        known: set[bytes] = set()
        for case in self._all(count, seed):
            key = key_of(case.scenario)
            if key not in known:
                known.add(key)
                yield case

    def _all(self, count: int, seed: int) -> Iterator[Case]:
        for example in EXAMPLES:
            yield self._case(example.name, example.scenario, generated=False)
        for number, scenario in enumerate(generate(count, seed)):
            yield self._case(f"generated {number} of seed {seed}", scenario)

    def _case(self, name: str, scenario: Scenario, *, generated: bool = True) -> Case:
        return Case(name, scenario, adapted(scenario, self.can), generated=generated)


def _side(backend: Served) -> Side:
    return Side.of(backend.name, backend.capabilities, backend.expected_failures)


def _failure(pair: Pair, comparing: Comparing) -> Failure:
    """Return an unexplained pair as the search for a smaller one knows failures."""
    names = (comparing.sides[0].name, comparing.sides[1].name)
    return Failure(pair.case, pair.first, pair.marks(names)[0])
