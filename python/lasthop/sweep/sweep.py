"""Sweeps: simulate a scenario at many settings; finished points are kept and reused."""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.answers.answer import Shown
from lasthop.answers.overwrite import refuse_foreign
from lasthop.answers.plots import SweepPlots
from lasthop.answers.saving import PROGRESS, TABLE_FILES, staged
from lasthop.arguments import callback
from lasthop.batch import Batch, BatchInterrupted, BatchStopped, Parts, ProgressCallback, tasks_over
from lasthop.batch.executors import Workers
from lasthop.errors import Stopped, UserError
from lasthop.progress.cost_limits import MAX_MEMORY_BYTES
from lasthop.progress.steps import counting
from lasthop.scenario.origin import origin_of
from lasthop.scenario.scenario import Scenario, ScenarioLike
from lasthop.simulation.series_memory import need_room_in_sweep
from lasthop.simulation.simulate import replaced, thread_count
from lasthop.sweep.columns import Column, column
from lasthop.sweep.grid import Over, grid
from lasthop.sweep.manifest import MANIFEST, write_manifest
from lasthop.sweep.points import Points
from lasthop.sweep.tables import SERIES, frame, write_tables
from lasthop.warnings.phase_effects import phase_effects
from lasthop.warnings.settings import warnings_for

if TYPE_CHECKING:
    import pandas as pd


class Sweep(Shown):
    """Results of a scenario at many settings.

    Tables have a row for each point and item. Their first columns are the swept values, as numbers
    if they are numbers. Values with units are in SI units, and the column's name ends with the
    unit: ``dumbbell.rtt_s``.

    A sweep can be pickled and copied. Two sweeps are equal if scenario, settings and all estimates
    are equal.
    """

    kind = "sweep"

    def __init__(self, scenario: Scenario, points: Points) -> None:
        self.scenario = scenario
        self.points = points

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sweep):
            return NotImplemented
        return self.scenario == other.scenario and self.points == other.points

    def __hash__(self) -> int:
        return hash((self.scenario, len(self.points)))

    @property
    def paths(self) -> tuple[str, ...]:
        """Swept key paths."""
        return self.points.grid.paths

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the swept paths in tables."""
        points = self.points.grid
        return tuple(column(path, points.column(path)) for path in self.paths)

    @property
    def stations(self) -> "pd.DataFrame":
        """Table with a row for each point and station."""
        return self.table("stations")

    @property
    def flows(self) -> "pd.DataFrame":
        """Table with a row for each point and transport flow."""
        return self.table("flows")

    @property
    def cells(self) -> "pd.DataFrame":
        """Table of cells, with a row for each point."""
        return self.table("cells")

    @property
    def classes(self) -> "pd.DataFrame":
        """Table with a row for each point and class of flows."""
        return self.table("classes")

    @property
    def links(self) -> "pd.DataFrame":
        """Table with a row for each point and wired link."""
        return self.table("links")

    @property
    def queues(self) -> "pd.DataFrame":
        """Table with a row for each point and queue."""
        return self.table("queues")

    @property
    def series(self) -> "pd.DataFrame":
        """Time series of each point's first replication: time_s, list, name, quantity, value.

        The table is empty unless ``series`` or the scenario asks for time series.
        """
        return self.table(SERIES)

    @property
    def plot(self) -> SweepPlots:
        """Picture of the sweep: ``s.plot()`` draws it, and ``s.plot("jain")`` draws one
        quantity."""
        return SweepPlots(self)

    @property
    def notes(self) -> list[str]:
        """Notes about unused files in the directory: results of other sweeps, and damaged files."""
        return self.points.notes

    @property
    def warnings(self) -> list[str]:
        """Warnings of all points, each with the settings of the point; see `Result.warnings`."""
        return list(self.iter_warnings())

    def iter_warnings(self, most: int | None = None) -> Iterator[str]:
        """Yield the warnings of all points, or of the first `most` points."""
        for point in self.points[:most]:
            at = ", ".join(f"{path}={value}" for path, value in point.settings.items())
            typed = point.scenario.typed
            for warning in (*warnings_for(typed), *phase_effects(typed, point.summary)):
                yield f"{at}: {warning}"

    def table(self, name: str = "stations") -> "pd.DataFrame":
        """Return the table of a list of results (such as stations) over all points: swept values,
        name, quantities.
        """
        return frame(self.points, self.columns, name)

    def to_dict(self) -> dict[str, Any]:
        """Return all points as a tree of dictionaries and lists."""
        tree: dict[str, Any] = json.loads(self.to_json())
        return tree

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return "".join(self.json_pieces())

    def json_pieces(self) -> Iterator[str]:
        """Yield the text of `to_json` point by point."""
        head = {
            "kind": "sweep",
            "scenario": self.scenario.typed.name,
            "version": _core.VERSION,
            "format": _core.FORMAT,
            "origin": origin_of(self.scenario),
            "points": [],
        }
        text = json.dumps(head, indent=2, ensure_ascii=False)
        yield text.removesuffix("]\n}")
        between = "\n"
        for point in self.points:
            tree = {"settings": dict(point.settings), "result": point.summary}
            piece = json.dumps(tree, indent=2, ensure_ascii=False)
            yield between + "    " + piece.replace("\n", "\n    ")
            between = ",\n"
        yield "\n  ]\n}\n" if between != "\n" else "]\n}\n"

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write all tables as Parquet and CSV, and a manifest; return the files of the tables.

        `lasthop.load` reads the sweep again. Equal points give equal tables, to the byte. The
        executor and the order of the simulations do not matter.
        """
        into = Path(directory)
        refuse_foreign(into, (MANIFEST, *TABLE_FILES))
        self.points.keep_in(into)
        with staged(into) as staging:
            # The manifest is written after the tables, because it refers to them.
            self.points.write_manifest(staging)
            paths = write_tables(self.points, self.columns, staging)
        written = [into / path.name for path in paths]
        for name in TABLE_FILES:
            if into / name not in written:
                (into / name).unlink(missing_ok=True)
        return written


class SweepInterrupted(KeyboardInterrupt):
    """Exception: Ctrl-C interrupted a sweep; `finished` has the finished points."""

    def __init__(self, finished: Sweep, asked: int) -> None:
        super().__init__(finished_text(finished, asked))
        self.finished = finished
        self.asked = asked

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.finished, self.asked)


def finished_text(finished: Sweep, asked: int) -> str:
    """Return a message with the number of finished points."""
    return f"{len(finished.points)} of {asked} points are finished"


def sweep(
    scenario: ScenarioLike,
    over: Over,
    *,
    combine: str = "grid",
    replications: int | None = None,
    seed: int | None = None,
    series: str | None = None,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    directory: str | PathLike[str] | None = None,
    jobs: int | None = None,
    executor: Executor | Workers | None = None,
    progress: ProgressCallback | None = None,
    max_memory_bytes: float = MAX_MEMORY_BYTES,
) -> Sweep:
    """Simulate a scenario at many settings.

    Every point is checked before the first point is simulated. The results do not depend on `jobs`
    or `executor`.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    over : mapping, sequence of mappings, data frame or path
        Values by key path: ``{"cell.ap.cwmin": [7, 15, 31]}``, or as a text with ranges:
        ``{"cell.ap_queue": "20..100:20", "dumbbell.rtt": "10 ms..1 s log 5"}``. With several paths
        every combination is simulated; the last path varies fastest. Alternatively a table of
        points: a sequence of mappings from path to value, a pandas data frame, or the path of a CSV
        file whose first line has the key paths.
    combine : str
        ``"zip"`` combines the first values of all paths, then the second values, and so on.
    replications, seed, settings
        Values to replace at every point, see `simulate`.
    series : str, optional
        Sampling interval of time series of each point's first replication, such as ``"0.1 s"``.
    directory : path, optional
        Directory in which finished points are kept, by a fingerprint of their scenario, in parts
        with checksums. A point that is found in this directory is not simulated again.
    jobs : int, optional
        Points simulated at the same time; by default one for each available processor.
    executor : concurrent.futures.Executor, optional
        Executor that simulates instead of threads of this process: a process pool, or
        ``client.get_executor()`` of a Dask cluster. The executor's workers must have the same
        version of lasthop. The executor is not shut down.
    progress : callable, optional
        Called with the `BatchProgress` over all points that are still to be simulated.
    max_memory_bytes : float
        Largest memory for tables of time series of the points that are simulated at the same time.
        [bytes]

    Returns
    -------
    Sweep
        A data frame per list, with the swept values in its first columns, and ``points``.

    Raises
    ------
    ScenarioError
        If the scenario is refused at one of the points.
    UserError
        If a path has no values, if it has a value twice, or if it is also set to one value. If
        there are too many points, or if workers of the executor are lost.
    TooCostlyError
        If time series would need more memory than `max_memory_bytes`.
    Stopped
        If `progress` returns False; `finished` is a `Sweep` of the points that are done.
    SweepInterrupted
        At Ctrl-C, with `finished` as for `Stopped`. The first Ctrl-C lets running points finish,
        the second Ctrl-C ends them.

    Examples
    --------
    >>> import lasthop as lh
    >>> swept = lh.sweep(
    ...     {
    ...         "duration": "3 s",
    ...         "warmup": "1 s",
    ...         "replications": 2,
    ...         "cell": {"phy": "802.11b"},
    ...         "station": {"sender": {"upload": 6}, "reader": {"count": 2, "download": 1}},
    ...     },
    ...     {"cell.ap.cwmin": [3, 31]},
    ... )
    >>> jain = swept.cells.set_index("cell.ap.cwmin")["jain"]
    >>> bool(jain[3] > jain[31])
    True
    """
    callback("progress", progress)
    if jobs is not None and executor is not None:
        raise UserError(
            "jobs: an executor has its own number of workers; expected only one of the two"
        )
    points = grid(over, combine)
    alone = dict(settings) | {
        path: value
        for path, value in (
            ("replications", replications),
            ("seed", seed),
            ("record.series_interval", series),
        )
        if value is not None
    }
    both = next((path for path in points.paths if path in alone), None)
    if both is not None:
        raise UserError(f"over {both}: the same path is given the value {alone[both]} as well")
    base = replaced(scenario, settings, replications=replications, seed=seed, series=series)
    into = None if directory is None else Path(directory)
    checking = tasks_over(base, points, thread_count(jobs))
    tasks = list(counting("checking points", checking, len(points)))
    keys = [task.key for task in tasks]
    at_once = thread_count(jobs) if executor is None else 1
    values = [task.values_sampled for task in tasks]
    need_room_in_sweep(base, values, at_once, max_memory_bytes)
    parts = Parts(into)
    if into is not None:
        refuse_foreign(into, (MANIFEST, PROGRESS))
        write_manifest(into, base, points, keys)
    sampled = base.typed.record.series_interval_s is not None
    batch = Batch(
        parts,
        ("summary", SERIES) if sampled or _samples(points.paths) else ("summary",),
        threads=thread_count(jobs),
        executor=executor,
        directory=into,
    )

    def done() -> Sweep:
        return Sweep(base, Points(base, points, keys, parts))

    try:
        batch.run(tasks, progress)
    except BatchInterrupted:
        raise SweepInterrupted(done(), len(keys)) from None
    except BatchStopped:
        raise Stopped(finished_text(done(), len(keys)), done()) from None
    return done()


def _samples(paths: Sequence[str]) -> bool:
    """Return whether one of the swept key paths may enable time series."""
    return any(path.split(".")[0] == "record" for path in paths)
