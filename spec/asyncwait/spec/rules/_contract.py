"""Sentences of the contract, and the rules that check each sentence.

The docstrings hold the sentences; `contract.toml` names the rules of each sentence, or says why no
rule checks it. `python -m asyncwait.spec.rules` prints the sentences with their rules.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from itertools import groupby

from msgspec import Struct

from asyncwait.spec._errors import AsyncWaitError
from asyncwait.spec.rules._registry import RULE_ID, rules

MODULES = ("_operator", "_function", "_config", "_sharing", "_elements", "_errors")
"""Modules of the contract, in reading order."""

APART = frozenset({"InvalidConfig", "MissingExtra"})
"""Public classes of these modules that do not describe an operator."""

HEAD = """\
# The contract, sentence by sentence

What the docstrings of `asyncwait.spec` promise of an operator, and which rules hold it to that.
This page is generated: `python -m asyncwait.spec.rules` prints it. The answers stand in
`contract.toml`.
"""

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
_PART = re.compile(r"[.(]")
_ITEM = re.compile(r"(\w+): (.*)", re.DOTALL)


class Promise(Struct, frozen=True):
    """A sentence of the contract.

    Args:
        owner: name of the documented object, for example "OpenOperator".
    """

    owner: str
    sentence: str
    rules: tuple[str, ...]
    because: str


class UnheldPromise(AsyncWaitError, ValueError):
    """`contract.toml` does not match the docstrings; the message says what to change."""


def promises() -> tuple[Promise, ...]:
    """Return every sentence of the contract with its answer, in the order of the docstrings.

    Raises:
        UnheldPromise: a sentence has no answer, an answer has no sentence or names no rule.
    """
    text = (
        resources.files("asyncwait.spec.rules")
        .joinpath("contract.toml")
        .read_text(encoding="utf-8")
    )
    answers: Mapping[str, Mapping[str, str]] = tomllib.loads(text)
    said = list(sentences())
    known = {(owner, sentence) for owner, sentence in said}
    for owner, of_owner in answers.items():
        for sentence in of_owner:
            if (owner, sentence) not in known:
                raise UnheldPromise(f"contract.toml: [{owner}] says no longer: {sentence!r}")
    return tuple(_promise(answers, owner, sentence) for owner, sentence in said)


def _promise(answers: Mapping[str, Mapping[str, str]], owner: str, sentence: str) -> Promise:
    answer = answers.get(owner, {}).get(sentence, "")
    if not answer:
        raise UnheldPromise(f"contract.toml: no answer in [{owner}] to {sentence!r}")
    ids, _, because = answer.partition("; ") if RULE_ID.match(answer) else ("", "", answer)
    for rule in ids.split():
        if rule not in rules():
            raise UnheldPromise(f"contract.toml: {rule!r} is no rule, in [{owner}] {sentence!r}")
    return Promise(owner, sentence, tuple(ids.split()), because)


def contract_page() -> str:
    """Return the page: a table for each part of the contract."""
    lines = [HEAD]
    for part, of_part in groupby(promises(), key=lambda promise: _PART.split(promise.owner)[0]):
        lines.append(f"\n## {part}\n\n| of | it says | held by |\n|---|---|---|\n")
        for promise in of_part:
            member = promise.owner[len(part) :].strip(".()")
            held = "; ".join(filter(None, (" ".join(promise.rules), promise.because)))
            name = f"`{member}`" if member else ""
            lines.append(f"| {name} | {promise.sentence} | {held} |\n")
    return "".join(lines)


def sentences() -> Iterator[tuple[str, str]]:
    """Yield the sentences of the contract's docstrings, each after its owner's name."""
    for module in MODULES:
        source = resources.files("asyncwait.spec").joinpath(f"{module}.py")
        tree = ast.parse(source.read_text(encoding="utf-8"))
        if module == "_errors":
            yield from _of_text("the errors", (ast.get_docstring(tree) or "").rpartition("\n\n")[2])
        yield from _of_body("", tree.body)


def _of_body(owner: str, body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    name = ""
    for node in body:
        match node:
            case ast.ClassDef() if not (node.name in APART or node.name.startswith("_")):
                yield from _of_text(node.name, ast.get_docstring(node) or "")
                yield from _of_body(node.name, node.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if owner and node.name[:2] != "__":
                yield from _of_text(f"{owner}.{node.name}", ast.get_docstring(node) or "")
            case (
                ast.AnnAssign(target=ast.Name(id=target))
                | ast.Assign(targets=[ast.Name(id=target)])
            ):
                name = f"{owner}.{target}" if owner else target
                continue
            case ast.Expr(value=ast.Constant(value=str(text))) if name and not (
                name.startswith("_") or name.isupper()
            ):
                yield from _of_text(name, text)
            case _:
                pass
        name = ""


def _of_text(owner: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a docstring; those of an argument have the argument as owner."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        first, _, rest = paragraph.partition("\n")
        if first.strip() not in {"Args:", "Raises:", "Returns:"}:
            yield from ((owner, each) for each in _split(paragraph))
            continue
        for item in re.split(r"\n(?= {4}\S)", f"\n{rest}"):
            if named := _ITEM.match(item.strip()):
                of_argument = f"{owner}({named[1]})" if first.strip() == "Args:" else owner
                prefix = "" if first.strip() == "Args:" else f"raises {named[1]}: "
                yield from ((of_argument, f"{prefix}{each}") for each in _split(named[2]))


def _split(text: str) -> list[str]:
    return _SENTENCE.split(" ".join(text.split()))
