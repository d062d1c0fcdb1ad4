"""The counterpart here of each test that Apache Flink has of its operator.

`cases.toml` has the answers; `python -m asyncwait.conformance.upstream` prints the page of them.
"""

from asyncwait.conformance.upstream._cases import UpstreamTest, upstream_page, upstream_tests
from asyncwait.spec.exports import claim_exports

__all__ = ["UpstreamTest", "upstream_page", "upstream_tests"]

claim_exports(__name__)
