"""Links that hold in the repository are made to hold on the site."""

import posixpath
import re
from collections.abc import Callable, Iterator

from where import BUILT, ROOT, in_repository, on_site, source_uri

CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
"""In which nothing is a link."""

LINK = re.compile(r"\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
IS_OUTSIDE = re.compile(r"[a-z]+:")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return `text` with everything changed that is no code."""
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
    """Yield the files and folders of the repository that a page links to, and are no pages."""
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
        raise FileNotFoundError(f"{in_repository(uri)}: there is no {path}")
    return on_site(path) or source_uri(path)


def _path(target: str, uri: str) -> str:
    folder = posixpath.dirname(in_repository(uri))
    return posixpath.normpath(posixpath.join(folder, target))
