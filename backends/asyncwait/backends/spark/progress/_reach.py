"""Where the workers of a session can reach this process."""

import socket
import sys
from typing import Any

from msgspec import Struct

from asyncwait.spec import InvalidConfig

LOOPBACK = "127.0.0.1"


class Reach(Struct, frozen=True):
    """How to be reached.

    Args:
        bind: address to listen at.
        host: how workers call it.
        is_certain: workers get there; Spark itself relies on it.
    """

    bind: str = LOOPBACK
    host: str = LOOPBACK
    is_certain: bool = True


def reach_of(session: Any) -> Reach:
    """Return where the workers of a session can reach this process.

    Args:
        session: of Spark; None for the one that is active, or none at all.

    Raises:
        InvalidConfig: it is no session.
    """
    if session is None:
        return _of_the_active_session()
    if type(session).__module__.startswith("pyspark.sql.connect"):
        return _on_the_way_to(session)
    if not hasattr(session, "sparkContext"):
        expected = "a SparkSession, or None for the active one"
        raise InvalidConfig.of("session", session, expected)
    return _as_spark_has_it(session.sparkContext)


def _of_the_active_session() -> Reach:
    """Return it without importing what nobody has imported: there is no session then."""
    if (spark := sys.modules.get("pyspark")) is not None:
        context = getattr(getattr(spark, "SparkContext", None), "_active_spark_context", None)
        if context is not None:
            return _as_spark_has_it(context)
    if (connect := sys.modules.get("pyspark.sql.connect.session")) is not None:
        session = connect.SparkSession.getActiveSession()
        if session is not None:
            return _on_the_way_to(session)
    return Reach()


def _as_spark_has_it(context: Any) -> Reach:
    """Return what executors use for the driver; those of a local master are in this machine."""
    if context.master.startswith("local"):
        return Reach()
    conf = context.getConf()
    host = conf.get("spark.driver.host", LOOPBACK)
    bind = conf.get("spark.driver.bindAddress", host)
    return Reach(bind.strip("[]"), host.strip("[]"))  # Spark writes IPv6 as URLs have it


def _on_the_way_to(session: Any) -> Reach:
    """Return the address with which this machine calls the server; workers may be elsewhere."""
    try:
        server = session.client.host
        family, *_, where = socket.getaddrinfo(server, 15002, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:  # sends nothing
            probe.connect(where)
            address = probe.getsockname()[0]
    except (AttributeError, OSError):
        address = LOOPBACK
    return Reach(address, address, is_certain=False)
