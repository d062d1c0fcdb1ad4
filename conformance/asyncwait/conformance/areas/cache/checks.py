"""CACHE: shared loads, the time for which results are kept, and the results of each call."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from asyncwait.conformance.areas.cache._keeping import (
    are_good,
    failed_loads,
    good_until,
    has_room_for_all,
    hits,
    is_of_another_type,
    is_told,
    loads_of_keys,
    met,
    trigger,
    triggers,
    waits,
)
from asyncwait.conformance.judging import (
    NEVER,
    ROUNDING,
    Call,
    Finding,
    Item,
    LegHistory,
    Load,
    failures_asked,
    figures_hold,
    figures_read,
    first_stray,
    holds,
    item_of,
    leg_check,
    lost_failure,
)


@leg_check("CACHE-1")
def a_null_key_is_nobody_elses(leg: LegHistory) -> Iterator[Finding]:
    """Each load whose key is null belongs to one call."""
    for load in leg.loads:
        if not load.is_null:
            continue
        for call in filter(partial(is_told, leg), load.calls[1:]):
            text = f"call {call.number} has the outcome of call {load.calls[0].number}"
            yield f"{text}, and the key of both is null", call.at
        yield None


@leg_check("CACHE-2")
def one_load_of_a_key_runs(leg: LegHistory) -> Iterator[Finding]:
    """No load begins while another load of its key runs, and equal keys of one type share it."""
    for loads in loads_of_keys(leg).values():
        for number, load in enumerate(loads):
            running = next((each for each in loads[:number] if _is_open(each, load)), None)
            if running is not None:
                text = f"load {load.number} of {load.value!r} began, and load {running.number} ran"
                yield text, load.at
            yield from holds(load.waiting[1:])
        yield from holds(is_of_another_type(leg, each.calls[0]) for each in loads[:1])
    for call in filter(partial(is_told, leg), leg.calls):
        if call.batch is None and is_of_another_type(leg, call):
            yield f"call {call.number} of {call.value!r} shares what is of another type", call.at


def _is_open(load: Load, later: Load) -> bool:
    """Whether a call still waits for a running load when a later load begins."""
    until = min(load.ended_at, load.cancelled_at, load.calls[0].left_at)
    return until > later.at


@leg_check("CACHE-3")
def a_load_runs_for_whoever_waits(leg: LegHistory) -> Iterator[Finding]:
    """A load is cancelled in the instant in which its last call leaves, and is shared no more."""
    if leg.ending.how in {"hung", "livelock"}:
        return  # The harness tore the leg down, and shows that a little later.
    over_at = min(leg.may_be_over_at, leg.end_at)
    for load in leg.loads:
        left_at = load.calls[0].left_at
        named = f"load {load.number} of {load.value!r}"
        told = filter(partial(is_told, leg), load.waiting)
        late = [each for each in told if -1 < load.cancelled_seq < each.seq]
        if load.cancelled_at < min(left_at, over_at):
            yield f"{named} was cancelled, and a call waits for it", load.cancelled_at
        if late:
            yield f"call {late[0].number} shares {named}, which was cancelled", late[0].at
        behind = _behind_all(leg, load)
        if behind is not None:
            yield f"call {behind.number} shares {named}, which all had left", behind.at
        if left_at < over_at and min(load.cancelled_at, load.ended_at) > left_at:
            yield f"all have left {named}, and it was not cancelled", left_at
        leaving = (min(call.deadline, call.limit) for call in load.waiting)
        if any(at < load.ended_at or at == load.cancelled_at for at in leaving):
            yield None


def _behind_all(leg: LegHistory, load: Load) -> Call | None:
    """Return a call that joined a load after the last of its calls had left."""
    left_at = NEVER
    for call in load.waiting:
        if call.record is None:
            continue
        if call.at > left_at and is_told(leg, call):
            return call
        until = min(call.deadline, call.limit)
        left_at = until if left_at == NEVER else max(left_at, until)
    return None


@leg_check("CACHE-4")
def a_failed_load_has_failed_for_all_that_wait(leg: LegHistory) -> Iterator[Finding]:
    """Each waiting call fails or is repeated, and no later call gets the failure."""
    asked = leg.once(failures_asked)
    for load in failed_loads(leg):
        for call in load.given_later:
            if call.at > load.ended_at and is_told(leg, call):
                text = f"call {call.number} of {call.value!r} has the failure of load {load.number}"
                yield f"{text}, which was over", call.at
        for call in load.waiting:
            item = item_of(leg, call)
            if item is None or call.is_stale or not waits(call, load.ended_at):
                continue
            yield lost_failure(leg, item, call, "load", asked)


@leg_check("CACHE-5")
def results_are_given_while_they_are_good(leg: LegHistory) -> Iterator[Finding]:
    """No hit gets results that are no longer good, and no load begins while good results exist."""
    for load, call in hits(leg):
        if load.results:
            until = good_until(leg, load)
            if call.at >= until + ROUNDING:
                text = f"call {call.number} of {call.value!r} was given results of load"
                yield f"{text} {load.number}, good until {until:g}", call.at
            yield None
    if has_room_for_all(leg):
        yield from _needless(leg, has_results=True)
    for load in leg.loads:
        kept = () if load.is_background else met(leg, load.calls[0])
        if any(each.results and load.at >= good_until(leg, each) for each in kept):
            yield None


def _needless(leg: LegHistory, *, has_results: bool) -> Iterator[Finding]:
    """Find a load that began though the cache had a good entry: results, or an empty one."""
    for load in leg.loads:
        kept = met(leg, load.calls[0])
        if load.is_null or load.is_background or not kept:
            continue
        if all(bool(each.results) is has_results and are_good(leg, each, load.at) for each in kept):
            text = f"load {load.number} of {load.value!r} began, and what load"
            until = good_until(leg, kept[0])
            yield f"{text} {kept[0].number} gave was good until {until:g}", load.at


@leg_check("CACHE-6")
def the_least_recently_used_goes(leg: LegHistory) -> Iterator[Finding]:
    """If not all keys fit, hits get results that are kept, and no kept key is loaded."""
    if leg.scenario.cache is None or has_room_for_all(leg):
        return
    for load, call in hits(leg):
        known = leg.kept.known.get(call.number)
        if known is None or not load.results or not are_good(leg, load, call.at):
            continue
        if load.number not in known:
            text = f"call {call.number} of {call.value!r} was given results of load {load.number}"
            yield f"{text}, which had to go", call.at
        yield None
    yield from _needless(leg, has_results=True)
    for load in leg.loads:
        gone = leg.kept.known.get(load.calls[0].number) == frozenset({None})
        before = [each for each in _of_its_key(leg, load) if each.ended_seq < load.seq]
        if gone and any(each.results and are_good(leg, each, load.at) for each in before):
            yield None


@leg_check("CACHE-7")
def an_empty_result_has_its_own_time(leg: LegHistory) -> Iterator[Finding]:
    """No hit gets an empty result that is not kept or has expired, and no load begins before."""
    if leg.scenario.cache is None:
        return
    for load, call in hits(leg):
        if load.results == ():
            until = good_until(leg, load)
            if leg.scenario.cache.missing_ttl is None or call.at >= until + ROUNDING:
                text = f"call {call.number} of {call.value!r} was given the empty result of load"
                yield f"{text} {load.number}, good until {until:g}", call.at
            yield None
    if leg.scenario.cache.missing_ttl is not None:
        yield from _needless(leg, has_results=False)
        return
    yield from holds(
        load.results == () and any(each.at > load.ended_at for each in _of_its_key(leg, load))
        for load in leg.loads
    )


def _of_its_key(leg: LegHistory, load: Load) -> Sequence[Load]:
    """Return the loads of the same key; empty if the key is null."""
    return loads_of_keys(leg).get(load.identity, ())


@leg_check("CACHE-8")
def what_will_be_old_is_loaded_ahead_once(leg: LegHistory) -> Iterator[Finding]:
    """The first hit that is due begins a load if there is room; the end waits for no load."""
    if leg.scenario.cache is None or leg.scenario.cache.refresh_ahead is None:
        return
    ahead: dict[int, Load] = {}
    for load in leg.loads:
        if not load.is_background:
            continue
        of = triggers(leg, load)
        if not of:
            yield f"load {load.number} of {load.value!r} began ahead of time", load.at
        if _run_before(leg, load) >= leg.capacity:
            yield f"load {load.number} of {load.value!r} began where no more may", load.at
        if of[0].number in ahead:
            text = f"load {load.number} of {load.value!r} began for what load {of[0].number} gave"
            yield f"{text}, as load {ahead[of[0].number].number} did", load.at
        ahead[of[0].number] = load
        yield _holds_up(leg, load)
    yield from _not_ahead(leg, ahead)


def _run_before(leg: LegHistory, ahead: Load) -> int:
    hit = trigger(leg, ahead)
    begun = (
        (trigger(leg, each) if each.is_background else each.calls[0].seq, each)
        for each in leg.loads
        if each.seq < ahead.seq
    )
    return sum(seq < hit and each.ended_at > ahead.at for seq, each in begun)


def _holds_up(leg: LegHistory, load: Load) -> Finding:
    stray = first_stray(leg, load.results or (), after=load.ended_seq)
    if stray is not None and stray.at == load.ended_at:
        return f"{stray.element} came out: a hit has waited for load {load.number}", stray.at
    over = (rest for rest in leg.rests if rest.waiting and rest.input_is_over and not rest.present)
    for rest in over:
        if not rest.failed and load.seq <= rest.seq and load.ended_at > rest.at:
            return f"the stream goes on for load {load.number} of {load.value!r}", rest.at
    if leg.ran_to_its_end and min(load.ended_at, load.cancelled_at) > leg.end_at:
        return f"load {load.number} of {load.value!r} was not cancelled at the end", leg.end_at
    return None


def _not_ahead(leg: LegHistory, ahead: Mapping[int, Load]) -> Iterator[Finding]:
    """Find a hit that was due although no load began or ran; the last instant is left out."""
    planned = leg.scenario.cache
    assert planned is not None
    for load, call in hits(leg):
        is_due = planned.refresh_from(load.at) + ROUNDING <= call.at < leg.end_at
        if not (load.results and is_due and are_good(leg, load, call.at)):
            continue
        if sum(each.at <= call.at <= each.ended_at for each in leg.loads) >= leg.capacity:
            continue  # The operator may run no more loads.
        begun = ahead.get(load.number)
        if begun is None or begun.at > call.at:
            text = f"call {call.number} of {call.value!r} was given what load {load.number} gave"
            yield f"{text}, and no load began ahead of time", call.at


@leg_check("CACHE-9")
def old_results_stand_in_for_a_failure(leg: LegHistory) -> Iterator[Finding]:
    """Stale results go to exactly the calls whose load failed."""
    asked = leg.once(failures_asked)
    for load in failed_loads(leg):
        for call in load.waiting:
            item = item_of(leg, call)
            if item is None or not call.is_stale or not waits(call, load.ended_at):
                continue
            yield _not_spared(leg, item, call, is_asked=item in asked)
        if any(call.is_stale for call in load.waiting) or not load.waiting:
            continue
        too_old, planned = _too_old(leg, load), leg.scenario.cache
        if too_old is not None or (planned is not None and planned.stale_if_error is not None):
            yield too_old


def _too_old(leg: LegHistory, load: Load) -> Finding:
    """Report old results that came out after a load had failed, although they were too old."""
    old = _last_before(leg, load)
    stray = None if old is None else first_stray(leg, old.results or (), after=load.ended_seq)
    if stray is None or stray.at != load.ended_at:
        return None
    return f"{stray.element} came out when load {load.number} failed, and was too old", stray.at


def _not_spared(leg: LegHistory, item: Item, call: Call, *, is_asked: bool) -> Finding:
    """Report a record that did not get the stale results although they existed."""
    text = f"there are old results for {item} when its load fails"
    again = [each for each in leg.extra_calls if each.record == call.record and each.seq > call.seq]
    if again:
        return f"{text}, and it was called again", again[0].at
    if is_asked and not item.failure:
        return f"{text}, and the failure handler was asked", call.ended_at
    if leg.ending.how == "failed" and leg.named == frozenset({item}) and not item.wrong:
        return f"{text}, and it failed the operator", leg.end_at
    if leg.ran_to_its_end and item.last is call and item.given < len(item.results or ()):
        return f"{text}, and they never came out", leg.end_at
    return None


def _last_before(leg: LegHistory, load: Load) -> Load | None:
    """Return the load that gave the last results of the same key before `load` ended."""
    same = _of_its_key(leg, load)
    given = [each for each in same if each.results and each.ended_seq < load.ended_seq]
    return max(given, key=lambda each: each.ended_seq, default=None)


@leg_check("CACHE-10")
def an_operator_begins_with_nothing_kept(leg: LegHistory) -> Iterator[Finding]:
    """Each call belongs to a load of its leg."""
    if leg.scenario.cache is None:
        return
    for call in leg.calls:
        is_from_nowhere = call.batch is None and not is_of_another_type(leg, call)
        if is_from_nowhere and is_told(leg, call):
            text = f"call {call.number} of {call.value!r} was given what no load had given"
            yield f"{text} since the operator was opened", call.at
    yield from holds(loads_of_keys(leg))


@leg_check("CACHE-11")
def the_figures_tell_what_became_of_each_call(leg: LegHistory) -> Iterator[Finding]:
    """At each reading, calls are hits, shared, loads, stale or without a key."""
    if leg.scenario.cache is None:
        return
    for figures in figures_read(leg):
        total = sum(getattr(figures, name) for name in _CALLS)
        if total != figures.calls:
            yield f"{' + '.join(_CALLS)} is {total}, and calls {figures.calls}", figures.at
    yield from figures_hold(leg, *_CALLS, *_OTHERS)


_CALLS = ("hits", "shared", "loads", "stale", "null_keys")
_OTHERS = ("refreshes", "evictions")
