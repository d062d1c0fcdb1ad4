"""Backends as the suite sees them: capabilities, missing ones, and scenarios without those."""

import importlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

from msgspec import Struct

from asyncwait.conformance.expected_failures import GivenFailures, expected_failures_of
from asyncwait.conformance.harness import LoopName, play, play_in_real_time
from asyncwait.spec import InvalidConfig, MissingExtra, OpenOperator
from asyncwait.spec.rules import Rule, version_key
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Scenario, Trace, declared

Level: TypeAlias = Literal["unknown", "impossible", "not yet"]
"""Distance of a capability: not declared, impossible, or planned."""


class Lacks(Struct, frozen=True, omit_defaults=True):
    """Distance of a capability that a backend does not have.

    Args:
        level: "impossible", "not yet" or "unknown".
        reason: why, or when it is planned.

    Raises:
        InvalidConfig: the level is unknown.
    """

    level: Level = "unknown"
    reason: str = ""

    def __post_init__(self) -> None:
        if self.level not in get_args(Level):
            raise InvalidConfig.of("level", self.level, f"one of {', '.join(get_args(Level))}")
        if not isinstance(self.reason, str):
            raise InvalidConfig.of("reason", self.reason, "a text")

    def __str__(self) -> str:
        """Return level and reason in a few words."""
        return f"{self.level}: {self.reason}" if self.reason else self.level


Lacking: TypeAlias = Mapping[Capability, Lacks]
"""Declared distances by capability; a missing capability need not be declared."""


def lacking_of(lacks: Iterable[str] | Mapping[str, Lacks]) -> dict[str, Lacks]:
    """Return the author's declarations on missing capabilities, by their names.

    Raises:
        InvalidConfig: a value of the mapping is no `Lacks`.
    """
    if not isinstance(lacks, Mapping):
        return {}
    for name, said in lacks.items():
        if not isinstance(said, Lacks):
            form = f"a Lacks, like {{{str(name)!r}: Lacks('not yet', 'with 2.0')}}"
            raise InvalidConfig.of(f"lacks[{str(name)!r}]", said, form)
    return dict(lacks)


def missing_text(rule: Rule, capabilities: frozenset[Capability], lacking: Lacking) -> str:
    """Return the capabilities that a rule lacks, with their distance; empty if it lacks none."""
    missing = rule.missing(capabilities)
    groups = [sorted(either) for either in rule.needs if not either & capabilities]
    names = [each for group in groups for each in group]
    said = {name: lacking[known] for name in names if (known := _known(name, lacking)) is not None}
    is_clear = len(names) == 1
    each = "; ".join(str(why) if is_clear else f"{name} {why}" for name, why in said.items())
    return f"needs {', '.join(missing)}{f' ({each})' if each else ''}" if missing else ""


def _known(capability: Capability, lacking: Lacking) -> Capability | None:
    """Return the declared capability: this one, or the profile that it is part of."""
    whole = [Capability(capability.part_of)] if capability.part_of else []
    return next((each for each in (capability, *whole) if each in lacking), None)


def adapted(scenario: Scenario, capabilities: frozenset[Capability]) -> Scenario:
    """Return `scenario` as a backend with `capabilities` can play it; see `Capability`."""
    lacking = [capability for capability in Capability if capability not in capabilities]
    # In two rounds: the mode that replaces a missing mode may be missing, too.
    for capability in lacking * 2:
        scenario = capability.without(scenario)
    return scenario


@runtime_checkable
class Backend(Protocol):
    """Plays scenarios on an operator, in a child process of the suite."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Capabilities of the backend."""
        ...

    @property
    def expected_failures(self) -> GivenFailures:
        """Rules that the backend is known to break, each with the reason."""
        ...

    @property
    def batch(self) -> bool:
        """Whether the backend needs all scenarios in one call of `run`, because a call costs much.

        Else it gets one scenario at a time, in several processes, and a process that takes too
        long for a scenario is ended.
        """
        ...

    def run(self, scenarios: Sequence[Scenario]) -> Iterable[Trace]:
        """Play `scenarios`; give one trace for each, in order, as they are ready."""
        ...


class StreamBackend(Struct, frozen=True):
    """A backend that is an `open_operator` in Python.

    It runs on a virtual clock; without that capability on the real clock, on the grid.

    Attributes:
        spec: the version of the specification that it claims; empty for the newest.
        lacking: declarations on capabilities that it does not have.
    """

    open_operator: OpenOperator
    loop: LoopName = "asyncio"
    capabilities: frozenset[Capability] = ALL_CAPABILITIES
    expected_failures: GivenFailures = {}
    batch: bool = False
    spec: str = ""
    lacking: Lacking = {}

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios` one after the other, each in an event loop of its own."""
        virtual = Capability.VIRTUAL_TIME in self.capabilities
        for scenario in scenarios:
            yield (play if virtual else play_in_real_time)(self.open_operator, scenario, self.loop)


def stream_backend(
    open_operator: OpenOperator,
    *,
    loop: LoopName = "asyncio",
    profiles: Iterable[str] | None = None,
    lacks: Iterable[str] | Mapping[str, Lacks] = (),
    drains_at_barrier: bool = False,
    expected_failures: GivenFailures | None = None,
    spec: str = "",
) -> StreamBackend:
    """Make a backend of an operator; the factory of a backend returns it.

    Args:
        open_operator: see `asyncwait.spec.OpenOperator`.
        loop: "asyncio" or "trio".
        profiles: what it has besides the core: one or more of "ordered", "unordered" and
            "key-ordered", and any others of `asyncwait.spec.scenario.PROFILES`; None for all.
            Rules that need a missing profile do not apply, and no scenario uses it.
        lacks: further capabilities that it does not have; see `asyncwait.spec.scenario.Capability`.
            As a mapping, it gives the distance of each with `Lacks`; the verdict repeats it.
        drains_at_barrier: it takes no snapshot before nothing is in flight.
        expected_failures: ids of rules that it is known to break, each with the reason, or with an
            `ExpectedFailure` that also says where. A violation that follows in the same run counts
            as its consequence.
        spec: the version of the specification that it claims, like "0.1"; empty for the newest.
            Newer rules are judged and reported, and do not decide.

    Raises:
        InvalidConfig: an argument is wrong.
        MissingExtra: trio is not installed.
    """
    if not callable(open_operator):
        raise InvalidConfig.of("open_operator", open_operator, "callable")
    if loop not in {"asyncio", "trio"}:
        raise InvalidConfig.of("loop", loop, "'asyncio' or 'trio'")
    if loop == "trio":
        require_trio()
    capabilities = declared(profiles, lacks)
    if drains_at_barrier:
        capabilities -= {Capability.IN_FLIGHT_SNAPSHOT}
    if expected_failures is None:
        expected_failures = {}
    expected_failures_of(expected_failures)
    if spec:
        version_key(spec)
    said = {Capability(name): why for name, why in lacking_of(lacks).items()}
    return StreamBackend(
        open_operator, loop, capabilities, expected_failures, spec=spec, lacking=said
    )


def require_capabilities(capabilities: Any) -> None:
    """Refuse unknown capabilities.

    Raises:
        InvalidConfig: they are no set of capabilities.
    """
    if not isinstance(capabilities, set | frozenset) or not capabilities <= ALL_CAPABILITIES:
        expected = "a set of capabilities; see asyncwait.spec.scenario.declared"
        raise InvalidConfig.of("capabilities", capabilities, expected)


def require_trio() -> None:
    """Refuse to play on trio if it is not installed.

    Raises:
        MissingExtra: trio is not installed.
    """
    try:
        importlib.import_module("trio")
    except ImportError:
        raise MissingExtra("trio", "trio") from None


_NEEDED = frozenset({"click", "rich"})
"""Packages that the suite needs beyond the harness."""


@contextmanager
def importing_the_suite() -> Generator[None]:
    """Turn a failing import of a needed package into the error that names the extra.

    Raises:
        MissingExtra: click or rich is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        if top not in _NEEDED:
            raise
        raise MissingExtra(top, "conformance") from None
