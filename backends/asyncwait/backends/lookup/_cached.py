"""Lookups of keys: cached rows answer at once, and each missing key has one request."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import anyio.lowlevel
from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends.lookup._loads import Load, Loads, Read
from asyncwait.backends.lookup._table import (
    NO_ROWS,
    Figures,
    LookedUp,
    LookupStatistics,
    OpenTable,
    Outcome,
    Rows,
    Table,
    close_behind,
    place_of,
    places_of,
    require_keys,
    rows_with,
    table_closed,
)
from asyncwait.spec import (
    Batch,
    CallFailed,
    InvalidConfig,
    InvalidResult,
    OperatorError,
    Retry,
)
from asyncwait.spec.checks import at_most_infinite, require_timeout
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    NULL_KEY,
    PLAIN_KEYS,
    BackOffs,
    JoinableTasks,
    Store,
    call_failed,
    cause_or_self,
    running_loop,
    timed_out,
)


class Policy(Struct, frozen=True):
    """Deadline, retries and batches of the requests for the keys of a row.

    Args:
        timeout: seconds from the first request to the deadline; None for no deadline.
        retry: how failed requests are repeated; None for never.
        retry_missing: how requests for a key without a row are repeated; None for never.
        batch: how keys of several rows gather for a request; None for no gathering.

    Raises:
        InvalidConfig: an argument is invalid, or has an option that does not apply to it.
    """

    timeout: float | None = None
    retry: Retry | None = None
    retry_missing: Retry | None = None
    batch: Batch | None = None

    def __post_init__(self) -> None:
        require_timeout("timeout", self.timeout)
        for name, kind in (("retry", Retry), ("retry_missing", Retry), ("batch", Batch)):
            if not isinstance(value := getattr(self, name), kind | None):
                raise InvalidConfig.of(name, value, f"a {kind.__name__} or None")
        results = "None: retry_missing says what becomes of keys without rows"
        for name, part, expected in (
            ("batch", "split", "False: a table answers for each key"),
            ("retry", "on_result", results),
            ("retry_missing", "on_result", results),
            ("retry_missing", "attempt_timeout", "None: `retry` has it"),
        ):
            if value := getattr(getattr(self, name), part, None):
                raise InvalidConfig.of(f"{name}.{part}", value, expected)

    @property
    def takes_misses(self) -> bool:
        """Whether a key without a row is not requested again."""
        return self.retry_missing is None

    def back_offs(self) -> tuple[BackOffs, BackOffs]:
        """Return the back-offs after failures, and those after answers without rows."""
        failed, missing = self.retry or _NEVER, self.retry_missing or _NEVER
        return BackOffs(failed), BackOffs(replace(missing, on_result=lambda _: True))


_NEVER = Retry(max_attempts=1)


class KeyRequests:
    """The rows of one chunk whose keys are not cached.

    Args:
        missing: their keys, by stand-in; empty in the end.
        times: number of rows with each key.
        at_once: whether the first failed key ends all requests, and not only its own rows.
    """

    def __init__(
        self,
        missing: dict[Any, Any],
        times: Mapping[Any, int],
        loads: Loads,
        store: Store,
        figures: Figures,
        *,
        at_once: bool,
    ) -> None:
        self._missing = missing
        self._times = times
        self._loads = loads
        self._store = store
        self._figures = figures
        self._at_once = at_once
        self._begun = {place for place in missing if place not in loads.by_key}
        self._attempts_begun = 0
        self._under_way: dict[Any, Load] = {}
        self._errors: dict[Any, BaseException] = {}
        """The errors of the last attempts, by stand-in."""
        self.found: dict[Any, Rows | OperatorError] = {}
        """The outcomes, by stand-in."""
        figures.loads += len(self._begun)
        figures.shared += sum(map(times.__getitem__, missing)) - len(self._begun)

    async def run(self, policy: Policy, back_offs: tuple[BackOffs, BackOffs], clock: Any) -> None:
        """Request until each key has its rows or its failure.

        Raises:
            OperatorError: a key has failed, and `at_once` is set; the error names the key.
            RuntimeError: the table is closed.
        """
        limit = None if policy.timeout is None else at_most_infinite(policy.timeout)
        with anyio.move_on_after(limit) as scope:
            await self._attempts(policy, back_offs, clock, scope.deadline)
        if scope.cancelled_caught:
            if self._attempts_begun == 1:  # later ones waited less
                self._loads.give_up(self._under_way.values())
            for place, key in self._late(policy).items():
                if not self._give_stale(place, clock()):
                    late = f"the table gave no answer within {limit:g} s"
                    self._fail(place, timed_out(LookedUp(key), late, self._errors.get(place)))

    def _late(self, policy: Policy) -> dict[Any, Any]:
        """Take the available answers, and return all other keys: those without any first."""
        unanswered, retried = {}, {}
        for place, key in list(self._missing.items()):
            load = self._under_way.get(place)
            answer = None if load is None or load.answers is None else load.answers[place]
            if type(answer) is tuple and (answer or policy.takes_misses):
                self._decide(place, answer)
            elif answer is None:
                unanswered[place] = key
            else:
                retried[place] = key
        return unanswered | retried

    async def _attempts(
        self,
        policy: Policy,
        back_offs: tuple[BackOffs, BackOffs],
        clock: Any,
        deadline: float,
    ) -> None:
        missing, found = self._missing, self.found
        after_failure, after_miss = back_offs[0].after_failure, back_offs[1].after_results
        limit = None if policy.retry is None else policy.retry.attempt_timeout
        while missing:
            self._attempts_begun += 1
            attempts = self._attempts_begun
            answers = await self._attempt(limit)
            waits: list[float] = []
            left = deadline - anyio.current_time()
            for place, answer in answers.items():
                if type(answer) is tuple and (answer or policy.takes_misses):
                    found[place] = answer
                    del missing[place]
                elif isinstance(answer, tuple):
                    again = after_miss(LookedUp(missing[place]), (), attempts, left)
                    if again is None:
                        self._decide(place, answer)
                    else:
                        waits.append(again)
                elif not self._give_stale(place, clock()):
                    failure = _failure(LookedUp(missing[place]), answer)
                    self._errors[place] = cause_or_self(failure)
                    again = after_failure(failure, attempts, left)
                    if again is None:
                        self._fail(place, failure.after(attempts))
                    else:
                        waits.append(again)
            if waits:
                with anyio.move_on_after(max(waits)):
                    await self._loads.closed.wait()

    async def _attempt(self, limit: float | None) -> Read:
        by_key, missing = self._loads.by_key, self._missing
        own = {place: key for place, key in missing.items() if place not in by_key}
        if own:
            self._loads.begin(own)
        loads = self._under_way = {place: by_key[place] for place in missing}
        with anyio.move_on_after(limit) as scope:
            await self._loads.wait_for(set(loads.values()))
        if scope.cancelled_caught:
            self._loads.give_up(loads.values())
        if any(load.answers is None and load.ended.is_set() for load in loads.values()):
            raise table_closed()
        return {
            place: _no_answer(limit) if load.answers is None else load.answers[place]
            for place, load in loads.items()
        }

    def _decide(self, place: Any, outcome: Rows | OperatorError) -> None:
        self.found[place] = outcome
        del self._missing[place]

    def _fail(self, place: Any, failure: OperatorError) -> None:
        if self._at_once:
            raise failure from failure.__cause__
        self._decide(place, failure)

    def _give_stale(self, place: Any, now: float) -> bool:
        """Decide a key by stale rows, if it has some; return whether it had."""
        rows = self._store.stale(place, now)
        if rows is None:
            return False
        self._decide(place, rows)
        figures, times, own = self._figures, self._times[place], place in self._begun
        figures.loads -= own
        figures.shared -= times - own
        figures.stale += times
        return True


def _no_answer(limit: float | None) -> Exception:
    return TimeoutError(f"no answer after {limit:g} s")


def _failure(record: LookedUp, error: Exception) -> OperatorError:
    if isinstance(error, InvalidResult):
        failure: OperatorError = InvalidResult(record, error.reason)
        failure.__cause__ = error.__cause__
        return failure
    failure = call_failed(record, error)
    name = type(error).__name__
    if f"{name}(" not in failure.reason:  # as for Redis's errors, whose own text says too little
        failure = CallFailed(record, f"the call failed: {name}({shown(str(error))})")
        failure.__cause__ = error
    return failure


class Cached(OpenTable):
    """A table with an optional cache; all lookups of a key share one request for it.

    Args:
        table: opened by `open`, closed by `close`.
        store: its cached rows; an earlier lookup of the same table may have filled it.
        policy: deadline, retries and batches of its requests.
    """

    def __init__(self, table: Table, store: Store, policy: Policy) -> None:
        self._table = table
        self._policy = policy
        self._back_offs = policy.back_offs()
        self.figures = Figures()
        self._store = store
        self._entries = self._store.entries
        self.is_last: Callable[[], bool] = lambda: False
        """Returns whether no further key will be requested before answers come; set it before
        `open`.
        """

    async def open(self) -> None:
        """Open the table, and a task group until `close`."""
        await self._table.open()
        loop = running_loop()
        self._clock = loop.time
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        self._loads = Loads(
            self._table,
            loop,
            self._group,
            self.figures,
            self._store.put,
            batch=self._policy.batch,
            is_last=self.is_last,
        )

    async def close(self, error: BaseException | None = None) -> None:
        """End the running loads, wait for them, and close the table; no lookup begins meanwhile.

        Args:
            error: with which it is left; an error of closing becomes a note on it.
        """
        self._loads.close()
        self._entries = {}  # so that `peek` finds nothing, and no hit costs a look at `closed`
        await close_behind(self._group, self._table, error)

    def hurry(self) -> None:
        self._loads.hurry()

    def peek(self, key: Any) -> Rows | None:
        """Return the rows of a cached key, or of a key that no table can have."""
        place = key if type(key) in PLAIN_KEYS else place_of(key)
        figures = self.figures
        try:
            entry = self._entries[place]
        except KeyError:
            self._loads.require_open()
            if place is not NULL_KEY:
                return None
            figures.rows += 1
            figures.null_keys += 1
            return NO_ROWS
        now = self._clock()
        if entry.good_until <= now:
            return None
        if entry.refresh_from <= now:
            self._refresh({place: key})
        figures.rows += 1
        figures.hits += 1
        if not entry.results:
            figures.misses += 1
        return entry.results

    async def get_many(self, keys: Sequence[Any]) -> list[Rows]:
        """Return the rows of each key; the failure of any key is raised at once."""
        rows: list[Any] = await self._look_up(require_keys(keys), at_once=True)
        return rows

    async def outcomes(
        self, keys: Sequence[Any], times: Sequence[int] | None = None
    ) -> list[Outcome]:
        """Return the rows of each key, or its failure after all retries.

        Args:
            keys: may repeat, unless `times` is set.
            times: number of rows with each key; None for one.

        Raises:
            CallFailed: a key can't be hashed, or compared with itself.
            RuntimeError: the table is closed.
        """
        return await self._look_up(keys, times, at_once=False)

    async def _look_up(
        self, keys: Sequence[Any], times: Sequence[int] | None = None, *, at_once: bool
    ) -> list[Outcome]:
        if self._loads.closed.is_set():
            await anyio.lowlevel.checkpoint()  # for a caller that retries forever
            raise table_closed()
        places = places_of(keys)
        found, missing = self._find(dict(zip(places, keys, strict=True)))
        nulls = rows_with(NULL_KEY, places, times) if NULL_KEY in found else 0
        looked_up = len(keys) if times is None else sum(times)
        rows_of = _rows_of(places, times) if missing else {}
        asked = sum(map(rows_of.__getitem__, missing))
        figures = self.figures
        figures.rows += looked_up
        figures.null_keys += nulls
        figures.hits += looked_up - nulls - asked
        if missing:
            requests = KeyRequests(
                missing, rows_of, self._loads, self._store, figures, at_once=at_once
            )
            figures.in_flight += asked
            try:
                await requests.run(self._policy, self._back_offs, self._clock)
            finally:
                figures.in_flight -= asked
            found |= requests.found
        outcomes = [found[place] for place in places]
        figures.misses += rows_with(NO_ROWS, outcomes, times) - nulls
        return outcomes

    def statistics(self) -> LookupStatistics:
        return self.figures.told(len(self._store.entries), self._store.evictions)

    def _find(self, distinct: dict[Any, Any]) -> tuple[dict[Any, Outcome], dict[Any, Any]]:
        """Return the cached rows, and all other keys, by stand-in; one access for each."""
        found: dict[Any, Outcome] = {}
        if distinct.pop(NULL_KEY, NULL_KEY) is not NULL_KEY:
            found[NULL_KEY] = NO_ROWS
        missing: dict[Any, Any] = {}
        ageing: dict[Any, Any] = {}
        entries, now = self._entries, self._clock()
        for place, key in distinct.items():
            try:
                entry = entries[place]
            except KeyError:
                missing[place] = key
                continue
            if entry.good_until <= now:
                missing[place] = key
                continue
            if entry.refresh_from <= now:
                ageing[place] = key
            found[place] = entry.results
        if ageing:
            self._refresh(ageing)
        return found, missing

    def _refresh(self, ageing: dict[Any, Any]) -> None:
        for place in ageing:
            self._store.refreshing(place)
        asked = {place: key for place, key in ageing.items() if place not in self._loads.by_key}
        if asked:
            self.figures.refreshes += len(asked)
            self._loads.begin(asked, background=True)


def _rows_of(places: Sequence[Any], times: Sequence[int] | None) -> dict[Any, int]:
    if times is None:
        return Counter(places)
    rows_of = Counter[Any]()
    for place, count in zip(places, times, strict=True):
        rows_of[place] += count
    return rows_of
