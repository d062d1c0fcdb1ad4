"""Limits that all processes of a user on one machine share, in a file."""

import os
import time
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from math import ceil, inf
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import require_posix
from asyncwait.spec.limits import AnyLimit, Budget, InFlight, LedgerLost, Limit, require_limits
from asyncwait.toolkit import Ledger, Reply, Told

_FORMAT = "asyncwait limits 1"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_ROUNDING = 1 + 1e-9
"""Relative tolerance of sums of costs."""
_GRAINS = 1000
"""The file has one sum for the ended calls of each of these parts of a window."""
_PATIENCE = 1.0
"""Seconds to wait for the lock. Requests that have waited for so long go before later ones."""
_HEARD, _AGAIN = 0.5, 0.005
"""Longest time in seconds between two questions of an operator with that place; and the usual time,
as a share of its wait."""
_LOOK = 0.1
"""Seconds between two searches for dead processes."""


class MachineLimits(Struct, frozen=True):
    """Limits that all processes of this user on this machine share: `limits=MachineLimits([...])`.

    Equal limits with equal names are the same limits; their functions are equal if module and
    qualified name are. A file counts the calls, and survives each process: a call counts in a
    window until it leaves, and the `InFlight` permits of a process that died are free again.
    `Adaptive` and `Breaker` apply to each operator separately. A container is a machine.

    On Linux, the monotonic clock tells the time, and a reboot starts with empty windows. Other
    systems have no id of the boot. There, the system's clock tells the time: setting it makes
    calls leave their windows too early or too late.

    Args:
        limits: the limits; no `Budget`, whose `path` does the same.
        name: tells equal limits of different services apart.
        folder: a folder that only this user can enter; the ledger makes it. None for `.asyncwait`
            in the home directory.

    Raises:
        InvalidConfig: an argument is invalid.
        NeedsPosix: the system has no file locks.
    """

    limits: Sequence[AnyLimit]
    name: str = ""
    folder: str | None = None

    def __post_init__(self) -> None:
        require_posix("MachineLimits")
        for number, each in enumerate(require_limits(self.limits)):
            if isinstance(each, Budget):
                expected = "no Budget, which has a `path` for several processes"
                raise InvalidConfig.of(f"limits[{number}]", each, expected)

    def ledger(self) -> Ledger:
        """Return the ledger for one more operator."""
        return _AtFile(self)


_Meter: TypeAlias = tuple[int, float, float, float]
"""Place of the limit, and its `most`, `per` (0 for calls in flight) and `latency`."""
_Place: TypeAlias = tuple[int, str]
"""Number of a meter, and a key."""
_Id: TypeAlias = tuple[str, int, int, str]
"""Operator, number of the call, and place. The operator is "" for a sum of ended calls."""


class _Use(Struct, array_like=True):
    """An amount, and the time at which it leaves; infinity if that is unknown."""

    amount: float
    leaves: float = inf


class _Wait(Struct, array_like=True):
    """The oldest request of an operator that lacks room, and the time of its last question."""

    place: _Place
    since: float
    asked: float


class _State(Struct, array_like=True):
    format: str = _FORMAT
    uses: dict[_Id, _Use] = {}
    waits: dict[str, _Wait] = {}


class _AtFile:
    def __init__(self, asked: MachineLimits) -> None:
        from asyncwait.toolkit._file_lock import is_private

        self._limits = asked.limits
        self._meters = [meter for n, each in enumerate(asked.limits) for meter in _meters(n, each)]
        boot = _BOOT.read_text() if _BOOT.exists() else ""
        self._clock = time.monotonic if boot else time.time
        with suppress(OSError):  # Processes of other containers are invisible here.
            boot += os.readlink("/proc/self/ns/pid")  # noqa: PTH115
        folder = Path(asked.folder or Path.home() / ".asyncwait")
        if not is_private(folder):
            raise InvalidConfig.of("folder", str(folder), "a folder that only this user can enter")
        shared = [_as_data(each) for each in asked.limits if isinstance(each, Limit | InFlight)]
        digest = sha256(msgspec.json.encode([_FORMAT, boot, asked.name, shared])).hexdigest()
        self._path = folder / f"{digest[:32]}.limits"
        self._new = self._path.with_suffix(".new")
        self._name = f"{os.getpid()} {_start_of(os.getpid())} {token_hex(8)}"
        self._since: dict[int, float] = {}
        """Times of the requests."""
        self._looked = -inf
        self._has_written = False

    def __str__(self) -> str:
        return f"the file {self._path}"

    def exchange(self, told: Told) -> Reply:
        """Take a report of calls, and answer the requests.

        Raises:
            OSError: the file is locked, or can not be written.
            LedgerLost: the file is damaged, or is gone.
        """
        with self._locked():
            state, now = self._read(), self._clock()
            mine = self._uses(state)
            for use in (use for number in told.begun for use in mine[number]):
                state.uses[use].leaves = self._last(use, now)
            for number, has_begun, costs in told.ended:
                for use in mine.pop(number, ()):
                    place, _, per, _ = self._meters[use[2]]
                    at = now + per if has_begun else -inf
                    self._end(state, use, at, costs[place] if costs else None)
            self._look(state, now)
            reply = self._answer(state, told, now)
            self._write(state)
        return reply

    def _uses(self, state: _State) -> dict[int, list[_Id]]:
        mine = defaultdict[int, list[_Id]](list)
        for use in state.uses:
            if use[0] == self._name:
                mine[use[1]].append(use)
        return mine

    def _last(self, use: _Id, began: float) -> float:
        _, _, per, latency = self._meters[use[2]]
        return began + latency + per if per else inf

    def _answer(self, state: _State, told: Told, now: float) -> Reply:
        """Grant permits; a request that lacks room in a meter reserves the meter."""
        reply, lacking = Reply([], -1.0, {}), list[_Wait]()
        self._since = {number: self._since.get(number, now) for number, *_ in told.asked}
        used, soonest = defaultdict[_Place, float](float), defaultdict[_Place, float](lambda: inf)
        for (*_, meter, key), use in state.uses.items():
            used[meter, key] += use.amount
            soonest[meter, key] = min(use.leaves, soonest[meter, key])
        state.waits.pop(self._name, None)
        reserved = _reserved(state, now)
        for number, costs, keys, _ in told.asked:
            since = self._since[number]
            needs = [
                ((n, keys[place] if keys else ""), costs[place], most)
                for n, (place, most, *_) in enumerate(self._meters)
            ]
            full = [at for at, amount, most in needs if used[at] + amount > most * _ROUNDING]
            lacks = [at for at, *_ in needs if at in full or reserved.get(at, inf) < since]
            limit: Any = self._limits[self._meters[lacks[0][0]][0]] if lacks else None
            if not lacks:
                reply.granted.append(number)
                for at, amount, _ in needs:
                    used[at] += amount
                    state.uses[self._name, number, *at] = _Use(amount)
            elif limit.max_wait is not None and now - since >= limit.max_wait:
                reason = f"no permit within {limit.max_wait:.10g} s: {limit} has no room"
                reply.refused[number] = f"PermitTimedOut: {reason}"
            else:
                reserved[lacks[0]] = -inf
                lacking.append(_Wait(lacks[0], since, now))
        if lacking:
            oldest = min(lacking, key=lambda each: each.since)
            state.waits[self._name] = oldest
            if all(soonest[each.place] < inf for each in lacking):
                reply.wait = min(soonest[each.place] for each in lacking) - now
            elif (waited := now - oldest.since) > _PATIENCE:
                reply.wait = min(_LOOK, waited * _AGAIN)
        return reply

    def _end(self, state: _State, use: _Id, at: float, amount: float | None = None) -> None:
        """End a use: of a window it leaves at this time, or when it leaves at the latest."""
        _, _, number, key = use
        ended, per = state.uses.pop(use), self._meters[number][2]
        if per and at > -inf:
            grain = ceil(min(at, ended.leaves) * _GRAINS / per)
            past = _Use(0.0, grain * per / _GRAINS)
            past = state.uses.setdefault(("", grain, number, key), past)
            past.amount += ended.amount if amount is None else amount

    def _look(self, state: _State, now: float) -> None:
        for use in [use for use, each in state.uses.items() if each.leaves <= now]:
            del state.uses[use]
        if now >= self._looked + _LOOK:
            self._looked = now
            names = {name for name, *_ in state.uses if name}
            dead = {name for name in names if not _is_alive(name)}
            for use in [use for use in state.uses if use[0] in dead]:
                self._end(state, use, self._last(use, now))  # It may have begun a moment ago.

    # The file.

    @contextmanager
    def _locked(self) -> Generator[None]:
        import fcntl

        from asyncwait.toolkit._file_lock import is_locked_within

        with self._path.with_suffix(".lock").open("w") as lock:
            if not is_locked_within(lock.fileno(), _PATIENCE):
                raise TimeoutError(f"another process has locked {lock.name}: it may have stopped")
            try:
                yield
            finally:  # A process that was forked meanwhile has the lock open.
                fcntl.flock(lock, fcntl.LOCK_UN)

    def _read(self) -> _State:
        try:
            if self._new.exists() and not self._path.exists():  # A process was killed in between.
                self._new.rename(self._path)
            state = msgspec.msgpack.decode(self._path.read_bytes(), type=_State)
        except FileNotFoundError:
            if self._has_written:
                raise self._lost("was removed") from None
            return _State()
        except msgspec.MsgspecError as error:
            raise self._lost("is damaged, or is no file of limits") from error
        if state.format != _FORMAT:
            raise self._lost("has the format of another version")
        return state

    def _lost(self, what: str) -> LedgerLost:
        return LedgerLost(
            f"{self._path} {what}, so the number of calls is unknown: end the operators with these "
            "limits, remove the file, and wait for the longest window before the next call"
        )

    def _write(self, state: _State) -> None:
        """Write a new file in the place of the old one: a kill never leaves a part of a file.

        The old one goes first: some file systems wait for the disk to replace a file.
        """
        self._new.write_bytes(msgspec.msgpack.encode(state))
        self._path.unlink(missing_ok=True)
        self._new.rename(self._path)
        self._has_written = True

    def close(self) -> None:
        """End all calls; calls in windows still count."""
        if self._has_written:
            with suppress(Exception), self._locked():
                state, now = self._read(), self._clock()
                for use in (use for uses in self._uses(state).values() for use in uses):
                    self._end(state, use, self._last(use, now))
                state.waits.pop(self._name, None)
                self._write(state)


def _reserved(state: _State, now: float) -> dict[_Place, float]:
    """Return the meters for which another operator has waited long, and since when."""
    state.waits = {n: each for n, each in state.waits.items() if each.asked > now - _HEARD}
    long = [each for each in state.waits.values() if each.since < now - _PATIENCE]
    return {each.place: each.since for each in sorted(long, key=lambda each: -each.since)}


def _meters(place: int, limit: AnyLimit) -> Sequence[_Meter]:
    match limit:
        case Limit(per=per, burst=burst, most=most):
            whole = (place, most, per, limit.arrives_in)
            return [whole, (place, burst, per * burst / most, 0.0)] if burst else [whole]
        case InFlight(calls=calls):
            return [(place, calls, 0.0, 0.0)]
    return []


def _as_data(limit: AnyLimit) -> list[Any]:
    """Return the data that distinguishes limits: numbers, units, and the names of functions."""
    fields = msgspec.structs.asdict(limit)
    del fields["max_wait"]
    return [type(limit).__name__, *map(_plain, fields.values())]


def _plain(value: Any) -> Any:
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    return float(value) if isinstance(value, int) else value


def _start_of(process: int) -> str:
    """Return when a process started; "" if it is dead, or the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return fields[19] if fields[0] not in "ZX" else ""


def _is_alive(operator: str) -> bool:
    process, start, *_ = operator.split(" ")
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, PermissionError):  # The number is of a process of another user.
        return False
    return _start_of(int(process)) == start
