"""Explanations: where packets wait, what limits each flow, and which change helps.

The causes and their edits are a table of the compiled crate (`rules`). This package simulates the
edits and remedies in pairs, and reports those that improve the objective beyond their interval.
"""

from lasthop.explain.explanation import Explanation, explain
from lasthop.explain.facts import facts, rules

__all__ = ["Explanation", "explain", "facts", "rules"]
