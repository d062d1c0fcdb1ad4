"""Two operators, one behind the other, as one operator with one snapshot for both."""

from asyncwait.backends.chain._chain import Chain, ChainResults, chain
from asyncwait.spec.exports import claim_exports

__all__ = ["Chain", "ChainResults", "chain"]

claim_exports(__name__)
