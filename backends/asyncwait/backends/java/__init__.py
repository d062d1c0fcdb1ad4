"""A Java runtime, for the backends that need one."""

from asyncwait.backends.java._find import Java, MissingJava, find_java
from asyncwait.spec.exports import claim_exports

__all__ = ["Java", "MissingJava", "find_java"]

claim_exports(__name__)
