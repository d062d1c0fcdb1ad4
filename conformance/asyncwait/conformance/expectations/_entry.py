"""One entry of a file of exceptions."""

from datetime import date
from typing import get_args

from msgspec import Struct

from asyncwait.conformance.running import Excuse, Kind

KINDS: tuple[Kind, ...] = get_args(Kind)


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
    """

    rule: str
    kind: Kind
    reason: str
    link: str = ""
    expires: date | None = None
    backend: str = ""
    seldom: bool = False

    def speaks_of(self, backend: str) -> bool:
        """Whether it is about the backend of that name."""
        return self.backend in {"", backend}

    def is_over(self, today: date) -> bool:
        """Whether it counts no more."""
        return self.expires is not None and self.expires < today

    @property
    def excuse(self) -> Excuse:
        """The same, as a backend says it of itself."""
        followed = f" ({self.link})" if self.link else ""
        return Excuse(f"{self.reason}{followed}", seldom=self.seldom, kind=self.kind)
