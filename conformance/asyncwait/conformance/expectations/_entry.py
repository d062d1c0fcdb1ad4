"""One entry of a file of expected failures."""

from datetime import date
from typing import get_args

from msgspec import Struct

from asyncwait.conformance.running import Excuse, Kind

KINDS: tuple[Kind, ...] = get_args(Kind)


class How(Struct, frozen=True):
    """One way in which a rule is broken: any other speaks against the backend.

    Args:
        finding: the kind of finding; see `kind_of`.
        needs: what each scenario has in which it is broken so; see `Excuse`.
        seldom: only generated scenarios show it, and those of another seed may not.
        examples: names of those that show it, and no other does; None for any.
    """

    finding: str
    needs: tuple[str, ...] = ()
    seldom: bool = False
    examples: tuple[str, ...] | None = None


class Entry(Struct, frozen=True, kw_only=True):
    """A rule that is known to be broken.

    Args:
        rule: its id.
        kind: what becomes of it: a "regression" is to be mended, what is "unsupported" stays, and
            what is of the "future" comes with a later version.
        reason: why it is broken.
        link: where that is followed.
        expires: the last day on which the entry counts.
        backend: name of the only backend that it is about; empty for each that is verified.
        seldom: so few scenarios show it that a verification may come across none.
        how: the ways in which it is broken; none for any, as in files that were written before
            entries said so.
    """

    rule: str
    kind: Kind
    reason: str
    link: str = ""
    expires: date | None = None
    backend: str = ""
    seldom: bool = False
    how: tuple[How, ...] = ()

    def speaks_of(self, backend: str) -> bool:
        """Whether it is about the backend of that name."""
        return self.backend in {"", backend}

    def is_over(self, today: date) -> bool:
        """Whether it counts no more."""
        return self.expires is not None and self.expires < today

    @property
    def said(self) -> str:
        """The reason, and where it is followed."""
        return f"{self.reason} ({self.link})" if self.link else self.reason

    @property
    def excuses(self) -> tuple[Excuse, ...]:
        """The same, as a backend says it of itself: an expected failure for each way."""
        return tuple(
            Excuse(self.said, way.needs, self.seldom, self.kind, way.finding, way.examples)
            for way in self.how or (How(""),)
        )
