"""Versions of functions that were pickled by value, as Spark sends those of the program itself."""

import importlib
import sys
from pathlib import Path

import pytest
from pyspark import cloudpickle

from asyncwait.backends.journal import version_of

TEXT = """
import functools
import sent_settings
LIMITS = {"a": [1, 2.0], "b": {"c", "d"}}
class Base:
    def __init__(self, held=1): self.held = held
    def at(self, x): return LIMITS, self.held, sent_settings.model
def around(fn):
    @functools.wraps(fn)
    def inner(x): return fn(x), Base(2).at(x)
    return inner
@around
def fn(x, *, d=(1, None)): return [Base().at(x), d]
"""


def test_a_function_that_was_pickled_has_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sent_settings.py").write_text("model = 'one'")
    (tmp_path / "sent_here.py").write_text(TEXT)
    module = importlib.import_module("sent_here")
    before = version_of(module.fn)
    cloudpickle.register_pickle_by_value(module)
    sent = cloudpickle.loads(cloudpickle.dumps(module.fn))

    assert sent is not module.fn
    assert version_of(sent) == before
    for name in ("sent_here", "sent_settings"):
        del sys.modules[name]
