"""Triggers of a carried stream that never reach its end."""

from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQueryListener

from asyncwait.backends.spark.carry._drain import DRAINING
from asyncwait.backends.spark.carry._packing import TRIGGER

_REFUSED = {"OneTimeTrigger": "once=True", "AvailableNowTrigger": "availableNow=True"}
"""Names of Spark's triggers that carried streams do not support."""


class _Triggers(StreamingQueryListener):  # type: ignore[misc]
    """A listener that shows tasks the trigger of their query, if carried streams refuse it."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def onQueryStarted(self, event: Any) -> None:
        """Set the trigger before the first task begins: Spark waits for this method."""
        found = self._session._jsparkSession.streams().get(str(event.id))  # noqa: SLF001
        query = found and found.streamingQuery()
        name = query and _REFUSED.get(query.trigger().toString())
        if name and query.resolvedCheckpointRoot() not in DRAINING:
            query.sparkSessionForStream().conf().set(TRIGGER, name)

    def onQueryProgress(self, event: Any) -> None:
        """Do nothing."""

    def onQueryIdle(self, event: Any) -> None:
        """Do nothing."""

    def onQueryTerminated(self, event: Any) -> None:
        """Do nothing."""


def watch_triggers(session: SparkSession) -> None:
    """Let the queries of a session refuse triggers that carried streams do not support."""
    is_remote = not hasattr(session, "_jsparkSession")
    if not is_remote and not hasattr(session, "_asyncwait_triggers"):
        listener = _Triggers(session)
        session.streams.addListener(listener)
        session._asyncwait_triggers = listener  # noqa: SLF001
