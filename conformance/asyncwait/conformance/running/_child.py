"""The child process: plays one scenario per line of input, answers with one trace per line."""

import os
import sys
from typing import BinaryIO

import msgspec

from asyncwait.conformance.running._backend import Backend, load_backend
from asyncwait.conformance.running._lines import Reply, Request
from asyncwait.spec.scenario import Scenario


def main(reference: str) -> None:
    """Serve requests from standard input until it ends."""
    replies = os.fdopen(os.dup(1), "wb")
    # What user code prints must not stand between the replies.
    os.dup2(2, 1)
    backend = load_backend(reference)
    serve(backend, sys.stdin.buffer, replies)


def serve(backend: Backend, requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer each line of `requests`."""
    for line in requests:
        reply = _answer(backend, msgspec.json.decode(line, type=Request).scenario)
        replies.write(msgspec.json.encode(reply) + b"\n")
        replies.flush()


def _answer(backend: Backend, scenario: Scenario) -> Reply:
    try:
        return Reply(trace=next(iter(backend.run([scenario]))))
    except Exception as error:  # told to the parent, who judges it
        return Reply(error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(sys.argv[1])
