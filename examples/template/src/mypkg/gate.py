"""What `asyncwait verify mypkg.gate:backend` judges: how to open the operator, and what it has."""

from asyncwait.conformance import StreamBackend, stream_backend

from mypkg.window import open_operator


def backend() -> StreamBackend:
    """Declare a profile as soon as the operator has it: `asyncwait rules --backend` lists them."""
    return stream_backend(open_operator, profiles=["ordered"])
