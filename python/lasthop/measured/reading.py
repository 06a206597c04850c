"""Reader of measurement files: recognises the program, and returns the reports."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lasthop.answers.envelope import fault_in_format
from lasthop.errors import UserError
from lasthop.measured import flent, iperf3, pings
from lasthop.measured.observed import Measurement, NothingMeasuredError
from lasthop.measured.tree import Tree, read_documents, read_text

__all__ = ["read"]

OURS = ("emulation", "simulation")
"""Kinds of lasthop results that are accepted as measurements."""


def read(path: str | Path) -> list[Measurement]:
    """Read a file of flent, iperf3, ping or irtt, or a result of lasthop.

    Returns
    -------
    list of Measurement
        One measurement per report, as if each report were a separate file. A report with nothing to
        compare is left out with a note, if the file has another report.

    Raises
    ------
    UserError
        If the file has another format, or if a value is impossible.
    """
    path = Path(path)
    text = read_text(path)
    if pings.is_ping(text):
        return [pings.read_ping(path, text)]
    trees, notes = read_documents(path, text)
    results: list[Measurement] = []
    failed: list[NothingMeasuredError] = []
    for number, tree in enumerate(trees, 1):
        try:
            each = _measurement(path, tree)
        except NothingMeasuredError as error:
            failed.append(error)
            continue
        if len(trees) > 1:
            each = replace(each, source=f"{path} (report {number} of {len(trees)})")
        results.append(each)
    if not results:
        raise failed[0]
    left_out = [f"{str(error).removeprefix(f'{path}: ')}: left out" for error in failed]
    results[0] = replace(results[0], notes=[*notes, *left_out, *results[0].notes])
    return results


def _measurement(path: Path, tree: Any) -> Measurement:
    """Return the measurement in one report."""
    if flent.is_flent(tree):
        return flent.read(Tree(path, tree))
    if is_ours(tree):
        if (fault := fault_in_format(tree)) is not None:
            raise UserError(f"{path}: {fault}")
        notes = [f"its scenario is called {tree['scenario']!r}"]
        return Measurement(str(path), "lasthop", notes=notes, summary=tree)
    if pings.is_irtt(tree):
        return pings.read_irtt(Tree(path, tree))
    if iperf3.is_iperf3(tree):
        return iperf3.read(Tree(path, tree))
    kind = tree.get("kind") if isinstance(tree, Mapping) else None
    if isinstance(kind, str) and "scenario" in tree:
        raise UserError(f"{path}: a {kind} of lasthop; expected an emulation or a simulation")
    raise UserError(
        f"{path}: not a measurement: expected a file of flent (with the keys results and "
        "x_values), of iperf3 --json (start and end), of ping or irtt -o, or a result of lasthop "
        "simulate or emulate"
    )


def is_ours(tree: Any) -> bool:
    """Return whether a JSON value is a result of lasthop that is accepted as a measurement."""
    if not isinstance(tree, Mapping) or not {"kind", "scenario", "version"} <= tree.keys():
        return False
    return tree["kind"] in OURS
