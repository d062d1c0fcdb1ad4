"""What is drawn by rich, which is imported here and nowhere else."""

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from asyncwait.backends.watching._figures import done, told
from asyncwait.backends.watching._watched import Watched
from asyncwait.spec import InvalidConfig, Statistics
from asyncwait.spec.texts import printable
from asyncwait.toolkit import running_loop


class Bar:
    """Draws a bar, or writes one line at the end where there is nothing to draw on."""

    def __init__(
        self, results: Watched[Any], total: int | None, description: str, console: Console | None
    ) -> None:
        if not isinstance(console, Console | None):
            raise InvalidConfig.of("console", console, "a Console of rich, or None")
        self._results = results
        self._total = total
        self._description = printable(description)
        self._console = console or Console(stderr=True)
        self._figures: Any = Statistics()
        self._done = 0
        self._progress: Progress | None = None

    def begin(self) -> None:
        """Draw for the first time."""
        self._clock = running_loop().time  # for any thread: whoever prints has the bar drawn again
        self._began = self._clock()
        if self._console.is_terminal:
            self._progress = _progress(self._console, self._clock)
            self._progress.add_task(self._description, total=self._total, told="")
            self.look()
            self._progress.start()

    def look(self) -> None:
        """Draw again."""
        self._read()
        if self._progress is not None:
            self._draw(self._progress)

    def end(self, error: BaseException | None) -> None:
        """Leave the bar as it is, or write the line."""
        try:
            if error is None:
                self.look()
        finally:
            if self._progress is not None:
                self._progress.stop()
        if self._progress is None:
            self._console.print(self._line(), soft_wrap=True, highlight=False)

    def _read(self) -> None:
        self._figures = self._results.statistics()
        self._done = max(self._done, done(self._figures))

    def _draw(self, progress: Progress) -> None:
        (task,) = progress.tasks
        line = ", ".join([self._pace(), *told(self._figures)])
        progress.update(task.id, completed=self._done, told=line, refresh=True)

    def _line(self) -> Text:
        of = "" if self._total is None else f" of {self._total:,}"
        first = f"{self._done:,}{of} done in {self._clock() - self._began:,.1f} s"
        line = ", ".join([first, self._pace(), *told(self._figures)])
        return Text.from_markup(self._description).append(f": {line}")

    def _pace(self) -> str:
        seconds = self._clock() - self._began
        return f"{self._done / seconds if seconds else 0:,.1f}/s"


def _progress(console: Console, clock: Callable[[], float]) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        auto_refresh=False,  # by a thread, and there is a task for it
        speed_estimate_period=0,  # It is not shown, and nothing is remembered for it.
        get_time=clock,
    )
