"""The work of a task, which travels to the workers: the function, columns and options."""

from datetime import tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark.frame._errors import Share
from asyncwait.backends.spark.frame._limits import Kept
from asyncwait.backends.spark.frame._rows import Shape
from asyncwait.backends.spark.progress import Endpoint
from asyncwait.spec import OperatorConfig


class Options(OperatorConfig, frozen=True):
    """Options of a task; see `asyncwait.backends.spark.ordered_wait`.

    The task reports its progress to `endpoint`. With `once` a failed row is decided, too.
    """

    on_error: Any = None
    many: bool = False
    error_column: str | None = None
    kept: Kept = Kept()
    endpoint: Endpoint | None = None
    journal: Journal | None = None
    fail_after: Share | None = None
    once: bool = False


class Work(Struct, frozen=True):
    """The work of one task; it travels to the workers.

    Args:
        fn: the user's function, or its class.
        zone: name of the time zone for timestamps without a zone.
    """

    fn: Any
    shape: Shape
    zone: str
    options: Options


def zone_named(name: str) -> tzinfo | None:
    """Return the time zone of a session; None if Python does not know this name."""
    try:
        return ZoneInfo(name)
    except Exception:  # an offset such as +02:00, or a machine without the names of time zones
        return None
