"""What is drawn by rich, which is imported here and nowhere else."""

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from threading import Event, Thread
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

from asyncwait.backends.spark.progress._figures import JobFigures
from asyncwait.backends.spark.progress._words import last_line, line
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import shown

_EVERY = 0.25
"""Seconds from one picture to the next."""


def console_of(given: Any) -> Console:
    """Return where to draw; None is standard error, or the notebook."""
    if not isinstance(given, Console | None):
        raise InvalidConfig.of("console", given, "a Console of rich, or None")
    return given or Console(stderr=True)


class Bar:
    """Draws a bar, or writes one line at the end where there is nothing to draw on.

    What goes wrong in drawing ends the bar, and is told in a warning at the end.

    Args:
        console: where to.
        figures: of the job.
        silence: what to say of tasks as long as none has reported.
    """

    def __init__(self, console: Console, figures: Callable[[], JobFigures], silence: str) -> None:
        self._console = console
        self._figures = figures
        self._silence = silence
        self._is_over = Event()
        self._trouble: Exception | None = None
        self._progress: Progress | None = None
        self._thread = Thread(target=self._redraw, name="asyncwait-bar", daemon=True)

    def begin(self) -> None:
        """Draw for the first time, and again every so often."""
        if _can_draw(self._console):
            self._progress = _progress(self._console, lambda: self._figures().seconds)
            self._progress.add_task("", total=self._figures().total, told="")
            self._draw(self._progress)
            self._progress.start()
            self._thread.start()

    def end(self) -> None:
        """Leave the bar with the last figures, or write the line."""
        self._is_over.set()
        if self._progress is None:
            text = last_line(self._figures(), self._silence)
            self._try(lambda: self._console.print(text, soft_wrap=True, highlight=False))
        else:
            self._thread.join()
            self._try(self._draw, self._progress)
            self._try(self._progress.stop)
        if self._trouble is not None:
            text = f"the progress bar broke off: {shown(self._trouble)}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def _redraw(self) -> None:
        assert self._progress is not None
        while self._trouble is None and not self._is_over.wait(_EVERY):
            self._try(self._draw, self._progress)

    def _draw(self, progress: Progress) -> None:
        (task,) = progress.tasks
        figures = self._figures()
        told = line(figures, self._silence)
        progress.update(task.id, completed=figures.rows_done, told=told, refresh=True)

    def _try(self, act: Callable[..., Any], *args: Any) -> None:
        try:
            act(*args)
        except Exception as error:
            self._trouble = self._trouble or error


def _can_draw(console: Console) -> bool:
    """Whether there can be a bar; in a notebook rich draws it in a widget."""
    if console.is_jupyter:
        return find_spec("ipywidgets") is not None
    return console.is_interactive


def _progress(console: Console, clock: Callable[[], float]) -> Progress:
    told = Column(overflow="fold")
    return Progress(
        BarColumn(bar_width=20),
        TextColumn("{task.fields[told]}", markup=False, table_column=told),
        TimeElapsedColumn(),
        console=console,
        auto_refresh=False,  # rich does not wait for the end of its thread
        get_time=clock,
    )
