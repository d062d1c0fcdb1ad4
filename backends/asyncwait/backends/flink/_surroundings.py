"""A task of Flink without a cluster, as its operator sees it: Python behind Java interfaces.

Methods that the operator does not call return nothing.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from asyncwait.backends.flink._jvm import flink, java

_NOTHING = {"boolean": False, "int": 0, "long": 0}
_ID = (42, 4711)
"""Id of the only operator."""

_CHECKPOINT = 1


def proxy(interface: str, methods: dict[str, Callable[..., Any]]) -> Any:
    """Return an object of a Java interface."""
    from jpype import JProxy

    return JProxy(flink(interface), dict={**_silent_methods(interface), **methods})


@cache
def _silent_methods(interface: str) -> dict[str, Callable[..., Any]]:
    """Return methods of an interface that do nothing; cached, because reflection is slow."""
    silent = {}
    for method in flink(interface).class_.getMethods():
        nothing = _NOTHING.get(str(method.getReturnType().getName()))
        silent[str(method.getName())] = lambda *_, nothing=nothing: nothing
    return silent


@cache
def operator_id() -> Any:
    """Return the id of the operator."""
    return flink("runtime.jobgraph.OperatorID")(*_ID)


@cache
def stream_config(*, has_keys: bool = False) -> Any:
    """Return the configuration of the operator in its graph."""
    empty = java("java.util.Collections").emptyList()
    config = flink("streaming.api.graph.StreamConfig")(flink("configuration.Configuration")())
    config.setOperatorID(operator_id())
    config.setOperatorName("async wait operator")
    config.setupNetworkInputs([strings()])
    if has_keys:
        config.setStateKeySerializer(strings())
    config.setVertexID(java("java.lang.Integer").valueOf(0))
    config.setNumberOfOutputs(0)
    config.setVertexNonChainedOutputs(empty)
    config.setOperatorNonChainedOutputs(empty)
    config.serializeAllConfigs()
    return config


@cache
def strings() -> Any:
    """Return Flink's serializer of strings, because values and keys travel as tokens."""
    return flink("api.common.typeutils.base.StringSerializer").INSTANCE


def environment(state: Any, on_failure: Callable[[Any], object]) -> Any:
    """Return the environment of one operator.

    Args:
        state: the snapshot to restore from, in Flink's form; None for none.
        on_failure: called with the error with which the operator fails.
    """
    own = _giving({"getTaskStateManager": _states(state)})
    methods = {**_shared(), **own, "failExternally": on_failure}
    return proxy("runtime.execution.Environment", methods)


@cache
def _shared() -> dict[str, Callable[..., Any]]:
    """Return the methods that are the same for all operators; no operator changes them."""
    from jpype import JArray, JString

    config = flink("configuration.Configuration")()
    job, vertex = flink("api.common.JobID")(), flink("runtime.jobgraph.JobVertexID")(*_ID)
    metrics = flink("runtime.metrics.groups.UnregisteredMetricGroups")
    queryable = flink("runtime.query.KvStateRegistry")()
    attempt = flink("runtime.executiongraph.ExecutionAttemptID").randomId()
    loader = java("java.lang.ClassLoader").getSystemClassLoader()
    writer = "runtime.io.network.api.writer.ResultPartitionWriter"
    gate = "runtime.io.network.partition.consumer.IndexedInputGate"
    manager = {"getConfiguration": config, "getTmpDirectories": JArray(JString)(["."])}
    things = {
        "getExecutionConfig": flink("api.common.ExecutionConfig")(),
        "getJobID": job,
        "getExecutionId": attempt,
        "getTaskConfiguration": stream_config().getConfiguration(),
        "getJobConfiguration": config,
        "getTaskManagerInfo": proxy("runtime.taskmanager.TaskManagerRuntimeInfo", _giving(manager)),
        "getMetricGroup": metrics.createUnregisteredTaskMetricGroup(),
        "getJobInfo": flink("api.common.JobInfoImpl")(job, "asyncwait"),
        "getTaskInfo": flink("api.common.TaskInfoImpl")("asyncwait", 1, 0, 1, 0),
        "getUserCodeClassLoader": flink("util.SimpleUserCodeClassLoader").create(loader),
        "getAllWriters": JArray(flink(writer))(0),
        "getAllInputGates": JArray(flink(gate))(0),
        "getDistributedCacheEntries": java("java.util.Collections").emptyMap(),
        "getAccumulatorRegistry": flink("runtime.accumulators.AccumulatorRegistry")(job, attempt),
        "getTaskKvStateRegistry": queryable.createTaskRegistry(job, vertex),
    }
    return _giving(things)


def _giving(things: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    return {name: lambda *_, thing=thing: thing for name, thing in things.items()}


def _states(state: Any) -> Any:
    optional, number = java("java.util.Optional"), java("java.lang.Long").valueOf(_CHECKPOINT)
    prioritized = "runtime.checkpoint.PrioritizedOperatorSubtaskState"
    if state is None:
        restored, checkpoint = flink(prioritized).emptyNotRestored(), optional.empty()
    else:
        empty = java("java.util.Collections").emptyList()
        restored = flink(f"{prioritized}$Builder")(state, empty, number).build()
        checkpoint = optional.of(number)
    local = flink("runtime.state.LocalRecoveryConfig").BACKUP_AND_RECOVERY_DISABLED
    given = {
        "createLocalRecoveryConfig": local,
        "prioritizedOperatorState": restored,
        "getRestoreCheckpointId": checkpoint,
        "getSubtaskJobManagerRestoredState": optional.empty(),
    }
    return proxy("runtime.state.TaskStateManager", _giving(given))
