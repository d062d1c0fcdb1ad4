"""The pytest plug-in: inert without its option; with it, the same result as the command."""

import re

import pytest
from outside import SOUND, Folder

from asyncwait.conformance.report import FORMS, read_lines
from asyncwait.conformance.verifying import _shrink, _verify

SUITE = ("--pyargs", "asyncwait.conformance")
BACKEND = "--asyncwait-backend"

# The suite with the examples about a few rules, for a process that loads it as a plug-in.
FEWER = """
from asyncwait.conformance.verifying import _shrink, _verify

ABOUT = {"FAIL-9", "TIME-4", "COPY-1"}
_verify.EXAMPLES = [each for each in _verify.EXAMPLES if ABOUT.intersection(each.rules)]
_verify._drawn = lambda count, seed: ((), _verify.generate(count, seed))
_shrink.SHRINK_SECONDS = 0.0
"""

# The same with an example of each rule.
ONCE = """
from asyncwait.conformance.verifying import _verify

names = {each.name for each in {rule: e for e in _verify.EXAMPLES for rule in e.rules}.values()}
_verify.EXAMPLES = [each for each in _verify.EXAMPLES if each.name in names]
_verify._drawn = lambda count, seed: ((), _verify.generate(count, seed))
"""

# Writes the outcome of each item into a file.
OUTCOMES = """
def pytest_runtest_logreport(report):
    if report.when == "call":
        with open("outcomes", "a") as file:
            print(report.nodeid, report.outcome, getattr(report, "wasxfail", ""), file=file)
"""

# What an ordinary test run may not load because of the plug-in.
HEAVY = ("hypothesis", "rich", "click", "trio", "asyncwait.conformance.suite")


def test_without_the_option_nothing_of_ours_is_collected(outside: Folder) -> None:
    outside.write("test_own.py", "def test_own(): pass\n")

    done = outside.pytest("test_own.py", *SUITE)

    assert done.code == 0
    assert "asyncwait" not in done.out


def test_without_the_option_an_ordinary_run_loads_nothing_heavy(outside: Folder) -> None:
    outside.write(
        "test_own.py",
        f"""
        import sys

        def test_own(request):
            assert request.config.pluginmanager.has_plugin("asyncwait")
            assert [name for name in {HEAVY} if name in sys.modules] == []
        """,
    )

    done = outside.pytest("test_own.py", "-p", "no:hypothesispytest", "-p", "no:anyio")

    assert done.code == 0, done.out


def test_a_sound_backend_of_ones_own_passes_in_a_folder_of_its_own(outside: Folder) -> None:
    outside.write("once.py", ONCE)
    outside.write("gate.py", SOUND)
    told = outside.path / "told"
    options = ("--asyncwait-count", "1", "--asyncwait-report", "told")

    done = outside.pytest("-p", "once", *SUITE, BACKEND, "gate:backend", *options)

    assert done.code == 0, done.out
    assert re.search(r"^gate:backend: conformant \(\d+ rules pass\)$", done.out, re.MULTILINE)
    assert f"written into {told}: {', '.join(FORMS)}\n" in done.out
    assert read_lines(told / "report.jsonl").word == "conformant"


def test_a_broken_backend_fails_by_rule_with_sentence_and_timeline(
    outside: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The items that fail are the rules that the project does not expect to be broken.

    What it expects has to match.
    """
    outside.write("fewer.py", FEWER)
    outside.write("outcomes.py", OUTCOMES)
    known = "[[expected-failure]]\nrule = 'TIME-4'\nreason = 'with 2.0'\n"
    outside.write("known.toml", known + known.replace("TIME-4", "COPY-1"))
    outside.write(
        "gate.py",
        """
        from msgspec.structs import replace
        from asyncwait.conformance.running import load_backend

        def backend():
            made = load_backend("faulty-fails-with-a-group")
            return replace(made, capabilities=made.capabilities - {"copies"})
        """,
    )
    outside.write(
        "pyproject.toml",
        """
        [tool.asyncwait]
        backend = "gate:backend"
        expected-failures = "known.toml"
        count = 1
        """,
    )

    plugins = ("-p", "fewer", "-p", "outcomes")
    done = outside.pytest(*plugins, *SUITE, "--asyncwait", "--asyncwait-report", "told")

    (told,) = read_lines(outside.path / "told" / "report.jsonl").runs
    outcomes = (outside.path / "outcomes").read_text()
    failed = re.findall(r"::test_rule\[([A-Z]+-\d+)\] failed ", outcomes)
    assert done.code == 1
    assert set(failed) == {r.rule for r in told.results if r.status in {"fail", "untested"}}
    assert "FAIL-9" in failed
    assert re.search(r"::test_rule\[TIME-4\] skipped .*with 2.0\n", outcomes)
    assert "::test_every_expected_failure_matches failed " in outcomes
    assert "\nCOPY-1: " in done.out
    assert told.line in done.out.splitlines()
    assert "\n  MUST: " in done.out
    assert " [tool.asyncwait]: backend gate:backend, " in done.out
    monkeypatch.setattr(_shrink, "SHRINK_SECONDS", _shrink.SHRINK_SECONDS)
    for name in ("EXAMPLES", "_drawn"):
        monkeypatch.setattr(_verify, name, getattr(_verify, name))
    exec(FEWER, {})  # noqa: S102 - the same in this process
    outside.here("verify", "--no-shrink", "--report", "verified")
    (verified,) = read_lines(outside.path / "verified" / "report.jsonl").runs
    assert [(r.rule, r.status) for r in told.results] == [
        (r.rule, r.status) for r in verified.results
    ]


def test_an_error_of_the_backend_fails_an_item_of_its_own(outside: Folder) -> None:
    outside.write(
        "gate.py",
        """
        from asyncwait.conformance import StreamBackend
        from asyncwait.reference import open_operator


        class Broken(StreamBackend, frozen=True):
            def run(self, scenarios):
                raise RuntimeError("out of order")


        def backend():
            return Broken(open_operator)
        """,
    )

    done = outside.pytest(*SUITE, BACKEND, "gate:backend", "--asyncwait-count", "1")

    assert done.code == 1
    assert "::test_harness_and_backend_worked" in done.out
    assert "RuntimeError: out of order" in done.out
    assert re.search(r"^gate:backend: inconclusive after 0 of ", done.out, re.MULTILINE)


def test_a_backend_that_cant_be_had_is_a_usage_error(outside: Folder) -> None:
    done = outside.pytest(*SUITE, BACKEND, "gate:backend")

    assert done.code == 4
    assert " 'gate:backend': " in done.err
    assert "Traceback" not in done.out + done.err
