"""Messages between a visit and a call host; `progress._wire` frames them."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from asyncwait.spec.carry import Failed, Identity, Outcome, Visit


class Ending(Struct, frozen=True, tag="ending", array_like=True):
    """Ends a host: no visit will come."""


class Asked(Struct, frozen=True, tag="visit", array_like=True):
    """A visit.

    Args:
        gap: milliseconds since the last visit of its lane; 0 for the first.
        place: stage and partition in which Spark plays it: in a micro-batch, each operator has its
            own place for a lane.
        run: of the query; a query that is started again has another one.
    """

    visit: Visit
    gap: int = 0
    stamp: int = 0
    place: str = ""
    run: str = ""

    @property
    def rows(self) -> set[Identity]:
        """The rows that the lane has in flight, or has finished in this micro-batch."""
        return {item.identity for item in self.visit.wanted} | {*self.visit.kept}


class Sign(Struct, frozen=True, array_like=True):
    """A sign of life.

    Args:
        still: seconds since the event loop has turned.
        frames: of the user's functions that block the loop, innermost first; empty if none does.
    """

    still: float
    frames: Sequence[str] = ()


class Answer(Struct, frozen=True, array_like=True):
    """The answer of a host.

    Args:
        broken: the reason why the host can't go on; None if it can.
        figures: of the host; see `asyncwait.backends.spark.carry._packing.FIGURES`.
    """

    results: Sequence[tuple[Identity, bytes]] = ()
    failed: Sequence[tuple[Identity, str]] = ()
    broken: str | None = None
    figures: Sequence[float] = ()

    @classmethod
    def of(cls, outcomes: Sequence[tuple[Identity, Outcome]], *figures: float) -> "Answer":
        return cls(
            [(who, what) for who, what in outcomes if not isinstance(what, Failed)],
            [(who, what.reason) for who, what in outcomes if isinstance(what, Failed)],
            figures=figures,
        )

    def outcomes(self) -> dict[Identity, Outcome]:
        failed = {who: Failed(why) for who, why in self.failed}
        return {**dict(self.results), **failed}


read_question = msgspec.msgpack.Decoder(Asked | Ending).decode
read_sign = msgspec.msgpack.Decoder(Sign).decode
read_answer = msgspec.msgpack.Decoder(Answer).decode
