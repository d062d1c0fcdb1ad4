"""The command `asyncwait snapshot`."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.table import Table

from asyncwait.backends.journal._commands import usage_errors
from asyncwait.backends.spark._session import embedded_spark
from asyncwait.backends.spark.carry._reading import (
    CheckpointRead,
    CheckpointUnreadable,
    Held,
    LaneRead,
    read_checkpoint,
)
from asyncwait.spec.snapshots import encode_snapshot
from asyncwait.spec.texts import LONGEST_LINE, joined, json_text, name_of, one_line

_FEW = 3
"""Number of records shown for a lane."""


@click.group()
def snapshot() -> None:
    """Show or move the records in flight on a stream of Spark."""


_batch = click.option("--batch", type=int, help="After which micro-batch; the last by default.")
_operator = click.option("--operator", type=int, help="Its number, if the query has several.")


@snapshot.command("show")
@click.argument("checkpoint")
@_batch
@_operator
@click.option("--json", "is_json", is_flag=True, help="Print JSON lines: lanes, and a total.")
def show_command(*, checkpoint: str, batch: int, operator: int, is_json: bool) -> None:
    """Show the records in flight in the CHECKPOINT of a stream with `carry`, and its output."""
    with usage_errors():
        found = read_checkpoint(embedded_spark().session, checkpoint, batch, operator)
    _print(found, is_json=is_json)


@snapshot.command("export")
@click.argument("checkpoint")
@click.argument("file")
@_batch
@_operator
def export_command(*, checkpoint: str, file: str, batch: int | None, operator: int | None) -> None:
    """Write the records in flight in a CHECKPOINT to FILE, as a snapshot for any operator.

    Stop the stream before. A snapshot has no results: finished records that have not come out are
    in flight again, and are called again.
    """
    with usage_errors():
        found = read_checkpoint(embedded_spark().session, checkpoint, batch, operator)
        if batch is None and found.begun is not None:
            raise CheckpointUnreadable(
                f"micro-batch {found.begun} has begun and is not committed: start the stream again "
                f"and stop it between two, or give --batch {found.batch} if no row of it is out"
            )
        taken = found.snapshot()
        Path(file).write_bytes(encode_snapshot(taken))
    again = sum(len(lane.finished) for lane in found.lanes)
    counts = f"{len(taken.in_flight):,} in flight after micro-batch {found.batch}"
    told = f"{again:,} of them were finished, and are called again like the others"
    click.echo(joined([f"{name_of(file)}: {counts}; {told}"]))


def _print(found: CheckpointRead, *, is_json: bool) -> None:
    lanes = [_counts(lane) for lane in found.lanes]
    total = {name: sum(lane[name] for lane in lanes) for name in ("in_flight", "finished")}
    if is_json:
        for lane, told in zip(found.lanes, lanes, strict=True):
            kinds = {"records": lane.in_flight, "results": lane.finished}
            few = {name: [*map(_bounded, held[:_FEW])] for name, held in kinds.items()}
            click.echo(json_text(_json(told | few)))
        whole = msgspec.structs.asdict(found) | {"lanes": len(lanes)} | total
        click.echo(json_text(_json(whole)))
        return
    begun = "" if found.begun is None else f"; {found.begun} has begun and is not committed"
    at = f"operator {found.operator} after micro-batch {found.batch}{begun}"
    click.echo(joined([f"{name_of(found.path)}: {at}"]))
    Console().print(_table(lanes))
    lines = [line for lane in found.lanes for line in _record_lines(lane)]
    counts = f"total: {total['in_flight']:,} in flight, {total['finished']:,} finished"
    click.echo(joined([*lines, counts]))


def _counts(lane: LaneRead) -> dict[str, Any]:
    return {
        "lane": lane.lane,
        "stamp": lane.stamp,
        "in_flight": len(lane.in_flight),
        "oldest": min((each.stamp for each in lane.in_flight), default=None),
        "finished": len(lane.finished),
    }


def _table(lanes: list[dict[str, Any]]) -> Table:
    table = Table(title="lanes, and the UTC times of micro-batches", title_justify="left")
    for head in ("lane", "last visit", "in flight", "oldest", "finished"):
        table.add_column(head, justify="right")
    for lane in lanes:
        told = lane | {name: _time(lane[name]) for name in ("stamp", "oldest")}
        table.add_row(*map(str, told.values()))
    return table


def _time(stamp: int | None) -> str:
    return (
        "-" if stamp is None else f"{datetime.fromtimestamp(stamp / 1_000, UTC):%Y-%m-%d %H:%M:%S}"
    )


def _record_lines(lane: LaneRead) -> Iterator[str]:
    for what, held in (("in flight", lane.in_flight), ("finished", lane.finished)):
        yield from (f"lane {lane.lane}, {what}: {_text(each)}" for each in held[:_FEW])
        if len(held) > _FEW:
            yield f"lane {lane.lane}, {what}: {len(held) - _FEW:,} more"


def _bounded(held: Held) -> Any:
    """Return a record as JSON; or its shortened text, if it is too long for a line."""
    return held if len(_json(held)) <= LONGEST_LINE else {"text": _text(held)}


def _text(held: Held) -> str:
    shown = [held.value] if held.results is None else [held.value, held.results]
    return one_line(" -> ".join(_json(each).decode() for each in shown))


def _json(value: Any) -> bytes:
    """Return a value as JSON; NaN and infinite numbers, which JSON lacks, as text, not as null."""
    return msgspec.json.encode(_said(msgspec.to_builtins(value)))


def _said(value: Any) -> Any:
    match value:
        case float() if not isfinite(value):
            return json.dumps(value)
        case dict():
            return {name: _said(each) for name, each in value.items()}
        case list() | tuple():
            return [*map(_said, value)]
    return value
