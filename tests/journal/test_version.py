"""Which version of a function a journal belongs to: of what runs, not of its text."""

import importlib
import linecache
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest
from drawn_functions import HELD, KINDS, PRELUDE, USED, Program, drawn, laid_out, loaded, results

from asyncwait.backends.journal import Journal, version_of
from asyncwait.backends.journal._version import _origin
from asyncwait.backends.journal._version._walk import _ID
from asyncwait.spec import InvalidConfig

EACH = 240


def of(text: str, inner: str = "") -> Any:
    """The function `fn` of a module that may import `drawn_inner`."""
    return loaded(Program(PRELUDE + dedent(inner), PRELUDE + dedent(text), 0))


@pytest.fixture(autouse=True)
def modules() -> Iterator[None]:
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith(("drawn_", "on_disk", "installed_")):
            del sys.modules[name]


def fate(seed: int) -> str:
    program = drawn(seed)
    before = version_of(loaded(program))
    random = Random(seed)
    other = drawn(seed, random.randrange(program.spots))
    formatted = Program(laid_out(program.inner, random), laid_out(program.outer, random), 0)
    if version_of(loaded(program)) != before or version_of(loaded(formatted)) != before:
        return "lost"
    if results(loaded(program)) == results(loaded(other)):
        return "same"
    return "stale" if version_of(loaded(other)) == before else "told"


@pytest.mark.sampled(10)
@pytest.mark.parametrize("block", range(10))
def test_another_result_is_another_version_and_another_layout_is_not(block: int) -> None:
    """Of functions that are drawn by a grammar, and changed in one place: 2,000 in all blocks."""
    seeds = [seed for seed in range(block * EACH, (block + 1) * EACH) if drawn(seed).spots]
    fates = {seed: fate(seed) for seed in seeds}

    assert [seed for seed, each in fates.items() if each in {"lost", "stale"}] == []
    assert list(fates.values()).count("told") >= 200


def test_each_kind_of_the_grammar_is_drawn() -> None:
    texts = "\n".join(drawn(seed).inner + drawn(seed).outer for seed in range(10 * EACH))
    heads = [text.partition("\n")[0].partition("@")[0] for text, _ in (*HELD, *USED)]

    assert len(KINDS) + len(HELD) + len(USED) > 110
    assert [head for head in heads if head not in texts] == []


REFUSED = {
    "G = (i for i in [1])\ndef fn(x): return list(G)": "fn -> G",
    "import io\nF = io.TextIOWrapper(io.BytesIO())\ndef fn(x): return F": "fn -> F",
    "import ssl\nC = {'a': [ssl.create_default_context()]}\ndef fn(x): return C": "fn -> C['a'][0]",
    "import weakref\nW = weakref.ref(re)\ndef fn(x): return W": "fn -> W",
    "M = memoryview(b'a')\ndef fn(x, m=M): return m": "fn.__defaults__[0]",
    "def fn(x): return eval('1')": "fn -> eval",
    "run = exec\ndef fn(x): return run('1')": "fn -> run",
    "def fn(x): return [__import__('os') for _ in 'a']": "fn -> __import__",
    "import importlib\ndef fn(x): return importlib.import_module('os')": "importlib.import_module",
    "def fn(x):\n    import importlib as i\n    return i.import_module('os')": "import_module",
    "import sys\ndef fn(x): return sys.modules['os']": "fn -> sys.modules",
    "import sys\ndef fn(x, s=sys): return s.modules": "fn.__defaults__[0]",
    "class A: pass\ndef fn(x): return A.__subclasses__()": "__subclasses__",
    "def fn(x): return getattr(fn, '__globals__')": "__globals__",
    "def fn(x):\n    import of_nowhere\n    return of_nowhere": "fn -> of_nowhere",
    "D = []\nfor _ in range(10**4): D = [D]\ndef fn(x): return D": "fn -> D[0][0]",
    "class A:\n    def __reduce__(self): return 5\nI = A()\ndef fn(x): return I": "fn -> I",
    "class A:\n    def __init__(self): self.g = (i for i in [1])\nfn = A().__eq__": ".g",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_told_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidConfig) as raised:
        version_of(of(text))

    assert REFUSED[text] in str(raised.value)
    assert "Journal(path, job, version)" in str(raised.value)


NAMED_IN_A_TYPE = "def fn(x): return typing.get_type_hints(B)['a'].__args__[0].v"
INNER = "X = 1\nclass K:\n    a = 1"
CHANGED = {
    "one list under two names": (
        "A = [1]; B = A\ndef fn(x): A.append(x); return B",
        "A = [1]; B = [1]\ndef fn(x): A.append(x); return B",
    ),
    "a method that was put there": (
        "class A: pass\nA.f = lambda s: 1\ndef fn(x): return A().f()",
        "class A: pass\nA.f = lambda s: 2\ndef fn(x): return A().f()",
    ),
    "code that was put there": (
        "def h(x): return 1\ndef g(x): return 2\ndef fn(x): return h(x)",
        "def h(x): return 1\ndef g(x): return 2\nh.__code__ = g.__code__\ndef fn(x): return h(x)",
    ),
    "what a pickle leaves out": (
        "class A:\n def __reduce__(s): return A, ()\nV = A(); V.v = 1\ndef fn(x): return V.v",
        "class A:\n def __reduce__(s): return A, ()\nV = A(); V.v = 2\ndef fn(x): return V.v",
    ),
    "an attribute of an installed module": (
        "import json\njson.drawn_x = 1\ndef fn(x): return json.drawn_x",
        "import json\njson.drawn_x = 2\ndef fn(x): return json.drawn_x",
    ),
    "what is registered": (
        "import abc\nclass A(abc.ABC): pass\ndef fn(x): return isinstance(x, A)",
        "import abc\nclass A(abc.ABC): pass\nA.register(int)\ndef fn(x): return isinstance(x, A)",
    ),
    "a docstring that makes a schema": (
        "class S(msgspec.Struct):\n 'a'\ndef fn(x): return msgspec.json.schema(S)",
        "class S(msgspec.Struct):\n 'b'\ndef fn(x): return msgspec.json.schema(S)",
    ),
    "a docstring by its name": (
        "def h(): 'a'\ndef fn(x): return getattr(h, '__doc__')",
        "def h(): 'b'\ndef fn(x): return getattr(h, '__doc__')",
    ),
    "a type variable": (
        "T = typing.TypeVar('T', bound=int)\ndef fn(x): return T.__bound__",
        "T = typing.TypeVar('T', bound=str)\ndef fn(x): return T.__bound__",
    ),
    "a class that a text in a type names": (
        "class A: v = 1\nclass B: a: list['A']\n" + NAMED_IN_A_TYPE,
        "class A: v = 2\nclass B: a: list['A']\n" + NAMED_IN_A_TYPE,
    ),
    "a view of a dict": (
        "D = {1: 1}; M = types.MappingProxyType(D)\ndef fn(x): D[1] += 1; return M[1]",
        "D = {1: 1}; M = types.MappingProxyType({1: 1})\ndef fn(x): D[1] += 1; return M[1]",
    ),
    "a class that a text names": (
        "class A:\n a: 'B'\nclass B: v = 1\ndef fn(x): return typing.get_type_hints(A)['a'].v",
        "class A:\n a: 'B'\nclass B: v = 2\ndef fn(x): return typing.get_type_hints(A)['a'].v",
    ),
}


@pytest.mark.parametrize("what", CHANGED)
def test_what_no_text_of_a_function_shows_is_part_of_it(what: str) -> None:
    one, other = CHANGED[what]

    assert results(of(one)) != results(of(other))
    assert version_of(of(one)) == version_of(of(one)) != version_of(of(other))


REACHED = [
    "import drawn_inner\nfn = lambda x, m=drawn_inner: m.X",
    "import drawn_inner\ndef fn(x):\n    m = drawn_inner\n    return m.X",
    "import drawn_inner\ndef fn(x): return vars(drawn_inner)['X']",
    "import drawn_inner\ndef fn(x): return operator.attrgetter('X')(drawn_inner)",
    "import drawn_inner\ndef fn(x): return (drawn_inner if x else drawn_inner).X",
    "import drawn_inner\ndef fn(x): return drawn_inner.K.a",
    "def fn(x):\n    import drawn_inner as d\n    return (lambda: d.X)()",
    "def fn(x):\n    import drawn_inner\n    return getattr(drawn_inner, 'X')",
    "def fn(x):\n    class A:\n        import drawn_inner as d\n    return A.d.X",
    "def o():\n    global d\n    import drawn_inner as d\ndef fn(x):\n    o()\n    return d.X",
    "from drawn_inner import *\ndef fn(x): return globals()['X']",
]


@pytest.mark.parametrize("text", REACHED)
def test_what_is_used_of_other_modules_is_part_of_it(text: str) -> None:
    before, after = version_of(of(text, INNER)), version_of(of(text, INNER.replace("1", "2")))

    assert before != after


def test_what_is_not_used_of_other_modules_is_no_part_of_it() -> None:
    text = "import drawn_inner\ndef fn(x): return drawn_inner.X"

    assert version_of(of(text, "X = 1")) == version_of(of(text, "X = 1\nY = (i for i in [1])"))


def test_it_says_the_rule_and_the_python() -> None:
    """So that a journal of another Python is seen to be one; and it fits a journal."""
    version = version_of(of("def fn(x): return x"))
    rule, python, digest = version.split(":")

    assert (rule, python) == ("code-2", "{}.{}".format(*sys.version_info))
    assert len(bytes.fromhex(digest)) == 16
    assert Journal("somewhere", "job", version).version == version


def test_a_chain_of_many_functions_is_followed() -> None:
    chain = [f"def f{n}(x): return f{n + 1}(x)" for n in range(2000)]
    before, after = (
        version_of(of("\n".join([*chain, f"def f2000(x): return {n}", "fn = f0"]))) for n in (1, 2)
    )

    assert before != after


TOLD = """
from drawn_functions import drawn, loaded
from asyncwait.backends.journal import version_of
print([version_of(loaded(drawn(seed))) for seed in range(60)])
"""


def told_by(program: str, *, path: str = "") -> set[str]:
    return {
        subprocess.run(
            [sys.executable, "-c", program],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join([path, *sys.path]),
            },
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }


def test_it_is_the_same_in_each_process() -> None:
    assert told_by(TOLD) == {f"{[version_of(loaded(drawn(seed))) for seed in range(60)]}\n"}


MODELS = """
from typing import Annotated, Generic, Literal, TypeVar
from pydantic import BaseModel, Field, RootModel, TypeAdapter, dataclasses, field_validator

class Base(BaseModel):
    x: int = Field(gt=0)

class Tree(Base):
    children: "list[Tree]" = []

    @field_validator("x")
    @classmethod
    def more(cls, x):
        return x + 1

class Box(BaseModel, Generic[TypeVar("T")]):
    tree: Tree

class Cat(BaseModel):
    kind: Literal["cat"]

class Dog(BaseModel):
    kind: Literal["dog"]

@dataclasses.dataclass
class Point:
    x: int

of_many = TypeAdapter(list[Tree])
of_two = TypeAdapter(Annotated[Cat | Dog, Field(discriminator="kind")])
Cats = RootModel[list[Cat]]

def tree(x): return Tree(x=x)
def box(x): return Box[int](tree=Tree(x=x))
def point(x): return Point(x)
def many(x): return of_many.validate_python(x)
def two(x): return of_two.validate_python(x)
def cats(x): return Cats(x)
def annotated(x: Point) -> Tree: return x
"""


def test_models_of_pydantic_are_the_same_in_each_process(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    names = ("tree", "box", "point", "many", "two", "cats", "annotated")
    program = (
        "import models; from asyncwait.backends.journal import version_of; "
        f"print(*[version_of(getattr(models, name)) for name in {names}])"
    )

    (before,) = told_by(program, path=str(tmp_path))
    # Of another length: within a second, Python would take what it has compiled for up to date.
    (tmp_path / "models.py").write_text(MODELS.replace("gt=0", "gt=10"))
    (after,) = told_by(program, path=str(tmp_path))

    changed = [a != b for a, b in zip(before.split(), after.split(), strict=True)]
    assert changed == [True, True, False, True, False, False, True]


def test_an_id_is_found_in_a_text_however_short_it_is() -> None:
    """Debian's Python is loaded at one place, and its heap behind it: some ids have 8 digits."""
    assert _ID.split("models.Tree:68753616 of:123456") == ["models.Tree:", "68753616", " of:123456"]


def on_disk(folder: Path, text: str, *, module: str = "on_disk") -> ModuleType:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(text)
    sys.modules.pop(module, None)
    importlib.invalidate_caches()
    linecache.clearcache()
    return importlib.import_module(module)


def test_the_text_on_the_disk_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    old = on_disk(tmp_path, "def fn(x): return 1")
    before = version_of(old.fn)
    (tmp_path / "on_disk.py").write_text("def fn(x): return 2")
    linecache.clearcache()

    assert version_of(old.fn) == before
    assert version_of(on_disk(tmp_path, "def fn(x): return 2").fn) != before
    (tmp_path / "on_disk.py").unlink()
    assert version_of(old.fn) == before


def using(folder: Path, text: str, files: str, version: str = "1.0") -> str:
    about = folder / "installed_drawn-1.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    head = "Metadata-Version: 2.1\nName: installed_drawn\nVersion:"
    (about / "METADATA").write_text(f"{head} {version}\n")
    (about / "RECORD").write_text(f"installed_drawn.py,sha256={files},1\n")
    on_disk(folder, text, module="installed_drawn")
    _origin._origin.cache_clear()
    _origin._distributions.cache_clear()
    return version_of(of("from installed_drawn import h\ndef fn(x): return h(x)"))


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
