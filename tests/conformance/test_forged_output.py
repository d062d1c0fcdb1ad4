"""Whatever others write into errors, values and names, it stays in its place where it is told."""

import functools
import io
import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from xml.etree import ElementTree as ET

import msgspec
import pytest
from forging import CANARY, assert_is_ours, forging
from markdown_it import MarkdownIt
from reports import THEN
from rich.console import Console
from sample import SEED, WHOLE

from asyncwait.backends.journal import JournalMismatch
from asyncwait.backends.journal import _commands as journal_commands
from asyncwait.backends.journal._summary import FileSummary, JournalSummary
from asyncwait.backends.spark.carry import _commands as snapshot_commands
from asyncwait.backends.spark.carry._reading import CheckpointRead, Held, LaneRead
from asyncwait.backends.threads._operator import _run_on
from asyncwait.conformance._commands import _compare, _mailbox, _play, _report, _vectors
from asyncwait.conformance._commands._progress import Board
from asyncwait.conformance._comparing import Comparison, Difference, Pair
from asyncwait.conformance._guard import say
from asyncwait.conformance._vectors import Found
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.mailbox import (
    MAILBOX_EXAMPLES,
    MAILBOX_WITNESSES,
    MailboxResult,
    MailboxVerdict,
)
from asyncwait.conformance.mailbox._verify import MailboxCase, MailboxFailure
from asyncwait.conformance.report import (
    Report,
    merged,
    print_report,
    read_lines,
    report_to_lines,
    rule_lines,
)
from asyncwait.conformance.report._json_lines import readable
from asyncwait.conformance.report._junit import to_junit
from asyncwait.conformance.report._markdown import to_badge, to_row, to_summary
from asyncwait.conformance.report._model import (
    Evidence,
    Header,
    Played,
    Result,
    RuleText,
    Run,
    RunFooter,
    RunHeader,
)
from asyncwait.conformance.report.page import html_of
from asyncwait.conformance.running import Broken
from asyncwait.conformance.timeline import draw_lanes, draw_svg
from asyncwait.conformance.verdict import Case, Failure, RuleResult, Verdict
from asyncwait.reference import open_operator
from asyncwait.spec import AsyncWaitError, InvalidConfig, InvalidResult, Record, Snapshot
from asyncwait.spec.rules import mailbox_rules, rules
from asyncwait.spec.scenario import Ending, Scenario, Timed, Trace, scenarios_from_json
from asyncwait.spec.snapshots import NotPortable, encode_snapshot
from asyncwait.spec.texts import joined
from asyncwait.spec.vectors import Vector
from asyncwait.toolkit import call_failed, collect_results, join_errors

TEXTS, SEEDS = (10_000, 5) if SEED == WHOLE else (2_500, 3)
"""Texts, and the reports that share them, so that all go through every form; more at night."""

Texts = Iterator[str]
pytestmark = pytest.mark.timeout(300)


@functools.cache
def played_once() -> bytes:
    """A run, as JSON."""
    scenario = Scenario(inputs=(Timed(0, Record("VALUE", key="KEY")),))
    return msgspec.json.encode(play(open_operator, scenario))


def played(value: str, key: str) -> Trace:
    """The run of a record with such texts."""
    encode = msgspec.json.encode
    data = played_once().replace(b'"VALUE"', encode(value)).replace(b'"KEY"', encode(key))
    return msgspec.json.decode(data, type=Trace)


def run_of(anything: Texts) -> tuple[Scenario, Trace]:
    """A scenario with such values and keys, and a run that left such words."""
    texts = (each.encode("utf-8", "backslashreplace").decode() for each in anything)
    value, key = next(texts), next(texts)
    scenario = Scenario(inputs=(Timed(0, Record(value, key=key)),), name=next(texts))
    trace = played(value, key)
    ending = Ending("failed", 0, next(texts), detail=next(texts), traceback=next(texts))
    leg = msgspec.structs.replace(trace.legs[0], ending=ending)
    return scenario, Trace((leg,), output=next(texts))


def failure_of(texts: Texts) -> Failure:
    """A run that breaks a rule, with a text on how."""
    scenario, trace = run_of(texts)
    return Failure(Case(next(texts), scenario, scenario), trace, Violation(next(texts), 0))


def verdict_of(texts: Texts) -> Verdict:
    """A verdict on a backend that is called so."""
    first, second, *some = list(rules().values())[:42]
    results = [
        RuleResult(first, "fail", 1, 1, (failure_of(texts),), next(texts)),
        RuleResult(second, "fail", note=next(texts)),
        *(RuleResult(rule, "error", note=next(texts)) for rule in some[::2]),
        *(RuleResult(rule, "not-applicable", note=next(texts)) for rule in some[1::2]),
    ]
    errors = tuple(islice(texts, 3))
    stale = {rule.id: next(texts) for rule in some}
    return Verdict(next(texts), tuple(results), 1, 2, errors, stopped=next(texts), stale=stale)


def report_of(texts: Texts, count: int) -> Report:
    """A report that somebody has written by hand, with about so many texts."""
    shown = []
    for number in range(4):
        scenario, trace = run_of(texts)
        drawn = tuple(islice(texts, 3))
        words = (next(texts), next(texts))
        shown.append(Played(*words, True, scenario, None, trace, (), *words, next(texts), number))
        shown.append(Played(*words, drawn=drawn, left_out=next(texts), number=number))
    told = []
    results = []
    for number in range(count // 13):
        rule = next(texts)[:60]
        what = (rule, next(texts)[:60], next(texts), next(texts), "MUST", next(texts), next(texts))
        told.append(RuleText(*what, next(texts), next(texts)))  # type: ignore[arg-type]
        piece = Evidence(number % len(shown), next(texts), 0)
        explains = (next(texts)[:60],)
        results.append(
            Result(rule, "fail", 1, 1, next(texts), False, explains, "", (piece,), 0, number)
        )
    name, said = next(texts), dict(zip(islice(texts, 3), islice(texts, 3), strict=True))
    head = RunHeader(name, (), (next(texts),), 0, 1, next(texts), next(texts), said)
    foot = RunFooter(
        name,
        "not conformant",
        next(texts),
        next(texts),
        1,
        {"fail": len(results)},
        1,
        1.5,
        tuple(islice(texts, 5)),
        0,
        next(texts),
        stale=said,
        expired=said,
        newer=(next(texts),),
    )
    fewer = [msgspec.structs.replace(each, status="pass", evidence=()) for each in results[:9]]
    later = msgspec.structs.replace(foot, claim=next(texts))
    runs = (
        Run(head, tuple(shown), tuple(results), foot),
        Run(msgspec.structs.replace(head, created=next(texts)), tuple(shown), tuple(fewer), later),
        Run(RunHeader(next(texts), (), (), 0, 1, THEN, "", doubt=next(texts))),
    )
    header = Header(1, *islice(texts, 4), next(texts), next(texts), (name,))  # type: ignore[arg-type]
    return readable(Report(header, tuple(told), runs))


@pytest.fixture(scope="module", params=range(SEEDS))
def reports(request: pytest.FixtureRequest) -> Report:
    """Reports with all texts."""
    return report_of(forging(request.param), TEXTS // SEEDS)


def test_no_line_of_a_report_on_the_terminal_is_forged(reports: Report) -> None:
    """As `asyncwait report` prints it."""
    out = Console(file=io.StringIO(), width=120)

    _report._print(reports, out, every=True)
    _report._print_verdicts(reports, out)

    assert_is_ours(out.file.getvalue())  # type: ignore[attr-defined]


def test_a_styled_terminal_is_sent_our_own_styles_only(reports: Report) -> None:
    out = Console(file=io.StringIO(), width=120, force_terminal=True, color_system="standard")

    _report._print(reports, out, every=True)

    plain = out.file.getvalue()  # type: ignore[attr-defined]
    for code in ("0", "1", "2", "31", "32", "33", "35", "1;31", "1;33", "3", "1;35"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert_is_ours(plain)


def test_no_line_of_a_page_of_markdown_is_forged(reports: Report) -> None:
    page = to_summary(reports)

    assert_is_ours(page)
    assert_is_ours(to_row(reports))
    drawn = MarkdownIt("commonmark").enable("table").render(page)
    assert not {"<img", "<a ", "<script"} & {
        found[0] for found in re.finditer("<img|<a |<script", drawn)
    }
    assert (drawn.count("<h1>"), drawn.count("<table>")) == (1, 2)


def test_no_line_of_junit_is_forged(reports: Report) -> None:
    text = to_junit(reports).decode()

    assert_is_ours(text)
    ET.fromstring(text)  # noqa: S314 - of our own


def test_no_line_of_a_web_page_is_forged(reports: Report) -> None:
    text = html_of(reports)

    assert_is_ours(text)
    assert "<img" not in text
    assert text.count("<script>") == 1


def test_the_badge_and_the_lines_of_a_report_are_json_that_can_be_seen(
    reports: Report, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert_is_ours(to_badge(reports).decode())
    data = report_to_lines(reports)
    assert data.decode().replace("\n", "").isprintable()
    assert "##[" not in data.decode()
    file = tmp_path_factory.mktemp("reports") / "report.jsonl"
    file.write_bytes(data)
    assert all(json.loads(line) for line in data.splitlines())
    assert read_lines(file).runs[0].name == reports.runs[0].name
    assert merged([reports], reports.header).runs


def shown_verdicts(texts: Texts) -> None:
    """`asyncwait verify`, with its failures and its table, its progress and pytest's words."""
    verdict = verdict_of(texts)
    print_report([verdict], Console(width=120))
    board = Board([verdict.backend], Console(width=120))
    board._known[verdict.backend] = verdict
    Console(width=120).print(board)
    for result in verdict.results:
        say(joined(rule_lines(verdict.backend, result)))


def shown_runs(texts: Texts) -> None:
    """`asyncwait play`, `replay`, `shrink` and `judge`."""
    failure = failure_of(texts)
    _play.show_run(failure.case, failure.trace, rules(), {})
    _play._show_broken(Broken(next(texts), next(texts)))


def shown_comparison(texts: Texts) -> None:
    """`asyncwait compare`."""
    failure = failure_of(texts)
    compared = Comparison((next(texts), next(texts)))
    case = msgspec.structs.replace(failure.case, generated=False)
    both, why = (failure.trace, failure.trace), tuple(islice(texts, 4))
    at = Difference(0, 0, tuple(islice(texts, 2)), tuple(islice(texts, 2)))
    compared.add(Pair(case, *both, "unexplained", why, at=at))
    compared.add(Pair(case, failure.trace, failure.trace, "explained", tuple(islice(texts, 60))))
    compared.fail(case, next(texts))
    _compare._print(compared, Console(width=120))


def shown_mailbox(texts: Texts) -> None:
    """`asyncwait verify --mailbox`."""
    (rule, other, *_) = mailbox_rules().values()
    trace = MAILBOX_WITNESSES[0].violating
    events = tuple(
        msgspec.structs.replace(
            each, by=next(texts), mail=next(texts), error=next(texts), mails=(next(texts),)
        )
        for each in trace.events
    )
    trace = msgspec.structs.replace(trace, events=events, ending=next(texts))
    case = MailboxCase(next(texts), MAILBOX_EXAMPLES[0].program, "asyncio")
    failure = MailboxFailure(case, trace, Violation(next(texts), 1))
    results = (
        MailboxResult(rule, "fail", 1, 1, failure),
        MailboxResult(other, "error", note=next(texts)),
    )
    verdict = MailboxVerdict(next(texts), results, 1, 1, tuple(islice(texts, 3)))
    _mailbox._report_of_mailbox(verdict)
    say(_mailbox._judged_so_far(next(texts), 1, 4), err=True)


def shown_vectors(texts: Texts) -> None:
    """`asyncwait vectors run`."""
    vectors = [Vector(next(texts), "", (), (), Scenario()) for _ in range(3)]
    found = [Found(vector, "fail", tuple(islice(texts, 3))) for vector in vectors]
    _vectors._told(next(texts), found)


def shown_journal(texts: Texts) -> None:
    """`asyncwait journal show`."""
    files = tuple(FileSummary(name[:250], 1, 1, "whole") for name in islice(texts, 3))
    told = JournalSummary(*(each[:999] for each in islice(texts, 3)), 1, 1, 1, 1, 0, 0, files, ())
    told = readable(told)
    journal_commands._print(told, is_json=False)
    journal_commands._print(told, is_json=True)


def shown_snapshot(texts: Texts) -> None:
    """`asyncwait snapshot show`."""
    name, value, key, result = (
        each.encode("utf-8", "backslashreplace").decode() for each in islice(texts, 4)
    )
    flying, done = Held(1, {name: value}, key), Held(1, value, key, [{name: result}])
    read = CheckpointRead(name, 0, 1, None, (LaneRead(0, 1, [flying], [done]),))
    snapshot_commands._print(read, is_json=False)
    snapshot_commands._print(read, is_json=True)


def shown_timelines(texts: Texts) -> None:
    """Timelines as text and as pictures."""
    failure = failure_of(texts)
    for line in draw_lanes(failure.case.scenario, failure.trace, failure.violation):
        print(line)
    picture = draw_svg(failure.case.scenario, failure.trace, failure.violation, title=next(texts))
    ET.fromstring(picture)  # noqa: S314 - of our own
    print(picture)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "show",
    [
        shown_verdicts,
        shown_runs,
        shown_comparison,
        shown_mailbox,
        shown_vectors,
        shown_journal,
        shown_snapshot,
        shown_timelines,
    ],
)
def test_no_line_of_a_command_is_forged(
    show: Callable[[Texts], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))
    texts = forging()
    is_told = False
    while int(_number(next(texts))) < TEXTS:
        show(texts)
        told = capsys.readouterr()
        is_told = is_told or CANARY in told.out
        assert_is_ours(told.out)
        assert_is_ours(told.err)
    assert is_told


def _number(text: str) -> str:
    return text.partition(f"{CANARY}-")[2].partition(":")[0]


class Odd(Exception):
    """An error, a value and a key, each with such a text as its own."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __repr__(self) -> str:
        """Give it raw."""
        return self.text

    __str__ = __repr__


def errors_of(texts: Texts) -> Iterator[str]:
    """What errors and warnings say."""
    record = Record(Odd(next(texts)), key=Odd(next(texts)))
    yield str(call_failed(record, Odd(next(texts))))
    yield str(InvalidConfig.of("it", Odd(next(texts)), "another"))
    yield str(JournalMismatch.between(next(texts), {next(texts): (next(texts), next(texts))}))
    yield _run_on([Odd(next(texts))])
    yield str(join_errors(OSError("first"), Odd(next(texts))).__notes__[0])  # type: ignore[union-attr]
    with pytest.raises(InvalidResult) as refused:
        collect_results(record, Odd(next(texts)))
    yield str(refused.value)
    with pytest.raises(NotPortable) as unportable:
        encode_snapshot(Snapshot(1, (record,)))
    yield str(unportable.value)
    with pytest.raises(AsyncWaitError) as unread:
        scenarios_from_json(json.dumps([{"mode": next(texts)}]).encode("utf-8", "replace"))
    yield str(unread.value)


def test_the_text_of_an_error_is_one_line_whatever_was_raised_and_returned() -> None:
    texts = forging()
    while int(_number(next(texts))) < TEXTS:
        for said in errors_of(texts):
            assert_is_ours(f"asyncwait: {said}")
            assert "\n" not in said
            assert len(said) < 3_000
