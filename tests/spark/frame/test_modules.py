"""Modules that workers on other machines may lack, and functions that travel by value."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from pyspark import cloudpickle

from asyncwait.backends.journal import version_of
from asyncwait.backends.spark.frame._plan import missing_modules, warn_of_missing


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "beside_it.py").write_text("import json\n\n\ndef f(value):\n    return value\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import beside_it  # type: ignore[import-not-found]

    yield beside_it
    del sys.modules["beside_it"]


def test_modules_that_only_this_machine_has_are_named(beside: Any) -> None:
    everywhere = [anyio.sleep, pytest.raises, Path, lambda value: anyio, missing_modules]
    assert missing_modules(everywhere) == set()
    assert missing_modules(beside.f) == {"beside_it"} == missing_modules([lambda: beside.f(1)])

    context = SimpleNamespace(master="spark://host:7077", listFiles=[], listArchives=[])
    session = SimpleNamespace(sparkContext=context)
    with pytest.warns(RuntimeWarning, match=r"modules of fn: beside_it; send each by addPyFile"):
        warn_of_missing(session, beside.f)
    context.listFiles = ["spark://host:1/files/beside_it.py"]
    warn_of_missing(session, beside.f)
    cloudpickle.register_pickle_by_value(beside)
    try:
        assert missing_modules(beside.f) == set()
    finally:
        cloudpickle.unregister_pickle_by_value(beside)


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
