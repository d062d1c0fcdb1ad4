"""What a backend says of rules that it is known to break."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

from asyncwait.conformance.judging import is_of_kind
from asyncwait.conformance.running._traits import KNOWN, has
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import Scenario

Kind: TypeAlias = Literal["regression", "unsupported", "future"]
"""What becomes of an exception: it is to be mended, it stays, it comes with a later version."""


class Excuse(Struct, frozen=True, omit_defaults=True):
    """An expected failure: why a rule is known to be broken, where, and how.

    Args:
        reason: why it is.
        needs: names of abilities that a scenario asks for, and of what is planned in it, wherever
            the rule is broken: in any other scenario it holds.
        seldom: so few scenarios show it that a verification may come across none. Else a rule that
            is not broken at all speaks against the backend: the exception is out of date.
        kind: what becomes of it; None where that is not said. The verdict counts them.
        finding: the kind of finding by which the rule is broken, see `kind_of`: any other speaks
            against the backend. Empty for any: `needs` alone says how the backend fails.
        examples: names of the examples that show it, which are the same in each run: it is in no
            other example, whatever that needs. None for any.

    Raises:
        InvalidConfig: a name is unknown, or there is no such kind.
    """

    reason: str
    needs: Collection[str] = frozenset()
    seldom: bool = False
    kind: Kind | None = None
    finding: str = ""
    examples: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "needs", frozenset(self.needs))
        if not set(self.needs) <= set(KNOWN):
            expected = f"names of {', '.join(KNOWN)}"
            raise InvalidConfig.of("needs", sorted(self.needs), expected)
        if self.kind not in {None, *get_args(Kind)}:
            raise InvalidConfig.of("kind", self.kind, f"one of {', '.join(get_args(Kind))}")

    def covers(self, scenario: Scenario, text: str, example: str = "") -> bool:
        """Whether the rule may be broken in a scenario as a finding says.

        Args:
            scenario: what was played.
            text: of the finding.
            example: the name of the scenario, if it is an example.
        """
        if self.finding and not is_of_kind(text, self.finding):
            return False
        if example and self.examples is not None:
            return example in self.examples
        return has(scenario, frozenset(self.needs))


Excuses: TypeAlias = Mapping[str, tuple[Excuse, ...]]
"""By the id of the rule."""

Exceptions: TypeAlias = Mapping[str, str | Excuse | Sequence[Excuse]]
"""By the id of the rule, as the author of a backend gives them: a text is the reason anywhere."""


def excuses_of(exceptions: Any) -> dict[str, tuple[Excuse, ...]]:
    """Return the exceptions of a backend in one form.

    Args:
        exceptions: what the backend says; see `Exceptions`.

    Raises:
        InvalidConfig: nobody can go by it.
    """
    if not isinstance(exceptions, Mapping):
        raise _wrong(exceptions)
    found: dict[str, tuple[Excuse, ...]] = {}
    for rule, said in exceptions.items():
        each = (Excuse(said),) if isinstance(said, str) else said
        each = (each,) if isinstance(each, Excuse) else each
        fits = isinstance(each, Sequence) and all(isinstance(one, Excuse) for one in each)
        if not isinstance(rule, str) or not fits or not each:
            raise _wrong(exceptions)
        found[str(rule)] = tuple(each)
    return found


def _wrong(exceptions: object) -> InvalidConfig:
    expected = "a mapping of ids of rules to reasons, like {'END-4': 'the reason'}"
    return InvalidConfig.of("exceptions", exceptions, expected)
