"""A report as a page: one file for a browser, with all evidence in it."""

from asyncwait.conformance.report.page._page import MOST, html_of
from asyncwait.spec.exports import claim_exports

__all__ = ["MOST", "html_of"]

claim_exports(__name__)
