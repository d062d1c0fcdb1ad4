"""What a command makes of what nobody expects: exit codes that can't be taken for a verdict."""

import os
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager

import click

from asyncwait.conformance.verdict import EXIT_CODES

INTERRUPTED = 130
"""Exit code after Ctrl-C, as of any command that SIGINT ends."""

PIPE_CLOSED = 141
"""Exit code where nobody reads the output to its end, as of any command that SIGPIPE ends."""

TRACEBACK = "ASYNCWAIT_TRACEBACK"
"""Environment variable; with any value, an error of ours is shown with its traceback."""


class GuardedGroup(click.Group):
    """Subcommands that leave by an exit code of ours, whatever happens in them."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand."""
        with _guarded():
            return super().invoke(ctx)


@contextmanager
def _guarded() -> Generator[None]:
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        _leave_pipe()
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):
            _leave_pipe()  # rich has seen it first
        raise
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        said = " ".join(f"{type(error).__name__}: {error}".split())
        hint = f"set {TRACEBACK}=1 to see its traceback"
        click.echo(f"error: {said}; this is a bug of asyncwait; {hint}", err=True)
        sys.exit(EXIT_CODES["inconclusive"])


def _leave_pipe() -> None:
    """Exit without a word: there is nobody to read it, nor what is still buffered."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    sys.exit(PIPE_CLOSED)


__all__ = ["GuardedGroup"]
