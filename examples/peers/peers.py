"""Rows of the matrix: our operators, Flink's, and peers with the promises that they document."""

import re
import shlex
from collections.abc import Mapping
from functools import partial

from msgspec import Struct

EVERY = "The function is called for each element, and each of its results comes out"
AT_ONCE = "No more calls run at once than it is told"


class Peer(Struct, frozen=True, kw_only=True):
    """A peer, as this folder adapts it.

    Args:
        title: what it is called on the page.
        backend: module and factory, as a verification takes it.
        package: whose version is told; "Python" or "Node" where it comes with that.
        promises: what it says of itself, in our words, and the rules in which that would show.
            EVERY and AT_ONCE are promised by all of them.
        otherwise: what it says or shows that it does, and that a rule has otherwise.
        outside: promised rules that are broken all the same, each with where: the promise does
            not reach so far. Whoever adds one has looked at the failures.
        varies: why the same scenario may show something else the next time; empty if it doesn't.
        group: under which it stands in the matrix.
        needs: a distribution that has to be there besides.
        more: a page of the docs on it, for an operator that we ship.
    """

    title: str
    backend: str
    package: str
    promises: Mapping[str, tuple[str, ...]]
    otherwise: tuple[str, ...] = ()
    outside: Mapping[str, str] = {}
    varies: str = ""
    group: str = "Python"
    needs: str = ""
    more: str = ""

    @property
    def name(self) -> str:
        """Return what its page is called."""
        words = self.backend.removeprefix("exec:node ").replace(".js", "").lower()
        return re.sub("[^a-z0-9]", "-", words).removesuffix("-backend")

    @property
    def is_program(self) -> bool:
        """Whether it speaks JSON lines."""
        return self.backend.startswith("exec:")

    @property
    def is_replayed(self) -> bool:
        """Whether whoever builds the site has what plays it."""
        return self.group == "Python" and not self.needs

    @property
    def command(self) -> str:
        """Return what `asyncwait play` and a shell call it."""
        return shlex.quote(self.backend)

    @property
    def adapter(self) -> str:
        """Return the file that adapts it, from this folder; empty for what needs none."""
        if self.is_program:
            return f"javascript/{self.backend.split()[1]}"
        module, colon, _ = self.backend.partition(":")
        return f"{module}.py" if colon else ""

    @property
    def promised(self) -> frozenset[str]:
        """Return the rules that it would break its own word with."""
        rules = frozenset(rule for rules in self.promises.values() for rule in rules)
        return rules - self.outside.keys()


FOR_ALL = {EVERY: ("ELEM-3", "ELEM-4", "ORD-5"), AT_ONCE: ("CAP-2",)}
IN_ORDER = {"Results come in the order of the input": ("ORD-1",)}
AS_COMPLETED = {"Results come as soon as they are there": ("ORD-3",)}
GIVEN_UP = "only where a wait for a result was given up, of which it says nothing"
_UNHURRIED = "only where a call went on behind its time, which `fail_after` waits for"
BLOCKED = "only where the loop was blocked while a timer was due"
_SCOPED = "only where two tasks enter and leave a cancel scope round the yields of the source"
_ALL_READ = "only where the input has not ended, and it promises this of what it was given"
_ALL_BEFORE = "It takes all awaitables at once, so all of the input is read before."

PEERS = (
    Peer(
        title="aiostream, `map`",
        backend="aiostream_map:ordered",
        package="aiostream",
        promises=FOR_ALL | IN_ORDER,
        otherwise=("Its generators are closed one behind the other when their context is left.",),
    ),
    Peer(
        title="aiostream, `map(ordered=False)`",
        backend="aiostream_map:unordered",
        package="aiostream",
        promises=FOR_ALL | AS_COMPLETED,
        otherwise=("Its generators are closed one behind the other when their context is left.",),
        outside={"ORD-3": _SCOPED},
    ),
    Peer(
        title="aiometer, `amap`",
        backend="aiometer_amap:backend",
        package="aiometer",
        promises=FOR_ALL | AS_COMPLETED,
        otherwise=("It takes a sequence, so all of the input is read before the first call.",),
        outside={"ORD-3": GIVEN_UP},
    ),
    Peer(
        title="anyio, workers between memory object streams",
        backend="anyio_workers:backend",
        package="anyio",
        promises=FOR_ALL | AS_COMPLETED,
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
        promises=FOR_ALL | AS_COMPLETED,
        otherwise=(
            "A subscriber can't slow a source down: there is no back-pressure.",
            "To dispose of a subscription is to ask for no more; nothing is waited for.",
            "`timeout` counts from the subscription, and looks when the loop comes to it.",
        ),
        outside={
            "CAP-2": BLOCKED,
            "ELEM-3": BLOCKED,
            "ELEM-4": BLOCKED,
            "ORD-3": BLOCKED,
            "ORD-5": GIVEN_UP,
        },
    ),
    Peer(
        title="asyncio, `as_completed` and a semaphore",
        backend="asyncio_as_completed:backend",
        package="Python",
        promises=FOR_ALL
        | {"Results and errors come as soon as they are there": ("ORD-3", "FAIL-2")},
        otherwise=(_ALL_BEFORE,),
        varies="It keeps tasks in a set: what is ready in one instant comes in any order.",
        outside={"ORD-3": _ALL_READ, "FAIL-2": _ALL_READ, "ORD-5": GIVEN_UP},
    ),
    Peer(
        title="asyncio, a sliding window of tasks",
        backend="asyncio_window:backend",
        package="Python",
        promises=FOR_ALL | IN_ORDER,
        otherwise=("It is no library: nobody promises anything but what stands in its 12 lines.",),
        outside={"ORD-5": GIVEN_UP},
    ),
    Peer(
        title="asyncio, `gather` and a semaphore",
        backend="asyncio_gather:gathering",
        package="Python",
        promises=FOR_ALL | IN_ORDER,
        otherwise=(_ALL_BEFORE, "Nothing comes out before everything is there."),
        outside={"ORD-5": GIVEN_UP},
    ),
    Peer(
        title="asyncio, `TaskGroup` and a semaphore",
        backend="asyncio_gather:grouping",
        package="Python",
        promises=FOR_ALL | IN_ORDER,
        otherwise=(_ALL_BEFORE, "A task group raises exception groups."),
        outside={"ORD-5": GIVEN_UP},
    ),
    Peer(
        title="aioitertools, `gather(limit)`",
        backend="aioitertools_gather:backend",
        package="aioitertools",
        promises=FOR_ALL | IN_ORDER,
        otherwise=(_ALL_BEFORE, "Nothing comes out before everything is there."),
        outside={"ORD-5": GIVEN_UP},
    ),
    Peer(
        title="streamz, `map_async(parallelism)`",
        backend="streamz_map_async:backend",
        package="streamz",
        promises=FOR_ALL | IN_ORDER,
        otherwise=("An error of a call is logged, and the stream stops or goes on.",),
    ),
)

_ours = partial(Peer, package="asyncwait", promises={}, group="asyncwait")
_flinks = partial(Peer, promises={}, group="Apache Flink")
_in_javascript = partial(Peer, group="JavaScript")

OURS = (
    _ours(title="pool", backend="pool-asyncio", more="pool.md"),
    _ours(title="threads", backend="threads", more="threads.md"),
    _ours(title="reference", backend="reference-asyncio", more="operators.md"),
    _ours(title="emitter", backend="emitter-asyncio", more="emitter.md"),
    _ours(title="Spark, DataFrames", backend="spark", needs="pyspark", more="spark.md"),
    _ours(title="Spark, streams", backend="spark-streaming", needs="pyspark", more="streams.md"),
)

FLINK = (
    _flinks(
        title="`AsyncWaitOperator`",
        backend="flink",
        package="apache-flink-libraries",
        needs="jpype1",
        more="flink-defects.md",
    ),
    _flinks(
        title="`TableKeyedAsyncWaitOperator`",
        backend="flink-keyed",
        package="apache-flink-libraries",
        needs="jpype1",
        more="flink-defects.md",
    ),
    _flinks(
        title="PyFlink, `AsyncDataStream`",
        backend="pyflink",
        package="apache-flink",
        needs="apache-flink",
        more="pyflink-defects.md",
    ),
)

_NO_CANCEL = "A promise can't be cancelled: who leaves waits for calls, or lets them run on."
_ALL_AT_ONCE = "Its results are one promise: nothing comes out before everything is there."
_BLOCKED = dict.fromkeys(("ELEM-3", "ELEM-4", "ORD-3"), BLOCKED)
_PUSHES = "It pushes: nobody who reads slowly slows it down."

JAVASCRIPT = (
    _in_javascript(
        title="RxJS, `mergeMap(concurrent)`",
        backend="exec:node rxjs.js mergeMap",
        package="rxjs",
        promises=FOR_ALL | AS_COMPLETED,
        otherwise=(_PUSHES, "To unsubscribe is to ask for no more; nothing is waited for."),
        outside=_BLOCKED,
    ),
    _in_javascript(
        title="RxJS, `concatMap`",
        backend="exec:node rxjs.js concatMap",
        package="rxjs",
        promises=FOR_ALL | IN_ORDER,
        otherwise=(_PUSHES, "One call runs at a time, whatever the capacity."),
        outside=_BLOCKED,
    ),
    _in_javascript(
        title="p-map, `pMapIterable`",
        backend="exec:node p_map.js pMapIterable",
        package="p-map",
        promises=FOR_ALL | IN_ORDER,
        otherwise=(_NO_CANCEL,),
    ),
    _in_javascript(
        title="p-map, `pMap`",
        backend="exec:node p_map.js pMap",
        package="p-map",
        promises=FOR_ALL | IN_ORDER,
        otherwise=(_ALL_AT_ONCE, _NO_CANCEL),
    ),
    _in_javascript(
        title="p-queue, `add`",
        backend="exec:node p_queue.js",
        package="p-queue",
        promises=FOR_ALL | AS_COMPLETED,
        otherwise=("A queue has no results; whoever adds a task has a promise of each.",),
        outside=_BLOCKED,
    ),
    _in_javascript(
        title="Node, `Readable.map(concurrency)`",
        backend="exec:node node_readable.js",
        package="Node",
        promises=FOR_ALL | IN_ORDER,
        otherwise=("It is experimental.",),
    ),
    _in_javascript(
        title="streaming-iterables, `parallelMap`",
        backend="exec:node streaming_iterables.js parallelMap",
        package="streaming-iterables",
        promises=FOR_ALL | IN_ORDER,
        otherwise=(_NO_CANCEL,),
    ),
    _in_javascript(
        title="streaming-iterables, `transform`",
        backend="exec:node streaming_iterables.js transform",
        package="streaming-iterables",
        promises=FOR_ALL | AS_COMPLETED,
        otherwise=(_NO_CANCEL,),
    ),
    _in_javascript(
        title="Effect, `Stream.mapEffect(concurrency)`",
        backend="exec:node effect.js ordered",
        package="effect",
        promises=FOR_ALL | IN_ORDER,
        otherwise=("To interrupt a fiber is to wait for it.",),
        outside=_BLOCKED,
    ),
    _in_javascript(
        title="Effect, `Stream.mapEffect(unordered)`",
        backend="exec:node effect.js unordered",
        package="effect",
        promises=FOR_ALL | AS_COMPLETED,
        otherwise=("To interrupt a fiber is to wait for it.",),
        outside=_BLOCKED,
    ),
)

ROWS = (*OURS, *FLINK, *PEERS, *JAVASCRIPT)
