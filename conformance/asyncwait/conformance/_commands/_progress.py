"""Shows the progress of a verification: a table and a bar on a terminal, lines in a log."""

from collections.abc import Sequence
from typing import Self

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from asyncwait.conformance._commands._shared import told_by_quarters
from asyncwait.conformance._guard import say
from asyncwait.conformance._shrink import SHRINK_SECONDS
from asyncwait.conformance._verify import Coverage, Stage, verify_to_tell
from asyncwait.conformance._words import counted
from asyncwait.conformance.expected_failures.file import Played, Terms
from asyncwait.conformance.report import STYLES, area_cell
from asyncwait.conformance.running import Served
from asyncwait.conformance.verdict import Tally, Verdict
from asyncwait.spec.rules import areas, rules
from asyncwait.spec.texts import name_of

SHRINKING = f"shrinking failures, for {SHRINK_SECONDS:g} s at most"


class Board:
    """The display while backends are verified; it disappears at the end.

    On a terminal it has a bar for each backend with the time left, and a table of areas by backend,
    in which rules count as soon as they have applied.
    """

    def __init__(self, names: Sequence[str], console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._known: dict[str, Tally | Verdict | None] = dict.fromkeys(names)
        text = TextColumn("{task.description:18}", markup=False)
        times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
        columns = (text, BarColumn(), MofNCompleteColumn(), *times)
        self._bars = Progress(*columns, console=self._console)
        self._live = Live(self, console=self._console, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the present display: the end of anything higher than the terminal is cut off."""
        yield self._bars
        yield self._table()

    def verify(self, backend: Served, plan: Coverage, terms: Terms) -> Played:
        """Verify a backend, and show the progress."""
        if not self._console.is_terminal:
            return _verify_with_lines(backend, plan, terms)
        first = self._bars.add_task(name_of(backend.name), total=None)
        bars: dict[Stage, TaskID] = {"judged": first}

        def show(stage: Stage, done: int, of: int) -> None:
            if of and stage not in bars:
                bars[stage] = self._bars.add_task(SHRINKING)
            if of:
                self._bars.update(bars[stage], completed=done, total=of)

        def watch(tally: Tally) -> None:
            self._known[backend.name] = tally

        played = verify_to_tell(backend, plan, show, watch, terms=terms)
        self._known[backend.name] = played.verdict
        return played

    def _table(self) -> Table:
        table = Table(title="rules that have held so far / applicable", title_justify="left")
        table.add_column("area", no_wrap=True, overflow="ellipsis")
        for name in self._known:
            table.add_column(Text(name_of(name)), justify="right", overflow="fold")
        for area in areas().values():
            cells = (_cell(known, area.id) for known in self._known.values())
            table.add_row(f"{area.id}  {area.title}", *cells)
        table.add_section()
        table.add_row("verdict", *map(_word, self._known.values()))
        return table


def _cell(known: Tally | Verdict | None, area: str) -> Text:
    match known:
        case None:
            return Text("")
        case Verdict():
            return area_cell(known, area)
        case Tally():
            return _running(known, area)


def _running(tally: Tally, area: str) -> Text:
    counts = [count for rule, count in tally.counts.items() if rules()[rule].area == area]
    if not counts:
        return Text("-", style="dim")
    broken = sum(count.found.count > 0 for count in counts)
    held = sum(count.applied > 0 and not count.found.count for count in counts)
    said = f"{broken} broken  " if broken else ""
    return Text(f"{said}{held}/{len(counts)}", style="red" if broken else "")


def _word(known: Tally | Verdict | None) -> Text:
    match known:
        case None:
            return Text("waits", style="dim")
        case Verdict():
            return Text(known.word, style=STYLES[known.word])
        case Tally():
            return Text("runs")


def _verify_with_lines(backend: Served, plan: Coverage, terms: Terms) -> Played:
    """Verify with a few lines of progress, where there is no terminal to draw on."""
    name = name_of(backend.name)
    judged = told_by_quarters(
        lambda done, of: say(f"{name}: {done:,} of {counted(of, 'scenario')} judged", err=True)
    )

    def tell(stage: Stage, done: int, of: int) -> None:
        if stage == "judged":
            judged(done, of)
        elif of and not done:
            say(f"{name}: {SHRINKING}: of {counted(of, 'rule')}", err=True)

    return verify_to_tell(backend, plan, tell, terms=terms)
