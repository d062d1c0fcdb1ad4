"""The page that says what stands for upstream's tests."""

import subprocess
import sys
from collections import Counter
from importlib.resources import files

from asyncwait.conformance.mailbox._examples import MAILBOX_EXAMPLES
from asyncwait.conformance.mailbox._upstream import UPSTREAM

PAGE = "conformance/asyncwait/conformance/mailbox/upstream.md"
COMMAND = f"python -m asyncwait.conformance.mailbox > {PAGE}"


def test_the_page_is_what_the_command_prints() -> None:
    """Nobody edits it."""
    page = files("asyncwait.conformance.mailbox").joinpath("upstream.md")
    printed = subprocess.check_output(
        [sys.executable, "-m", "asyncwait.conformance.mailbox"], text=True
    )

    assert page.read_text(encoding="utf-8") == printed, f"not up to date; run: {COMMAND}"


def test_all_tests_of_the_three_classes_are_there() -> None:
    """Each once."""
    assert Counter(test.owner for test in UPSTREAM) == {
        "TaskMailboxImplTest": 18,
        "TaskMailboxProcessorTest": 12,
        "MailboxExecutorImplTest": 7,
    }
    assert len({(test.owner, test.name) for test in UPSTREAM}) == len(UPSTREAM)


def test_its_examples_are_about_its_rules() -> None:
    """Each rule is shown by one of the examples that stand beside it."""
    about = {example.name: set(example.rules) for example in MAILBOX_EXAMPLES}
    unshown = {
        test.name: set(test.rules) - set[str]().union(*(about[each] for each in test.examples))
        for test in UPSTREAM
    }

    assert {name: sorted(left) for name, left in unshown.items() if left} == {}
