"""Points of a sweep: their settings, and their results, which are read from disk on demand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from pathlib import Path
from typing import Any, overload

from lasthop.answers.once import once
from lasthop.batch import Parts
from lasthop.batch.sizes import MAX_TASKS
from lasthop.scenario.scenario import Scenario
from lasthop.sweep.grid import Grid
from lasthop.sweep.manifest import write_manifest


@dataclass(frozen=True)
class Point:
    """Point of a sweep: one combination of the swept values, with its result.

    Two points are equal if their settings, scenarios and estimates are equal.
    """

    settings: Mapping[str, str]
    """Value of each swept key path, as in the argument ``settings`` of `lasthop.simulate`.
    """
    key: str
    """Fingerprint of the point: `Scenario.key` of the scenario with the settings."""
    _base: Scenario = field(repr=False)
    _parts: Parts = field(repr=False)

    @once
    def scenario(self) -> Scenario:
        """Scenario with the settings of the point."""
        return Scenario(self._base, self.settings)

    @once
    def summary(self) -> Mapping[str, Any]:
        """Summary of the point's result as a tree, as for `lasthop.simulate`."""
        return self._stored()

    @once
    def series(self) -> Mapping[str, Any]:
        """Time series of the point's first replication, if the scenario records time series."""
        return self._parts.tree(self.key, "series")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Point):
            return NotImplemented
        return (
            self.key == other.key
            and self.settings == other.settings
            and self._stored() == other._stored()
        )

    def __hash__(self) -> int:
        return hash(self.key)

    def _stored(self) -> dict[str, Any]:
        """Return the summary as a new tree."""
        return self._parts.tree(self.key, "summary")

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self._parts.of_keys([self.key])
        return Point, (dict(self.settings), self.key, self._base, parts)


class Points(Sequence[Point]):
    """Sequence of the finished points of a grid, in the order of the grid.

    Parameters
    ----------
    base : Scenario
        Scenario to which the points apply their settings.
    grid : Grid
        Grid of all points, finished or not.
    keys : sequence of str
        Fingerprint of each point.
    parts : Parts
        Saved results of finished points.
    """

    def __init__(self, base: Scenario, grid: Grid, keys: Sequence[str], parts: Parts) -> None:
        self.grid = grid
        self.keys = keys
        self._base = base
        self._parts = parts
        self._finished = [at for at, key in enumerate(keys) if parts.has(key, ("summary",))]

    @property
    def notes(self) -> list[str]:
        """Notes about unused files in the directory."""
        return self._parts.notes

    def __len__(self) -> int:
        return len(self._finished)

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> list[Point]: ...
    def __getitem__(self, index: int | slice) -> Point | list[Point]:
        if isinstance(index, slice):
            return [self._point(at) for at in self._finished[index]]
        return self._point(self._finished[index])

    def __iter__(self) -> Iterator[Point]:
        return map(self._point, self._finished)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Points):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self.keys))

    def __reduce__(self) -> tuple[Any, ...]:
        return Points, (self._base, self.grid, self.keys, self._parts.of_keys(self.keys))

    def write_manifest(self, directory: Path) -> None:
        """Write the manifest of the points into a directory."""
        write_manifest(directory, self._base, self.grid, self.keys)

    def keep_in(self, directory: Path) -> None:
        """Save the points in a directory, unless the directory already contains them."""
        if self._parts.is_in(directory):
            return
        parts = Parts(directory)
        missing = [self.keys[at] for at in self._finished]
        missing = [key for key in dict.fromkeys(missing) if not parts.has(key, ("summary",))]
        for first in range(0, len(missing), MAX_TASKS):
            parts.keep(self._parts.packed(missing[first : first + MAX_TASKS]))

    def _point(self, at: int) -> Point:
        return Point(self.grid[at], self.keys[at], self._base, self._parts)
