"""Result of a simulation: estimates as tables, values per replication, time series, and
pictures.
"""

import json
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from math import inf
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.answers.answer import Answer
from lasthop.answers.fairness import mixed_demands
from lasthop.answers.once import once
from lasthop.answers.plots import ResultPlots
from lasthop.answers.quantities import LISTS
from lasthop.answers.record import Output, StoredOutput, record_text
from lasthop.answers.summary import ArrayContents
from lasthop.answers.tables import data_frame
from lasthop.errors import MAX_NAMED, UserError
from lasthop.progress.steps import step
from lasthop.scenario.from_json import Table, named, read_as
from lasthop.scenario.scenario import Scenario
from lasthop.warnings.phase_effects import phase_effects
from lasthop.warnings.settings import warnings_for, window_notes
from lasthop.warnings.stationarity import unsteady_runs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Result"]


SERIES_COLUMNS = ("time_s", "list", "name", "quantity", "value")
"""Columns of the table of time series."""


class Recorded(Table):
    """Base class for recorded data of one quantity of one item."""

    list_name: str = named("list")
    name: str
    quantity: str

    @property
    def key(self) -> tuple[str, str, str]:
        """List, name and quantity of the recorded data."""
        return self.list_name, self.name, self.quantity


class Track(Recorded):
    """Time series of one quantity of one item."""

    values: Any


def nearest_tracks(
    asked: tuple[str, str, str], tracks: list[tuple[str, str, str]]
) -> list[tuple[str, str, str]]:
    """Return the time series whose list, name and quantity are most similar to those asked for."""
    from difflib import SequenceMatcher

    def similarity(key: tuple[str, str, str]) -> float:
        return sum(ratios[part][value] for part, value in enumerate(key))

    ratios = [
        {each: SequenceMatcher(None, str(own), each).ratio() for each in set(names)}
        for own, names in zip(asked, zip(*tracks, strict=True), strict=True)
    ]
    return sorted(tracks, key=similarity, reverse=True)[:MAX_NAMED]


class Histogram(Recorded):
    """Histogram of one quantity of one item."""

    edges_s: Any
    counts: Any


class Series(Table):
    """All time series of a replication."""

    time_s: Any = ()
    tracks: tuple[Track, ...] = ()


class Result(Answer):
    """Result of a simulation, with samples, series and pictures.

    Two results are equal if all estimates and all samples (each quantity in each replication) are
    the same to the last bit; missing values are equal. Series and frames are not compared. Pickles
    and copies of a result have its series and frames.
    """

    kind = "simulation"

    def __init__(self, output: Output, scenario: Scenario | None, **lacks: str) -> None:
        super().__init__(contents_of(output), scenario, **lacks)
        self._output = output

    def __getstate__(self) -> dict[str, Any]:
        state = self._essence() | {"_output": self._kept()}
        del state["contents"]
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self.contents = contents_of(self._output)

    def _kept(self) -> Output:
        """Return all output data in a form that can be pickled, without the engine's object."""
        if isinstance(self._output, StoredOutput) or self._scenario is None:
            return self._output
        return StoredOutput.of(
            self._output, has_capture=self.scenario.typed.record.frames is not None
        )

    def _compared(self) -> tuple[str, ...]:
        if self._scenario is None:
            return (self._as_text(),)
        samples = json.loads(self._output.samples_json)  # the cached tree may have been changed
        return self._as_text(), json.dumps(samples, sort_keys=True)

    @property
    def replications(self) -> int:
        """Number of finished replications."""
        return self.heading.replications

    @property
    def seed(self) -> int:
        """Seed from which all random streams are derived."""
        return self.heading.seed

    @once
    def warnings(self) -> list[str]:
        """Warnings to check before you trust the result.

        The warnings report surprising settings, phase effects at drop-tail queues, stations that
        count for fairness in only some replications, and signs that the run was not in a steady
        state.
        """
        typed = self.scenario.typed
        return [
            *warnings_for(typed),
            *phase_effects(typed, self.contents),
            *self._mixed_demands(),
            *unsteady_runs(typed, self.contents, self._output.halves_json),
        ]

    @once
    def notes(self) -> list[str]:
        """Notes about TCP flows that are limited by their receive windows most of the time."""
        return window_notes(self.scenario.typed, self.contents)

    def _mixed_demands(self) -> list[str]:
        """Return warnings about stations whose demand is met in only some replications."""
        if self.replications < 2:
            return []
        stations = self.contents.get("stations", ())
        if all(station.get("fairness_level") is not None for station in stations):
            return []
        return mixed_demands(self.sample_tree.get("stations", {}))

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before all replications finished."""
        return self._output.interrupted

    @once
    def samples(self) -> "pd.DataFrame":
        """Values of each replication: list, name, quantity, replication, value."""
        return data_frame(self._sample_columns)

    @property
    def _sample_columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            name: [] for name in ("list", "name", "quantity", "replication", "value")
        }
        for list_name, items in self.sample_tree.items():
            for name, quantities in items.items():
                for quantity, values in quantities.items():
                    count = len(values)
                    columns["list"] += [list_name] * count
                    columns["name"] += [name] * count
                    columns["quantity"] += [quantity] * count
                    columns["replication"] += range(count)
                    columns["value"] += values
        return columns

    @once
    def sample_tree(self) -> Mapping[str, Mapping[str, Mapping[str, list[float | None]]]]:
        """Values of each replication as nested dictionaries: list, name, quantity."""
        tree: dict[str, dict[str, dict[str, list[float | None]]]]
        tree = json.loads(self._output.samples_json)
        return tree

    def sampled(self, list_name: str, item: str, quantity: str) -> list[float | None] | None:
        """Return the values of a quantity in each replication; None if the item or the quantity is
        missing.
        """
        return self.sample_tree.get(list_name, {}).get(item, {}).get(quantity)

    @once
    def series(self) -> "pd.DataFrame":
        """Time series of the first replication: time_s, list, name, quantity, value.

        The table is empty unless the scenario has ``record.series_interval``.
        """
        return data_frame(self._series_rows, SERIES_COLUMNS)

    @property
    def _series_rows(self) -> list[tuple[Any, ...]]:
        return [
            (time, *track.key, value)
            for track in self._series.tracks
            for time, value in zip(self._series.time_s, track.values, strict=True)
        ]

    def track(
        self, list_name: str, name: str, quantity: str
    ) -> tuple[list[float], list[float | None]]:
        """Return times and values of one time series of the first replication.

        A missing value is None: for example, a flow has no window before it begins.

        Parameters
        ----------
        list_name, name, quantity : str
            One of `tracks`, such as ``"queues", "ap", "occupancy_packets"``.

        Raises
        ------
        UserError
            If the series was not sampled; the message lists the most similar series.
        """
        asked = list_name, name, quantity
        for track in self._series.tracks:
            if track.key == asked:
                return self._series.time_s, track.values
        if not self.tracks:
            raise UserError("no series were sampled", "ask for them: simulate(..., series='0.1 s')")
        near = "; ".join(map(", ".join, nearest_tracks(asked, self.tracks)))
        raise UserError(f"no series of {', '.join(map(str, asked))}; the nearest are {near}")

    @property
    def tracks(self) -> list[tuple[str, str, str]]:
        """List, name and quantity of each time series."""
        return [track.key for track in self._series.tracks]

    @property
    def series_tree(self) -> Mapping[str, Any]:
        """Time series as a dictionary with interval_s, time_s and tracks; empty if nothing was
        sampled.
        """
        return self._series_tree

    @once
    def _series_tree(self) -> dict[str, Any]:
        return json.loads(self._output.series_json) or {}

    @once
    def _series(self) -> Series:
        return read_as(Series, self._series_tree)

    def distributions(self) -> "pd.DataFrame":
        """Histograms of delays over all replications, one row per bin that is not empty.

        Columns are list, name, quantity, from_s, to_s and count. Quantities are round-trip times of
        TCP flows (``rtt_s``), delays of datagrams (``one_way_delay_s``), and times in the queues of
        a cell (``sojourn_s``), after the warm-up. An octave has at most 32 bins, and all items have
        the same edges of bins. The means of the distributions equal the means in the result.

        The table is empty unless the result comes from ``simulate(..., tails=True)``.
        """
        columns = ["list", "name", "quantity", "from_s", "to_s", "count"]
        rows = [
            (*each.key, from_s, to_s, count)
            for each in (read_as(Histogram, tree) for tree in self.distribution_list)
            for (from_s, to_s), count in zip(pairwise(each.edges_s), each.counts, strict=True)
            if count
        ]
        return data_frame(rows, columns)

    @once
    def distribution_list(self) -> list[dict[str, Any]]:
        """Histograms as dictionaries with list, name, quantity, edges_s and counts."""
        every: list[dict[str, Any]] = json.loads(self._output.distributions_json)
        return every

    @property
    def plot(self) -> ResultPlots:
        """Pictures of this result: ``r.plot()`` draws the main picture, ``r.plot.goodput()`` the
        goodputs."""
        return ResultPlots(self)

    def to_json(self) -> str:
        """Return the text that ``lasthop simulate --json`` prints, byte for byte."""
        return self._output.summary_json

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a new tree of dictionaries and lists, with the contents of
        `to_json`.
        """
        if isinstance(self.contents, ArrayContents):
            return self.contents.tree()
        return super().to_dict()

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write ``result.json``, ``record.json`` and every table, as CSV and Parquet.

        Parquet files need pandas and pyarrow. Without them only CSV files are written.

        `lasthop.load` reads the first two files and returns a result that is equal to this one,
        with scenario, samples and series. `save_capture` writes a capture.

        Returns
        -------
        list of Path
            Files that were written.
        """
        from lasthop.answers.overwrite import refuse_foreign
        from lasthop.answers.saving import (
            RECORD_FILE,
            RESULT_FILE,
            RESULT_FILES,
            Writer,
            text_writer,
            write_all,
        )
        from lasthop.answers.tables import Table as SavedTable
        from lasthop.answers.tables import columns_of, table_writers

        place = Path(directory)
        if place.exists() and not place.is_dir():
            raise UserError(f"{place}: is a file: expected a directory for a result")
        refuse_foreign(place, RESULT_FILES)
        about = {key: str(self.contents[key]) for key in ("scenario", "seed", "version")}
        writers: dict[str, Writer] = {
            RESULT_FILE: text_writer(self.to_json()),
            RECORD_FILE: text_writer(self.record),
        }
        with step("saving tables"):
            tables = [
                SavedTable(name, columns_of(rows), partial(self._saved, name), about)
                for name in LISTS
                if (rows := self.rows(name))
            ]
            series = dict(zip(SERIES_COLUMNS, zip(*self._series_rows, strict=True), strict=False))
            tables += [
                SavedTable("samples", self._sample_columns, lambda: self.samples, about),
                SavedTable("series", series, lambda: self.series, about),
            ]
            shown = [table for table in tables if any(table.columns.values())]
            paths = write_all(place, writers | table_writers(place, shown))
        for name in RESULT_FILES:
            if place / name not in paths:
                (place / name).unlink(missing_ok=True)
        return paths

    def _saved(self, name: str) -> "pd.DataFrame":
        """Return a table as it is saved: the name is a column."""
        return self.table(name).reset_index()

    @property
    def record(self) -> str:
        """Contents of the file ``record.json``: scenario, samples and series."""
        return record_text(self._output, self.scenario, self.contents)

    @property
    def frame_count(self) -> int:
        """Number of recorded frames; each MPDU of an aggregate counts as a frame."""
        return self._output.frame_count

    @property
    def frames_full(self) -> bool:
        """Whether frames are missing because the limit ``record.frames`` was reached."""
        return self._output.frames_full

    def frames(self, from_s: float = 0.0, to_s: float = inf) -> "pd.DataFrame":
        """Return recorded frames of the first replication that begin in an interval of time.

        The table has one row per frame. Its first columns are start_s, duration_s, sender, receiver
        (none if it is a broadcast), kind (of the MAC: data, ack, rts, cts, cf-end, block-ack,
        block-ack-req), and bytes. Then come rate_bps, mcs (none if the rate has no MCS), attempt
        (of the exchange; a failed RTS counts), fate (delivered, collided, corrupted) and discarded.
        The last columns are backoff_slots (as drawn; none for a frame that did not contend), flow,
        and packet (segment, datagram, syn, ack or syn-ack).

        In a cell with aggregates, a row is a PPDU: bytes is its whole length, and attempt is the
        largest of its MPDUs. The fate is delivered if any of its MPDUs was received; discarded is
        true if any MPDU was given up. The values of flow and packet are those that all packets of
        the PPDU have in common. Columns mpdus and mpdus_lost count MPDUs (none in control frames).
        Columns sequence and lost are lists of sequence numbers, of all MPDUs and of those that were
        not received (none in cells without aggregates).

        Parameters
        ----------
        from_s, to_s : float
            Ends of the interval. [s]

        Raises
        ------
        UserError
            If no frames were recorded (``record.frames`` of the scenario), if the result was
            loaded, since frames are not saved, or if the interval is invalid.
        """
        if not from_s <= to_s:
            raise UserError(f"frames from {from_s:g} s to {to_s:g} s: not an interval of time")
        table = data_frame(self.frame_columns(from_s, to_s))
        total = ("backoff_slots", "mcs", "mpdus", "mpdus_lost")
        return table.astype(dict.fromkeys(total, "Int64"))

    def frame_columns(self, from_s: float = 0.0, to_s: float = inf) -> dict[str, list[Any]]:
        """Return the recorded frames of a time interval as a list of values per column, without
        pandas.
        """
        self._check_frames()
        columns: dict[str, list[Any]] = json.loads(self._output.frames_json(from_s, to_s))
        return columns

    def _check_frames(self) -> None:
        if self.scenario.typed.record.frames is None:
            raise UserError("no frames were recorded", "ask for them: simulate(..., frames=100000)")

    def save_capture(self, path: str | PathLike[str]) -> None:
        """Write the frames of the first replication as pcapng, for Wireshark.

        Raises
        ------
        UserError
            If no frames were recorded (``record.frames`` of the scenario), if the result was
            loaded, since frames are not saved, or if another program's file would be replaced.
        """
        from lasthop.answers.overwrite import CAPTURE, refuse_if_foreign
        from lasthop.answers.saving import write_atomically

        self._check_frames()
        refuse_if_foreign(Path(path), CAPTURE)

        def write(file: Path) -> None:
            with file.open("wb") as stream:
                self._output.write_pcapng(stream.write)

        write_atomically(Path(path), write)


def contents_of(output: Output) -> Mapping[str, Any]:
    """Return the summary of an output. The engine's own output is read on access."""
    if isinstance(output, _core.SimulationOutput):
        return ArrayContents(output)
    contents: dict[str, Any] = json.loads(output.summary_json)
    return contents
