"""Rules that explain why Linux and the engine are different at points of the grid."""

from collections.abc import Mapping

RULES: Mapping[str, str] = {}
"""By point."""


def rule_of(name: str) -> str:
    """Return the rule that explains the difference at a point."""
    return RULES.get(name, "not known")
