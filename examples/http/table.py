"""A table of what runs came to."""

from collections.abc import Sequence

from looking import Run, most_in_flight, percentile
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
    fetched, requests = run.fetched, run.job.requests
    figures = fetched.statistics
    served = [call.ended - call.began for call in run.log if call.status]
    return {
        "requests": f"{requests:,}",
        "calls": f"{figures.calls:,}",
        "calls seen by the service": f"{len(run.log):,}",
        "retries": f"{figures.retries:,}",
        "answered by 429": f"{len(run.answered(429)):,}",
        "answered by 500": f"{len(run.answered(500)):,}",
        "timeouts": f"{len(run.late):,}",
        "failed": f"{len(run.missing('failed')):,}",
        "seconds": f"{fetched.seconds:.1f}",
        "requests/s": f"{requests / fetched.seconds:,.0f}",
        "latency of the service, p50 / p99": _latency(served),
        "latency for the client, p50 / p99": _latency(fetched.took),
        "most calls in flight": f"{most_in_flight(run.log):,}",
        "most answers held": f"{figures.max_held:,}",
    }


def _latency(seconds: Sequence[float]) -> str:
    return f"{1000 * percentile(seconds, 0.5):.0f} / {1000 * percentile(seconds, 0.99):.0f} ms"
