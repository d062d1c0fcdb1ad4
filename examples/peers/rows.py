"""The rows of the matrix: our own operators, Flink's, and the peers in Python and JavaScript."""

from functools import partial

from peers import AS_COMPLETED, BLOCKED, FOR_ALL, IN_ORDER, PEERS, Peer

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
