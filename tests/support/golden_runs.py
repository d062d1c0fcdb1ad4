"""The commands whose words are recorded, and the modules and files that they name."""

from collections.abc import Mapping

from outside import SOUND

from asyncwait.conformance.evidence import scenario_of
from asyncwait.spec import Record, Snapshot, Watermark
from asyncwait.spec.scenario import Crash, Handler, Plan, Scenario, SinkStep, SnapshotRequest, Step

SCENARIO = (
    '[{"capacity": 4, "inputs": [{"at": 0, "element": {"type": "record", "value": "a"}},'
    ' {"at": 0, "element": {"type": "record", "value": "b"}}],'
    ' "plans": [{"value": "a", "steps": [{"after": 40, "results": ["x"]}]}]}]'
)

WRONG = """
from msgspec.structs import replace

from asyncwait.conformance import Lacks, stream_backend
from asyncwait.reference import open_operator as sound


def open_operator(config, fn, elements, restore=None):
    if getattr(config, "mode", "") == "ordered" and config.capacity == 4:
        config = replace(config, mode="unordered")
    return sound(config, fn, elements, restore)


def backend():
    return stream_backend(open_operator, lacks={"copies": Lacks("not yet", "with 2.0")})


def known():
    return stream_backend(open_operator, expected_failures={"ORD-1": "we promise no order"})
"""

KNOWN = """
[[expected-failure]]
rule = "ORD-1"
reason = "we promise no order"
"""

ENTRY = {"rule": "'ORD-1'", "reason": "'why'"}


def entry(**changes: str) -> str:
    keys = {**ENTRY, **changes}
    return "\n".join(["[[expected-failure]]", *(f"{k} = {v}" for k, v in keys.items() if v), ""])


WRONG_FILES = {
    "no-toml.toml": "rule = ",
    "other-tables.toml": "[[expected-failures]]",
    "single-brackets.toml": "[expected-failure]\nrule = 'ORD-1'",
    "no-table.toml": "expected-failure = [1]",
    "without-a-rule.toml": entry(rule=""),
    "without-a-reason.toml": entry(reason=""),
    "empty-reason.toml": entry(reason="' '"),
    "scenarios-in-a-text.toml": entry(scenarios="'late'"),
    "unknown-key.toml": entry(untill="2027-01-31"),
    "date-in-quotes.toml": entry(until="'2027-01-31'"),
    "date-with-time.toml": entry(until="2027-01-31T00:00:00"),
    "number-for-truth.toml": entry(strict="1"),
    "two-entries.toml": entry() + entry(),
    "unknown-rule.toml": entry() + entry(rule="'ORD-1111'"),
    "rule-of-mailboxes.toml": entry(rule="'MBX-1'"),
}
"""Files of expected failures that are refused."""

MODULES = {
    **WRONG_FILES,
    "sound": SOUND,
    "wrong": WRONG,
    "imports": "import json\nimport nowhere",
    "chained": "try:\n    int('x')\nexcept ValueError:\n    import nowhere",
    "no_python": "this is no Python",
    "leaves": "raise SystemExit(0)",
    "empty": "",
    "near": "backends = 7",
    "raises": "def backend(): raise OSError('disk')",
    "no_factory": "backend = 7",
    "gives_text": "def backend(): return 'fine'",
    "no_operator": SOUND.replace("(open_operator)", "(None)"),
    "odd_rule": SOUND.replace(
        "(open_operator)", "(open_operator, expected_failures={'ORD-77': 'odd'})"
    ),
    "newer": SOUND.replace("(open_operator)", "(open_operator, spec='0.7')"),
    "one.json": SCENARIO,
    "cut.json": "[{",
    "text.json": "#",
    "mode.json": '[{"mode": 1}]',
    "missing.json": '[{"inputs": [{"at": 0}]}]',
    "capacity.json": '[{"capacity": 0}]',
    "speed.json": '[{"speed": 1}]',
    "known.toml": KNOWN,
    "stale.toml": KNOWN + KNOWN.replace("ORD-1", "END-8") + KNOWN.replace("ORD-1", "COPY-1"),
    "expired.toml": KNOWN + "until = 2001-02-03\n",
    "no_rule.toml": KNOWN.replace("ORD-1", "end-8"),
}
"""By name: modules, and files where there is a dot in it."""

_MODULES = (
    *("nowhere_at_all", "imports", "chained", "no_python", "leaves", "empty", "near", "raises"),
    *("no_factory", "gives_text", "no_operator", "odd_rule", "newer"),
)

USAGE = (
    "report .",
    "report nowhere.jsonl",
    "verify",
    "verify pol-asyncio",
    *(f"verify {module}:backend --count 1" for module in _MODULES),
    "verify empty: --count 1",
    "verify :backend --count 1",
    "verify --exec 'no-such-program --fast'",
    "verify reference-asyncio --full --exhaustive",
    "verify reference-asyncio --rule ORD-100",
    "verify reference-asyncio --rule MBX-3",
    "verify reference-asyncio --area ORDR",
    "verify reference-asyncio --area retri",
    "verify reference-asyncio --area xyz",
    "verify reference-asyncio --patience 0",
    "verify reference-asyncio --update-expected-failures",
    "verify reference-asyncio --update-expected-failures --rule ORD-1",
    "verify reference-asyncio --expected-failures none.toml",
    "verify wrong:backend --expected-failures no_rule.toml",
    *(f"verify reference-asyncio --expected-failures {name}" for name in WRONG_FILES),
    "verify reference-asyncio --report one.json",
    "rules ORD-100",
    "rules xyz",
    "rules ORD --backend nobody",
    "compare pool-asyncio pol-trio",
    *(
        f"play reference-asyncio {name}.json"
        for name in ("cut", "text", "mode", "missing", "capacity", "speed")
    ),
    "play reference-asyncio",
    "play --here 'exec:python -V' {}",
    "play reference-asyncio {} --shrink --here",
    "play reference-asyncio {} --json - --trace",
    "play reference-asyncio {} --judge trace.json",
    "play reference-asyncio {} --rule ORD-1",
    "play reference-asyncio {} --seconds 5",
    "play --shrink reference-asyncio the-last-finishes-first",
    "play --shrink reference-asyncio the-last-finishes-first --rule end-3",
    "play --shrink faulty-knows-one-mode the-last-finishes-first --rule END-1",
    "play --shrink faulty-knows-one-mode '[{}, {}]'",
)
"""Wrong usage; nothing is played."""

PLAYED = (
    "play reference-asyncio one.json",
    "play wrong:backend one.json",
    "play wrong:known one.json",
    "play reference-asyncio one.json --trace",
    "rules ORD-1 --backend faulty-knows-one-mode",
    "rules TIME-6",
    "rules TIME-5 --backend threads",
    "rules CAP-6",
    "rules MBX-4",
    "rules COPY --backend wrong:backend",
    "rules MBX --backend reference-asyncio",
)
"""Single runs, and rules."""

VERIFIED = tuple(
    f"verify {line} --count 1 --jobs 1 --no-shrink"
    for line in (
        "wrong:backend --rule ORD-1 --rule END-8 --rule COPY-1 --expected-failures stale.toml",
        "wrong:backend --rule ORD-1 --expected-failures expired.toml",
    )
)
"""Verdicts with files of expected failures."""

A = Record("a")
FAILING = Step("raise", 40, error="ValueError")

DRAWN: Mapping[str, Scenario] = {
    "a lane for each record, and signals strike through all": scenario_of(
        "capacity 2; timeout 80; handled; 0: a@1 ^1; 40: b ~5 c; a: 40 gives x y; "
        "b: never, late gives late; hooks plain"
    ),
    "a crash ends a leg, and the next one begins with its snapshot": scenario_of(
        "0: a ^1; a: 80 gives x; crashes 40 capacity=1"
    ),
    "all that is planned and can't be seen": Scenario(
        "unordered",
        3,
        80,
        handled=True,
        plans=(
            Plan("a", (Step(), FAILING), Handler("raise", error="ValueError")),
            Plan(1, (Step("misreturn", error="text"), Step("never", swallow=True, clean_up=40))),
            Plan("c", (Step(results=("x",), thread=True, twice=True),), Handler("reply", ("y",))),
        ),
        form="callback",
        restore=Snapshot(9, (A, Watermark(1))),
        sink=(SinkStep("read", 2), SinkStep("pause", 40), SinkStep("leave")),
        crashes=(Crash(40), Crash(80, 1, "ordered")),
        requests=(SnapshotRequest(40, 100),),
        cancel_at=120,
        source_error="own",
    ),
}
"""Scenarios that are described, played and drawn."""
