"""The modules of the installed package, read as syntax trees: nothing is imported to judge them."""

import ast
import importlib
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    name: str
    path: Path

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def is_public(self) -> bool:
        return not any(step.startswith("_") for step in self.name.split("."))

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    @cached_property
    def bound(self) -> frozenset[str]:
        top = symtable.symtable(self.text, str(self.path), "exec")
        return frozenset(
            symbol.get_name()
            for symbol in top.get_symbols()
            if symbol.is_imported() or symbol.is_assigned()
        )

    @cached_property
    def exports(self) -> list[str] | None:
        for node in self.tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                    return list(ast.literal_eval(value))
                case ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value):
                    return list(ast.literal_eval(value))
                case _:
                    pass
        return None

    @cached_property
    def imports(self) -> frozenset[str]:
        """Each name that is imported anywhere in here, absolute; `from a import b` is `a.b`."""
        return frozenset(self._imports())

    def _imports(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names=names):
                    yield from (alias.name for alias in names)
                case ast.ImportFrom(module=source, names=names, level=level):
                    base = self._absolute(source, level)
                    yield from (f"{base}.{alias.name}" for alias in names)
                case ast.Call(
                    func=ast.Name(id="import_module" | "__import__")
                    | ast.Attribute(attr="import_module"),
                    args=[ast.Constant(value=str() as name), *_],
                ):
                    yield name
                case _:
                    pass

    def _absolute(self, source: str | None, level: int) -> str:
        if level == 0:
            return source or ""
        steps = self.name.split(".")
        base = steps[: len(steps) - level + self.is_package]
        return ".".join([*base, *([source] if source else [])])


def portions() -> list[Path]:
    """Return the folders of the package: those of this checkout, if they are on the path."""
    found = [Path(folder) for folder in importlib.import_module("asyncwait").__path__]
    return [each for each in found if each.is_relative_to(CHECKOUT)] or found


def find_modules(portions: Iterable[Path]) -> dict[str, Module]:
    found = {}
    for portion in portions:
        for path in sorted(portion.rglob("*.py")):
            steps = path.relative_to(portion).with_suffix("").parts
            name = ".".join(["asyncwait", *(step for step in steps if step != "__init__")])
            found[name] = Module(name, path)
    found.pop("asyncwait", None)
    return found
