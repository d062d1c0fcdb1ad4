"""What calls of a service need, whichever operator makes them."""

from asyncwait.backends.services._transient import status_of, transient
from asyncwait.spec.exports import claim_exports

__all__ = ["status_of", "transient"]

claim_exports(__name__)
