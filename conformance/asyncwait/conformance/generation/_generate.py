"""Seeded scenarios: random ones, and layers of profiles on them, so that any two profiles meet."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice, product
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from asyncwait.conformance.generation._profiles import (
    has_failing_calls,
    with_copies,
    with_failure_handlers,
    with_figures,
    with_keys,
    with_retries,
    with_room,
)
from asyncwait.conformance.generation._random import Chance, scenario
from asyncwait.spec import Barrier, Element, Snapshot, Watermark
from asyncwait.spec.scenario import Scenario, key_of

QUICK, FULL = 700, 10_000
"""How many scenarios a quick and a full run generate."""


class Layer(NamedTuple):
    """What is put on a random scenario now and then."""

    share: float
    """Of the scenarios that are drawn; those in which few pairs have met have it more often."""

    put_on: Callable[[Chance, Scenario], Scenario]
    fails: bool = False
    """Whether calls fail by it: it is not for scenarios in which some do so already."""


def _with(name: str) -> Callable[[Chance, Scenario], Scenario]:
    return lambda _, scenario: replace(scenario, **{name: True})


LAYERS: Mapping[str, Layer] = {
    "retries": Layer(0.35, with_retries, fails=True),
    "failure handlers": Layer(0.2, with_failure_handlers, fails=True),
    "room": Layer(0.1, with_room),
    "keys": Layer(0.18, with_keys),
    "figures": Layer(0.1, with_figures),
    "copies": Layer(0.15, with_copies),
    "contexts": Layer(0.3, _with("contexts")),
    "unshielded": Layer(0.3, _with("unshielded")),
    "reuses": Layer(0.2, _with("reuses")),
}
"""In the order in which they are put on: what is repeated at last fails, and is copied."""

_TRAITS: Mapping[str, Callable[[Scenario], object]] = {
    "ordered": lambda base: base.mode == "ordered",
    "unordered": lambda base: base.mode == "unordered",
    "callbacks": lambda base: base.form == "callback",
    "timeout handler": lambda base: base.timeout and base.handled,
    "restore": lambda base: base.crashes or base.restore,
    "snapshots": lambda base: base.requests or _has(base, Barrier, Snapshot),
    "fences": lambda base: _has(base, Watermark),
    "pauses": lambda base: _does(base, "pause", "block"),
    "leaves": lambda base: base.cancel_at is not None or _does(base, "give_up", "leave", "raise"),
}
"""What of a scenario each layer is to meet, too."""

_SETS = 3
"""Of so many sets of layers, that is put on whose pairs have met least."""

_RARE = 1_000_000
"""What a pair counts that has never met; one that has, so many times less."""


def generate(count: int, seed: int) -> tuple[Scenario, ...]:
    """Return the first `count` scenarios of `seed`, all different."""
    return tuple(islice(_different(seed), count))


def _different(seed: int) -> Iterator[Scenario]:
    """Yield the scenarios of `seed` without end."""
    chance, of_layers = Random(seed), Random(f"layers {seed}")
    chances = {name: Random(f"{name} {seed}") for name in LAYERS}
    met: Counter[tuple[str, str]] = Counter()
    found: set[bytes] = set()
    while True:
        drawn = scenario(chance)
        for name in _chosen(of_layers, drawn, met):
            drawn = LAYERS[name].put_on(chances[name], drawn)
        if (key := key_of(drawn)) not in found:
            found.add(key)
            yield drawn


def _chosen(chance: Random, base: Scenario, met: Counter[tuple[str, str]]) -> Sequence[str]:
    """Return the layers to put on `base`, and count which pairs have `met` then.

    Weights are whole numbers, so that every Python adds them up to the same.
    """
    traits = [name for name, is_there in _TRAITS.items() if is_there(base)]
    has_failed = has_failing_calls(base)
    fitting = [each for each in LAYERS.items() if not (has_failed and each[1].fails)]
    sets = [
        [name for name, layer in fitting if chance.random() < layer.share] for _ in range(_SETS)
    ]
    best = max(sets, key=lambda names: sum(_RARE // (1 + met[p]) for p in _pairs(names, traits)))
    met.update(_pairs(best, traits))
    return best


def _pairs(layers: Sequence[str], traits: Sequence[str]) -> Iterator[tuple[str, str]]:
    return chain(combinations(layers, 2), product(layers, traits))


def _does(scenario: Scenario, *whats: str) -> bool:
    return any(step.does in whats for step in scenario.sink)


def _has(scenario: Scenario, *kinds: type[Element]) -> bool:
    return any(isinstance(timed.element, kinds) for timed in scenario.inputs)
