"""What a backend lacks: how far away that is, as its author says, and scenarios without it."""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule
from asyncwait.spec.scenario import Capability, Scenario

Level: TypeAlias = Literal["unknown", "impossible", "not yet"]
"""How far a capability is away: nobody has said, it can't be had, it is to come."""


class Lacks(Struct, frozen=True, omit_defaults=True):
    """How far away a capability is that a backend does not have.

    Args:
        level: "impossible", "not yet" or "unknown".
        reason: why, or when it is to come.

    Raises:
        InvalidConfig: there is no such level.
    """

    level: Level = "unknown"
    reason: str = ""

    def __post_init__(self) -> None:
        if self.level not in get_args(Level):
            raise InvalidConfig.of("level", self.level, f"one of {', '.join(get_args(Level))}")
        if not isinstance(self.reason, str):
            raise InvalidConfig.of("reason", self.reason, "a text")

    def __str__(self) -> str:
        """Say it in a few words."""
        return f"{self.level}: {self.reason}" if self.reason else self.level


Lacking: TypeAlias = Mapping[Capability, Lacks]
"""By the capability; of one that is missing without a word nothing is known."""


def lacking_of(lacks: Iterable[str] | Mapping[str, Lacks]) -> dict[str, Lacks]:
    """Return what the author says of capabilities that are missing, by their names.

    Raises:
        InvalidConfig: there is something else in the mapping.
    """
    if not isinstance(lacks, Mapping):
        return {}
    for name, said in lacks.items():
        if not isinstance(said, Lacks):
            form = f"a Lacks, like {{{str(name)!r}: Lacks('not yet', 'with 2.0')}}"
            raise InvalidConfig.of(f"lacks[{str(name)!r}]", said, form)
    return dict(lacks)


def missing_text(rule: Rule, capabilities: frozenset[Capability], lacking: Lacking) -> str:
    """Return what keeps a rule from a backend, and how far that is away; empty if nothing does."""
    missing = rule.missing(capabilities)
    groups = [sorted(either) for either in rule.needs if not either & capabilities]
    names = [each for group in groups for each in group]
    said = {name: lacking[known] for name in names if (known := _known(name, lacking)) is not None}
    is_clear = len(names) == 1
    each = "; ".join(str(why) if is_clear else f"{name} {why}" for name, why in said.items())
    return f"needs {', '.join(missing)}{f' ({each})' if each else ''}" if missing else ""


def _known(capability: Capability, lacking: Lacking) -> Capability | None:
    """Return the capability of which something is said: this, or the profile that it is part of."""
    whole = [Capability(capability.part_of)] if capability.part_of else []
    return next((each for each in (capability, *whole) if each in lacking), None)


def adapted(scenario: Scenario, capabilities: frozenset[Capability]) -> Scenario:
    """Return `scenario` as a backend with `capabilities` can play it; see `Capability`."""
    lacking = [capability for capability in Capability if capability not in capabilities]
    # In two rounds: the mode that takes the place of one may be lacking, too.
    for capability in lacking * 2:
        scenario = capability.without(scenario)
    return scenario
