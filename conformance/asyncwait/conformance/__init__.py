"""Holds operators to the specification: harness, checks, examples, verdict, reports."""
