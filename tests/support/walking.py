"""What a reader of a tutorial does: puts code into files, runs commands, looks at what they say."""

import ast
import re

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
