"""Reading of saved sweeps."""

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop.answers.reading import WRONG_SHAPE, base_of, summary_of
from lasthop.batch import Parts
from lasthop.batch.part import packed
from lasthop.errors import ScenarioError, UserError
from lasthop.scenario.scenario import Scenario
from lasthop.sweep.grid import Grid
from lasthop.sweep.manifest import grid_of
from lasthop.sweep.points import Points
from lasthop.sweep.sweep import Sweep


def read_sweep(file: Path, text: str, tree: Mapping[str, Any]) -> Sweep:
    """Return the sweep from JSON that a command printed. The points of this sweep have only
    summaries.
    """
    base = base_of(file, tree)
    try:
        points = [(dict(point["settings"]), point["result"]) for point in tree["points"]]
        scenarios = [Scenario(base, settings) for settings, _ in points]
        paths = tuple(points[0][0]) if points else ()
        rows = tuple(tuple(settings[path] for path in paths) for settings, _ in points)
        runs = {
            scenario.key: {"summary": json.dumps(summary_of(file, summary), ensure_ascii=False)}
            for scenario, (_, summary) in zip(scenarios, points, strict=True)
        }
    except ScenarioError as error:
        first = str(error).partition("\n")[0]
        raise UserError(f"{file}: a point is refused: {first}") from None
    except WRONG_SHAPE:
        raise UserError(f"{file}: an incomplete sweep: `points` is damaged") from None
    keys = [scenario.key for scenario in scenarios]
    return Sweep(base, Points(base, Grid(paths, (rows,)), keys, Parts.of(packed(runs))))


def read_manifest(file: Path, text: str, tree: Mapping[str, Any]) -> Sweep:
    """Return the sweep of the directory to which a manifest belongs."""
    base = base_of(file, tree)
    try:
        grid, keys = grid_of(tree)
    except (*WRONG_SHAPE, IndexError):
        raise UserError(f"{file}: an incomplete manifest of a sweep: no points") from None
    parts = Parts(file.parent, mend=False)
    for note in parts.notes:
        warnings.warn(note, RuntimeWarning, stacklevel=4)
    if not any(parts.has(key, ("summary",)) for key in keys):
        raise UserError(f"{file}: all its points are missing", *parts.notes[:1])
    return Sweep(base, Points(base, grid, keys, parts))
