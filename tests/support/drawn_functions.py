"""Functions drawn by a grammar, each with one place at which it can be changed.

A program is a value in layers round it: how it is held, and how it is used. Each layer is a text
for its module and an expression of `x`, and may have spots, `«one|other»`: one of all that a
program has is the change. The inner layers may stand in a module of their own.
"""

import ast
import io
import re
import sys
import tokenize
from dataclasses import dataclass
from random import Random
from types import ModuleType
from typing import Any

PRELUDE = """\
import array, asyncio, collections, contextlib, dataclasses, datetime, decimal, enum, fractions
import functools, itertools, operator, pathlib, re, threading, types, typing, uuid
from contextvars import ContextVar
import msgspec
"""

# What a value may be; `V` is another one inside of it.
VALUES = r"""
«1|2»
«1|True»
«1|1.0»
«0.0|-0.0»
«1.5|float("nan")»
«10**20|10**20 + 1»
«"a"|"b"»
«"a"|b"a"»
«"a"|"\ud800"»
«1j|-1j»
«None|...»
(«1, 2|2, 1»)
(V, V)
[V, V]
[«1, 2|2, 1»]
{"a": V, "b": V}
{«"a"|"b"»: V}
dict(«a=1, b=2|b=2, a=1»)
{"told": V, "lock": threading.Lock()}
sorted({«"a", "b"|"a", "c"»})
frozenset({«1|2»})
{«1|2», ("s", «3|4»)}
range(«3|4»)
range(0, «3|9», «1|2»)
bytearray(b"«a|b»")
array.array("«i|l»", [«1|2»])
collections.deque([V], maxlen=«2|3»)
collections.deque([«1, 2|2, 1»])
collections.OrderedDict(«a=1, b=2|b=2, a=1»)
collections.Counter("«ab|abb»")
collections.defaultdict(«int|str», a=V)["b"]
collections.ChainMap({"a": V})
types.MappingProxyType({"a": V})
types.SimpleNamespace(a=V)
re.compile("«a|b»", re.«I|M»)
decimal.Decimal("«1|1.0»")
fractions.Fraction(«1|2», 3)
datetime.date(2026, 1, «1|2»)
datetime.datetime(2026, 1, 1, tzinfo=«None|datetime.UTC»)
datetime.timedelta(«1|2»)
datetime.timezone(datetime.timedelta(hours=«1|2»))
uuid.UUID(int=«1|2»)
pathlib.PurePosixPath("«a|b»")
operator.itemgetter(«0|1»)("ab")
operator.methodcaller("«upper|title»")("ab c")
functools.partial(int, base=«8|16»)("11")
functools.reduce(operator.«add|sub», [1, 2])
(lambda *a, k=«1|2»: (a, k))(V)
slice(«1|2», None)
memoryview(b"«a|b»").tobytes()
typing.Optional[«int|str»]
list[«int|str»]
«int|str» | None
"""

# How a value is held: text of the module, and the expression that gets at it.
HOLDERS = """
@ = V --- @
@ = V --- (@, x)
@ = [V]; @.append(len(@)) --- @
@ = {k: V for k in "ab"} --- @
@ = (lambda: V)() --- @
def @(x, d=V):
    return x, d
--- @(x)
def @(x, *, d=V, e=«1|2»):
    return x, d, e
--- @(x)
def @m(d):
    def inner(x):
        return x, d
    return inner
@ = @m(V)
--- @(x)
def @m(d):
    return lambda x: [d for _ in "a"]
@ = @m(V)
--- @(x)
def @f(d, x, **more):
    return d, x, more
@ = functools.partial(@f, V, «more|less»=1)
--- @(x)
class @:
    held = V
--- @.held
class @:
    held = V
    @property
    def prop(self):
        return self.held, «1|2»
    @staticmethod
    def static(x):
        return @.held, x, «1|2»
    @classmethod
    def make(cls, x):
        return cls.held, «1|2»
--- (@().prop, @.static(x), @().make(x))
class @:
    class Inner:
        held = V
--- @.Inner.held
@c = V
class @:
    held = [@c for _ in (1,)]
    def __init_subclass__(cls, **more):
        cls.more = more
class @s(@, k=V):
    pass
--- (@s().held, @s.more)
class @:
    def __init__(self, d):
        self.d = d
    def at(self, x):
        return x, self.d
@i = @(V)
--- @i.at(x)
class @:
    __slots__ = ("d", "e")
    def __init__(self, d):
        self.d = d
    def __call__(self, x):
        return x, self.d, hasattr(self, "«d|e»")
@i = @(V)
--- @i(x)
class @b:
    def at(self):
        return self.d, «1|2»
class @(@b):
    d = V
    def at(self):
        return super().at()
@m = @().at
--- @m()
class @d:
    def __get__(self, of, kind=None):
        return V
class @:
    d = @d()
--- (@.d, @().d)
class @(type):
    held = V
    def __getitem__(cls, x):
        return x, cls.held
class @k(metaclass=@):
    pass
--- @k[x]
class @(enum.Enum):
    A = V
    B = «1|2»
--- (@.A.value, [each.value for each in @])
class @(enum.IntFlag):
    A = «1|2»
    B = 4
--- int(@.A | @.B)
@dataclasses.dataclass
class @:
    a: int = «1|2»
    b: typing.Any = dataclasses.field(default_factory=lambda: V)
--- (repr(@()), dataclasses.astuple(@()))
@dataclasses.dataclass(«frozen|order»=True)
class @:
    a: int = 1
--- (getattr(@, "__setattr__") is object.__setattr__, hasattr(@(1), "__lt__"))
class @(typing.NamedTuple):
    a: int = «1|2»
    b: typing.Any = V
--- @()
@ = collections.namedtuple("@", "«a b|b a»", defaults=[1, V])
--- @()
class @(msgspec.Struct, «frozen=True|rename="camel"»):
    a_b: «int|float» = 1
--- msgspec.json.encode(msgspec.convert({"a_b": 2, "aB": 3}, @))
class @(msgspec.Struct):
    a: "«int|float»" = 1
@d = msgspec.json.Decoder(@)
--- repr(@d.decode(b'{"a": 2}'))
class @(str):
    held = V
@i = @("«a|b»")
--- (@i, @i.held)
class @(dict):
    def __missing__(self, key):
        return key, V
@i = @(a=V)
--- (@i["a"], @i["b"])
class @:
    @functools.cached_property
    def a(self):
        return V
    b = functools.partialmethod(lambda self, d: d, V)
--- (@().a, @().b())
class @:
    def __getattr__(self, name):
        return name, V
--- @().«some|other»
class @:
    def __init__(self, d):
        self.d = d
    def __reduce__(self):
        return @, (self.d,)
@i = @(V)
--- @i.d
def @d(d):
    def outer(f):
        @functools.wraps(f)
        def inner(x):
            return f(x), d, «1|2»
        return inner
    return outer
@@d(V)
def @(x):
    return x
--- @(x)
class @d:
    def __init__(self, f, d=V):
        functools.update_wrapper(self, f)
        self.f, self.d = f, d
    def __call__(self, x):
        return self.f(x), self.d
@@d
def @(x):
    return x, «1|2»
--- @(x)
@functools.lru_cache(maxsize=«1|2»)
def @(x):
    return x, V
--- (@(x), @.cache_parameters())
@functools.singledispatch
def @(x):
    return "any", «1|2»
@.register
def _(x: «int|str»):
    return "one", V
--- (@(1), @(""))
@contextlib.contextmanager
def @():
    yield V
def @u():
    with @() as d:
        return d
--- @u()
def @(x):
    return x, @.d
@.d = V
--- @(x)
@ = ContextVar("@", default=V)
--- @.get()
@l = V
@ = {"a": lambda: @l}
--- @["a"]()
def @(x):
    "«Doc.|Other.»"
    return x
--- @.__doc__
"""

# How an expression is used, in another one; or in a function of the module.
USERS = """
--- [E for _ in range(«1|2»)]
--- list(E for _ in range(«1|2»))
--- {«"a"|"b"»: E for _ in "a"}
--- [a for a in [E] for b in «"ab"|"abc"»]
--- (lambda: (E, «1|2»))()
--- (lambda a, *b: (a, b))(E, «1|2»)
--- (E if x < «1|2» else «3|4»)
--- (E, x «+|-» 1)
--- (x «and|or» 5, E)
--- (x «and|or» E «or|and» 7)
--- (not x «and|or» x, E)
--- (E, f"{x!«r|s»}«a|b»{x:«>|<»{4}}")
--- dict(«a|b»=E)
--- («x, E|E, x»)
--- (y := E, «y|x»)
--- [*(E,), «*(1,)|1»]
--- ("%s" «% (E,)|+ repr(E)»)
--- (x is «None|not None», E)
--- (x «in|not in» (0, 1), E)
--- (x «<|<=» 1, E)
--- (E, "abc"[«0|1»:])
--- getattr(types.SimpleNamespace(a=E, b=1), "«a|b»")
def @(x):
    return E, «1|2»
--- @(x)
def @(x):
    def inner():
        class Local:
            a = E
            b = «1|2»
        return Local.a, Local.b
    return inner()
--- @(x)
def @(x):
    a = 0
    def inner():
        nonlocal a
        a «+=|-=» 1
        return E
    return inner(), a
--- @(x)
def @(x):
    for y in range(3):
        if y == «1|2»:
            «break|continue»
    return y, E
--- @(x)
def @(x):
    try:
        return E, {}[x]
    except «KeyError|ValueError» as error:
        return repr(error), «1|2»
    finally:
        x = «1|2»
--- @(x)
def @(x):
    match x:
        case 0 | «1|3»:
            return E
        case int(y) if y > «1|5»:
            return «"a"|"b"»
--- @(x)
def @(x):
    yield x
    yield from (E, «1|2»)
--- list(@(x))
async def @a(x):
    await asyncio.sleep(0)
    return E, «1|2»
def @(x):
    try:
        c = @a(x); c.send(None); c.send(None)
    except StopIteration as end:
        return end.value
--- @(x)
def @(x):
    while True:
        x += 1
        if x > 3 and (x % 2 or x «>|>=» 5):
            return x, E
--- @(x)
def @(x):
    global @g
    @g = E
    return @g, «1|2»
--- @(x)
def @(x):
    del x
    assert True, «1|2»
    return E if "x" in locals() else «"a"|"b"»
--- @(«x|0»)
class @:
    def of(self, x):
        return E
    def __call__(self, x):
        return getattr(self, «"of"|"two"»)(x)
    def two(self, x):
        return 2
@i = @()
--- @i(x)
class @:
    def __eq__(self, other):
        return other == «1|2»
    __hash__ = None
--- (@() == x, E)
class @:
    @staticmethod
    def of(x):
        return [E for _ in "a"]
--- @.of(x)
"""


def _entries(text: str) -> list[tuple[str, str]]:
    """The texts of modules, and the expressions behind them."""
    entries, before = [], []
    for line in text.strip("\n").splitlines():
        head, mark, expression = line.partition("--- ")
        before += [head.rstrip()] if head else []
        if mark:
            entries.append(("\n".join(before), expression))
            before = []
    return entries


KINDS = [line for line in VALUES.splitlines() if line]
HELD = _entries(HOLDERS)
USED = _entries(USERS)
IMPORTED = [
    ("import drawn_inner", "drawn_inner.@(x)"),
    ("import drawn_inner as other", "other.@(x)"),
    ("from drawn_inner import @", "@(x)"),
    ("from drawn_inner import @ as @o", "(lambda: @o(x))()"),
    ("def @u(x):\n    import drawn_inner\n    return drawn_inner.@(x)", "@u(x)"),
    ("def @u(x):\n    import drawn_inner as o\n    return [o.@(x) for _ in 'a']", "@u(x)"),
    ("def @u(x):\n    from drawn_inner import @ as o\n    return o(x)", "@u(x)"),
    ("import drawn_inner", "getattr(drawn_inner, ''.join('@'))(x)"),
    ("from drawn_inner import *", "globals()['@'](x)"),
]
_SPOT = re.compile(r"«([^«»|]*)\|([^«»]*)»")


@dataclass(frozen=True)
class Program:
    """The texts of its two modules, and in how many places it can be changed."""

    inner: str
    outer: str
    spots: int


class _Drawing:
    def __init__(self, seed: int, changed: int | None) -> None:
        self.random = Random(seed)
        self.changed = changed
        self.spots = 0
        self.names = 0
        self.modules = [PRELUDE]

    def filled(self, text: str, expression: str = "") -> str:
        def value(_: re.Match[str]) -> str:
            return self.filled(self.random.choice(KINDS))

        def spot(found: re.Match[str]) -> str:
            self.spots += 1
            return found[2] if self.spots - 1 == self.changed else found[1]

        text = _SPOT.sub(spot, text)
        return re.sub(r"\bV\b", value, text).replace("\0", expression)

    def layer(self, entry: tuple[str, str], expression: str) -> str:
        self.names += 1
        joined = re.sub(r"\bE\b", "\0", "\n---\n".join(entry))
        joined = self.filled(_named(joined, f"n{self.names}_"), expression)
        text, _, used = joined.rpartition("\n---\n")
        self.modules[-1] += text + "\n"
        return used


_DECORATOR = re.compile(
    r"^(\s*)@(functools|contextlib|dataclasses|property|staticmethod|classmethod|@)"
)


def _named(text: str, name: str) -> str:
    """A text with a name for each mark that is no decorator's."""
    lines = []
    for line in text.splitlines():
        found = _DECORATOR.match(line)
        begin = len(found[1]) + 1 if found else 0
        lines.append(line[:begin] + line[begin:].replace("@", name))
    return "\n".join(lines)


def drawn(seed: int, changed: int | None = None) -> Program:
    """A program; `changed` says which of its spots has its other text."""
    drawing = _Drawing(seed, changed)
    random = drawing.random
    expression = drawing.layer(random.choice(HELD), "")
    goes_over = random.random() < 0.5
    for _ in range(random.randint(0, 3)):
        expression = drawing.layer(random.choice(USED), expression)
        if goes_over and len(drawing.modules) == 1 and random.random() < 0.6:
            expression = _over(drawing, expression)
    if random.random() < 0.3:
        held = drawing.layer(random.choice(HELD), "")
        expression = f"({expression}, {held})"
    *inner, outer = drawing.modules
    outer += f"def fn(x):\n    return {expression}\n"
    return Program("".join(inner), outer, drawing.spots)


def _over(drawing: _Drawing, expression: str) -> str:
    name = "reached"
    drawing.modules[-1] += f"def {name}(x):\n    return {expression}\n"
    text, used = drawing.random.choice(IMPORTED)
    drawing.modules.append(PRELUDE)
    drawing.names += 1
    text, used = (
        each.replace("@u", "use").replace("@o", "o").replace("@", name) for each in (text, used)
    )
    drawing.modules[-1] += text + "\n"
    return used


def loaded(program: Program) -> Any:
    """Its function."""
    for name, text in (("drawn_inner", program.inner), ("drawn_outer", program.outer)):
        module = ModuleType(name)
        sys.modules[name] = module
        exec(compile(text, f"/nowhere/{name}.py", "exec"), vars(module))  # noqa: S102 - drawn here
    return sys.modules["drawn_outer"].fn


def results(fn: Any) -> str:
    """What it gives for some values, without addresses."""
    return re.sub(" at 0x[0-9a-f]+", "", repr([_result(fn, x) for x in (0, 1, 2, 5)]))


def _result(fn: Any, x: int) -> Any:
    try:
        return fn(x)
    except Exception as error:
        return type(error), str(error)


def laid_out(text: str, random: Random) -> str:
    """The same text with other lines, comments, docstrings and parentheses, further down."""
    text = ast.unparse(ast.parse(text)) if random.random() < 0.5 else text
    found, depth, strings = [], 0, 0
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        strings += (kind == "FSTRING_START") - (kind == "FSTRING_END")
        if not strings:
            depth += (token.string in {"(", "[", "{"}) - (token.string in {")", "]", "}"})
            if depth and kind in {"OP", "NAME", "NUMBER"} and random.random() < 0.3:
                found.append((token.end, "  # so\n"))
            elif kind == "NEWLINE" and random.random() < 0.3:
                found.append((token.start, "  # why"))
    for (row, column), more in reversed(found):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + more + line[column:]
    return '"""Of late."""\n\n' + "# More.\n" * 3 + "".join(lines)
