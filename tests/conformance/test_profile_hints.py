"""The last line of a verdict names profiles that are there and not declared."""

import pytest
import suite
from outside import Folder

from asyncwait.conformance._verify import Coverage, verify
from asyncwait.spec.scenario import PROFILES, declared

MODULE = """
from asyncwait.conformance import stream_backend
from asyncwait.reference import open_operator

def backend(): return stream_backend(open_operator, profiles=["ordered"])
"""


def test_the_verdict_names_profiles_that_are_there_and_not_declared(
    outside: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(outside.path)
    outside.write("hinted.py", MODULE)

    with suite.playing(suite.each_rule_once(declared(["ordered"]))):
        line = verify("hinted:backend", Coverage(1)).line

    others = [profile for profile in PROFILES if profile != "ordered"]
    assert line.endswith(f"; it seems to have {', '.join(others)}: declare them")
