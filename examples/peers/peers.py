"""Rows of the matrix, which `peers.toml` declares."""

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, convert


class Peer(Struct, frozen=True, kw_only=True):
    """A row: an operator that we ship, or a peer as this folder adapts it.

    Args:
        title: what it is called on the page.
        backend: module and factory, as a verification takes it.
        package: whose version is told; "Python" or "Node" where it comes with that.
        promises: what it says of itself, in our words, and the rules in which that would show.
        otherwise: what it says or shows that it does, and that a rule has otherwise.
        outside: promised rules that are broken all the same, each with where: the promise does
            not reach so far. Whoever adds one has looked at the failures.
        varies: why the same scenario may show something else the next time; empty if it doesn't.
        group: its heading in the matrix.
        needs: a distribution that has to be there besides.
        more: a page of the docs on it, for an operator that we ship.
    """

    title: str
    backend: str
    package: str
    promises: Mapping[str, tuple[str, ...]] = {}
    otherwise: tuple[str, ...] = ()
    outside: Mapping[str, str] = {}
    varies: str = ""
    group: str = "Python"
    needs: str = ""
    more: str = ""

    @property
    def name(self) -> str:
        """Return what its page is called."""
        words = self.backend.removeprefix("exec:node ").replace(".js", "").lower()
        return re.sub("[^a-z0-9]", "-", words).removesuffix("-backend")

    @property
    def is_program(self) -> bool:
        """Whether it speaks JSON lines."""
        return self.backend.startswith("exec:")

    @property
    def is_replayed(self) -> bool:
        """Whether whoever builds the site has what plays it."""
        return self.group == "Python" and not self.needs

    @property
    def command(self) -> str:
        """Return what `asyncwait play` and a shell call it."""
        return shlex.quote(self.backend)

    @property
    def adapter(self) -> str:
        """Return the file that adapts it, from this folder; empty for what needs none."""
        if self.is_program:
            return f"javascript/{self.backend.split()[1]}"
        module, colon, _ = self.backend.partition(":")
        return f"{module}.py" if colon else ""

    @property
    def promised(self) -> frozenset[str]:
        """Return the rules that it would break its own word with."""
        rules = frozenset(rule for rules in self.promises.values() for rule in rules)
        return rules - self.outside.keys()


def _rows() -> Iterator[Peer]:
    declared = tomllib.loads(Path(__file__).with_name("peers.toml").read_text(encoding="utf-8"))
    promises, outside = declared.pop("promises"), declared.pop("outside")
    for group, rows in declared.items():
        for row in rows:
            named = [promises[name].items() for name in row.get("promises", ())]
            row["promises"] = dict(each for items in named for each in items)
            where = row.get("outside", {}).items()
            row["outside"] = {rule: outside.get(text, text) for rule, text in where}
            yield convert(row | {"group": group}, Peer)


ROWS = (*_rows(),)
