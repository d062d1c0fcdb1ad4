"""Tables of what was measured, on a terminal and in Markdown."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from rich.table import Table

Rows: TypeAlias = Iterable[Sequence[str]]


def shown(head: Sequence[str], rows: Rows) -> Table:
    table = Table(*head)
    for row in rows:
        table.add_row(*row)
    return table


def markdown(head: Sequence[str], rows: Rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def spread(rounds: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, ...]]:
    """Yield each flow with what it has cost in some rounds: the median, the least, the most."""
    for name in rounds[0]:
        each = [costs[name] for costs in rounds]
        yield name, *(f"{x:.2f}" for x in (statistics.median(each), min(each), max(each)))


def write(path: Path, text: str, *tables: tuple[Sequence[str], Rows]) -> None:
    path.write_text("\n".join((text, *(markdown(*table) for table in tables))), encoding="utf-8")
