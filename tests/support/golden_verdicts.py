"""Verdicts of each kind, for what is told of them: without one being run."""

from datetime import date

from msgspec.structs import replace
from reports import FAILURE, LATER, THEN, result

from asyncwait.conformance.report import Report, header_of, merged, report_of
from asyncwait.conformance.verdict import Cause, Verdict
from asyncwait.spec.scenario import declared

SOME = declared(["unordered", "timeouts"])


def verdicts() -> tuple[Verdict, ...]:
    passes = result("ORD-1", "pass")
    conformant = Verdict(
        "sound", (passes, result("SNAP-8", "not-applicable", "needs snapshots")), 2, 2
    )
    broken = tuple(result(rule, "fail") for rule in ("ELEM-1", "ORD-4", "CAP-1"))
    failed = Verdict(
        "broken",
        (passes, *broken, result("CAP-5", "fail")),
        2,
        2,
        causes=(Cause("ORD-4", ("ELEM-1",)), Cause("CAP-1"), Cause("CAP-5")),
    )
    many = ("ORD-1", "ORD-2", "ORD-3", "ORD-4", "ORD-5", "WM-1", "WM-2")
    wholly = Verdict("wholly-broken", tuple(result(rule, "fail") for rule in many), 2, 2)
    open_ = (
        result("ORD-1", "untested", "it never applied"),
        result("ORD-2", "blocked", "3 runs died"),
        result("ORD-3", "error", "one: its check failed: KeyError: 7"),
        result("ORD-4", "held", "3 runs died"),
        result("WM-1", "untested", "it never applied"),
        result("SNAP-8", "not-applicable", "needs on-demand-snapshot"),
        result("TIME-5", "not-applicable", "needs cancel-calls"),
    )
    errors = tuple(f"run {number}: no trace" for number in range(7))
    cut = Verdict("cut", open_, 1, 2, errors, stopped="3 runs died")
    expected = Verdict(
        "expected",
        (
            passes,
            result("CAP-1", "expected-fail", "it has no bound"),
            replace(result("RES-1", "pass", "seen with some seeds")),
        ),
        2,
        2,
        known=1,
    )
    stale = Verdict(
        "stale",
        (
            passes,
            result("CAP-1", "unexpected-pass", "it holds, so take its entry out of known.toml"),
        ),
        2,
        2,
        stale={"ORD-99": "there is no such rule"},
        expired={"ORD-1": date(2001, 2, 3)},
    )
    newer = Verdict(
        "pinned",
        (passes, replace(result("CAP-1", "fail"), is_newer=True)),
        2,
        2,
        spec="0.1",
        capabilities=SOME,
    )
    odd = Verdict(
        "odd",
        (passes,),
        1,
        2,
        ("got [bold]x[/bold] <b>*x*|",),
        self_reported=True,
    )
    return (conformant, failed, wholly, cut, expected, stale, newer, odd)


def told() -> Report:
    few = [each for each in verdicts() if each.backend != "wholly-broken"]
    now = report_of(few, THEN, {"spark": "pyarrow is not installed"})
    mended = report_of((Verdict("broken", (result("ORD-4", "pass"),), 2, 2),), LATER)
    return merged((now, mended), header_of(LATER))


__all__ = ["FAILURE", "told", "verdicts"]
