"""A sweep has one scenario for every combination of settings, and reads quantities of their
runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from lasthop.studies.panel import Line
from lasthop.studies.study import Quantity, Read, Run, Runs

__all__ = ["Point", "Sweep", "points_of", "tag"]


@dataclass(frozen=True)
class Point:
    """One scenario with the name of its run."""

    name: str
    scenario: Mapping[str, Any]

    def points(self) -> dict[str, Mapping[str, Any]]:
        """Return a mapping from the name of the point to its scenario."""
        return {self.name: self.scenario}

    def run(self, runs: Runs) -> Run:
        """Return the run of this point from all runs of a study."""
        return runs[self.name]


def tag(value: Any) -> str:
    """Return a setting as part of a name, such as ``0_1`` for 0.1 or ``5-10`` for a pair."""
    if isinstance(value, tuple):
        return "-".join(map(tag, value))
    return f"{value:g}".replace(".", "_") if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Sweep:
    """Scenarios for every combination of settings.

    Parameters
    ----------
    name : str
        Name of a point, with the settings in braces: ``"{way}-{cwmin}"``.
    scenario : callable
        Function from one value of every setting, by keyword, to the scenario.
    settings : mapping
        Values of each setting; the last setting changes fastest.
    words : mapping
        Labels of the values that pictures show as another text.
    """

    name: str
    scenario: Callable[..., Mapping[str, Any]]
    settings: Mapping[str, Sequence[Any]]
    words: Mapping[Any, str] = field(default_factory=dict)

    def at(self, **chosen: Any) -> "Sweep":
        """Return the part of the sweep in which each given setting has its chosen value, or one of
        several chosen values.
        """
        some = {
            name: [values] if values in self.settings[name] else list(values)
            for name, values in chosen.items()
        }
        return replace(self, settings={**self.settings, **some})

    def places(self) -> list[dict[str, Any]]:
        """Return every combination of the settings, as mappings from setting to value."""
        return [
            dict(zip(self.settings, values, strict=True))
            for values in product(*self.settings.values())
        ]

    def point(self, place: Mapping[str, Any]) -> str:
        """Return the name of the point with these settings."""
        return _filled(self.name, place)

    def points(self) -> dict[str, Mapping[str, Any]]:
        """Return the scenarios of all points, by the name of the point."""
        return {self.point(place): self.scenario(**place) for place in self.places()}

    def run(self, runs: Runs, **place: Any) -> Run:
        """Return the run at one combination of settings. `runs` are all runs of a study."""
        return runs[self.point(place)]

    def runs(self, runs: Runs) -> list[Run]:
        """Return the runs of all points, in the order of the points."""
        return [runs[self.point(place)] for place in self.places()]

    def read(self, runs: Runs, reading: Read) -> list[Quantity]:
        """Return a quantity at all points, in the order of the points."""
        return [reading(run) for run in self.runs(runs)]

    def values(self, runs: Runs, table: Mapping[str, Read]) -> dict[str, Quantity]:
        """Return quantities at all points. The keys of `table` are names with the settings in
        braces.
        """
        return {
            _filled(name, place): reading(run)
            for place, run in zip(self.places(), self.runs(runs), strict=True)
            for name, reading in table.items()
        }

    def lines(self, label: str, over: str, reading: Read, variant: str = "") -> list[Line]:
        """Return lines over one setting of the sweep. There is one line per combination of the
        other settings.

        Parameters
        ----------
        label : str
            Label of a line, with the settings in braces.
        over : str
            Setting on the abscissa.
        reading : callable
            Quantity on the ordinate.
        variant : str
            Text on the difference from other lines with the same label.
        """
        values = self.settings[over]
        others = self.at(**{over: [values[0]]}).places()
        parts = [self.at(**{**place, over: list(values)}) for place in others]
        return [
            Line(
                label.format_map(
                    {key: self.words.get(value, value) for key, value in place.items()}
                ),
                values,
                lambda runs, part=part: part.read(runs, reading),  # type: ignore[misc]
                variant,
            )
            for place, part in zip(others, parts, strict=True)
        ]


def points_of(*parts: Sweep | Point) -> dict[str, Mapping[str, Any]]:
    """Return the scenarios of several sweeps and points by name."""
    return {name: tree for part in parts for name, tree in part.points().items()}


def _filled(pattern: str, place: Mapping[str, Any]) -> str:
    return pattern.format_map({name: tag(value) for name, value in place.items()})
