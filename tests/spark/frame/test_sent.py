"""Versions of functions that were pickled by value, as Spark sends those of the program itself."""

import sys
from pickle import PicklingError
from typing import Any

from drawn_functions import drawn, loaded, results
from pyspark import cloudpickle

from asyncwait.backends.journal import version_of


def sent(seed: int) -> Any:
    fn = loaded(drawn(seed))
    for name in ("drawn_inner", "drawn_outer"):
        cloudpickle.register_pickle_by_value(sys.modules[name])
    return cloudpickle.loads(cloudpickle.dumps(fn))


CHANGED = ("@dataclasses", "Proxy", "enum.Enum", "pydantic.", "__reduce", "__getstate", "__getnew")
"""Kinds of which a pickle makes something else, whatever the results say."""


def test_a_function_that_was_pickled_has_its_version() -> None:
    told = 0
    for seed in range(200):
        program = drawn(seed)
        if any(each in program.inner + program.outer + repr(program.given) for each in CHANGED):
            continue
        try:
            is_whole = results(sent(seed)) == results(loaded(program))
        except (TypeError, PicklingError):  # such as a lock, which no pickle takes
            continue
        if is_whole:
            assert version_of(sent(seed)) == version_of(loaded(program)), seed
            told += 1
    assert told > 80
