"""Places of the repository's files on the site, and links that hold in both."""

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Of the repository."""

RULES = "spec/asyncwait/spec/rules"
SCENARIO = "spec/asyncwait/spec/scenario"
SUITE = "conformance/asyncwait/conformance"

ELSEWHERE = {
    **{f"{RULES}/{path.name}": f"spec/{path.name}" for path in sorted((ROOT / RULES).glob("*.md"))},
    **{
        f"{RULES}/{book}/{path.name}": f"spec/{book}/{path.name}"
        for book in ("mailbox", "carry", "hedge")
        for path in sorted((ROOT / RULES / book).glob("*.md"))
    },
    f"{SCENARIO}/json-lines.md": "protocol/json-lines.md",
    f"{SCENARIO}/schema.json": "protocol/schema.json",
    f"{SUITE}/judging/README.md": "judging-steps.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
"""Files from outside of `docs`: path in the repository, and path on the site."""

BUILT = ("docs/peers.md", "docs/peers/", "docs/spec/contract.md", "docs/upstream.md")
"""Beginnings of the paths of linked pages that are in no folder."""

_BACK = {there: here for here, there in ELSEWHERE.items()}


def on_site(path: str) -> str | None:
    """Return the place of a file of the repository on the site; None if the site lacks it.

    Args:
        path: from the root of the repository.
    """
    if path.startswith("docs/") and not path.startswith("docs/_"):
        return path.removeprefix("docs/")
    return ELSEWHERE.get(path)


def in_repository(uri: str) -> str:
    """Return the path of the file at `uri` of the site."""
    return _BACK.get(uri, f"docs/{uri}")


def source_uri(path: str) -> str:
    """Return the page of a file or a folder of code."""
    return f"source/{re.sub('^$', 'index', path)}.md"


CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
"""Code, which contains no links."""

LINK = re.compile(r"\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
IS_OUTSIDE = re.compile(r"[a-z]+:")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return `text` with a change of everything except code."""
    parts = CODE.split(text)
    return "".join(part if place % 2 else change(part) for place, part in enumerate(parts))


def relinked(text: str, uri: str) -> str:
    """Return a page of the repository with links that hold at its place on the site.

    Args:
        text: Markdown.
        uri: of the page on the site.

    Raises:
        FileNotFoundError: a link leads nowhere in the repository.
    """

    def moved(found: re.Match[str]) -> str:
        if IS_OUTSIDE.match(found["target"]):
            return found[0]
        target = _target(found["target"], uri)
        return f"]({relative(target, uri)}{found['anchor'] or ''})"

    return outside_code(text, lambda part: LINK.sub(moved, part))


def code_linked(text: str, uri: str) -> Iterator[str]:
    """Yield the files and folders of the repository that a page links to, except pages."""
    for part in CODE.split(text)[::2]:
        for found in LINK.finditer(part):
            path = _path(found["target"], uri)
            if not IS_OUTSIDE.match(found["target"]) and on_site(path) is None:
                yield path


def relative(target: str, uri: str) -> str:
    """Return the link to `target` from the page `uri`, both of the site."""
    return posixpath.relpath(target, posixpath.dirname(uri) or ".")


def _target(target: str, uri: str) -> str:
    path = _path(target, uri)
    if not (path.startswith(BUILT) or (ROOT / path).exists()):
        raise FileNotFoundError(f"{in_repository(uri)}: {path} does not exist")
    return on_site(path) or source_uri(path)


def _path(target: str, uri: str) -> str:
    folder = posixpath.dirname(in_repository(uri))
    return posixpath.normpath(posixpath.join(folder, target))
