"""Pages whose code runs: what stands in their fenced blocks, and what that prints."""

import ast
import contextlib
import io
import linecache
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block, and its language."""

LEFT_OUT = "..."
"""A line in the place of any number of lines."""


@dataclass
class Block:
    language: str
    code: str
    printed: str = ""
    line: int = 1


def blocks_of(page: Path) -> dict[str, list[Block]]:
    """Return what runs in each section of a page; in front of the first one it is called ""."""
    sections: dict[str, list[Block]] = {}
    text = page.read_text(encoding="utf-8")
    heading, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    line = 1
    for title, section in [("", heading), *((part.split("\n")[0], part) for part in rest)]:
        sections[title] = _blocks(section, line)
        line += section.count("\n")
    return sections


def _blocks(section: str, line: int) -> list[Block]:
    blocks: list[Block] = []
    for found in FENCED.finditer(section):
        language, text = found.groups()
        if language == "text":
            assert blocks, f"nothing prints this:\n{text}"
            assert not blocks[-1].printed, f"two texts of one block:\n{text}"
            blocks[-1].printed = text
        else:
            begins = line + section[: found.start(2)].count("\n")
            blocks.append(Block(language, text, line=begins))
    return blocks


def run(block: Block, page: Path, names: dict[str, Any]) -> str:
    padded = "\n" * (block.line - 1) + block.code
    name = f"<{page.name}, line {block.line}>"
    linecache.cache[name] = (len(padded), None, padded.splitlines(keepends=True), name)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(padded, name, "exec"), names)  # noqa: S102 - the page is ours
    return printed.getvalue()


def shows(told: str, printed: str) -> bool:
    parts = re.split(rf"^ *{re.escape(LEFT_OUT)}\n", told, flags=re.MULTILINE)
    pattern = r"(?:.*\n)*?".join(map(re.escape, parts))
    return re.fullmatch(pattern, printed) is not None


FIGURES = [
    (re.compile(r"(?<=fail in )[\d,]+(?= scenarios?\b)"), "N"),
    (re.compile(r"\b\d+(?= (rules pass|fail|not-applicable|untested|held so far)\b)"), "N"),
]
"""What grows with the suite, and is not compared."""


def without_figures(text: str) -> str:
    for figure, letter in FIGURES:
        text = figure.sub(letter, text)
    return text


def put_in_place(code: str, file: str) -> str:
    """Return a file in which definitions of `code` take the place of those with their names."""
    new = ast.parse(code).body
    if all(isinstance(node, ast.Import | ast.ImportFrom) for node in new):
        replaced = [
            node for node in ast.parse(file).body if type(node) in {ast.Import, ast.ImportFrom}
        ]
    else:
        names = {node.name for node in new if isinstance(node, DEFINITION)}
        old = [node for node in ast.parse(file).body if isinstance(node, DEFINITION)]
        replaced = [node for node in old if node.name in names]
    assert replaced, f"nothing is replaced by this:\n{code}"
    lines = file.splitlines(keepends=True)
    for node in reversed(replaced):
        lines[_first_line(node) - 1 : node.end_lineno] = [code] if node is replaced[0] else []
    return "".join(lines)


DEFINITION = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min(each.lineno for each in (node, *decorators))
