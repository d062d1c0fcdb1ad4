"""Pages that show the code which other pages link to."""

import ast
import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path

from links import relative
from where import ROOT, source_uri

APART = """\
---
search:
  exclude: true
---
"""
CODE = (".go", ".js", ".py")
LANGUAGES = {
    ".go": "go",
    ".py": "python",
    ".js": "javascript",
    ".toml": "toml",
    ".json": "json",
    ".md": "markdown",
}
_NOT_OURS = (".", "__py", "node_modules")


def source_pages(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield a page for each file or folder, and for what is in a folder.

    Args:
        paths: from the root of the repository.
    """
    todo, done = [*paths], set[str]()
    while todo:
        path = todo.pop()
        if path in done:
            continue
        done.add(path)
        if (ROOT / path).is_dir():
            inside = [posixpath.join(path, each.name) for each in _shown(ROOT / path)]
            todo += inside
            yield source_uri(path), "".join(_folder(path, inside))
        else:
            yield source_uri(path), "".join(_file(path))


def _shown(folder: Path) -> list[Path]:
    """Return what is worth a page: code, and folders of it."""
    found = [each for each in folder.iterdir() if not each.name.startswith(_NOT_OURS)]
    return sorted(each for each in found if each.suffix in CODE or (each.is_dir() and _shown(each)))


def _folder(path: str, inside: list[str]) -> Iterator[str]:
    yield f"{APART}\n# `{path}`\n\n| | |\n|---|---|\n"
    for each in inside:
        link = relative(source_uri(each), source_uri(path))
        yield f"| [`{posixpath.basename(each)}`]({link}) | {_sentence(ROOT / each)} |\n"


def _file(path: str) -> Iterator[str]:
    file = ROOT / path
    text = file.read_text(encoding="utf-8").rstrip()
    yield f"{APART}\n# `{path}`\n\n````{LANGUAGES.get(file.suffix, 'text')}\n{text}\n````\n"


def _sentence(path: Path) -> str:
    """Return the first paragraph of what a module says of itself, in one line."""
    file = path / "__init__.py" if path.is_dir() else path
    if file.suffix != ".py" or not file.exists():
        return ""
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(said.partition("\n\n")[0].split()).replace("|", "\\|")
