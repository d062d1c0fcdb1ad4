"""The gallery: operators that break one rule each.

They prove that the suite can fail. Each operator makes one small change to the mechanism of the
reference or of the emitter; no operator edits the output.
"""

from collections.abc import Callable, Mapping
from importlib import import_module

from asyncwait.backends.faulty._gallery import FOUND, Faulty, Variation
from asyncwait.conformance import Backend
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.rules import areas, rules

for _folder in (*(area.folder for area in areas().values()), "emitter"):
    import_module(f"asyncwait.backends.faulty._{_folder}")

FAULTY: tuple[Faulty, ...] = tuple(sorted(FOUND, key=lambda each: [*rules()].index(each.rule)))
"""All faulty operators in the order of their rules: a module for each area, and the emitter's."""


def gallery() -> Mapping[str, Callable[[], Backend]]:
    """Return a factory of each backend by its name: "faulty-..."."""
    return {f"faulty-{variation.name}": variation for variation in FAULTY}


__all__ = ["FAULTY", "Faulty", "Variation", "gallery"]

claim_exports(__name__)
