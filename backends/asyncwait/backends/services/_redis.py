"""Limits that a Redis stores, for processes and jobs on any number of machines."""

from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from math import inf
from secrets import token_hex
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct

from asyncwait.spec import InvalidConfig, MissingExtra
from asyncwait.spec.limits import (
    Adaptive,
    AnyLimit,
    Breaker,
    Budget,
    InFlight,
    LedgerLost,
    Limit,
    require_limits,
)
from asyncwait.spec.texts import shown
from asyncwait.toolkit import Ledger, Reply, Told

_LEASE = 30.0
"""Seconds for which the permit of a silent owner counts; owners report every five seconds."""

_PATIENCE = 5.0
"""Seconds for the server to answer."""

_SILENT = 8.0
"""Seconds for which a silent client still confirms the time; clients report every five."""

_KEEP = 86_400
"""Seconds for which the server keeps unused limits without a budget."""


_PASSING = ("BUSY ", "MISCONF ", "NOREPLICAS ")
"""Beginnings of temporary errors that have no class in Redis's client."""


class RedisLimits(Struct, frozen=True):
    """Limits that programs on any number of machines share: `limits=RedisLimits(...)`.

    All programs with the same server and name share them, and must give equal limits. Other limits
    can replace them, except a budget, when no call counts any more. `Adaptive` applies to each
    operator separately. No call begins while the server can't be reached. If the server comes back
    without its memory, programs that were connected before make no call until each window is
    certainly empty, and their budgets end with an error, because the amount spent is unknown. A
    program that connects for the first time can't notice this loss: give its `Budget`
    `exists=True`, and let the server write to disk (`appendonly yes`). The programs' monotonic
    clocks check the server's clock.

    Args:
        url: of the server: `redis://host:port/db`, `rediss://` or `unix://path`.
        name: of these limits on the server.
        limits: the limits. A budget has no `path`. A budget in another unit than calls needs a
            `cost` that returns the most that a call may cost.

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: redis is not installed.
    """

    url: str
    name: str
    limits: Sequence[AnyLimit]

    def __post_init__(self) -> None:
        _redis_module()
        for name in ("url", "name"):
            if not (isinstance(getattr(self, name), str) and getattr(self, name)):
                raise InvalidConfig.of(name, getattr(self, name), "a text that is not empty")
        if not self.url.startswith(("redis://", "rediss://", "unix://")):
            raise InvalidConfig.of("url", self.url, "redis://, rediss:// or unix://")
        for number, each in enumerate(require_limits(self.limits)):
            if isinstance(each, Budget):
                _require_kept(each)
            for name in ("by", "burst", "max_wait"):
                if (value := getattr(each, name, None)) is not None:
                    expected = "None with a Redis"
                    raise InvalidConfig.of(f"limits[{number}].{name}", value, expected)

    def ledger(self) -> Ledger:
        """Return the ledger for one more operator."""
        return _AtRedis(self)


def _require_kept(budget: Budget) -> None:
    if budget.path is not None:
        raise InvalidConfig.of("Budget.path", budget.path, "None with a Redis, which remembers it")
    if budget.cost is None and budget.unit != "calls":
        expected = "a plain function with a Redis: what calls may cost at most"
        raise InvalidConfig.of("Budget.cost", None, expected)


_LOCAL = (Adaptive, Breaker)
"""Limits that each operator counts by itself."""


class _AtRedis:
    def __init__(self, asked: RedisLimits) -> None:
        self._asked = asked
        self._client_name = token_hex(8)
        self._generation = ""
        self._is_heard = self._leaves = False
        self._ahead, self._trip = -inf, 0.0
        """Lower bound of the ledger's clock minus this client's; that exchange's duration."""
        self._seen, self._seen_at, self._sent_at = -1, inf, -inf
        """Count of the ledger clock's confirmations; when the count grew; the last exchange."""
        kinds = [_kind(each) for each in asked.limits if not isinstance(each, _LOCAL)]
        self._places = [
            place for place, each in enumerate(asked.limits) if not isinstance(each, _LOCAL)
        ]
        windows = [each["per"] + each["latency"] for each in kinds if each["kind"] == "window"]
        self._has_budget = any(each["kind"] == "budget" for each in kinds)
        self._asked_at = -inf
        budgets = [each for each in asked.limits if isinstance(each, Budget) and each.exists]
        self._required = " and ".join(f"{each.amount:.10g} {each.unit}" for each in budgets)
        self._said = {
            "exists": bool(budgets),
            "client": self._client_name,
            "kinds": kinds,
            # Without the amount of a budget, which may grow.
            "limits": msgspec.json.encode([_without_amount(each) for each in kinds]).decode(),
            "longest": max(windows, default=0),
            "lease": _LEASE,
            "silent": _SILENT,
            "keep": 0 if self._has_budget else int(_KEEP + 2 * max(windows, default=0)),
        }
        base = "{asyncwait limits " + asked.name + "}"
        parts = [f"{base} {each} {place}" for place in self._places for each in ("leaves", "costs")]
        self._keys = [base, *parts, f"{base} witnesses"]
        redis = _redis_module()
        errors = redis.exceptions
        self._lost = (
            errors.ConnectionError,
            errors.TimeoutError,
            errors.BusyLoadingError,
            errors.OutOfMemoryError,
            errors.ReadOnlyError,  # while another server takes its place
        )
        self._answered = errors.ResponseError
        self._refused = (errors.AuthenticationError, errors.AuthorizationError)
        try:
            self._client: Any = redis.Redis.from_url(
                asked.url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE
            )
        except ValueError:
            said = "yours is not repeated here, as it may hold a password"
            raise InvalidConfig(f"url must be like redis://host:6379/0; {said}") from None
        script = files("asyncwait.backends.services").joinpath("_limits.lua").read_text()
        self._script: Any = self._client.register_script(script)

    def __str__(self) -> str:
        return f"the Redis with the limits {shown(self._asked.name)}"

    def exchange(self, told: Told) -> Reply:
        """Report calls, and return the answer; an OSError means that no server can be reached."""
        is_due, now = monotonic() - self._asked_at > _KEEP / 100, monotonic()
        self._asked_at = now if is_due else self._asked_at
        said = {
            **self._said,
            "keep": self._said["keep"] if is_due else 0,
            "generation": self._generation,
            "from": None if self._ahead == -inf else now + self._ahead,
            "trip": self._trip,
            "seen": self._seen,
            "waited": max(0, now - self._seen_at),
            "elapsed": min(_KEEP, now - self._sent_at),
            "leaves": self._leaves,
            "ended": [
                (number, begun, self._of_ours(costs) if costs else [])
                for number, begun, costs in told.ended
            ],
            "begun": told.begun,
            "open": [
                (number, begun, self._of_ours(costs)) for number, begun, costs in told.open or ()
            ],
            "asked": [(number, self._of_ours(costs)) for number, costs, *_ in told.asked],
        }
        self._is_heard = False
        try:
            text = self._script(keys=self._keys, args=[msgspec.json.encode(said)])
        except self._refused:  # Not a ConnectionError: no later call may begin.
            raise
        except self._lost as error:
            raise ConnectionError(str(error)) from error
        except self._answered as error:
            if str(error).startswith(_PASSING):
                raise ConnectionError(str(error)) from error
            raise
        self._is_heard = True
        answer = msgspec.json.decode(text)
        reply = self._reply(answer, [number for number, *_ in told.asked])
        self._set_clock(answer, sent=now, heard=monotonic())
        return reply

    def _set_clock(self, answer: dict[str, Any], sent: float, heard: float) -> None:
        """Store the information of an exchange about the ledger's clock; see the script."""
        self._sent_at = sent
        if answer["seen"] != self._seen:
            self._seen, self._seen_at = answer["seen"], heard
        ahead = float(answer.get("clock", -inf)) - heard
        if ahead > self._ahead:
            self._ahead, self._trip = ahead, heard - sent

    def _of_ours(self, costs: Sequence[Any]) -> list[Any]:
        return [costs[place] for place in self._places]

    def _reply(self, said: dict[str, Any], asked: Sequence[int]) -> Reply:
        if "foreign" in said:
            raise LedgerLost(
                f"{self} holds {said['foreign']} at its key {self._keys[0]!r}: it is unknown what "
                "was called; give the limits another name, or delete that key"
            )
        if "missing" in said and not self._generation:
            raise LedgerLost(
                f"{self} does not hold the budget of {self._required}, and Budget.exists says that "
                "the budget exists: restore the Redis from its disk or a backup, or go on with "
                "what is left as a new Budget with exists=False"
            )
        if "behind" in said:
            raise LedgerLost(
                f"{self} can't determine the time: the server's clock is {said['behind']:.0f} s "
                "behind the ledger's, and no program is connected that knows how much time has "
                f"passed; set that clock right, or wait {self._said['longest']:.10g} s and give "
                "the limits another name"
            )
        if "others" in said:
            raise InvalidConfig(
                f"limits {shown(self._asked.name)}: others keep to {shown(said['others'])} by this "
                f"name, and these are {shown(self._said['limits'])}; give them another name"
            )
        if self._has_budget and self._generation not in ("", said.get("generation")):
            # In each exchange, because perhaps no call waited in the exchange that found the loss.
            raise LedgerLost(
                f"{self} has lost its memory: it is unknown what was spent; go on with what is "
                "left as a new Budget"
            )
        if self._generation != said["generation"]:
            self._generation, self._ahead = said["generation"], -inf
        spent: str = said["spent"]
        if spent:
            spent += " are spent, as the Redis has it: the next call is not made"
        granted, refused = asked[: said["granted"]], asked[said["granted"] :] if spent else ()
        return Reply([*granted], float(said["wait"]), dict.fromkeys(refused, f"{spent}"))

    def close(self) -> None:
        """Leave, and close the connection; unfinished calls count until their time is over."""
        if self._is_heard:
            with suppress(Exception):  # Other clients wait until this client counts as silent.
                self._leaves = True
                self.exchange(Told([], [], None, []))
        self._client.close()


def _kind(limit: AnyLimit) -> dict[str, Any]:
    match limit:
        case Limit():
            return {
                "kind": "window",
                "most": limit.most,
                "per": limit.per,
                "latency": limit.arrives_in,
                "unit": limit.unit if limit.cost is not None else "calls",
            }
        case InFlight():
            return {"kind": "room", "most": limit.calls}
        case Budget():
            return {"kind": "budget", "most": limit.amount, "unit": limit.unit}
    raise AssertionError(limit)


def _without_amount(kind: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in kind.items() if (kind["kind"], name) != ("budget", "most")}


def _redis_module() -> Any:
    try:
        import redis
    except ImportError as error:
        raise MissingExtra("redis", "redis") from error
    return redis
