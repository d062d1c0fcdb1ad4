"""PyFlink's own asynchronous operation, unmodified, in this process: that of PyFlink 2.3.0.

TODO
"""

from asyncwait.backends.pyflink._errors import PyFlinkFailed
from asyncwait.backends.pyflink._load import RELEASE, PyFlinkUnavailable
from asyncwait.backends.pyflink._open import open_operator
from asyncwait.spec.exports import claim_exports

__all__ = ["RELEASE", "PyFlinkFailed", "PyFlinkUnavailable", "open_operator"]

claim_exports(__name__)
