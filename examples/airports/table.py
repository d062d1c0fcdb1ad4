"""A table of what runs came to."""

from collections.abc import Sequence

from figures import Run, completed_twice, under_way
from rich.console import Console
from rich.table import Table


def show(runs: Sequence[Run]) -> None:
    """Print a column for each run."""
    table = Table("", *(run.on for run in runs))
    for column in table.columns[1:]:
        column.justify = "right"
    columns = [_column(run) for run in runs]
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    Console().print(table)


def _column(run: Run) -> dict[str, str]:
    """Return the rows of a run by their names."""
    before, after = run.seconds
    return {
        "airports": f"{run.job.airports:,}",
        "calls at a time, at most": f"{run.job.capacity:,}",
        "calls answered by 200": f"{len(run.answered(200)):,}",
        "calls answered by 429": f"{len(run.answered(429)):,}",
        "calls answered by 500": f"{len(run.answered(500)):,}",
        "at the service at the kill": f"{under_way(run.log, run.moments.killed):,}",
        "answers completed twice": f"{completed_twice(run.log):,}",
        "found in the journal": f"{run.result.found:,}",
        "rows": f"{len(run.result.rows):,}",
        "errors": f"{run.errors:,}",
        "seconds before / after the kill": f"{before:.1f} / {after:.1f}",
        "rows/s": f"{len(run.result.rows) / (before + after):,.0f}",
    }
