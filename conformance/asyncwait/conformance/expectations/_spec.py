"""Versions of the specification: which one a backend claims, and which rules are newer."""

from collections.abc import Mapping

from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, version_key


def newer_than(spec: str, rules: Mapping[str, Rule]) -> frozenset[str]:
    """Return the ids of the rules that came after version `spec`; none if it is empty."""
    if not spec:
        return frozenset()
    claimed = version_key(spec)
    return frozenset(id_ for id_, rule in rules.items() if version_key(rule.since) > claimed)


def require_spec(spec: object, rules: Mapping[str, Rule]) -> None:
    """Refuse a version that there is not.

    Raises:
        InvalidConfig: `rules` know none of that name.
    """
    known = sorted({rule.since for rule in rules.values()}, key=version_key)
    if spec not in known:
        wrong = InvalidConfig.of("spec", spec, f"a version of the rules: {', '.join(known)}")
        try:
            is_newer = isinstance(spec, str) and version_key(spec) > version_key(known[-1])
        except InvalidConfig:
            is_newer = False
        hint = "; a newer asyncwait may know it" if is_newer else ""
        raise InvalidConfig(f"{wrong}{hint}")
