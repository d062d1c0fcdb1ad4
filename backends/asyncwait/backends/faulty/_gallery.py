"""What a variation is: one class, whose name and docstring say what it does."""

from msgspec import Struct

from asyncwait.backends.faulty._families import varied
from asyncwait.backends.faulty._naming import name_of, sentence_of
from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.conformance.harness import LoopName
from asyncwait.spec import OpenOperator


class Variation(Struct, frozen=True):
    """A sound operator with one small change to its mechanism, or with a mechanism of its own.

    Args:
        change: a subclass of a part of the reference, or of the emitter's operator, which takes the
            place of that part; or another operator altogether. Its name becomes the variation's;
            its docstring is the sentence on it.
        also: what else is replaced, where a slip is spread over two parts.
        loop: "asyncio" or "trio".
    """

    change: type
    also: tuple[type, ...] = ()
    loop: LoopName = "asyncio"

    @property
    def name(self) -> str:
        """What it does, in words joined by hyphens."""
        return name_of(self.change)

    @property
    def sentence(self) -> str:
        """What it does, or which bug it re-creates, in a sentence."""
        return sentence_of(self.change)

    @property
    def loops(self) -> tuple[LoopName, ...]:
        """Where it runs: on both, unless its class `is_bound`, being made of what one loop has."""
        bound = getattr(self.change, "is_bound", False)
        return (self.loop,) if bound else ("asyncio", "trio")

    @property
    def open_operator(self) -> OpenOperator:
        """The function that opens such an operator."""
        return varied(self.change, *self.also)

    def __call__(self) -> StreamBackend:
        """Return it as a backend: a member of a family is a factory that may say what it is."""
        return self.backend()

    def backend(self) -> StreamBackend:
        """Return it as a backend."""
        lacks = getattr(self.change, "lacks", ())
        return stream_backend(self.open_operator, loop=self.loop, lacks=lacks)


class Faulty(Variation, frozen=True, kw_only=True):
    """A variation that breaks a rule.

    Args:
        rule: id of the rule that has to convict it; others may do so too.
        blocks: it blocks its loop, so that only its process can be ended, from outside.
        consequence_of: the rule that a verdict names first in place of its own, and why that is
            as good; None where its own stands first.
    """

    rule: str
    blocks: bool = False
    consequence_of: tuple[str, str] | None = None
