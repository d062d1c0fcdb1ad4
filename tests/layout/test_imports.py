"""Imports run one way: the parts, what each may import of ours, and of others."""

import ast
import re
import sys
from collections.abc import Collection

from package_modules import Module

SUITE = {"spec", "toolkit", "scenario", "harness", "judge", "suite"}

# Part -> the parts of ours that it may import besides itself.
OURS = {
    "spec": {"scenario"},
    "scenario": {"spec"},
    "toolkit": {"spec"},
    "reference": {"spec", "toolkit"},
    "harness": {"spec", "scenario"},
    "judge": {"spec", "scenario"},
    "suite": SUITE,
    "backends": set[str](),
    "backends.flink": {"spec", "toolkit", "reference", "backends.java"},
    "backends.pyflink": {"spec", "toolkit", "reference", "backends.flink"},
    "backends.spark": {
        "spec",
        "toolkit",
        "backends.java",
        "backends.journal",
        "backends.lookup",
        "backends.pool",
        "backends.services",
        "backends.streams",
        "backends.threads",
        "backends.watching",
    },
    "backends.threads": {"spec", "toolkit", "backends.pool"},
    "backends.journal": {"spec", "toolkit", "backends.services"},
    "backends.lookup": {"spec", "toolkit", "backends.pool"},
    "adapter.reference": SUITE | {"reference", "backends.pool"},
    "adapter.faulty": SUITE
    | {"reference", "backends.emitter", "backends.pool", "backends.services", "backends.streams"}
    | {"adapter.emitter"},
    "adapter.pyflink": SUITE | {"backends.pyflink", "backends.flink", "adapter.flink"},
    "adapter.spark": SUITE
    | {"backends.spark", "backends.java", "backends.pool", "backends.streams"},
}

# Part -> the distributions of others that it may import; a part that is not named may import any.
OTHERS = {
    "spec": {"msgspec"},
    "toolkit": {"cachetools", "msgspec"},
    "scenario": {"msgspec"},
    "reference": {"anyio", "msgspec", "trio"},
    "harness": {"anyio", "msgspec", "trio"},
    "judge": {"msgspec"},
    "backends": set[str](),
    "backends.pool": {"anyio", "msgspec", "trio"},
    "backends.emitter": {"anyio", "msgspec"},
    "backends.journal": {"click", "fsspec", "msgspec"},
    "backends.lookup": {"anyio", "msgspec", "redis"},
    "backends.threads": {"anyio", "msgspec", "trio"},
    "backends.watching": {"anyio", "msgspec", "opentelemetry", "rich"},
}

# What a check may import of the standard library: what that has for data. Nothing that runs, nor a
# clock: the same trace is judged the same way everywhere and at any time.
FOR_DATA = {"bisect", "collections", "dataclasses", "functools", "heapq", "itertools", "math"} | {
    "operator",
    "re",
    "typing",
}

# Name below the root -> part; the first that matches. The reference and the faulty operators exist
# to be judged, so their whole folder adapts to the suite; of any other backend one module does.
PARTS = (
    (r"spec\.(scenario|mailbox\.program)", r"scenario"),
    (r"conformance\.harness", r"harness"),
    (r"conformance\.(judging|areas\.\w+\.(checks|_\w+))", r"judge"),
    (r"conformance", r"suite"),
    (r"backends\.(reference|faulty)", r"adapter.\1"),
    (r"backends\.(\w+)\.conformance", r"adapter.\1"),
    (r"backends\.(\w+)", r"backends.\1"),
    (r"(\w+)", r"\1"),
)


def part_of(name: str) -> str:
    for pattern, part in PARTS:
        if found := re.match(rf"asyncwait\.{pattern}(\.|$)", name):
            return found.expand(part)
    return "root"


def allowed(part: str) -> set[str]:
    """What a part may import of ours; a backend that the table does not name gets the rule."""
    kind, _, backend = part.partition(".")
    default = {"spec", "toolkit"} if kind == "backends" else SUITE | {f"backends.{backend}"}
    return OURS.get(part, default) | {part}


def module_behind(name: str, modules: dict[str, Module]) -> str:
    return name if name in modules else name.rpartition(".")[0]


def test_imports_of_ours_run_one_way(modules: dict[str, Module]) -> None:
    wrong = [
        f"{module.name} imports {name}"
        for module in modules.values()
        for name in sorted(module.imports)
        if name.startswith("asyncwait.")
        and part_of(module_behind(name, modules)) not in allowed(part_of(module.name))
    ]

    assert wrong == []


def test_imports_of_others_are_those_that_a_part_declares(modules: dict[str, Module]) -> None:
    wrong = [
        f"{module.name} imports {name}"
        for module in modules.values()
        for name in sorted(module.imports)
        if (others := OTHERS.get(part_of(module.name))) is not None
        and name.partition(".")[0] not in {"asyncwait", *others, *standard(module.name)}
    ]

    assert wrong == []


def standard(name: str) -> Collection[str]:
    return FOR_DATA if part_of(name) == "judge" else sys.stdlib_module_names


def test_no_part_is_imported_as_an_attribute_of_the_root(modules: dict[str, Module]) -> None:
    wrong = [
        f"{module.name}, line {node.lineno}"
        for module in modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and (node.module, node.level) == ("asyncwait", 0)
    ]

    assert wrong == []


def test_no_area_knows_another(modules: dict[str, Module]) -> None:
    area = re.compile(r"asyncwait\.conformance\.areas\.(\w+)\.")
    wrong = [
        f"{name} imports {each}"
        for name, module in modules.items()
        if part_of(name) == "judge" and (own := area.match(name))
        for each in module.imports
        if (other := area.match(f"{each}.")) and other[1] != own[1]
    ]
    assert wrong == []
