"""The version of a function: of source text, of installed versions and of the values it binds."""

import asyncio
import importlib
import linecache
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from asyncwait.backends.journal import Journal, _sources, version_of
from asyncwait.spec import InvalidConfig

CASES = Path(__file__).with_name("versions.txt").read_text(encoding="utf-8")
PRELUDE, VALUES, MODULES, REFUSED = re.split(r"^== .*\n", CASES, flags=re.MULTILINE)[1:]
HOLDING = [f"held = [{each}]\ndef fn(x): return held\n" for each in VALUES.splitlines()]
BOUND = [*HOLDING, *MODULES.split("---\n")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "held_values").mkdir()
    (tmp_path / "held_values" / "part.py").write_text("")
    (tmp_path / "held_values" / "__init__.py").write_text("import os\nmodel = os.environ['DRAWN']")
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if name.startswith(("drawn", "held_", "installed_")):
            del sys.modules[name]


def loaded(folder: Path, text: str, *, module: str = "drawn") -> Any:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(text)
    for name in (module, "held_values", "held_values.part"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    linecache.clearcache()
    return getattr(importlib.import_module(module), "fn", None)


@pytest.mark.parametrize("text", BOUND, ids=range(len(BOUND)))
def test_each_value_that_a_function_binds_counts(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = []
    for value in "011":
        monkeypatch.setenv("DRAWN", value)
        versions.append(version_of(loaded(folder, PRELUDE + text)))

    assert versions[0] != versions[1] == versions[2]


@pytest.mark.parametrize("line", REFUSED.splitlines())
def test_what_has_no_digest_is_refused_by_name(line: str, folder: Path) -> None:
    text, reason = line.rsplit(" # ", 1)

    with pytest.raises(InvalidConfig) as raised:
        version_of(loaded(folder, PRELUDE + text))

    assert str(raised.value).startswith("journal: the version of ")
    assert reason in str(raised.value)
    assert str(raised.value).endswith('use Journal(path, job, version="1")')


@pytest.mark.parametrize("wrong", ["fn", None, 5, pytest])
def test_what_is_not_called_has_no_version(wrong: Any) -> None:
    with pytest.raises(InvalidConfig, match=r"^fn must be a function, or an object that can be"):
        version_of(wrong)


def test_it_says_the_rule_and_the_python(folder: Path) -> None:
    version = version_of(loaded(folder, "def fn(x): return x"))
    rule, python, digest = version.split(":")

    assert (rule, python) == ("source-2", "{}.{}".format(*sys.version_info))
    assert len(bytes.fromhex(digest)) == 16
    assert Journal("somewhere", "job", version).version == version


def test_a_chain_of_many_functions_is_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = [f"def f{n}(x): return f{n + 1}(x)" for n in range(2000)]
    text = "\n".join([PRELUDE, *chain, "fn, f2000 = f0, [V]"])
    versions = set()
    for value in "01":
        monkeypatch.setenv("DRAWN", value)
        versions.add(version_of(loaded(folder, text)))

    assert len(versions) == 2


PATH = os.pathsep.join(sys.path)


def printed(program: str, folder: Path, given: str = "") -> str:
    (text,) = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{folder}{os.pathsep}{PATH}"},
            cwd=folder,
            input=given,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    return text


EACH = """
import importlib, sys
from asyncwait.backends.journal import version_of
for module in sys.stdin.read().split(): print(version_of(importlib.import_module(module).fn))
"""


def test_it_is_the_same_in_each_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAWN", "1")
    names = [f"drawn_{number}" for number in range(len(BOUND))]
    for name, text in zip(names, BOUND, strict=True):
        (folder / f"{name}.py").write_text(PRELUDE + text)

    assert len({*printed(EACH, folder, " ".join(names)).split()}) == len(BOUND)


def test_a_text_that_was_saved_after_the_import_has_a_version_of_its_own(folder: Path) -> None:
    old = loaded(folder, "def fn(x): return 1")
    before = version_of(old)
    (folder / "drawn.py").write_text("def fn(x): return 2")
    between = version_of(old)
    after = version_of(loaded(folder, "def fn(x): return 2"))

    assert len({before, between, after}) == 3


def test_code_counts_where_no_source_exists() -> None:
    versions = []
    for text in ("x", "x, 1", "x, 1"):
        made = {"__name__": "__main__"}
        exec(f"def fn(x): return {text}", made)  # noqa: S102 - a constant
        versions.append(version_of(made["fn"]))
    exec("def fn(x): import drawn", made)  # noqa: S102 - a constant

    assert versions[0] != versions[1] == versions[2]
    with pytest.raises(InvalidConfig, match=r"source of fn \(<string>, line 1\) is not found, and"):
        version_of(made["fn"])


def test_what_calls_run_on_counts_by_its_kind(folder: Path) -> None:
    text = """
pool, room, done = ThreadPoolExecutor(1), asyncio.Semaphore(1), threading.Event()
async def fn(x):
    async with room:
        await asyncio.get_running_loop().run_in_executor(pool, done.set)
"""
    fn = loaded(folder, PRELUDE + text)
    before = version_of(fn)
    asyncio.run(_call_each(fn))

    assert version_of(fn) == before
    fn.__globals__["pool"].shutdown()


async def _call_each(fn: Any) -> None:
    await asyncio.gather(*map(fn, "abc"))


@pytest.mark.parametrize(
    ("place", "same"), [("site-packages", [True, False, False]), ("src", [False, True, True])]
)
def test_an_installed_package_counts_by_what_was_installed(
    place: str, same: list[bool], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder / place)
    versions = []
    steps = [("1", "a", "1"), ("2", "a", "1"), ("2", "b", "1"), ("2", "b", "2")]
    for result, files, version in steps:
        shutil.rmtree(folder / place, ignore_errors=True)
        about = folder / place / f"installed_drawn-{version}.dist-info"
        about.mkdir(parents=True)
        (about / "RECORD").write_text(f"installed_drawn.py,sha256={files},1\n")
        loaded(folder / place, f"def h(x): return {result}", module="installed_drawn")
        _sources.origin_at.cache_clear()
        _sources._records.cache_clear()
        text = "from installed_drawn import h\ndef fn(x): return h(x)"
        versions.append(version_of(loaded(folder, text)))

    assert [a == b for a, b in pairwise(versions)] == same


PACKAGE = {
    "job.py": "from pack import near\nimport sub.deep as deep\ndef fn(x): return near.f(x)",
    "unused.py": "import ctypes",
    "pack/__init__.py": "",
    "pack/near.py": "from . import far\nfrom .far import *\ndef f(x): return far.f(x)",
    "pack/far.py": "def f(x):\n    from late.other import late\n    return late(x)",
    "late/other.py": "try:\n    import missing_here\nexcept ImportError:\n    pass\nlate = len",
    "sub/deep.py": "import typing\nif typing.TYPE_CHECKING:\n    import typed",
    "typed.py": "",
}
ONE_AFTER_ANOTHER = """
import importlib, sys
from asyncwait.backends.journal import version_of
for place in sys.stdin.read().split():
    known = set(sys.modules)
    sys.path.insert(0, place)
    print(version_of(importlib.import_module("job").fn))
    sys.path.remove(place)
    for name in set(sys.modules) - known: del sys.modules[name]
"""


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_every_module_counts_that_the_module_imports_and_no_other(kind: str, folder: Path) -> None:
    """Packages, a namespace, relative and late imports, for types; and all of it in an archive."""
    places: list[str] = []
    for changed in ("", *PACKAGE):
        place = folder / f"changed_{len(places)}"
        for name, text in PACKAGE.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text + "\n# Changed." * (name == changed))
        is_zip = kind == "zip"
        places.append(shutil.make_archive(str(place), "zip", place) if is_zip else str(place))
    before, *versions = printed(ONE_AFTER_ANOTHER, folder, " ".join(places)).split()

    alike = [name for name, each in zip(PACKAGE, versions, strict=True) if each == before]
    assert alike == ["unused.py"]


CELLS = '''
import linecache
from asyncwait.backends.journal import version_of
def run(number, text):
    name = f"<ipython-input-{number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), globals())
for number, mark in enumerate(" abcdef"):
    cells = ["""
import dataclasses
UNUSED = [each for each in range(3)]  # a
""", """
@dataclasses.dataclass
class A:
    b: int = 1
def other(x): pass  # c
""", """
def g(x):
    # d
    return A()
class B(A): pass  # e
def fn(x): return g(x)  # f
"""]
    for place, text in enumerate(cells):
        run(10 * number + place, text.replace(f"# {mark}", "# z").replace(f"{mark}:", "z:"))
    print(version_of(fn))
'''


def test_of_a_notebook_count_the_definitions_that_the_function_reaches(folder: Path) -> None:
    before, *versions = printed(CELLS, folder).split()

    assert [each != before for each in versions] == [False, True, False, True, False, True]


SCRIPT = """
from asyncwait.backends.journal import version_of
def g(x): return 1  # a
fn = lambda x: g(x)  # b
print(version_of(fn))  # c
"""


def test_of_a_script_count_the_definitions_that_the_function_reaches(folder: Path) -> None:
    for mark in "zabc":
        (folder / f"{mark}.py").write_text(SCRIPT.replace(f"# {mark}", "# z"))
    program = "import runpy\nfor mark in 'zabc': runpy.run_path(f'{mark}.py', None, '__main__')"
    before, *versions = printed(program, folder).split()

    assert [each != before for each in versions] == [True, True, False]
