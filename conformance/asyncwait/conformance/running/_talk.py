"""What the command and its own child processes say to each other, one JSON value on each line.

The child says an empty line when it runs, then `Hello` or `Refused` when it has loaded the backend,
and then a `Told` for each scenario that it is asked for. An empty line asks for a batch to be
played. Foreign programs speak less than this: see json-lines.md.
"""

from collections.abc import Mapping

from msgspec import Raw, Struct

from asyncwait.conformance.expected_failures import ExpectedFailures
from asyncwait.conformance.running._capabilities import Lacks
from asyncwait.conformance.running._names import Fault, UnknownBackend
from asyncwait.spec import AsyncWaitError, MissingExtra
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario


class Hello(Struct, frozen=True, omit_defaults=True, tag="hello"):
    """What a backend says of itself.

    Args:
        spec: the version of the specification that it claims; empty for the newest.
    """

    capabilities: frozenset[Capability] = ALL_CAPABILITIES
    expected_failures: ExpectedFailures = {}
    batch: bool = False
    further: bool = False
    spec: str = ""
    lacking: Mapping[Capability, Lacks] = {}
    protocol: int = 1
    owes: bool = False


class Refused(Struct, frozen=True, omit_defaults=True, tag="refused"):
    """Why there is no backend, which whoever asked for it can mend."""

    text: str
    needs: str = ""
    extra: str = ""

    @classmethod
    def of(cls, error: AsyncWaitError) -> "Refused":
        """Return what stands for `error`."""
        if isinstance(error, MissingExtra):
            return cls(str(error), error.needs, error.extra)
        return cls(str(error))

    @property
    def error(self) -> AsyncWaitError:
        """The error that it stands for."""
        return MissingExtra(self.needs, self.extra) if self.extra else UnknownBackend(self.text)


class Asked(Struct, frozen=True, omit_defaults=True):
    """What the child has to play: one scenario, or what it chooses of many."""

    scenario: Scenario | None = None
    further: dict[str, Scenario] | None = None


class Told(Struct, frozen=True, omit_defaults=True):
    """What came of a scenario.

    Args:
        trace: what was observed, as JSON of a Trace; empty for none.
        name: of a further run; empty for the end of them.
    """

    trace: Raw = Raw()
    error: str = ""
    refused: Refused | None = None
    name: str = ""
    scenario: Scenario | None = None


class Listed(Struct, frozen=True):
    """The names that are known."""

    names: tuple[str, ...]
    broken: Mapping[str, str]
    faults: tuple[Fault, ...] = ()
