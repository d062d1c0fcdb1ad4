"""The embedded Spark: it starts on any machine, says nothing, and leaves nothing behind."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from asyncwait.backends.spark import EmbeddedSpark, SparkNotStarted, embedded_spark
from asyncwait.backends.spark import _session as session_module
from asyncwait.backends.spark._session import require_workers, worker_environment
from asyncwait.spec import InvalidConfig, MissingExtra

pytestmark = pytest.mark.timeout(300)  # the first test pays for the start of a JVM

# Run by a fresh interpreter on a machine without any program: see the test that uses it.
WHOLE_LIFE = """
import os, signal, sys
from pathlib import Path
from asyncwait.backends.spark import embedded_spark

before = dict(os.environ), list(sys.path), signal.getsignal(signal.SIGINT)
embedded = embedded_spark()
folder = embedded._jvm.log.parent
assert embedded.session.range(3).mapInArrow(lambda batches: batches, "id long").count() == 3
pid = embedded._jvm.process.pid
embedded.stop()
embedded.stop()
assert before == (dict(os.environ), list(sys.path), signal.getsignal(signal.SIGINT))
assert not folder.exists()
assert not Path(f"/proc/{pid}").exists()
"""


def test_workers_run_this_interpreter_and_are_used_again(spark: EmbeddedSpark) -> None:
    def told(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"python": [sys.executable], "pid": [os.getpid()]})

    rows = spark.session.range(0, 16, 1, 16).mapInArrow(told, "python string, pid long").toArrow()
    assert set(rows["python"].to_pylist()) == {sys.executable}
    assert len(set(rows["pid"].to_pylist())) <= 4  # other tests may have left two more


def test_one_per_process(spark: EmbeddedSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    assert embedded_spark() is spark
    with pytest.raises(SparkNotStarted, match=r"local\[2\], not local\[4\]"):
        embedded_spark("local[4]")
    monkeypatch.setattr(session_module, "_running", None)
    with pytest.raises(SparkNotStarted, match="has a Spark session"):
        embedded_spark()


def test_whole_life_on_a_bare_machine(tmp_path: Path) -> None:
    short_folder = Path(tempfile.mkdtemp(dir="/tmp"))
    environment = {
        "PATH": str(tmp_path),
        "TMPDIR": str(short_folder),
        "SPARK_HOME": "/nowhere",
        "SPARK_CONF_DIR": "/nowhere",
        "PYSPARK_SUBMIT_ARGS": "--master yarn pyspark-shell",
        "PYSPARK_PYTHON": "/nowhere/python",
    }
    command = [sys.executable, "-W", "error", "-c", WHOLE_LIFE]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []
    short_folder.rmdir()  # which fails if anything is left in it


@pytest.mark.parametrize(
    ("version", "needs"), [(None, "pyspark"), ("3.5.7", "pyspark 4.1 or newer")]
)
def test_without_pyspark_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, version: str | None, needs: str
) -> None:
    monkeypatch.setattr(session_module, "_running", None)
    if version is None:
        monkeypatch.setitem(sys.modules, "pyspark", None)
    else:
        monkeypatch.setattr("pyspark.__version__", version)
    with pytest.raises(MissingExtra) as raised:
        embedded_spark()
    assert (raised.value.needs, raised.value.extra) == (needs, "spark")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo cannot reserve memory >&2; exit 1", "cannot reserve memory"),
        (
            r"""case "$*" in *Main*) printf '\0\n%s\0' "$0";; *) echo no room >&2; exit 3; esac""",
            r"exit code 3:\n  \| no room",
        ),
    ],
)
def test_java_that_gives_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, message: str
) -> None:
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    answer = 'if [ "$1" = -version ]; then echo \'openjdk version "21"\' >&2; exit; fi'
    java.write_text(f"#!/bin/sh\n{answer}\n{script}\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(session_module, "_running", None)
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    with pytest.raises(SparkNotStarted, match=f"(?s){message}"):
        embedded_spark()
    assert list((tmp_path / "t").iterdir()) == []


def test_workers_see_what_the_driver_sees(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path, str(tmp_path)])
    passed = worker_environment()["PYTHONPATH"].split(os.pathsep)
    assert passed[:2] == [str(Path.cwd()), str(tmp_path)]
    assert len(set(passed)) == len(passed)
    assert not any(path.endswith(("site-packages", "lib-dynload", ".zip")) for path in passed)


@pytest.mark.parametrize(
    ("master", "python", "is_refused"),
    [
        ("local[2]", sys.executable, False),
        ("local[2]", "/nowhere/python", True),
        ("spark://host:7077", "/nowhere/python", False),
    ],
    ids=["this one", "none", "of other machines"],
)
def test_workers_without_pyarrow_are_told_of_before_a_task_runs(
    master: str,
    python: str,
    is_refused: bool,  # noqa: FBT001 - pytest hands it over by name
) -> None:
    session = SimpleNamespace(sparkContext=SimpleNamespace(master=master, pythonExec=python))
    way_out = r"/nowhere/python, which has no pyarrow; .* os.environ\['PYSPARK_PYTHON'\] ="
    with pytest.raises(InvalidConfig, match=way_out) if is_refused else nullcontext():
        require_workers(session)
