"""What is said where Flink can't be run."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from asyncwait.backends.flink import FlinkUnavailable
from asyncwait.backends.flink._jvm import find_jar
from asyncwait.spec import MissingExtra


def test_a_jar_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, with the variable that names it."""
    monkeypatch.setenv("FLINK_DIST_JAR", "/nowhere/flink-dist-2.3.0.jar")
    with pytest.raises(FlinkUnavailable) as raised:
        find_jar()
    assert str(raised.value) == "FLINK_DIST_JAR names no file: /nowhere/flink-dist-2.3.0.jar"


@pytest.mark.parametrize("release", ["1.20.1", "2.2.0"])
def test_a_jar_of_another_release(
    release: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It tells itself."""
    jar = tmp_path / f"flink-dist-{release}.jar"
    jar.touch()
    monkeypatch.setenv("FLINK_DIST_JAR", str(jar))
    with pytest.raises(FlinkUnavailable) as raised:
        find_jar()
    assert str(raised.value) == (
        f"flink-dist-{release}.jar is Flink {release}, and this backend knows 2.3.0; "
        "unset FLINK_DIST_JAR, or have it name that release"
    )


def test_an_extra_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named."""
    monkeypatch.delenv("FLINK_DIST_JAR", raising=False)
    none: Any = lambda _: None  # noqa: E731 - what finds no package
    monkeypatch.setattr(importlib.util, "find_spec", none)
    with pytest.raises(MissingExtra, match=r"try: pip install 'asyncwait\[flink\]'"):
        find_jar()
