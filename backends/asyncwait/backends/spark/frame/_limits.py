"""Limits of a job: options, the ledger of the driver, and the limits of the rows of a task."""

import socket
from collections.abc import Callable, Sequence
from functools import cache
from math import ceil
from secrets import token_bytes
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends.services import Limits, MachineLimits
from asyncwait.backends.spark.frame._rows import InputRow
from asyncwait.backends.spark.progress import Endpoint
from asyncwait.backends.spark.progress._progress import Reach, reach_of
from asyncwait.backends.spark.progress._wire import SECRET, Link, Server, connect, packed, received
from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_number, require_whole
from asyncwait.spec.limits import (
    Adaptive,
    AnyLimit,
    Breaker,
    Budget,
    InFlight,
    Limit,
    require_limits,
)
from asyncwait.toolkit import Ledger, Reply, Told

_PATIENCE = 5.0
"""Seconds for the driver to answer."""


class DriverLimits(Struct, frozen=True):
    """The ledger of a job at the driver; it travels to the workers.

    Args:
        endpoint: of the driver. Its secret identifies the limits.
    """

    endpoint: Endpoint
    limits: Sequence[AnyLimit] = ()

    def ledger(self) -> Ledger:
        return _AtDriver(self.endpoint)


class ProcessLimits(Struct, frozen=True):
    """The share of a slot, which its tasks use one after the other, in one worker process."""

    key: bytes
    limits: Sequence[AnyLimit] = ()

    def ledger(self) -> Ledger:
        if self.key not in _SHARES and len(_SHARES) >= _MOST_SHARES:
            del _SHARES[next(iter(_SHARES))]
        return _SHARES.setdefault(self.key, Limits(self.limits)).ledger()


_MOST_SHARES = 64
"""Number of jobs whose shares a process remembers."""

_SHARES: dict[bytes, Limits] = {}


class _AtDriver:
    """The ledger of one task, behind a connection."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._stream: socket.socket | None = None

    def __str__(self) -> str:
        return f"the driver at {self._endpoint.host}:{self._endpoint.port}"

    def exchange(self, told: Told) -> Reply:
        """Report calls, and return the answer; an OSError means that no driver can be reached."""
        try:
            if self._stream is None:
                self._stream = connect(self._endpoint, _PATIENCE)
            self._stream.sendall(packed(told))
            return msgspec.msgpack.decode(received(self._stream.recv), type=Reply)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Report to the driver that no call runs any more."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


@cache
def _server(address: str) -> tuple[Server, dict[bytes, Limits]]:
    """Return the server for the tasks of all jobs of this process, and the limits by secret."""
    served: dict[bytes, Limits] = {}

    def meet(secret: bytes) -> Link | None:
        if (limits := served.get(secret)) is None:
            return None
        ledger = limits.ledger()
        decoder = msgspec.msgpack.Decoder(Told)
        return lambda payload: ledger.exchange(decoder.decode(payload)), ledger.close

    return Server(address, meet, "asyncwait-ledger"), served


def serve(limits: Limits, reach: Reach) -> DriverLimits:
    """Answer the tasks of a job, as long as this process lives.

    Raises:
        OSError: this process can not listen there.
    """
    server, served = _server(reach.bind)
    known = (secret for secret, each in served.items() if each is limits)
    served[secret := next(known, None) or token_bytes(SECRET)] = limits
    return DriverLimits(Endpoint(reach.host, server.port, secret), limits.limits)


class Kept(Struct, frozen=True):
    """The limits of one task; they travel to the workers.

    Args:
        limits: of its calls; the task shares them with others if `together` is set.
        together: opens the shared ledger; None if the task has these limits to itself.
    """

    limits: tuple[AnyLimit, ...] = ()
    together: Any = None
    keeper: str = ""
    """The keeper of the limits, in words."""

    def ledger(self) -> Ledger:
        ledger: Ledger = self.together.ledger()
        return ledger


class Ceilings(Struct, frozen=True):
    """Options that limit the calls of a job; see `asyncwait.backends.spark.ordered_wait`.

    Args:
        limits: a list of them, or an object with a `ledger`.
        calls_per_second: the same as a `Limit` of calls.
        max_tasks: number of tasks that share the limits out between them.
    """

    limits: Any = None
    max_in_flight: int | None = None
    calls_per_second: float | None = None
    adaptive: bool = False
    max_tasks: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_in_flight", "max_tasks"):
            if (value := getattr(self, name)) is not None:
                require_whole(name, value)
        rate = self.calls_per_second
        if rate is not None and not (is_number(rate) and 0 < rate < float("inf")):
            raise InvalidConfig.of("calls_per_second", rate, "a number > 0, or None")
        if not isinstance(self.adaptive, bool):
            raise InvalidConfig.of("adaptive", self.adaptive, "True or False")

    def kept(self, df: Any, capacity: int, *, on_hosts: bool = False) -> tuple[int, Kept]:
        """Return the capacity of one task, and its limits.

        Args:
            df: its session determines the keeper of the limits.
            capacity: the capacity of a task without these options.
            on_hosts: whether call hosts make the calls: each machine counts the calls of its hosts.

        Raises:
            InvalidConfig: the limits are invalid; several DataFrames could not share them; there
                are more tasks than calls; or the number of tasks is unknown.
        """
        given = () if self.limits is None else require_limits(self.limits)
        asked = (*given, *(named := self._spelled()))
        together = self.limits if hasattr(self.limits, "ledger") else None
        if named and together is not None:
            expected = f"None with limits that others keep to; put {named[0]} among them"
            raise InvalidConfig.of("limits", together, expected)
        if self.max_in_flight is not None:
            capacity = min(capacity, self.max_in_flight)
        if all(isinstance(each, Adaptive | Breaker) for each in asked):
            return capacity, Kept(asked, keeper="each task for itself" if asked else "")
        reach = reach_of(getattr(df, "sparkSession", None))
        is_kept = together is not None and not isinstance(together, Limits)
        without = "with carry" if on_hosts else "with max_tasks" if self.max_tasks else ""
        if not (reach.is_certain or is_kept or on_hosts):
            without = "on Spark Connect, except in RedisLimits or MachineLimits"
        _require_budgets(asked, without)
        if is_kept:
            return capacity, Kept(asked, together, type(together).__name__)
        if on_hosts:
            return capacity, Kept(asked, MachineLimits(asked), "each machine, for all queries")
        if self.max_tasks is None and reach.is_certain:
            at_driver = serve(together or Limits(asked), reach)
            return capacity, Kept(asked, at_driver, "the driver")
        if together is not None:
            expected = (
                "a list of limits, or RedisLimits, where tasks do not ask the driver: "
                "several DataFrames can not share these limits there"
            )
            raise InvalidConfig.of("limits", together, expected)
        tasks = self.max_tasks or _slots(df)
        shares = tuple(_share(each, tasks) for each in asked)
        if self.max_in_flight is not None:
            capacity = min(capacity, self.max_in_flight // tasks)
        # A worker process of Spark runs one task after the other.
        in_process = ProcessLimits(token_bytes(16), shares)
        return capacity, Kept(shares, in_process, f"{tasks} tasks, which have a share each")

    def _spelled(self) -> list[AnyLimit]:
        limits: list[AnyLimit] = []
        if self.max_in_flight is not None:
            limits.append(InFlight(self.max_in_flight))
        if (rate := self.calls_per_second) is not None:
            limits.append(Limit(calls=ceil(rate), per=ceil(rate) / rate))
        return [*limits, Adaptive()] if self.adaptive else limits


def _require_budgets(limits: Sequence[AnyLimit], without: str) -> None:
    for each in limits:
        if isinstance(each, Budget) and (without or each.then == "stop"):
            expected = 'no Budget that stops: rows would be missing; then="fail" ends the job'
            if without:
                expected = f"no Budget {without}: nothing keeps it for the whole job"
            raise InvalidConfig.of("limits", each, expected)


def _share(limit: AnyLimit, tasks: int) -> AnyLimit:
    if isinstance(limit, Limit) and limit.up_to is not None:
        return replace(limit, up_to=limit.up_to / tasks)
    if isinstance(limit, Limit | InFlight):
        if (limit.calls or 0) < tasks:
            name = "max_in_flight" if isinstance(limit, InFlight) else "limits"
            expected = f"at least one call for each of {tasks} tasks; coalesce, and set max_tasks"
            raise InvalidConfig.of(name, limit, expected)
        return replace(limit, calls=(limit.calls or 0) // tasks)
    return limit


def _slots(df: Any) -> int:
    try:
        return int(df.sparkSession.sparkContext.defaultParallelism)
    except Exception as error:  # Connect has none, and raises its own class of errors.
        expected = "given: this session does not tell how many tasks run at a time"
        raise InvalidConfig.of("max_tasks", None, expected) from error


def limits_of_rows(kept: Kept) -> Any:
    """Return the limits of a task, whose functions take rows; None for none."""
    if not kept.limits:
        return None
    limits = tuple(map(_of_rows, kept.limits))
    return limits if kept.together is None else replace(kept, limits=limits)


def _of_rows(limit: AnyLimit) -> AnyLimit:
    names = ("cost", "weight", "by")
    given = {name: getattr(limit, name, None) for name in names}
    changed = {name: _of_row(each) for name, each in given.items() if each is not None}
    return replace(limit, **changed) if changed else limit


def _of_row(function: Callable[[Any], Any]) -> Callable[[InputRow], Any]:
    return lambda row: function(row.value)


def needs_no_permit(row: InputRow) -> bool:
    return row.found is not None
