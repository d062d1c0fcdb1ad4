"""Hooks of MkDocs, which bring in pages from elsewhere and generated pages."""

import re
import sys
from collections.abc import Iterator

from chapters import EVIDENCE, RELATED, decorated, rule_link
from evidence_pages import example_pages, fault_pages
from links import code_linked, outside_code, relative, relinked
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nav import menu
from source_pages import source_pages
from tables import capabilities_page, contract_page, rules_page
from where import ELSEWHERE, ROOT

from asyncwait.conformance.upstream import upstream_page
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
    """Put the menu in."""
    config.nav = menu()
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what stands elsewhere and what is generated, before anything is read."""
    by_hand = [file.src_uri for file in files.documentation_pages()]
    for path, uri in ELSEWHERE.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    brought = [uri for uri in ELSEWHERE.values() if uri.endswith(".md")]
    linked = [path for uri in [*by_hand, *brought] for path in _code_behind(files, uri)]
    for uri, text in [*_generated(), *source_pages(linked)]:
        files.append(File.generated(config, uri, content=text))
    return files


def _code_behind(files: Files, uri: str) -> Iterator[str]:
    file = files.get_file_from_path(uri)
    assert file is not None
    yield from code_linked(file.content_string, uri)


def peer_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages on peers: their folder holds what was measured, and plays it again."""
    sys.path.append(str(ROOT / "examples" / "peers"))
    from peer_pages import pages

    yield from pages()


def _generated() -> Iterator[tuple[str, str]]:
    yield "spec/rules.md", rules_page("spec/rules.md")
    yield "capabilities.md", capabilities_page("capabilities.md")
    yield "contract.md", contract_page()
    yield from TABLES_BUILT.items()
    yield from peer_pages()
    yield from example_pages()
    yield from fault_pages()


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Change what stands otherwise in the repository: links, and what belongs to rules."""
    uri = page.file.src_uri
    if page.file.generated_by is not None and not _has_links_of_the_repository(uri):
        return markdown
    text = relinked(markdown, uri)
    if CHAPTER.fullmatch(uri):
        text = decorated(text, uri)
    return "\n".join(_row(line, uri) for line in text.split("\n")) if uri in TABLES else text


def _has_links_of_the_repository(uri: str) -> bool:
    return uri in (*ELSEWHERE.values(), *TABLES) or uri.startswith("peers")


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
