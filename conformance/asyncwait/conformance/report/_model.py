"""A report as data: what a verification found, with the evidence, apart from any way to show it.

    Report
      Header                  the file: format, versions, when and where
      RuleText ...            what each rule says, once for all backends
      Run ...                 one for each backend
        RunHeader             what was asked of it
        Played ...            scenarios that show something, each with its trace, once for all rules
        Result ...            one for each rule; its evidence points into `played`
        RunFooter             the verdict
      Footer                  how much there is

Each of those below `Report` and `Run` is one line of the file, in this order.
"""

from functools import cached_property
from typing import Annotated

from msgspec import Meta, Struct

from asyncwait.conformance._counted import counted
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.verdict import EXIT_CODES, Status, Word, worst
from asyncwait.spec.rules import Level
from asyncwait.spec.scenario import Scenario, Trace
from asyncwait.spec.texts import name_of, one_line

FORMAT = 1
"""Of the file; one that a newer version wrote in another way has a higher number."""

Number = Annotated[int, Meta(ge=0)]

RuleId = Annotated[str, Meta(max_length=100)]
"""It stands in tables and links."""


class Header(Struct, frozen=True, tag="asyncwait-report"):
    """What a file begins with.

    Args:
        format: number of the form that the file is in.
        asyncwait: version of the suite that wrote it.
        spec: version of the specification.
        created: when, as ISO text in UTC.
        python: version of the interpreter.
        platform: what it ran on.
        doubt: why not everything is in it: a file that it was read or merged from was cut, or a
            backend could not be verified. Empty if everything is.
        backends: names of those that it tells of, which is known even if it was cut.
    """

    format: Number
    asyncwait: str
    spec: str
    created: str
    python: str
    platform: str
    doubt: str = ""
    backends: tuple[str, ...] = ()


class RuleText(Struct, frozen=True, tag="rule"):
    """What a rule says.

    Args:
        id: area and number.
        area: the part of the id before the number.
        chapter: title of the area.
        title: what holds, in a few words.
        level: how binding it is.
        since: the version that brought it.
        sentence: what holds, in one sentence; Markdown.
        why: the reason; Markdown.
        hint: what to look for in one's own code where it is broken; Markdown, may be empty.
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
    """What was asked of a backend.

    Args:
        name: of the backend.
        capabilities: what it declares, sorted.
        profiles: those that it claims, the core first.
        seed: of the generated scenarios.
        planned: how many scenarios there are.
        created: when, as ISO text in UTC; several runs of a backend are told apart by that.
        asyncwait: version of the suite.
        expected_failures: why a rule is known to be broken, by its id.
        only: ids of the rules that it was held to, where these are not all.
        doubt: why the verdict does not count: the file that it stood in is not whole.
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
    """A scenario that shows something, and what was observed in it.

    One that would fill the report is drawn in words instead, as far as a person reads.

    Args:
        name: of the example, or the number of the generated scenario.
        id: under which the scenario can be asked for again.
        generated: nobody has written it by hand.
        planned: the scenario; None where it is too long.
        scenario: the same, adapted to what the backend can do: this was played. None where it is
            too long, or where nothing had to be adapted.
        trace: what was observed; None where it is too long.
        drawn: scenario and timeline in lines, where they are too long.
        replay: the command that plays it again; empty where there is none.
        anywhere: the same for a machine that does not know the id; empty if it is too long.
        left_out: what of it is not here, and how long that is; empty if it is all here.
        number: how many stand before it in its run.
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
        """What it is called where it is told of."""
        name = name_of(self.name)
        return f"{name} ({one_line(self.id)})" if self.replay else name

    @property
    def as_played(self) -> Scenario | None:
        """The scenario as the backend was given it; None where it is too long."""
        return self.scenario or self.planned


class Evidence(Struct, frozen=True):
    """Where a rule was broken.

    Args:
        played: number of the scenario among those of the run, from 0 on.
        text: what was expected, and what was seen.
        at: ms since the leg began.
        leg: 0-based.
    """

    played: Number
    text: str
    at: float
    leg: Number = 0

    @property
    def violation(self) -> Violation:
        """The same, as a timeline is drawn with it."""
        return Violation(self.text, self.at, self.leg)


class Result(Struct, frozen=True, tag="result", omit_defaults=True):
    """What was found of a rule.

    Args:
        rule: its id.
        status: see `asyncwait.conformance.verdict.Status`.
        applied: how often its premise held.
        broken: in how many scenarios it was broken.
        note: why the status is what it is, where that is not plain.
        forgiven: it fails, and is no MUST.
        explains: rules that are broken only where this one, or an earlier cause, is.
        explained_by: the cause that explains it; empty where it is a cause, or passes.
        evidence: where it was broken, the easiest to read first.
        left_out: how many further pieces would have filled the report.
        cause: its place among the causes, the best explanation first, from 1 on; 0 where it is
            none.
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
    """What the suite says of a backend.

    Args:
        backend: its name.
        word: the verdict.
        claim: the same, with the profiles that it is about.
        line: the same, with all figures.
        exit_code: that of the command for this backend alone.
        counts: how many rules have each status.
        scenarios: how many were judged.
        seconds: how long it took.
        errors: what went wrong with harness or backend, the first of it.
        errors_left_out: how many more there were.
        stopped: why not everything was played; empty if everything was.
        self_reported: the traces are the backend's own words.
        seems: profiles that it does not declare, and seems to have.
        known: scenarios that show what the backend is known for.
        kinds: how many rules are broken as expected by expected failures of each kind.
        stale: expected failures that match nothing, each with the reason, by the id of the rule.
        expired: the last day of an expected failure that counts no more, by the id of the rule.
        newer: ids of the rules that apply, and do not decide, as they are newer than what is
            claimed.
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
    seems: tuple[str, ...] = ()
    known: Number = 0
    kinds: dict[str, Number] = {}
    stale: dict[str, str] = {}
    expired: dict[str, str] = {}
    newer: tuple[str, ...] = ()


class Footer(Struct, frozen=True, tag="end"):
    """What a whole file ends with; one without it was cut.

    Args:
        lines: how many stand before it.
        sha256: of these lines. It shows that one was changed by accident, not that nobody
            changed them on purpose.
    """

    lines: Number
    sha256: str


class Run(Struct, frozen=True, dict=True):
    """All that is said of one backend.

    Args:
        header: what was asked of it.
        played: scenarios that show something.
        results: one for each rule, in the order of the chapters.
        footer: the verdict; None where the file was cut before it.
    """

    header: RunHeader
    played: tuple[Played, ...] = ()
    results: tuple[Result, ...] = ()
    footer: RunFooter | None = None

    @property
    def name(self) -> str:
        """Of the backend."""
        return self.header.name

    @property
    def doubt(self) -> str:
        """Why the verdict does not count; empty if it does."""
        if self.header.doubt:
            return self.header.doubt
        return "" if self.footer is not None else "there is no verdict in the report"

    @property
    def word(self) -> Word:
        """The verdict; of a file that is not whole nothing is concluded."""
        return "inconclusive" if self.doubt or self.footer is None else self.footer.word

    @property
    def claim(self) -> str:
        """The verdict, what it is about, and if that is a part of the rules only, how many."""
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
    def exit_code(self) -> int:
        """What a command says of it."""
        return EXIT_CODES[self.word]

    @cached_property
    def by_rule(self) -> dict[str, Result]:
        """The results by the id of the rule."""
        return {result.rule: result for result in self.results}

    @property
    def failed(self) -> tuple[Result, ...]:
        """What speaks against the backend: the causes in their order, then what they explain."""
        found = [r for r in self.results if r.status in {"fail", "unexpected-pass"}]
        return tuple(sorted(found, key=lambda r: r.cause or len(found) + 1))

    def told(self, most: int) -> tuple[tuple[Result, ...], tuple[Result, ...]]:
        """Return what is told of the first failures, and what is named besides.

        What one of the former explains is named there.

        Args:
            most: so many at most are told of.
        """
        told = tuple(r for r in self.failed[:most] if not r.explained_by)
        known = {rule for r in told for rule in (r.rule, *r.explains)}
        return told, tuple(r for r in self.failed if r.rule not in known)

    def count(self, *statuses: Status) -> int:
        """Return how many rules have one of `statuses`."""
        return sum(result.status in statuses for result in self.results)

    @property
    def applicable(self) -> int:
        """How many rules it is held to."""
        return len(self.results) - self.count("not-applicable")


class Report(Struct, frozen=True, dict=True):
    """What a file holds, or several that were merged.

    Args:
        header: where it is from.
        rules: what each rule says, in the order of the chapters.
        runs: those of one backend stand together, the newest last.
    """

    header: Header
    rules: tuple[RuleText, ...] = ()
    runs: tuple[Run, ...] = ()

    @property
    def doubt(self) -> str:
        """Why it is not whole; empty if it is."""
        return self.header.doubt

    @cached_property
    def by_rule(self) -> dict[str, RuleText]:
        """What the rules say by their ids."""
        return {rule.id: rule for rule in self.rules}

    @property
    def newest(self) -> tuple[Run, ...]:
        """The last run of each backend."""
        return tuple({run.name: run for run in self.runs}.values())

    @property
    def word(self) -> Word:
        """The worst that is said of a backend now; what is not whole is not green."""
        words: list[Word] = [run.word for run in self.newest]
        if self.doubt or not words:
            words.append("inconclusive")
        return worst(words)

    @property
    def exit_code(self) -> int:
        """What a command says of it."""
        return EXIT_CODES[self.word]
