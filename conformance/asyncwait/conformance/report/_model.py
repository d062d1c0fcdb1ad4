"""A report as data: the findings of a verification, with the evidence, apart from any display.

    Report
      Header                  the file: format, versions, when and where
      RuleText ...            the text of each rule, once for all backends
      Run ...                 one for each backend
        RunHeader             the request
        Played ...            scenarios that show something, each with its trace, once for all rules
        Result ...            one for each rule; its evidence points into `played`
        RunFooter             the verdict
      Footer                  the number of lines

Each part below `Report` and `Run` is one line of the file, in this order. Several reports are
merged into one, which shows the changes between the runs of a backend.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from asyncwait.conformance.judging import Violation
from asyncwait.conformance.verdict import EXIT_CODES, Status, Word, worst
from asyncwait.spec.rules import Level, rules
from asyncwait.spec.scenario import Scenario, Trace
from asyncwait.spec.texts import counted, name_of, one_line

FORMAT = 1
"""Format of the file; a newer version that writes a file differently has a higher number."""

Number = Annotated[int, Meta(ge=0)]

RuleId = Annotated[str, Meta(max_length=100)]
"""Id of a rule; bounded, as it appears in tables and links."""


class Header(Struct, frozen=True, tag="asyncwait-report"):
    """The first line of a file."""

    format: Number
    asyncwait: str
    spec: str
    created: str
    python: str
    platform: str
    doubt: str = ""
    backends: tuple[str, ...] = ()


class RuleText(Struct, frozen=True, tag="rule"):
    """The text of a rule.

    Args:
        hint: what to look for in the operator's code if it is broken; Markdown, may be empty.
    """

    id: RuleId
    area: RuleId
    chapter: str
    title: str
    level: Level
    since: str
    sentence: str
    why: str
    hint: str = ""


class RunHeader(Struct, frozen=True, tag="backend"):
    """The request to verify a backend.

    Args:
        capabilities: declared capabilities, sorted.
        spec: the version of the specification that it claims; empty for the newest.
    """

    name: str
    capabilities: tuple[str, ...]
    profiles: tuple[str, ...]
    seed: int
    planned: Number
    created: str
    asyncwait: str
    expected_failures: dict[str, str] = {}
    only: tuple[str, ...] = ()
    doubt: str = ""
    spec: str = ""


class Played(Struct, frozen=True, tag="played", omit_defaults=True):
    """A scenario that shows something, with its trace.

    A scenario that would fill the report is drawn in words instead, as much as a person reads.

    Args:
        name: of the example, or the number of the generated scenario.
        id: the id with which `asyncwait play` plays the scenario again.
        generated: whether it was generated rather than written by hand.
        planned: the scenario; None if it is too long.
        scenario: the played scenario, adapted to the capabilities of the backend. None if it is
            too long, or if nothing had to be adapted.
        trace: the trace; None if it is too long.
        drawn: scenario and timeline in lines, if they are too long.
        replay: the command that plays it again; empty if none does.
        anywhere: the same for a machine that does not know the id; empty if it is too long.
        left_out: the parts left out, and their length; empty if it is complete.
        number: the number of scenarios before it in its run.
    """

    name: str
    id: str
    generated: bool = False
    planned: Scenario | None = None
    scenario: Scenario | None = None
    trace: Trace | None = None
    drawn: tuple[str, ...] = ()
    replay: str = ""
    anywhere: str = ""
    left_out: str = ""
    number: Number = 0

    @property
    def label(self) -> str:
        """The name of the scenario in messages."""
        name = name_of(self.name)
        return f"{name} ({one_line(self.id)})" if self.replay else name

    @property
    def again(self) -> str:
        """The command that plays it again: preferably the command for any machine."""
        return self.anywhere or self.replay

    @property
    def as_played(self) -> Scenario | None:
        """The scenario as the backend got it; None if it is too long."""
        return self.scenario or self.planned


class Evidence(Struct, frozen=True):
    """A violation of a rule.

    Args:
        at: ms since the leg began.
    """

    played: Number
    text: str
    at: float
    leg: Number = 0

    @property
    def violation(self) -> Violation:
        """The violation in the form that timelines need."""
        return Violation(self.text, self.at, self.leg)


class Result(Struct, frozen=True, tag="result", omit_defaults=True):
    """The findings on a rule.

    Args:
        explained_by: the cause that explains it; empty if it is a cause, or passes.
    """

    rule: RuleId
    status: Status
    applied: Number = 0
    broken: Number = 0
    note: str = ""
    forgiven: bool = False
    explains: tuple[RuleId, ...] = ()
    explained_by: RuleId = ""
    evidence: tuple[Evidence, ...] = ()
    left_out: Number = 0
    cause: Number = 0


class RunFooter(Struct, frozen=True, tag="verdict"):
    """The verdict on a backend.

    Args:
        seconds: duration of the verification.
        stopped: why not everything was played; empty if everything was.
    """

    backend: str
    word: Word
    claim: str
    line: str
    exit_code: Number
    counts: dict[Status, Number]
    scenarios: Number
    seconds: float
    errors: tuple[str, ...] = ()
    errors_left_out: Number = 0
    stopped: str = ""
    self_reported: bool = False
    known: Number = 0
    stale: dict[str, str] = {}
    expired: dict[str, str] = {}
    newer: tuple[str, ...] = ()


class Footer(Struct, frozen=True, tag="end"):
    """The last line of a whole file; a file without it was cut."""

    lines: Number
    sha256: str


class Run(Struct, frozen=True, dict=True):
    """All findings on one backend.

    Args:
        footer: the verdict; None if the file was cut before it.
    """

    header: RunHeader
    played: tuple[Played, ...] = ()
    results: tuple[Result, ...] = ()
    footer: RunFooter | None = None

    @property
    def name(self) -> str:
        """The name of the backend."""
        return self.header.name

    @property
    def doubt(self) -> str:
        """Why the verdict does not count; empty if it does."""
        if self.header.doubt:
            return self.header.doubt
        return "" if self.footer is not None else "there is no verdict in the report"

    @property
    def word(self) -> Word:
        """The verdict; a file that is not whole is inconclusive."""
        return "inconclusive" if self.doubt or self.footer is None else self.footer.word

    @property
    def claim(self) -> str:
        """The verdict, its scope, and the number of rules if it covers only a part of them."""
        if self.doubt or self.footer is None:
            return "inconclusive"
        rules = counted(len(self.header.only), "rule")
        return f"{self.footer.claim}{f' as to {rules}' if self.header.only else ''}"

    @property
    def line(self) -> str:
        """The verdict in one line."""
        if self.doubt or self.footer is None:
            return f"{name_of(self.name)}: inconclusive ({self.doubt})"
        name = f"{name_of(self.name)}: "
        return f"{name}{self.footer.line.removeprefix(name)}"

    @property
    def details(self) -> str:
        """The line without name and claim."""
        said = self.line.removeprefix(f"{name_of(self.name)}: ").removeprefix(self.claim)
        return said.removeprefix(self.footer.claim if self.footer else "").strip()

    @property
    def exit_code(self) -> int:
        """The exit code of a command for this verdict."""
        return EXIT_CODES[self.word]

    @cached_property
    def by_rule(self) -> dict[str, Result]:
        """The results by the id of the rule."""
        return {result.rule: result for result in self.results}

    @property
    def failed(self) -> tuple[Result, ...]:
        """Findings against the backend: the causes in their order, then the rules they explain."""
        found = [r for r in self.results if r.status in {"fail", "unexpected-pass"}]
        return tuple(sorted(found, key=lambda r: r.cause or len(found) + 1))

    def told(self, most: int) -> tuple[tuple[Result, ...], tuple[Result, ...]]:
        """Return the first `most` failures that no other failure explains, and the rest of them."""
        own = tuple(result for result in self.failed if not result.explained_by)
        return own[:most], own[most:]

    def count(self, *statuses: Status) -> int:
        """Return how many rules have one of `statuses`."""
        return sum(result.status in statuses for result in self.results)

    @property
    def applicable(self) -> int:
        """Number of rules that apply to the backend."""
        return len(self.results) - self.count("not-applicable")


class Report(Struct, frozen=True, dict=True):
    """The contents of a file, or of several merged files."""

    header: Header
    rules: tuple[RuleText, ...] = ()
    runs: tuple[Run, ...] = ()

    @property
    def doubt(self) -> str:
        """Why the report is not whole; empty if it is."""
        return self.header.doubt

    @cached_property
    def by_rule(self) -> dict[str, RuleText]:
        """The texts of the rules by their ids."""
        return {rule.id: rule for rule in self.rules}

    @property
    def newest(self) -> tuple[Run, ...]:
        """The last run of each backend."""
        return tuple({run.name: run for run in self.runs}.values())

    @property
    def word(self) -> Word:
        """The worst present verdict on a backend; a report that is not whole is not green."""
        words: list[Word] = [run.word for run in self.newest]
        if self.doubt or not words:
            words.append("inconclusive")
        return worst(words)

    @property
    def exit_code(self) -> int:
        """The exit code of a command for this report."""
        return EXIT_CODES[self.word]


NOT_THERE = "not there"
"""Takes the place of a status where a run has no result for a rule."""


class Changed(Struct, frozen=True):
    """The changes in a later run of a backend."""

    before: Run
    after: Run
    rules: tuple[tuple[str, str, str], ...] = ()


def merged(reports: Sequence[Report], header: Header) -> Report:
    """Merge several reports into one; a run that is in two of them counts once."""
    doubts = dict.fromkeys(report.doubt for report in reports if report.doubt)
    by_date = sorted(reports, key=lambda report: report.header.created)
    texts = {rule.id: rule for report in by_date for rule in report.rules}
    order = {rule: place for place, rule in enumerate(rules())}
    runs = tuple(_runs(reports))
    backends = tuple(dict.fromkeys(run.name for run in runs))
    return Report(
        msgspec.structs.replace(header, doubt="; ".join(doubts), backends=backends),
        tuple(sorted(texts.values(), key=lambda rule: order.get(rule.id, len(order)))),
        runs,
    )


def _runs(reports: Iterable[Report]) -> Iterator[Run]:
    found: dict[str, list[Run]] = {}
    for report in reports:
        for run in report.runs:
            known = found.setdefault(run.name, [])
            if run not in known:
                known.append(run)
    for runs in found.values():
        yield from sorted(runs, key=lambda run: run.header.created)


def repeated(reports: Sequence[Report], names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each run that is in an earlier report, too."""
    known: list[tuple[Run, str]] = []
    for name, report in zip(names, reports, strict=True):
        again: dict[str, list[str]] = {}
        for run in report.runs:
            first = next((where for each, where in known if each == run), None)
            if first is None:
                known.append((run, name))
            else:
                again.setdefault(first, []).append(run.name)
        for where, backends in again.items():
            runs = "run" if len(backends) == 1 else f"{len(backends):,} runs"
            same = f"the same {runs} as {where} ({', '.join(backends)})"
            yield f"{name_of(name)}: {same}: counted once"


def count_of(report: Report, name: str) -> int:
    """Return the number of runs of a backend."""
    return sum(run.name == name for run in report.runs)


def changes(report: Report) -> Iterator[Changed]:
    """Yield the changes from each run to the next of the same backend.

    No changes are known of a run that is not whole.
    """
    for before, after in pairwise(report.runs):
        if before.name == after.name and not before.doubt and not after.doubt:
            told = []
            for rule in report.by_rule:
                found = [run.by_rule.get(rule) for run in (before, after)]
                was, now = (NOT_THERE if each is None else each.status for each in found)
                # Nothing is known of a rule that a run did not select.
                is_known = (found[0] or not before.header.only) and (
                    found[1] or not after.header.only
                )
                if was != now and is_known:
                    told.append((rule, was, now))
            yield Changed(before, after, tuple(told))


def titles(report: Report) -> tuple[str, ...]:
    """Return the title of each run: its backend, and its date if the backend has several runs."""
    return tuple(
        f"{name_of(run.name)} {one_line(run.header.created)}"
        if count_of(report, run.name) > 1
        else name_of(run.name)
        for run in report.runs
    )
