"""How many rows of a task may fail."""

from msgspec import Struct

from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_number, require_whole


class Share(Struct, frozen=True):
    """The share of a task's rows that may fail for good: `fail_after=Share(0.05, of=1000)`.

    A task fails as soon as a row fails, at least `of` of its rows are decided, and more than this
    share of them has failed; and at its end, if that is so then. Each task counts its own rows, so
    one with fewer than `of` is never ended early. A row has failed for good when `on_error` is
    asked about it, whatever comes of that. What a journal has counts as well: results as rows that
    are decided, and the failures that it keeps as rows that have failed.

    A job ends with its first task that fails. A cluster makes several attempts at that before
    (`spark.task.maxFailures`, 4), each of which calls again; not for what is in a journal.

    Args:
        share: of the rows that are decided; 0 for none.
        of: rows that have to be decided before anything is judged.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    share: float
    of: int = 1_000

    def __post_init__(self) -> None:
        if not is_number(self.share) or not 0 <= self.share < 1:
            raise InvalidConfig.of("share", self.share, "a number >= 0 and below 1")
        require_whole("of", self.of)
