"""Beam: `RequestResponseIO` on the direct runner, whose requests are numbers.

asyncwait verify beam_request_response:backend
"""

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import apache_beam as beam
from apache_beam.io.requestresponse import Caller, NoOpsRepeater, RequestResponseIO
from elsewhere import elsewhere

from asyncwait.conformance import StreamBackend
CALLS, OUTPUT = {}, {}

class Calling(Caller[int, int]):
    """Calls for a number."""
    def __init__(self, key): self.key = key
    def __enter__(self): return self
    def __exit__(self, *_): return None
    def __call__(self, number, *_, **__):
        CALLS[self.key](number).result()
        return number


def mapped(count: int, call: Callable[[int], Future[Any]], capacity: int) -> Iterator[int]:
    key = id(call)
    done = []
    CALLS[key] = call
    OUTPUT[key] = done.append
    with beam.Pipeline(runner="apache_beam.runners.portability.fn_api_runner.FnApiRunner") as p:
        p | beam.Create(list(range(count)), reshuffle=False) | RequestResponseIO(Calling(key), repeater=NoOpsRepeater()) | beam.Map(lambda n: OUTPUT[key](n))
    yield from done

def backend() -> StreamBackend:
    return elsewhere(mapped, "unordered")
