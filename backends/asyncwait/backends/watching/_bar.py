"""The progress bar of operators and of Spark jobs; only this module imports rich."""

from collections.abc import Callable
from importlib.util import find_spec

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from asyncwait.backends.watching._figures import Shown
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import printable


class Bar:
    """Draws a bar, or writes one line at the end where the console cannot draw.

    Args:
        read: returns the content.
        total: number of records; None if it is not known.
        description: text in front, in the markup of rich.
        console: where to draw; None for standard error, or the notebook.

    Raises:
        InvalidConfig: `console` is no console.
    """

    def __init__(
        self, read: Callable[[], Shown], total: int | None, description: str, console: object
    ) -> None:
        if not isinstance(console, Console | None):
            raise InvalidConfig.of("console", console, "a Console of rich, or None")
        self._read = read
        self._total = total
        self._description = printable(description)
        self._console = console or Console(stderr=True)
        self._progress: Progress | None = None

    def begin(self) -> None:
        """Draw for the first time."""
        self._shown = self._read()
        if _can_draw(self._console):
            self._progress = self._new_progress()
            self._progress.add_task(self._description, total=self._total, told="")
            self.look()
            self._progress.start()

    def look(self) -> None:
        """Draw again."""
        self._shown = self._read()
        if self._progress is not None:
            (task,) = self._progress.tasks
            done = self._shown.done or 0
            self._progress.update(task.id, completed=done, told=self._line(), refresh=True)

    def end(self, error: BaseException | None) -> None:
        """Leave the bar as it is, or write the line."""
        try:
            if error is None:
                self.look()
        finally:
            if self._progress is not None:
                self._progress.stop()
        if self._progress is None:
            self._console.print(self._last_line(), soft_wrap=True, highlight=False)

    def _line(self) -> str:
        done, seconds, told = self._shown
        pace = [] if done is None else [f"{done / seconds if seconds else 0:,.1f}/s"]
        return ", ".join([*pace, *told])

    def _last_line(self) -> Text:
        done, seconds, _ = self._shown
        of = "" if self._total is None else f" of {self._total:,}"
        count = "unknown" if done is None else f"{done:,}{of} done"
        line = f": {count} in {seconds:,.1f} s, {self._line()}"
        return Text.from_markup(self._description).append(line)

    def _new_progress(self) -> Progress:
        return Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}", markup=False, table_column=Column(overflow="fold")),
            TimeElapsedColumn(),
            console=self._console,
            auto_refresh=False,  # rich does not join its refresh thread
            speed_estimate_period=0,  # The bar shows no speed; rich stores nothing for it.
            get_time=lambda: self._shown.seconds,
        )


def _can_draw(console: Console) -> bool:
    """Whether the console can draw a bar; in a notebook rich draws it in a widget."""
    if console.is_jupyter:
        return find_spec("ipywidgets") is not None
    return console.is_interactive
