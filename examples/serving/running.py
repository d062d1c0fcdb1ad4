"""What the programs of `http` and `airports` share: their options, and a service beside them."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


class Trouble(Exception):
    """The run can't be made. The message is one line for whoever has started it."""


class RunningService:
    """The service in a process of its own.

    Args:
        process: it.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        told = json.loads(self._line() or '{"error": "the service did not start"}')
        if "error" in told:
            raise Trouble(told["error"])
        self.url = f"http://127.0.0.1:{told['port']}"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def wait(self) -> bool:
        """Return when it tells something; False if it ended before."""
        return bool(self._line())

    def end(self) -> list[list[Any]]:
        """End it, and return its log."""
        log: list[list[Any]] = json.loads(self._process.communicate()[0])
        return log


@contextmanager
def running_service(script: Path, options: Mapping[str, Any]) -> Iterator[RunningService]:
    """Run a service while the body runs; its port 0 stands for any that is free."""
    command = [sys.executable, str(script), json.dumps(options)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            try:
                service = RunningService(process)
            except Trouble as trouble:
                raise Trouble(f"port {options['port']}: {trouble}") from None
            yield service
        finally:
            process.kill()


def require(packages: Mapping[str, str]) -> None:
    """See that packages can be imported.

    Args:
        packages: what is imported, and what pip calls it.

    Raises:
        Trouble: one can't be.
    """
    for package, pip in packages.items():
        try:
            import_module(package)
        except ImportError:
            message = f"{package} is not installed; try: pip install {pip}"
            raise Trouble(message) from None


def whole(least: int) -> Callable[[str], int]:
    """Return what reads a whole number that is not smaller."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number >= {least}, got {text!r}")
        return int(text)

    return read


def parser_of(doc: str, on: Sequence[str], capacity: int) -> argparse.ArgumentParser:
    """Return a parser of the options that both programs have.

    Args:
        doc: of the program.
        on: what it can be done by.
        capacity: calls at a time, by default.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    add = parser.add_argument
    told = f"calls at a time (default: {capacity})"
    add("--capacity", type=whole(1), default=capacity, metavar="N", help=told)
    add("--seed", type=int, default=1, metavar="N", help="another one, another service")
    add("--on", choices=[*on, "both"], default="both", help="(default: both)")
    add("--port", type=int, default=0, metavar="N", help="of the service (default: one is found)")
    add("--plot", type=Path, metavar="FILE", help="draw calls and their latency (.png, .svg)")
    add("--quiet", action="store_true", help="say nothing if all is well")
    return parser


def told(
    runs: Sequence[Any],
    options: argparse.Namespace,
    column: Callable[[Any], Mapping[str, str]],
    mismatches: Callable[[Any], Sequence[str]],
    mark: Callable[[Any, Any], object] = lambda *_: None,
) -> int:
    """Tell what runs came to, and return the exit code: 1 if figures differ.

    Args:
        runs: see `shown.Shown`.
        options: of the command.
        column: gives the figures of a run, by their names.
        mismatches: says in which figures a run is not what it should be.
        mark: marks something of a run in its picture.
    """
    from shown import draw, show

    if not options.quiet:
        show(runs, column)
    wrong = [line for made in runs for line in mismatches(made)]
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    if options.plot:
        try:
            draw(runs, options.plot, mark)
        except (OSError, ValueError) as error:
            raise Trouble(f"--plot {options.plot}: {error}") from error
    return 1 if wrong else 0


def exit_code(do: Callable[[], int]) -> int:
    """Do it; return 2 if something could not be done."""
    try:
        return do()
    except Trouble as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
