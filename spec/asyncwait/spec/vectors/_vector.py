"""A vector: a scenario, the rules it proves, and what it comes to."""

from msgspec import Struct

from asyncwait.spec.scenario import Scenario
from asyncwait.spec.vectors._outcome import Outcome


class Vector(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A scenario, and what it proves.

    Args:
        name: unique among all vectors.
        sentence: what it shows.
        rules: ids of the rules that it is about.
        needs: names of the profiles and capabilities without which it can't be played as it stands.
        scenario: what is played.
        outcome: what it comes to, if all that keep the rules come to the same; null otherwise,
            where a run can only be judged.
    """

    name: str
    sentence: str
    rules: tuple[str, ...]
    needs: tuple[str, ...]
    scenario: Scenario
    outcome: Outcome | None = None
