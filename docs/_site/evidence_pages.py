"""Pages of what shows that rules can be held, and broken: examples, and faulty operators."""

import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator

from chapters import (
    EVERY_FAULT,
    EXAMPLE_PAGES,
    MAILBOX_PAGE,
    counted,
    folder_of,
    rule_link,
    rule_links,
)
from where import ROOT

from asyncwait.backends.faulty import FAULTY, Faulty
from asyncwait.backends.faulty.carry import FAULTY_CARRY, FaultyCarry
from asyncwait.backends.faulty.hedge import FAULTY_HEDGES, FaultyHedge
from asyncwait.backends.faulty.mailbox import FAULTY_MAILBOXES, FaultyMailbox
from asyncwait.conformance.evidence import Example, describe_scenario
from asyncwait.conformance.harness import play
from asyncwait.conformance.mailbox import MAILBOX_EXAMPLES, notation_of
from asyncwait.conformance.timeline import draw
from asyncwait.reference import open_operator
from asyncwait.spec.rules import areas

BUG = re.compile(r"^\| (?P<bug>[^|]*) \| (?P<what>[^|]*) \| [A-Z]+-\d+ \| `(?P<name>.+)` \|$")
"""A row of the page on bugs; an empty cell repeats the row above."""


def example_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages of examples, each with where it stands on the site."""
    for uri, (title, examples) in EXAMPLE_PAGES.items():
        yield uri, f"# Examples: {title}\n\n{_INTRODUCTION}{''.join(_examples(examples, uri))}"
    yield MAILBOX_PAGE, "".join(_mailbox_examples(MAILBOX_PAGE))


_INTRODUCTION = """\
The reference plays each on a virtual clock, and the build of this site draws the run.
`asyncwait play BACKEND NAME` plays it on your operator.

"""


def _examples(examples: Iterable[Example], uri: str) -> Iterator[str]:
    for example in examples:
        trace = play(open_operator, example.scenario, "asyncio")
        drawn = [*describe_scenario(example.scenario), *draw(example.scenario, trace)]
        yield f"## {example.name} {{ #{example.name} }}\n\n{example.sentence}\n\n"
        yield f"About {rule_links(example.rules, uri)}.\n\n"
        yield _folded("What happens", "text", "\n".join(drawn))


def _mailbox_examples(uri: str) -> Iterator[str]:
    yield "# Examples: the task mailbox\n\n"
    yield "`asyncwait verify --mailbox MODULE:CALLABLE` plays them on a mailbox of yours.\n\n"
    for example in MAILBOX_EXAMPLES:
        yield f"## {example.name} {{ #{example.name} }}\n\n{example.sentence}\n\n"
        yield f"About {rule_links(example.rules, uri)}.\n\n"
        yield _folded("The program", "text", "\n".join(notation_of(example.program)))


def fault_pages() -> Iterator[tuple[str, str]]:
    """Yield the gallery, each page with where it stands on the site."""
    yield "faults/index.md", "".join(_gallery("faults/index.md"))
    for area in areas().values():
        uri = f"faults/{area.folder}.md"
        of_area = [faulty for faulty in FAULTY if folder_of(faulty.rule) == area.folder]
        yield uri, f"# Faulty operators: {area.title}\n\n{''.join(_faults(of_area, uri))}"
    mailboxes = _faults(FAULTY_MAILBOXES, "faults/mailbox.md")
    yield "faults/mailbox.md", f"# Faulty mailboxes\n\n{''.join(mailboxes)}"
    carry = _faults(FAULTY_CARRY, "faults/carry.md")
    yield "faults/carry.md", f"# Faulty lanes and hosts\n\n{''.join(carry)}"
    hedges = _faults(FAULTY_HEDGES, "faults/hedge.md")
    yield "faults/hedge.md", f"# Faulty functions with stand-ins\n\n{''.join(hedges)}"


def _gallery(uri: str) -> Iterator[str]:
    yield f"# The gallery\n\n{counted(FAULTY, 'operator')} break one rule each, by one small "
    yield f"change to a sound one, and {counted(FAULTY_MAILBOXES, 'mailbox')[:-1]}es do, and "
    yield f"{len(FAULTY_CARRY)} lanes and hosts. The suite convicts each of them by that rule. "
    yield "`asyncwait verify faulty-NAME` shows the verdict on an operator.\n\n"
    yield "| operator | breaks | what it does | bug that had it |\n|---|---|---|---|\n"
    bugs = bugs_by_operator()
    for faulty in EVERY_FAULT:
        link = f"[{faulty.name}]({folder_of(faulty.rule)}.md#{faulty.name})"
        bug = bugs.get(faulty.name, ("", ""))[0]
        yield f"| {link} | {rule_link(faulty.rule, uri)} | {_cell(faulty.sentence)} | {bug} |\n"


def _faults(
    faults: Iterable[Faulty | FaultyMailbox | FaultyCarry | FaultyHedge], uri: str
) -> Iterator[str]:
    bugs = bugs_by_operator()
    for faulty in faults:
        yield f"## {faulty.name} {{ #{faulty.name} }}\n\n{faulty.sentence}\n\n"
        yield f"Breaks {rule_link(faulty.rule, uri)}.\n\n"
        if faulty.name in bugs:
            number, what = bugs[faulty.name]
            yield f"A known bug{f', {number}' if number else ''}: {what}\n\n"
        changes = (faulty.change, *getattr(faulty, "also", ()))
        code = "\n\n\n".join(inspect.getsource(change).rstrip() for change in changes)
        yield _folded("The change", "python", code)


def bugs_by_operator() -> dict[str, tuple[str, str]]:
    """Return the bug that an operator re-creates, and what went wrong, from the page on bugs."""
    found: dict[str, tuple[str, str]] = {}
    bug = what = ""
    for line in (ROOT / "docs" / "bugs.md").read_text(encoding="utf-8").splitlines():
        if row := BUG.match(line):
            if row["what"].strip():
                bug, what = row["bug"].strip(), row["what"].strip()
            found[row["name"]] = bug, what
    return found


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _folded(title: str, language: str, text: str) -> str:
    block = f"```{language}\n{text.rstrip()}\n```"
    return f'??? quote "{title}"\n\n{textwrap.indent(block, "    ")}\n\n'
