"""What is said where PyFlink can't be run."""

import importlib.metadata
from typing import Any

import pytest

from asyncwait.backends.pyflink import PyFlinkUnavailable, _load
from asyncwait.backends.pyflink._load import require_pyflink
from asyncwait.spec import MissingExtra


def test_an_extra_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> Any:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(_load, "version", none)
    with pytest.raises(MissingExtra, match=r"^apache-flink .*'asyncwait\[pyflink\]'"):
        require_pyflink()


def test_another_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_load, "version", lambda _: "2.2.0")
    with pytest.raises(PyFlinkUnavailable, match=r"2\.2\.0 .* 2\.3\.0; .*apache-flink==2\.3\.0"):
        require_pyflink()
