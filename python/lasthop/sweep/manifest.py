"""Manifest of a sweep's directory: the scenario, all points, and the fingerprint of each point."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lasthop import _core
from lasthop.answers.envelope import fault_in_format
from lasthop.answers.saving import MANIFEST, text_writer, write_atomically
from lasthop.errors import UserError
from lasthop.scenario.from_json import Table, read_as
from lasthop.scenario.origin import origin_of
from lasthop.scenario.scenario import Scenario
from lasthop.sweep.grid import Grid

__all__ = ["KIND", "MANIFEST", "grid_of", "write_manifest"]

KIND = "sweep manifest"


def write_manifest(directory: Path, base: Scenario, grid: Grid, keys: Sequence[str]) -> None:
    """Write the manifest of a sweep, which lists all points. Points without a saved result have not
    been simulated yet.
    """
    directory.mkdir(parents=True, exist_ok=True)
    tree = {
        "kind": KIND,
        "scenario": base.typed.name,
        "version": _core.VERSION,
        "format": _core.FORMAT,
        "engine": _core.ENGINE,
        "origin": origin_of(base),
        "paths": grid.paths,
        "axes": grid.axes,
        "points": list(keys),
    }
    text = json.dumps(tree, ensure_ascii=False) + "\n"
    path = directory / MANIFEST
    before = path.read_text("utf-8") if path.is_file() else ""
    if before and (fault := fault_in_format(json.loads(before))) is not None:
        raise UserError(f"{path}: {fault}", "choose another directory")
    if before != text:
        write_atomically(path, text_writer(text))


class Manifest(Table):
    """Contents of a manifest: the points of a sweep and their fingerprints."""

    paths: tuple[str, ...]
    axes: tuple[tuple[tuple[str, ...], ...], ...]
    points: tuple[str, ...]


def grid_of(tree: Mapping[str, Any]) -> tuple[Grid, tuple[str, ...]]:
    """Return the points of a manifest and their fingerprints.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the tree is not a manifest.
    """
    manifest = read_as(Manifest, tree)
    grid = Grid(manifest.paths, manifest.axes)
    width = sum(len(axis[0]) for axis in grid.axes)
    if len(grid) != len(manifest.points) or width != len(grid.paths):
        raise ValueError("its axes do not make its points")
    return grid, manifest.points
