"""What is smaller than a scenario: the same with something left out, or with a smaller number.

A scenario is reduced as the JSON that it is. So any scenario can be, wherever it came from, and a
new field of it needs no line here. Hypothesis shrinks only what it has drawn itself, and draws all
of it again: of the gallery's failures it makes scenarios twice as long, in twenty times as long.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import GRID, Scenario, size_of


def reductions(scenario: Scenario) -> Iterator[Scenario]:
    """Yield scenarios that are smaller by one change, the boldest changes of each part first."""
    size = size_of(scenario)
    for tree in _smaller(msgspec.to_builtins(scenario)):
        try:
            reduced = msgspec.convert(tree, Scenario)
        except (msgspec.ValidationError, InvalidConfig):
            continue
        if size_of(reduced) < size:
            yield reduced


def _smaller(tree: Any) -> Iterator[Any]:
    """Yield what comes of one change somewhere in a tree of dicts, sequences and scalars."""
    match tree:
        case bool():
            return
        case int():
            yield from _smaller_numbers(tree)
        case dict():
            for name in tree:
                yield {other: part for other, part in tree.items() if other != name}
            for name, part in tree.items():
                yield from ({**tree, name: smaller} for smaller in _smaller(part))
        case list() | tuple():
            for start, end in _spans(len(tree)):
                yield [*tree[:start], *tree[end:]]
            for place, part in enumerate(tree):
                for smaller in _smaller(part):
                    yield [*tree[:place], smaller, *tree[place + 1 :]]


def _spans(length: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a sequence that may be left out: all of it, halves, quarters, single."""
    size = length
    while size:
        yield from ((start, min(length, start + size)) for start in range(0, length, size))
        size //= 2


def _smaller_numbers(number: int) -> Iterator[int]:
    """Yield none, one, half and one less of it; of a time on the grid, in steps of the grid."""
    unit = 1 if number % GRID else GRID
    steps = number // unit
    yield from (fewer * unit for fewer in sorted({0, 1, steps // 2, steps - 1}) if fewer < steps)
