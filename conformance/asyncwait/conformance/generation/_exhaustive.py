"""Every scenario of a small scope, none left out: most slips show in three elements already."""

from collections.abc import Iterator
from itertools import product

from asyncwait.spec import Barrier, Element, Record, Watermark
from asyncwait.spec.scenario import GRID, Handler, Plan, Scenario, SinkStep, Step, Timed

MOST_INPUTS = 3
"""Elements of input: records, equal or not, watermarks and barriers."""

CAPACITIES = (1, 2)
DURATIONS = (0, GRID, 2 * GRID)
"""Of each call by itself, in ms."""

GAPS = (0, GRID)
"""Before each element but the first, in ms."""

DEADLINES = (None, GRID)
"""With the second, a call answers before its deadline, in the same instant, or too late."""

LATE: tuple[SinkStep, ...] = (SinkStep("pause", 3 * GRID),)
"""A consumer that comes when everything has been decided; the other one waits from the start."""


def small_scenarios() -> Iterator[Scenario]:
    """Yield every scenario of the scope, each once, the smaller ones first."""
    settings = list(product(("ordered", "unordered"), CAPACITIES, DEADLINES, ((), LATE)))
    for inputs, plans in _streams():
        for mode, capacity, timeout, sink in settings:
            yield Scenario(
                mode=mode,  # type: ignore[arg-type]
                capacity=capacity,
                timeout=timeout,
                inputs=inputs,
                plans=plans,
                handled=timeout is not None,
                sink=sink,
            )


def _streams() -> Iterator[tuple[tuple[Timed, ...], tuple[Plan, ...]]]:
    """Yield all inputs, each with all plans of its calls."""
    for length in range(MOST_INPUTS + 1):
        for kinds in _words(length):
            values = sorted(set(kinds) & set("abc"))
            for gaps in product(GAPS, repeat=max(0, length - 1)):
                inputs = _timed(kinds, gaps)
                for durations in product(DURATIONS, repeat=sum(map(kinds.count, values))):
                    yield inputs, _plans(kinds, values, durations)


def _words(length: int) -> Iterator[str]:
    """Yield the kinds of the elements: a letter of its own for each value, in order of use."""
    for word in product("abcWB", repeat=length):
        letters = [kind for kind in dict.fromkeys(word) if kind in "abc"]
        if letters == list("abc")[: len(letters)]:
            yield "".join(word)


def _timed(kinds: str, gaps: tuple[int, ...]) -> tuple[Timed, ...]:
    at, inputs = 0, []
    for number, (kind, gap) in enumerate(zip(kinds, (0, *gaps), strict=False)):
        at += gap
        inputs.append(Timed(at, _element(kind, number)))
    return tuple(inputs)


def _element(kind: str, number: int) -> Element:
    """Return an element; records are equal if their values are."""
    match kind:
        case "W":
            return Watermark(number)
        case "B":
            return Barrier(number)
        case _:
            return Record(kind)


def _plans(kinds: str, values: list[str], durations: tuple[int, ...]) -> tuple[Plan, ...]:
    """Return a plan for each value: each of its calls takes its own time and gives its own."""
    rest = iter(durations)
    return tuple(
        Plan(
            value,
            tuple(
                Step(after=next(rest), results=(f"{value}{call}",))
                for call in range(kinds.count(value))
            ),
            Handler("reply", (f"{value}?",)),
        )
        for value in values
    )
