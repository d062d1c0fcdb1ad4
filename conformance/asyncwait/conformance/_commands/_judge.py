"""What `play --judge` does."""

from pathlib import Path

import msgspec

from asyncwait.conformance._commands._run import show_run
from asyncwait.conformance.running import checked
from asyncwait.conformance.verdict import Case, Word
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Scenario, trace_from_json


def judge_one(planned: Scenario, file: Path) -> Word:
    """Draw and judge the trace in a file; return the verdict.

    Any program may have written the file, so that the trace counts as self-reported.

    Raises:
        InvalidConfig: the file can't be read, or holds no trace.
    """
    try:
        observed = trace_from_json(file.read_bytes())
    except OSError as error:
        raise InvalidConfig(f"--judge {file}: {error.strerror}") from error
    told = msgspec.structs.replace(observed, self_reported=True)
    return show_run(Case("", planned, planned), checked(planned, told), rules(), {})
