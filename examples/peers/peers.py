"""The peers that are measured, and what each promises in its own documentation."""

from collections.abc import Mapping

from msgspec import Struct

EVERY = "The function is called for each element, and each of its results comes out"
AT_ONCE = "No more calls run at once than it is told"


class Peer(Struct, frozen=True, kw_only=True):
    """A peer, as this folder adapts it.

    Args:
        title: what it is called on the page.
        backend: module and factory, as a verification takes it.
        package: whose version is told; "Python" where it comes with that.
        promises: what it says of itself, in our words, and the rules in which that would show.
            EVERY and AT_ONCE are promised by all of them.
        otherwise: what it says or shows that it does, and that a rule has otherwise.
        outside: promised rules that are broken all the same, each with where: the promise does
            not reach so far. Whoever adds one has looked at the failures.
        varies: why the same scenario may show something else the next time; empty if it doesn't.
    """

    title: str
    backend: str
    package: str
    promises: Mapping[str, tuple[str, ...]]
    otherwise: tuple[str, ...] = ()
    outside: Mapping[str, str] = {}
    varies: str = ""

    @property
    def name(self) -> str:
        """Return what its page is called."""
        return self.backend.replace(":", "-").replace("_", "-").removesuffix("-backend")

    @property
    def promised(self) -> frozenset[str]:
        """Return the rules that it would break its own word with."""
        rules = frozenset(rule for rules in self.promises.values() for rule in rules)
        return rules - self.outside.keys()


_ALL = {EVERY: ("ELEM-3", "ELEM-4", "ORD-5"), AT_ONCE: ("CAP-2",)}
_IN_ORDER = {"Results come in the order of the input": ("ORD-1",)}
_AS_COMPLETED = {"Results come as soon as they are there": ("ORD-3",)}
_GIVEN_UP = "only where a wait for a result was given up, of which it says nothing"
_UNHURRIED = "only where a call went on behind its time, which `fail_after` waits for"
_BLOCKED = "only where the loop was blocked while a timer was due"
_SCOPED = "only where two tasks enter and leave a cancel scope round the yields of the source"
_ALL_READ = "only where the input has not ended, and it promises this of what it was given"

PEERS = (
    Peer(
        title="aiostream, `map`",
        backend="aiostream_map:ordered",
        package="aiostream",
        promises=_ALL | _IN_ORDER,
        otherwise=("Its generators are closed one behind the other when their context is left.",),
    ),
    Peer(
        title="aiostream, `map(ordered=False)`",
        backend="aiostream_map:unordered",
        package="aiostream",
        promises=_ALL | _AS_COMPLETED,
        otherwise=("Its generators are closed one behind the other when their context is left.",),
        outside={"ORD-3": _SCOPED},
    ),
    Peer(
        title="aiometer, `amap`",
        backend="aiometer_amap:backend",
        package="aiometer",
        promises=_ALL | _AS_COMPLETED,
        otherwise=("It takes a sequence, so all of the input is read before the first call.",),
        outside={"ORD-3": _GIVEN_UP},
    ),
    Peer(
        title="anyio, workers between memory object streams",
        backend="anyio_workers:backend",
        package="anyio",
        promises=_ALL | _AS_COMPLETED,
        otherwise=(
            "A task group raises exception groups.",
            "When one of its tasks fails, all others and its body are cancelled, in each wait.",
            "`fail_after` waits for what it cancels.",
        ),
        varies="It keeps tasks in a set: they are cancelled in any order.",
        outside={"ELEM-3": _UNHURRIED, "ELEM-4": _UNHURRIED, "ORD-3": _UNHURRIED},
    ),
    Peer(
        title="RxPY, `merge(max_concurrent)`",
        backend="reactivex_merge:backend",
        package="reactivex",
        promises=_ALL | _AS_COMPLETED,
        otherwise=(
            "A subscriber can't slow a source down: there is no back-pressure.",
            "To dispose of a subscription is to ask for no more; nothing is waited for.",
            "`timeout` counts from the subscription, and looks when the loop comes to it.",
        ),
        outside={
            "CAP-2": _BLOCKED,
            "ELEM-3": _BLOCKED,
            "ELEM-4": _BLOCKED,
            "ORD-3": _BLOCKED,
            "ORD-5": _GIVEN_UP,
        },
    ),
    Peer(
        title="asyncio, `as_completed` and a semaphore",
        backend="asyncio_as_completed:backend",
        package="Python",
        promises=_ALL | {"Results and errors come as soon as they are there": ("ORD-3", "FAIL-2")},
        otherwise=("It takes all awaitables at once, so all of the input is read before.",),
        varies="It keeps tasks in a set: what is ready in one instant comes in any order.",
        outside={"ORD-3": _ALL_READ, "FAIL-2": _ALL_READ, "ORD-5": _GIVEN_UP},
    ),
    Peer(
        title="asyncio, a sliding window of tasks",
        backend="asyncio_window:backend",
        package="Python",
        promises=_ALL | _IN_ORDER,
        otherwise=("It is no library: nobody promises anything but what stands in its 12 lines.",),
        outside={"ORD-5": _GIVEN_UP},
    ),
)
