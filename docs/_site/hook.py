"""Hooks of MkDocs: pages from elsewhere, generated pages, pages of code, and the menu."""

import ast
import json
import posixpath
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from chapters import (
    EVIDENCE,
    RELATED,
    capabilities_page,
    chapter_of,
    contract_page,
    decorated,
    example_pages,
    fault_pages,
    folder_of,
    rule_link,
    rules_page,
)
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from where import ELSEWHERE, ROOT, code_linked, outside_code, relative, relinked, source_uri

from asyncwait.conformance.upstream import upstream_page
from asyncwait.spec.rules import areas
from asyncwait.spec.rules._contract import contract_page as sentences_page

CHAPTER = re.compile(r"spec/((mailbox/|carry/|hedge/)?\d\d-\w+)\.md")
TABLES_BUILT = {"spec/contract.md": sentences_page(), "upstream.md": upstream_page()}
TABLES = (*TABLES_BUILT, "bugs.md")
"""Pages whose tables name rules in the third column, and examples or faulty operators behind it."""

RULES_AT = 3
CELLS = re.compile(r"(?<!\\)\|")
RULE = re.compile(r"\b[A-Z]+-\d+\b")
NAME = re.compile(r"`([a-z0-9-]+)`")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the menu; pages without a place come last."""
    places = _filled(config.nav, _lists())
    by_hand = [path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))]
    others = [page for page in by_hand if page not in _pages_in(places)]
    config.nav = [*places, {"More": others}] if others else places
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages from elsewhere and generated pages, before MkDocs reads any page."""
    by_hand = [file.src_uri for file in files.documentation_pages()]
    for path, uri in ELSEWHERE.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    brought = [uri for uri in ELSEWHERE.values() if uri.endswith(".md")]
    linked = [
        path
        for uri in [*by_hand, *brought]
        if (file := files.get_file_from_path(uri))
        for path in code_linked(file.content_string, uri)
    ]
    for uri, text in [*_generated(), *source_pages(linked)]:
        files.append(File.generated(config, uri, content=text))
    return files


def _generated() -> Iterator[tuple[str, str]]:
    sys.path.append(str(ROOT / "examples" / "peers"))
    from peer_pages import pages  # Their folder has the measurements, and plays them again.

    yield "spec/rules.md", "".join(rules_page("spec/rules.md"))
    yield "capabilities.md", "".join(capabilities_page("capabilities.md"))
    yield "contract.md", "".join(contract_page())
    yield from TABLES_BUILT.items()
    yield from pages()
    yield from example_pages()
    yield from fault_pages()


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Change links for the site, and add their evidence to rules."""
    uri = page.file.src_uri
    has_links = uri in (*ELSEWHERE.values(), *TABLES) or uri.startswith("peers")
    if page.file.generated_by is not None and not has_links:
        return markdown
    text = relinked(markdown, uri)
    if CHAPTER.fullmatch(uri):
        text = decorated(text, uri)
    return "\n".join(_row(line, uri) for line in text.split("\n")) if uri in TABLES else text


def _row(line: str, uri: str) -> str:
    def rule(found: re.Match[str]) -> str:
        return rule_link(found[0], uri) if found[0] in RELATED else found[0]

    def evidence(found: re.Match[str]) -> str:
        page = EVIDENCE.get(found[1])
        return f"[{found[0]}]({relative(page, uri)}#{found[1]})" if page else found[0]

    cells = CELLS.split(line)
    if line.startswith("|") and len(cells) > RULES_AT + 1:
        cells[RULES_AT] = outside_code(cells[RULES_AT], lambda part: RULE.sub(rule, part))
        cells[RULES_AT + 1 :] = [NAME.sub(evidence, cell) for cell in cells[RULES_AT + 1 :]]
    return "|".join(cells)


DOCS = ROOT / "docs"


def _lists() -> dict[str, list[Any]]:
    """Return the lists of pages that the menu of mkdocs.yml names."""
    measured = (ROOT / "examples/peers/measured.json").read_text(encoding="utf-8")
    folders = {area.title: area.folder for area in areas().values()}
    folders["The task mailbox"] = folder_of("MBX-1")
    faulty = {**folders, "Carried calls": folder_of("CARRY-1")}
    return {
        "CHAPTERS": [{area.title: chapter_of(f"{area.id}-1")} for area in areas().values()],
        "PEERS": ["peers.md", *(f"peers/{each['name']}.md" for each in json.loads(measured))],
        "FAULTY": [{title: f"faults/{name}.md"} for title, name in faulty.items()],
        "EXAMPLES": [{title: f"spec/examples/{name}.md"} for title, name in folders.items()],
    }


def _filled(place: Any, lists: dict[str, list[Any]]) -> Any:
    if isinstance(place, str):
        return lists.get(place, place)
    if isinstance(place, dict):
        return {title: _filled(inside, lists) for title, inside in place.items()}
    return [_filled(inside, lists) for inside in place]


def _pages_in(place: Any) -> Iterator[str]:
    if isinstance(place, str):
        yield place
    else:
        inside = place.values() if isinstance(place, dict) else place
        yield from chain.from_iterable(map(_pages_in, inside))


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
    """Yield a page for each file and each folder, also inside a folder.

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
    """Return code, and folders of code."""
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
    """Return the first paragraph of a module's docstring, in one line."""
    file = path / "__init__.py" if path.is_dir() else path
    if file.suffix != ".py" or not file.exists():
        return ""
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(said.partition("\n\n")[0].split()).replace("|", "\\|")
