"""Tables of what was measured, on a terminal and in Markdown."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from rich.table import Table

Rows: TypeAlias = Iterable[Sequence[str]]


def shown(head: Sequence[str], rows: Rows) -> Table:
    """Return a table for a terminal."""
    table = Table(*head)
    for row in rows:
        table.add_row(*row)
    return table


def markdown(head: Sequence[str], rows: Rows) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write(path: Path, text: str, *tables: tuple[Sequence[str], Rows]) -> None:
    """Write a page: a text, and tables below it."""
    path.write_text("\n".join((text, *(markdown(*table) for table in tables))), encoding="utf-8")
