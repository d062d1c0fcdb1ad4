"""Backends and programs that attack: what they do, and what the command says of each."""

import shlex

MODULE = """
import asyncio, ctypes, gc, io, json, os, signal, sys, threading, time
from contextlib import asynccontextmanager, suppress

import msgspec

from asyncwait.conformance import StreamBackend
from asyncwait.reference import open_operator as sound
from asyncwait.toolkit import check_arguments

def write_everywhere(line):
    for fd in range(3, 64):
        with suppress(OSError): os.write(fd, line)

{module}

KNOWN = "retry", "max_held", "batch", "cache", "limits"


@asynccontextmanager
async def open_operator(config, fn, elements, restore=None):
    check_arguments(config, fn, elements, restore, "a hostile operator", *KNOWN)
    if config.capacity == 8:
        {opening}
    async with sound(config, fn, elements, restore) as results:
        yield results


class Hostile(StreamBackend, frozen=True):
    def run(self, scenarios):
        scenario = scenarios[0]
        trace, = StreamBackend(open_operator).run([scenario])
        if scenario.capacity == 8: {run}
        yield trace

def backend():
    {factory}
    return Hostile(open_operator)
"""


def module_of(place: str = "module", code: str = "", opening: str = "pass") -> str:
    none = {"module": "", "opening": opening, "run": "pass", "factory": "pass"}
    text = MODULE
    for name, filled in {**none, place: code}.items():
        text = text.replace(f"{{{name}}}", filled)
    return text


HIDES = "os.fork() or (os.setsid(), os.fork() or time.sleep(3600), os._exit(0))"
HANGS = "while True: pass"
FAILS = "raise RuntimeError('hidden')"
FORGED = r"'no\x1b[2J\x1b]0;me\x07\n::error::CANARY\n##[error]CANARY\rCANARY\u202e\nCANARY: ok'"
"""A text with lines that look like others', as it stands in Python."""

FORGES = f"print({FORGED}, file=sys.stderr, flush=True); raise RuntimeError({FORGED})"
CLOSES = "gc.unfreeze(); [o.close() for o in gc.get_objects() if isinstance(o, io.IOBase)]"
STOPS = "os.kill(os.getpid(), signal.SIGSTOP)"

ENDED = "not become ready to play: its process ended: "
LATE = "not become ready to play: a longer --patience might help: no answer for "
IMPORTED = "can't import it: "
BROKEN = "fail|error|inconclusive"
DIED = "the process died: "
BLOCKED = "the loop is blocked "
EVIL = "class Evil(BaseException): __str__ = lambda self: sys.exit(0)"

# A child shares its user with the process that started it, so it can kill or stop its parent.
ALL = (
    ("module", "os._exit(0)", f"{ENDED}exit code 0"),
    ("module", "raise KeyboardInterrupt", f"{IMPORTED}KeyboardInterrupt"),
    ("module", f"{EVIL}\nraise Evil", "gate:backend"),
    ("module", FORGES, r"can't import it: RuntimeError: no\\x1b\[2J"),
    ("module", "os.kill(os.getppid(), 9); time.sleep(9)", "ended by SIGKILL"),
    ("module", f"os.kill(os.getppid(), 19)\n{HANGS}", LATE),
    ("module", "ctypes.string_at(0)", f"{ENDED}ended by SIGSEGV"),
    ("module", f"os.closerange(0, 256)\n{HANGS}", "closed its output"),
    ("module", "while True: os.write(1, b'{}\\n' * 9999)", LATE),
    ("module", 'write_everywhere(b\'{"type":"hello"}\\n\'); os._exit(0)', "died|ended"),
    # The child that goes on may say hello before it is known that its parent is gone.
    ("module", "if os.fork(): os._exit(0)", "(ended|died): exit code 0"),
    ("factory", HANGS, LATE),
    ("factory", "sys.exit(0)", "its factory raised SystemExit: 0"),
    ("run", "raise SystemExit(0)", r"the backend raised SystemExit: 0 \(.*gate.py:\d+\)"),
    ("run", "raise KeyboardInterrupt", "the backend raised KeyboardInterrupt"),
    ("run", "[0 for _ in iter(int, 1)]", BLOCKED),
    ("run", "return", "scenarios given: 1, traces given back: 0"),
    ("run", "yield from iter(lambda: trace, 0)", "traces given back: more"),
    ("opening", FORGES, BROKEN),
    ("opening", f"{HIDES}; os._exit(0)", f"{DIED}exit code 0"),
    ("opening", "sys.exit(0)", BROKEN),
    ("opening", STOPS, BLOCKED),
    ("opening", "os.kill(os.getppid(), 9); time.sleep(9)", DIED),
    ("opening", "os.closerange(0, 256)", "died|blocked"),
    ("opening", "write_everywhere(b'{}\\n' * 99)", BROKEN),
    ("opening", CLOSES, BROKEN),
)
"""Where a backend attacks, by which code, and a regular expression for what the command says."""

SABOTAGE = (
    "threading.Thread(target=time.sleep, args=[3600]).start()",
    "sys.exit = os._exit = print",
    "msgspec.json.encode = msgspec.json.decode = print",
    "from asyncwait.conformance.verdict import Verdict; Verdict.word = 'conformant'",
)
"""What a module does to its process, to hide that its operator fails."""


def in_shell(code: str) -> str:
    return f"sh -c {shlex.quote(code)}"


def in_python(code: str) -> str:
    return f"{{python}} -u -c {shlex.quote(code)}"


def answering(code: str) -> str:
    return in_python(f"print()\nimport os, sys, json\nfor line in sys.stdin:\n {code}")


NO_WORD = "expected|must be empty or say what the program has"
EMPTY_TRACE = '{"trace":{"legs":[{"ending":{"how":"finished"}}]}}'

PROGRAMS = (
    (in_shell("cat"), NO_WORD),
    (in_shell("echo; exit 3"), "inconclusive"),
    (in_shell("setsid sleep 3600 & exit 0"), f"{ENDED}exit code 0"),
    (in_python(f"import sys; sys.exit({FORGED})"), f"{ENDED}exit code 1: "),
    (
        answering(f"print(json.dumps({{'error': {FORGED}}})); print({FORGED}, file=sys.stderr)"),
        r"no\\x1b\[2J",
    ),
    (answering(f"os.fork(); print('{EMPTY_TRACE}')"), "impossible|fail|error"),
)
"""Commands, where {python} is an interpreter, and what the suite says of the programs."""
