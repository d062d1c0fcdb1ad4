"""The version of a function: of source text, of installed versions and of the values it holds."""

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
from random import Random
from types import ModuleType
from typing import Any

import pytest
from drawn_functions import (
    HELD,
    HIDDEN,
    KINDS,
    REFUSED,
    USED,
    Program,
    drawn,
    drawn_of,
    loaded,
    results,
)

from asyncwait.backends.journal import Journal, version_of
from asyncwait.backends.journal._version import _origin
from asyncwait.spec import InvalidConfig

EACH = 240


@pytest.fixture(autouse=True)
def modules() -> Iterator[None]:
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith(("drawn_", "on_disk", "installed_")):
            del sys.modules[name]


def fate(program: Program, other: Program) -> str:
    before = version_of(loaded(program))
    if version_of(loaded(program)) != before:
        return "lost"
    if results(loaded(program)) == results(loaded(other)):
        return "same"
    return "stale" if version_of(loaded(other)) == before else "told"


@pytest.mark.sampled(10)
@pytest.mark.parametrize("block", range(10))
def test_another_result_is_another_version(block: int) -> None:
    seeds = [seed for seed in range(block * EACH, (block + 1) * EACH) if drawn(seed).spots]
    fates = {
        seed: fate(drawn(seed), drawn(seed, Random(seed).randrange(drawn(seed).spots)))
        for seed in seeds
    }

    assert [seed for seed, each in fates.items() if each in {"lost", "stale"}] == []
    assert list(fates.values()).count("told") >= 190


@pytest.mark.parametrize("entry", HIDDEN, ids=range(len(HIDDEN)))
def test_a_change_of_each_kind_is_another_version(entry: tuple[str, str]) -> None:
    program = drawn_of(entry)

    assert [fate(program, drawn_of(entry, n)) for n in range(program.spots)] == [
        "told"
    ] * program.spots


@pytest.mark.parametrize(("text", "used", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_determined_is_refused_by_name(text: str, used: str, reason: str) -> None:
    with pytest.raises(InvalidConfig) as raised:
        version_of(loaded(drawn_of((text, used))))

    assert reason.replace("$", "n1_") in str(raised.value)
    assert 'Journal(path, job, version="1")' in str(raised.value)


def test_each_kind_of_the_grammar_is_drawn() -> None:
    texts = "\n".join(drawn(seed).inner + drawn(seed).outer for seed in range(10 * EACH))
    heads = [re.split("[@$«\n]", text)[0] for text, _ in (*HELD, *USED)]

    assert len(KINDS) + len(HELD) + len(USED) > 170
    assert len(HIDDEN) >= 60
    assert [head for head in heads if head not in texts] == []


def test_it_says_the_rule_and_the_python() -> None:
    version = version_of(loaded(Program("", "def fn(x): return x", 0)))
    rule, python, digest = version.split(":")

    assert (rule, python) == ("source-1", "{}.{}".format(*sys.version_info))
    assert len(bytes.fromhex(digest)) == 16
    assert Journal("somewhere", "job", version).version == version


def test_a_chain_of_many_functions_is_followed() -> None:
    chain = "\n".join([*(f"def f{n}(x): return f{n + 1}(x)" for n in range(2000)), "fn = f0"])
    before, after = (
        version_of(loaded(Program("", f"{chain}\nf2000 = [G0]", 1, (value,)))) for value in "12"
    )

    assert before != after


def told_by(program: str, folder: Path | str = "", given: str = "") -> str:
    (told,) = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{folder}{os.pathsep}{PATH}"},
            cwd=folder or None,
            input=given,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    return told


PATH = os.pathsep.join(sys.path)
TOLD = """
from drawn_functions import HIDDEN, drawn, drawn_of, loaded
from asyncwait.backends.journal import version_of
programs = [*map(drawn, range(60)), *map(drawn_of, HIDDEN)]
print([version_of(loaded(program)) for program in programs])
"""


def test_it_is_the_same_in_each_process() -> None:
    programs = [*map(drawn, range(60)), *map(drawn_of, HIDDEN)]

    assert told_by(TOLD) == f"{[version_of(loaded(program)) for program in programs]}\n"


def on_disk(folder: Path, text: str, *, module: str = "on_disk") -> ModuleType:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(text)
    sys.modules.pop(module, None)
    importlib.invalidate_caches()
    linecache.clearcache()
    return importlib.import_module(module)


def test_a_text_that_was_saved_after_the_import_has_a_version_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    old = on_disk(tmp_path, "def fn(x): return 1")
    before = version_of(old.fn)
    (tmp_path / "on_disk.py").write_text("def fn(x): return 2")
    between = version_of(old.fn)
    after = version_of(on_disk(tmp_path, "def fn(x): return 2").fn)

    assert len({before, between, after}) == 3
    (tmp_path / "on_disk.py").unlink()
    linecache.clearcache()
    with pytest.raises(InvalidConfig, match="no source of module on_disk is found"):
        version_of(old.fn)


@pytest.mark.parametrize(
    "text",
    [
        """
import settings_drawn
def fn(x): return "{s.model}".format(s=settings_drawn)
""",
        """
import functools, settings_drawn
def fn(x): return functools.reduce(getattr, ["model"], settings_drawn)
""",
        """
import settings_drawn
got = getattr
def fn(x): return got(settings_drawn, "mod" + "el")
""",
        """
def fn(x):
    import settings_drawn.part
    return settings_drawn.model
""",
        """
import settings_drawn
class Fn:
    def __init__(self): self.on, self.off, self.model = "1", "0", settings_drawn.model
    def __getstate__(self): return {"on": self.on, "off": self.off}
    def __call__(self, x): return self.model
fn = Fn()
""",
        """
import settings_drawn
class Fn:
    def __init__(self): self.n_hashes = int(settings_drawn.model)
    def __getstate__(self): return {}
    def __call__(self, x): return self.n_hashes
fn = Fn()
""",
    ],
    ids=["in a format", "reduced", "alias", "package", "same object in the pickle", "no hash"],
)
def test_a_value_counts_however_the_code_gets_at_it(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "settings_drawn"
    package.mkdir()
    (package / "part.py").write_text("")
    (package / "__init__.py").write_text("import os\nmodel = os.environ['DRAWN']\n")
    told = set()
    for model in "01":
        monkeypatch.setenv("DRAWN", model)
        for name in ("settings_drawn", "settings_drawn.part"):
            sys.modules.pop(name, None)
        told.add(version_of(on_disk(tmp_path, text).fn))
    assert len(told) == 2


def test_chance_counts_with_its_state_and_what_calls_run_on_by_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    text = """
import asyncio, os
from concurrent.futures import ThreadPoolExecutor
from random import Random
pool, room, chance = ThreadPoolExecutor(1), asyncio.Semaphore(1), Random(os.environ["DRAWN"])
def roll(x): return chance.random()
async def fn(x):
    async with room: return pool.submit(len, x).result()
"""
    told = []
    for seed in "112":
        monkeypatch.setenv("DRAWN", seed)
        module = on_disk(tmp_path, text)
        told.append(version_of(module.roll))
        before = version_of(module.fn)
        asyncio.run(_call_each(module.fn))
        assert version_of(module.fn) == before
        module.pool.shutdown()
    assert told[0] == told[1] != told[2]


async def _call_each(fn: Any) -> None:
    await asyncio.gather(*map(fn, "abc"))


def using(folder: Path, text: str, files: str, version: str = "1.0") -> str:
    about = folder / "installed_drawn-1.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    head = "Metadata-Version: 2.1\nName: installed_drawn\nVersion:"
    (about / "METADATA").write_text(f"{head} {version}\n")
    (about / "RECORD").write_text(f"installed_drawn.py,sha256={files},1\n")
    on_disk(folder, text, module="installed_drawn")
    _origin.origin_at.cache_clear()
    _origin._records.cache_clear()
    text = "from installed_drawn import h\ndef fn(x): return h(x)"
    return version_of(loaded(Program("", text, 0)))


@pytest.mark.parametrize(
    ("folder", "kept"), [("site-packages", [True, False, False]), ("src", [False, True, True])]
)
def test_an_installed_package_counts_by_what_was_installed(
    folder: str, kept: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path / folder)
    told = [
        using(tmp_path / folder, "def h(x): return 1", "a"),
        using(tmp_path / folder, "def h(x): return 2", "a"),
        using(tmp_path / folder, "def h(x): return 2", "b"),
        using(tmp_path / folder, "def h(x): return 2", "b", "2.0"),
    ]

    assert [one == other for one, other in pairwise(told)] == kept


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


IN_TURN = """
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
def test_every_module_counts_that_the_module_imports_and_no_other(
    kind: str, tmp_path: Path
) -> None:
    """Packages, a namespace, relative and late imports, for types; and all of it in an archive."""
    places: list[str] = []
    for changed in ("", *PACKAGE):
        folder = tmp_path / f"changed_{len(places)}"
        for name, text in PACKAGE.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text + "\n# Changed." * (name == changed))
        is_zip = kind == "zip"
        places.append(shutil.make_archive(str(folder), "zip", folder) if is_zip else str(folder))
    before, *told = told_by(IN_TURN, given=" ".join(places)).split()

    alike = [name for name, each in zip(PACKAGE, told, strict=True) if each == before]
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
    a: int = 1  # b
def other(x): pass  # c
""", """
def g(x):
    # d
    return A()
class B(A): pass  # e
def fn(x): return g(x)  # f
"""]
    for place, text in enumerate(cells):
        run(10 * number + place, text.replace(f"# {mark}", "# z"))
    print(version_of(fn))
'''


@pytest.mark.parametrize("wrong", ["fn", None, 5, pytest])
def test_what_is_not_called_has_no_version(wrong: Any) -> None:
    with pytest.raises(InvalidConfig, match=r"^fn must be a function, or an object that can be"):
        version_of(wrong)


def test_of_a_notebook_count_the_definitions_that_the_function_reaches() -> None:
    before, *told = told_by(CELLS).split()

    assert [each != before for each in told] == [False, True, False, True, False, True]


SCRIPT = """
from asyncwait.backends.journal import version_of
def g(x): return 1  # a
fn = lambda x: g(x)  # b
print(version_of(fn))  # c
"""


def test_a_script_counts_like_a_notebook_and_needs_a_source(tmp_path: Path) -> None:
    for mark in "zabc":
        (tmp_path / f"{mark}.py").write_text(SCRIPT.replace(f"# {mark}", "# z"))
    program = "import runpy\nfor mark in 'zabc': runpy.run_path(f'{mark}.py', None, '__main__')"
    before, *told = told_by(program, tmp_path).split()

    assert [each != before for each in told] == [True, True, False]
    with pytest.raises(subprocess.CalledProcessError) as raised:
        told_by(f"exec(compile({SCRIPT!r}, '<made>', 'exec'))")
    assert "no source of <lambda> (<made>, line 4) is found; use" in raised.value.stderr
