"""What the template goes through: runs, and rules with a cell for each run."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from markupsafe import Markup
from msgspec import Struct

from asyncwait.conformance.report._merge import titles
from asyncwait.conformance.report._model import Played, Report, Result, RuleText, Run
from asyncwait.conformance.report.page._evidence import Drawn


class RunView(Struct):
    """One run."""

    number: int
    title: str
    run: Run


class Piece(Struct):
    """One piece of evidence.

    Args:
        at: ms since the leg began.
        picture: the timeline as SVG; empty if there is none.
        timeline: the same as text; empty if there is no room for it.
        replay: the command that plays it again; empty if there is none.
    """

    label: str
    text: str
    at: float
    picture: Markup
    timeline: Markup
    anchor: str
    replay: str


class Cell(Struct):
    """What is said of a rule in a run.

    Args:
        result: the same as data; None where the run knows nothing of the rule.
    """

    anchor: str
    title: str
    result: Result | None
    pieces: Sequence[Piece] = ()

    @property
    def status(self) -> str:
        """What is said."""
        return "not there" if self.result is None else self.result.status


class Row(Struct):
    """One rule, with a cell for each run."""

    rule: RuleText
    cells: Sequence[Cell]

    @property
    def statuses(self) -> list[str]:
        """What is said of it, without repetitions."""
        return list(dict.fromkeys(cell.status for cell in self.cells))

    @property
    def cause(self) -> int:
        """Its first place among the causes of a run; 0 where it is the cause in none."""
        found = [cell.result.cause for cell in self.cells if cell.result and cell.result.cause]
        return min(found, default=0)

    @property
    def is_bad(self) -> bool:
        """Whether there is something to look at."""
        return not {"pass", "not-applicable", "not there"}.issuperset(self.statuses)


def runs_of(report: Report) -> list[RunView]:
    """Return the runs of a report."""
    both = zip(titles(report), report.runs, strict=True)
    return [RunView(number, title, run) for number, (title, run) in enumerate(both)]


def causes_first(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with those before the others that explain what is broken."""
    return sorted(rows, key=lambda row: row.cause or len(rows) + 1)


def by_area(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows behind the area that they belong to."""
    return [
        (f"{area} {chapter}", list(group))
        for (area, chapter), group in groupby(rows, lambda r: (r.rule.area, r.rule.chapter))
    ]


def rows_of(report: Report, drawn: Drawn) -> list[Row]:
    """Return the rules of a report, in the order of the chapters."""
    runs = runs_of(report)
    return [Row(rule, [_cell(view, rule.id, drawn) for view in runs]) for rule in report.rules]


def _cell(view: RunView, rule: str, drawn: Drawn) -> Cell:
    result = view.run.by_rule.get(rule)
    pieces = () if result is None else tuple(_pieces(view, result, drawn))
    return Cell(f"e-{view.number}-{rule}", view.title, result, pieces)


def _pieces(view: RunView, result: Result, drawn: Drawn) -> Iterator[Piece]:
    for number, evidence in enumerate(result.evidence):
        played = view.run.played[evidence.played]
        key = view.number, result.rule, number
        yield Piece(
            played.label,
            evidence.text,
            evidence.at,
            drawn.pictures.get(key, Markup("")),
            drawn.timelines.get(key, Markup("")),
            f"p-{view.number}-{evidence.played}",
            replay_of(played),
        )


def replay_of(played: Played) -> str:
    """Return the one command that plays it again: the one for any machine, if there is one."""
    return played.anywhere or played.replay
