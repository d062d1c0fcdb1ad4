"""What type checkers make of whoever watches an operator: mypy and basedpyright read this."""

from collections.abc import AsyncIterator
from typing import assert_type

from rich.console import Console

from asyncwait.backends.pool import ordered_wait
from asyncwait.backends.watching import export_metrics, show_progress, statistics_of
from asyncwait.spec import OperatorResults, Statistics
from asyncwait.toolkit import PlainResults


async def length(text: str) -> int:
    return len(text)


async def every_form(elements: OperatorResults) -> None:
    async with ordered_wait(["a"], length) as results, show_progress(results, 1):
        assert_type(results, PlainResults[int])
    async with show_progress(elements, console=Console()), export_metrics(elements, {"n": 1}):
        assert_type(statistics_of(results), AsyncIterator[Statistics])


def slips() -> None:
    context = ordered_wait(["a"], length)
    statistics_of(context)  # type: ignore[arg-type]
    show_progress(context, 1)  # type: ignore[arg-type]
    export_metrics(context, "fetch")  # type: ignore[arg-type]
