"""What a simulation gave: estimates as tables, samples, series, and pictures of them."""

import json
from collections.abc import Mapping
from functools import cached_property
from math import nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop._core import SimulationOutput
from lasthop.caution import cautions
from lasthop.errors import UserError
from lasthop.phase import phase_effects
from lasthop.scenario import Scenario
from lasthop.steadiness import unsteady_runs

if TYPE_CHECKING:
    import pandas as pd

    from lasthop.plot import ResultPlots

__all__ = ["Answer", "Prediction", "Result"]


class _List(cached_property["pd.DataFrame"]):
    """A list of the answer under its own name, as a data frame."""

    def __init__(self, doc: str) -> None:
        def table(answer: "Answer") -> "pd.DataFrame":
            return answer.table(str(self.attrname))

        super().__init__(table)
        self.__doc__ = doc


class Answer:
    """What a model or a simulation says about a scenario.

    Tables are pandas data frames indexed by name, one column a quantity with its unit in the
    name (``goodput_bps``) and one for the half width of its 95 % confidence interval over
    replications (``goodput_bps_ci95``; NaN with fewer than two replications). A prediction has
    no intervals.
    """

    intervals = True
    """Whether its estimates have intervals."""

    def __init__(self, summary: Mapping[str, Any], scenario: Scenario) -> None:
        self.summary = summary
        self.scenario = scenario

    flows = _List("One row a transport flow.")
    stations = _List("One row a station.")
    aps = _List("One row an access point.")
    queues = _List("One row a queue.")
    links = _List("One row a wired link, or a link of a CSMA network.")
    classes = _List("One row a class of wired flows, or one that shares the access point's queue.")
    cells = _List("One row a cell.")
    stability = _List(
        "One row a queue: whether its point of rest is stable, rightmost root, period."
    )
    totals = _List("Sums over the whole run.")

    def table(self, name: str) -> "pd.DataFrame":
        """One list as a data frame; empty if this answer does not have it."""
        import pandas as pd

        rows = [flat_row(item, self.intervals) for item in self.summary.get(name, [])]
        return pd.DataFrame(rows).set_index("name") if rows else pd.DataFrame()

    def to_dict(self) -> dict[str, Any]:
        """A fresh tree of dictionaries and lists, as `to_json` prints it."""
        tree: dict[str, Any] = json.loads(self.to_json())
        return tree

    def to_json(self) -> str:
        """The text that the command line prints with ``--json``, byte for byte."""
        return json.dumps(self.summary, indent=2, ensure_ascii=False) + "\n"


class Prediction(Answer):
    """What a model says."""

    intervals = False

    def __repr__(self) -> str:
        return f"Prediction({self.summary['scenario']!r}: {self.model})"

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.summary["model"])

    @property
    def warnings(self) -> list[str]:
        """Assumptions the scenario nearly breaks: to be checked before trusting the answer."""
        return [str(warning) for warning in self.summary.get("warnings", ())]


class Result(Answer):
    """What a simulation says, with its samples, series and pictures."""

    def __init__(self, output: SimulationOutput, scenario: Scenario) -> None:
        super().__init__(json.loads(output.summary_json), scenario)
        self._output = output

    def __repr__(self) -> str:
        runs = f"{self.replications} x {self.summary['duration_s']:g} s"
        return f"Result({self.summary['scenario']!r}: {runs}, seed {self.seed})"

    @property
    def replications(self) -> int:
        """Replications that finished."""
        return int(self.summary["replications"])

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return int(self.summary["seed"])

    @cached_property
    def warnings(self) -> list[str]:
        """What must be checked before the result is trusted.

        What of the scenario surprises, phase effects at drop-tail queues, and signs that it was
        measured before it was at rest.
        """
        typed = self.scenario.typed
        return [
            *cautions(typed),
            *phase_effects(typed, self.summary),
            *unsteady_runs(typed, self.summary, self._output.halves_json),
        ]

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before all replications finished."""
        return self._output.interrupted

    @cached_property
    def samples(self) -> "pd.DataFrame":
        """Each quantity in each replication: list, name, quantity, replication, value."""
        import pandas as pd

        rows = [
            (list_name, name, quantity, replication, value)
            for list_name, items in self.sample_tree.items()
            for name, quantities in items.items()
            for quantity, values in quantities.items()
            for replication, value in enumerate(values)
        ]
        return pd.DataFrame(rows, columns=["list", "name", "quantity", "replication", "value"])

    @cached_property
    def sample_tree(self) -> Mapping[str, Mapping[str, Mapping[str, list[float | None]]]]:
        """The same as `samples` by list, name and quantity, without pandas."""
        tree: dict[str, dict[str, dict[str, list[float | None]]]]
        tree = json.loads(self._output.samples_json)
        return tree

    @cached_property
    def series(self) -> "pd.DataFrame":
        """Time series of the first replication: time_s, list, name, quantity, value.

        Empty unless the scenario asks for them (``record.series_interval``).
        """
        import pandas as pd

        columns = ["time_s", "list", "name", "quantity", "value"]
        tree = self._tracks
        rows = [
            (time, track["list"], track["name"], track["quantity"], value)
            for track in tree.get("tracks", [])
            for time, value in zip(tree["time_s"], track["values"], strict=True)
        ]
        return pd.DataFrame(rows, columns=columns)

    def track(
        self, list_name: str, name: str, quantity: str
    ) -> tuple[list[float], list[float]] | None:
        """Times and values of one time series; None if it was not sampled."""
        for track in self._tracks.get("tracks", []):
            if (track["list"], track["name"], track["quantity"]) == (list_name, name, quantity):
                return self._tracks["time_s"], track["values"]
        return None

    @cached_property
    def _tracks(self) -> dict[str, Any]:
        return json.loads(self._output.series_json) or {}

    @property
    def plot(self) -> "ResultPlots":
        """Pictures of this result: ``r.plot.goodput()``."""
        from lasthop.plot import ResultPlots

        return ResultPlots(self)

    def to_json(self) -> str:
        """The text that ``lasthop simulate --json`` prints, byte for byte."""
        return self._output.summary_json

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write ``result.json`` and every table as Parquet and CSV; return the paths."""
        from lasthop.saving import save_result

        return save_result(self, Path(directory))

    @property
    def frame_count(self) -> int:
        """Frames kept for a packet capture."""
        return self._output.frame_count

    def save_capture(self, path: str | PathLike[str]) -> None:
        """Write the frames of the first replication as pcapng, for Wireshark.

        Raises
        ------
        UserError
            If none were recorded: the scenario asks for them (``record.frames``).
        """
        from lasthop.saving import write_atomically

        if self.scenario.typed.record.frames is None:
            raise UserError("no frames were recorded", "ask for them: simulate(..., frames=100000)")

        def write(file: Path) -> None:
            with file.open("wb") as stream:
                self._output.write_pcapng(stream.write)

        write_atomically(Path(path), write)


def flat_row(item: Mapping[str, Any], intervals: bool = True) -> dict[str, Any]:
    """One item of a result with each estimate as two columns, value and half width."""
    row: dict[str, Any] = {}
    for key, value in item.items():
        if isinstance(value, Mapping) and "real" in value:
            row[key] = complex(value["real"], value["imag"])
        elif isinstance(value, Mapping):
            row[key] = nan if value["mean"] is None else value["mean"]
            if intervals:
                row[f"{key}_ci95"] = nan if value["ci95"] is None else value["ci95"]
        else:
            row[key] = value
    return row
