"""Backends and programs that do what none should: what they do, and with which words it is told."""

import shlex
from dataclasses import dataclass

MODULE = """
import asyncio, atexit, builtins, ctypes, faulthandler, gc, io, json, os, signal, sys, tempfile
import threading, time
from contextlib import asynccontextmanager

import msgspec

from asyncwait.conformance import StreamBackend
from asyncwait.reference import open_operator as sound
from asyncwait.toolkit import check_arguments
from asyncwait.spec.scenario import Ending, Leg, Trace

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
        {run}
        yield trace
{more}

def backend():
    {factory}
    return Hostile(open_operator)
"""

HIDES = "os.fork() or (os.setsid(), os.fork() or time.sleep(3600), os._exit(0))"
HANGS = "while True: pass"
FAILS = "raise RuntimeError('hidden')"
SAYS_FINE = "[suppressed(os.write, fd, {line!r}) for fd in range(3, 64)]"
FORGED = r"'no\x1b[2J\x1b]0;me\x07\n::error::CANARY\n##[error]CANARY\rCANARY\u202e\nCANARY: ok'"
"""A text with lines that look like others', as it stands in Python."""

FORGES = f"print({FORGED}, file=sys.stderr, flush=True); raise RuntimeError({FORGED})"
SUPPRESSED = """
def suppressed(function, *arguments):
    try: return function(*arguments)
    except OSError: pass
"""


@dataclass(frozen=True)
class Hostile:
    """What a backend does.

    Args:
        name: of the test.
        words: that whoever runs it is told; a regular expression.
        parts: of `MODULE`.
        patience: seconds that whoever runs it has.
    """

    name: str
    words: str
    parts: dict[str, str]
    patience: float = 0.5

    @property
    def text(self) -> str:
        """The module."""
        defaults = {"factory": "pass", "more": "", "module": ""}
        filled = {**defaults, "opening": "pass", "run": "pass", **self.parts}
        text = MODULE
        for name, code in filled.items():
            text = text.replace(f"{{{name}}}", code)
        return text


def at_module(name: str, code: str, words: str, **parts: str) -> Hostile:
    """It does so while it is imported."""
    return Hostile(f"module {name}", words, {"module": code, **parts})


def at_factory(name: str, code: str, words: str) -> Hostile:
    """Its factory does so."""
    return Hostile(f"factory {name}", words, {"factory": code, "module": SILENT})


def at_run(name: str, code: str, words: str, more: str = "") -> Hostile:
    """Its `run` does so."""
    only = f"if scenario.capacity == 8: {code}"
    return Hostile(f"run {name}", words, {"run": only, "more": more})


def at_opening(name: str, code: str, words: str, module: str = "") -> Hostile:
    """Its operator does so when it is opened."""
    return Hostile(f"operator {name}", words, {"opening": code, "module": module})


ENDED = "not become ready to play: its process ended: "
LATE = "not become ready to play: a longer --patience might help: no answer for "
AT_FIRST = "it answered the handshake, and "
LATE_AT_FIRST = f"the program is late: {AT_FIRST}then gave no answer to the first scenario, "
IMPORTED = "can't import it: "
BROKEN = "fail|error|inconclusive"
DIED = "the process died: "
BLOCKED = "the loop is blocked "
SILENT = "class Silent:\n    def __getattr__(self, name): raise SystemExit(0)"
EVIL = "class Evil(BaseException): pass"
UNSAYABLE = """
class Unsayable(Exception):
    def __str__(self): raise SystemExit(0)
    __repr__ = __str__
"""

AT_MODULE = (
    at_module("leaves with 0", "os._exit(0)", f"{ENDED}exit code 0"),
    at_module("leaves with 3", "os._exit(3)", f"{ENDED}exit code 3"),
    at_module("interrupts", "raise KeyboardInterrupt", f"{IMPORTED}KeyboardInterrupt"),
    at_module("raises what is no Exception", f"{EVIL}\nraise Evil('no')", f"{IMPORTED}Evil: no"),
    at_module("raises a group", "raise ExceptionGroup('g', [OSError('disk')])", "OSError: disk"),
    at_module("raises what can't be said", f"{UNSAYABLE}\nraise Unsayable", "gate:backend"),
    at_module("holds a null", "'\0'", "source code string cannot contain null bytes|SyntaxError"),
    at_module("forges lines", FORGES, r"can't import it: RuntimeError: no\\x1b\[2J"),
    at_module("hangs", HANGS, LATE),
    at_module("stops its clock", f"time.monotonic = lambda: 0.0\n{HANGS}", LATE),
    at_module("blocks signals", f"signal.pthread_sigmask(0, range(1, 65))\n{HANGS}", LATE),
    at_module("ignores signals", f"signal.signal(15, signal.SIG_IGN)\n{HANGS}", LATE),
    at_module("stops itself", "os.kill(os.getpid(), signal.SIGSTOP)", LATE),
    at_module("kills itself", "os.kill(os.getpid(), 9)", f"{ENDED}ended by SIGKILL"),
    at_module("kills its parent", "os.kill(os.getppid(), 9); time.sleep(9)", "ended by SIGKILL"),
    at_module("stops its parent", f"os.kill(os.getppid(), 19)\n{HANGS}", LATE),
    at_module("crashes", "ctypes.string_at(0)", f"{ENDED}ended by SIGSEGV"),
    at_module("rings", "signal.alarm(1); time.sleep(3600)", "SIGALRM|no answer"),
    at_module("recurses", "def f(): f()\nf()", "can't import it: RecursionError"),
    at_module("eats memory", "x = bytearray(1 << 40)", "can't import it: MemoryError"),
    at_module("closes its pipes", f"os.closerange(0, 256)\n{HANGS}", "closed its output"),
    at_module("reads", "input()", "can't import it: EOFError"),
    at_module("is debugged", "breakpoint()", "breakpoint.. was reached .*asyncwait play --here"),
    at_module("floods", "while True: os.write(2, b'x' * 65536)", LATE),
    at_module("floods on 1", "while True: os.write(1, b'{}\\n' * 9999)", LATE),
    at_module("talks to the parent", 'os.write(1, b\'{"type":"hello"}\\n\'); os._exit(0)', ENDED),
    at_module(
        "forges its hello",
        SUPPRESSED + SAYS_FINE.format(line=b'{"type":"hello"}\n') + "\nos._exit(0)",
        "died|ended",
    ),
    # The child that goes on may say hello before it is known that its parent is gone.
    at_module("forks and leaves", "if os.fork(): os._exit(0)", "(ended|died): exit code 0"),
    at_module("hides a grandchild", f"{HIDES}\nos._exit(0)", f"{ENDED}exit code 0"),
    at_module("hides many", f"[{HIDES} for _ in range(9)]\n{HANGS}", LATE),
    at_module("hangs at exit", "atexit.register(time.sleep, 3600)\nsys.exit(0)", "SystemExit: 0"),
    at_module(
        "dumps its stacks",
        "faulthandler.dump_traceback_later(0.1, exit=True)\ntime.sleep(3600)",
        f"{ENDED}exit code 1",
    ),
    at_module("replaces itself", "sys.modules[__name__] = 7", "gate has no 'backend'"),
    at_module(
        "starts an endless thread",
        "threading.Thread(target=time.sleep, args=[3600]).start()",
        BROKEN,
        opening=FAILS,
    ),
    at_module("forks many", "[os.fork() for _ in range(3)]", BROKEN, opening=FAILS),
    at_module(
        "leaves its folder",
        "os.chdir(tempfile.mkdtemp()); os.rmdir(os.getcwd())",
        BROKEN,
        opening=FAILS,
    ),
    at_module("has no output", "sys.stdout = sys.stderr = None", BROKEN, opening=FAILS),
    at_module("takes exits away", "sys.exit = os._exit = print", BROKEN, opening=FAILS),
    at_module(
        "spoils msgspec", "msgspec.json.encode = msgspec.json.decode = print", BROKEN, opening=FAILS
    ),
    at_module(
        "spoils builtins", "builtins.len = builtins.iter = lambda *_: 0", BROKEN, opening=FAILS
    ),
    at_module(
        "judges itself",
        "import asyncwait.conformance.judging._judge as j, asyncwait.conformance.verdict as v\n"
        "j._judge = lambda *_: j.Judged({})\nv.Verdict.word = 'conformant'",
        BROKEN,
        opening=FAILS,
    ),
)
AT_FACTORY = (
    at_factory("hangs", HANGS, LATE),
    at_factory("exits", "sys.exit(0)", "its factory raised SystemExit: 0"),
    at_factory(
        "answers nothing",
        "return Silent()",
        "gate:backend",
    ),
)
AT_RUN = (
    at_run("exits", "raise SystemExit(0)", r"the backend raised SystemExit: 0 \(.*gate.py:\d+\)"),
    at_run("interrupts", "raise KeyboardInterrupt", "the backend raised KeyboardInterrupt"),
    at_run("hangs", "[0 for _ in iter(int, 1)]", BLOCKED),
    at_run("gives nothing", "return", "scenarios given: 1, traces given back: 0"),
    at_run("never ends", "yield from iter(lambda: trace, 0)", "traces given back: more"),
    at_run("gives a number", "trace = 7", "expected a Trace, got 7"),
    at_run("gives what no JSON holds", "trace = Trace((object(),))", "the trace can't be told"),
    at_run("gives no legs", "trace = Trace(())", "error|broke"),
    at_run("gives wrong legs", "trace = Trace((7,))", "breaks its schema|error"),
    at_run("gives many legs", "trace = Trace(trace.legs * 99)", "the trace is impossible"),
    at_run(
        "gives another trace",
        "trace = Trace((Leg(Ending('finished')),))",
        "impossible|fail",
    ),
    at_run("is debugged", "breakpoint()", "breakpoint.. was reached .*asyncwait play --here"),
    at_run(
        "goes on for ever",
        "pass",
        "it makes further runs without end",
        more="    def further_runs(self, scenarios):\n        while True:\n"
        "            yield 'x', *next(zip(scenarios.values(), self.run([*scenarios.values()])))",
    ),
    at_run(
        "goes on with nonsense",
        "pass",
        "expected name, scenario and trace of a run, got 7",
        more="    def further_runs(self, scenarios):\n        yield 7",
    ),
)
AT_OPENING = (
    at_opening("forges lines", FORGES, BROKEN),
    at_opening("leaves", "os._exit(0)", f"{DIED}exit code 0"),
    at_opening("exits", "sys.exit(0)", BROKEN),
    at_opening("raises what is no Exception", "raise Evil", BROKEN, EVIL),
    at_opening("hangs", HANGS, BLOCKED),
    at_opening("waits for ever", "await asyncio.Event().wait()", "nothing happens any more"),
    at_opening("spins", "while True: await asyncio.sleep(0)", "the loop turns for ever"),
    at_opening("stops itself", "os.kill(os.getpid(), signal.SIGSTOP)", BLOCKED),
    at_opening("crashes", "ctypes.string_at(0)", f"{DIED}ended by SIGSEGV"),
    at_opening("closes its pipes", "os.closerange(0, 256)", "died|blocked"),
    at_opening("kills its parent", "os.kill(os.getppid(), 9); time.sleep(9)", DIED),
    at_opening("hides a grandchild", f"{HIDES}; os._exit(0)", f"{DIED}exit code 0"),
    at_opening("floods", "while True: os.write(2, b'x' * 65536)", BLOCKED),
    at_opening(
        "floods its replies",
        "[suppressed(os.write, fd, b'{}\\n' * 99) for fd in range(3, 64)]",
        BROKEN,
        SUPPRESSED,
    ),
    at_opening(
        "closes every file",
        "gc.unfreeze()\n[o.close() for o in gc.get_objects() if isinstance(o, io.IOBase)]",
        BROKEN,
    ),
)
ALL = (*AT_MODULE, *AT_FACTORY, *AT_RUN, *AT_OPENING)


@dataclass(frozen=True)
class Program:
    """What a program that does not speak as it should does.

    Args:
        name: of the test.
        words: that whoever runs it is told; a regular expression.
        command: that starts it; {python} is an interpreter, {answers} reads lines and does what
            follows with each.
    """

    name: str
    words: str
    command: str


ANSWERS = "import os, sys, time, json, signal\nfor line in sys.stdin:\n "


def in_shell(name: str, code: str, words: str) -> Program:
    """A program for the shell."""
    return Program(f"sh {name}", words, f"sh -c {shlex.quote(code)}")


def in_python(name: str, code: str, words: str) -> Program:
    """A program in Python."""
    return Program(f"python {name}", words, f"{{python}} -u -c {shlex.quote(code)}")


def answering(name: str, code: str, words: str) -> Program:
    """A program in Python that does so with each line that it is sent, after an empty one."""
    return in_python(f"with each line {name}", f"print()\n{ANSWERS}{code}", words)


NO_WORD = "expected|must be empty or say what the program has"
NO_TRACE = "the reply is no trace|the reply holds neither"
EMPTY_TRACE = '{"trace":{"legs":[{"ending":{"how":"finished"}}]}}'

PROGRAMS = (
    in_shell("leaves", "exit 0", f"{ENDED}exit code 0"),
    in_shell("is silent", "sleep 3600", LATE),
    in_shell("echoes", "cat", NO_WORD),
    in_shell("says bytes", "printf '\\377\\n'; sleep 3600", NO_WORD),
    in_shell("is ready and says yes", "echo; yes", NO_TRACE),
    in_shell("closes its output", "exec 1>&-; sleep 3600", "closed its output and went on"),
    in_shell("closes its input", "exec 0<&-; echo; sleep 3600", LATE_AT_FIRST),
    in_shell("floods its words", "yes >&2", LATE),
    in_shell("hides", "setsid sleep 3600 & exit 0", f"{ENDED}exit code 0"),
    in_shell("hides and holds its pipes", "setsid sleep 3600 & sleep 3600", LATE),
    in_shell("ignores signals", "trap '' 1 2 3 15; sleep 3600", LATE),
    in_shell("stops itself", "kill -STOP $$", LATE),
    in_shell("kills its parent", "kill -9 $PPID; sleep 3600", "ended by SIGKILL|no answer"),
    in_shell(
        "declares nonsense", 'echo "{\\"profiles\\": [\\"speed\\"]}"; cat', "among core, ordered"
    ),
    in_shell("declares a number", "echo 7; cat", NO_WORD),
    in_python("nests", "print('[' * 99999)", f"{NO_WORD}|levels"),
    answering(
        "forges lines",
        f"print(json.dumps({{'error': {FORGED}}})); print({FORGED}, file=sys.stderr)",
        r"no\\x1b\[2J",
    ),
    in_python("forges its last words", f"import sys; sys.exit({FORGED})", f"{ENDED}exit code 1: "),
    answering("says nothing", "pass", LATE_AT_FIRST),
    answering("says bytes", "sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", NO_TRACE),
    answering("nests", "print('{\"trace\":' + '[' * 99999)", NO_TRACE),
    answering("says no legs", 'print(\'{"trace": {"legs": []}}\')', "error|broke"),
    answering("says it was fine", f"print('{EMPTY_TRACE}')", "impossible|fail"),
    answering("dies later", f"print('{EMPTY_TRACE}'); 8 in [*line] and os._exit(0)", "fail|died"),
    answering(
        "never ends its line",
        "[print('x' * 9999, end='') for _ in iter(int, 1)]",
        f"{LATE_AT_FIRST}|more than",
    ),
    answering(
        "answers twice", f"print('{EMPTY_TRACE}' + chr(10) + '{EMPTY_TRACE}')", "impossible|fail"
    ),
    answering("forks", f"os.fork(); print('{EMPTY_TRACE}')", "impossible|fail|error"),
)
