"""Which program wrote a file of measurements, and what is in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop.errors import UserError
from lasthop.measured import flent, iperf3
from lasthop.measured.observed import Measurement
from lasthop.measured.tree import Tree, read_json

__all__ = ["read"]

OURS = ("emulation", "simulation")
"""Kinds of results of lasthop that are like measurements."""


def read(path: str | Path) -> Measurement:
    """A file of flent, of iperf3, or a result of lasthop.

    Raises
    ------
    UserError
        If it is none of them, or a value in it cannot be.
    """
    path = Path(path)
    tree = read_json(path)
    if flent.is_flent(tree):
        return flent.read(Tree(path, tree))
    if is_ours(tree):
        notes = [f"its scenario is called {tree['scenario']!r}"]
        return Measurement(str(path), "lasthop", notes=notes, summary=tree)
    if iperf3.is_iperf3(tree):
        return iperf3.read(Tree(path, tree))
    kind = tree.get("kind") if isinstance(tree, Mapping) else None
    if isinstance(kind, str) and "scenario" in tree:
        raise UserError(f"{path}: a {kind} of lasthop; allowed are an emulation and a simulation")
    raise UserError(
        f"{path}: neither of flent (results, x_values) nor of iperf3 (start, end) nor of lasthop"
    )


def is_ours(tree: Any) -> bool:
    """Whether JSON is a result of lasthop that can stand for a measurement."""
    if not isinstance(tree, Mapping) or not {"kind", "scenario", "version"} <= tree.keys():
        return False
    return tree["kind"] in OURS
