"""How what is faulty is named and described: by its class."""

import re


def name_of(change: type) -> str:
    """Return what a class is called in the gallery: its words, joined by hyphens."""
    words: list[str] = re.findall("[A-Z][a-z0-9]*", change.__name__)
    return "-".join(words).lower()


def sentence_of(change: type) -> str:
    """Return what a class says of itself, in one line."""
    return " ".join((change.__doc__ or "").split())
