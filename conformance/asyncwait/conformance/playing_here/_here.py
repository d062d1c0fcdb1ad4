"""A backend that is played in the command's own process: nothing stands between it and its author.

Nowhere else does that process run a backend's code: here it could fake any verdict, block for ever,
or end it; but its output comes out at once, and a debugger finds a terminal.
"""

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from asyncwait.conformance.expected_failures import ExpectedFailures, expected_failures_of
from asyncwait.conformance.harness import line_of
from asyncwait.conformance.running import Backend, Broken, checked, exec_name, load_backend
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import Capability, Scenario, Trace


class Here:
    """A backend in this process; used like one that is served by others.

    Attributes:
        spec: the version of the specification that it claims; empty for the newest.
    """

    def __init__(self, name: str, backend: Backend) -> None:
        self.name = name
        self.spec: str = getattr(backend, "spec", "")
        self.capabilities: frozenset[Capability] = backend.capabilities
        self.expected_failures: ExpectedFailures = expected_failures_of(backend.expected_failures)
        self._backend = backend

    def play(self, scenarios: Sequence[Scenario]) -> Iterator[Trace | Broken]:
        """Play `scenarios`; yield for each its trace, or what is wrong in its place."""
        for scenario in scenarios:
            try:
                (trace,) = self._backend.run([scenario])
            except Exception as error:
                yield Broken(f"the backend raised {line_of(error)}")
            else:
                yield checked(scenario, trace)


@contextmanager
def open_here(name: str, *, folder: str) -> Generator[Here]:
    """Give the backend of that name, in this process.

    Args:
        name: registered, or "module:callable".
        folder: where its module may stand, besides where this process finds modules.

    Raises:
        UnknownBackend: there is none, or it can't be loaded. The message says why.
        MissingExtra: it needs a package that is not installed.
        InvalidConfig: it is a program.
    """
    if name.startswith(exec_name("")):
        raise InvalidConfig(f"{name} is a program: see it with asyncwait play, in its own process")
    if folder not in sys.path:
        sys.path.append(folder)
    yield Here(name, load_backend(name))
