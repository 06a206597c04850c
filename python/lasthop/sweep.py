"""A scenario at many settings: each point simulated once, kept, and never again."""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.caution import cautions
from lasthop.errors import UserError
from lasthop.ownership import refuse_foreign
from lasthop.phase import phase_effects
from lasthop.quantities import LISTS
from lasthop.result import flat_row
from lasthop.run import Progress, ProgressCallback, replaced, threads_asked
from lasthop.saving import TABLE_FILES, save_table
from lasthop.scenario import Scenario, ScenarioLike, as_setting
from lasthop.store import Store

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Point", "Sweep", "SweepInterrupted", "sweep"]


@dataclass(frozen=True)
class Point:
    """One combination of the swept values and the result there."""

    settings: Mapping[str, str]
    summary: Mapping[str, Any]
    scenario: Scenario


class Sweep:
    """Results of a scenario at many settings."""

    def __init__(self, scenario: Scenario, points: Sequence[Point]) -> None:
        self.scenario = scenario
        self.points = points

    def __repr__(self) -> str:
        return f"Sweep({self.scenario['name']!r}: {len(self.points)} points)"

    @property
    def stations(self) -> "pd.DataFrame":
        """A row for each point and station."""
        return self.table("stations")

    @property
    def flows(self) -> "pd.DataFrame":
        """A row for each point and transport flow."""
        return self.table("flows")

    @property
    def cells(self) -> "pd.DataFrame":
        """A row for each point."""
        return self.table("cells")

    @property
    def classes(self) -> "pd.DataFrame":
        """A row for each point and class of flows."""
        return self.table("classes")

    @property
    def links(self) -> "pd.DataFrame":
        """A row for each point and wired link."""
        return self.table("links")

    @property
    def queues(self) -> "pd.DataFrame":
        """A row for each point and queue."""
        return self.table("queues")

    @property
    def warnings(self) -> list[str]:
        """Warnings of the points, each with the settings there; see `Result.warnings`."""
        return [
            f"{', '.join(f'{path}={value}' for path, value in point.settings.items())}: {warning}"
            for point in self.points
            for warning in (
                *cautions(point.scenario.typed),
                *phase_effects(point.scenario.typed, point.summary),
            )
        ]

    def table(self, name: str = "stations") -> "pd.DataFrame":
        """One list of every point's result: swept values, name, quantities."""
        import pandas as pd

        return pd.DataFrame(
            {**point.settings, **flat_row(item)}
            for point in self.points
            for item in point.summary.get(name, ())
        )

    def to_dict(self) -> dict[str, Any]:
        """All points as a tree of dictionaries and lists."""
        return {
            "kind": "sweep",
            "scenario": self.scenario.typed.name,
            "points": [
                {"settings": dict(point.settings), "result": point.summary} for point in self.points
            ],
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write every table as Parquet and CSV; return the paths."""
        refuse_foreign(Path(directory), TABLE_FILES)
        tables = {name: self.table(name) for name in LISTS}
        return [
            path
            for name, table in tables.items()
            if not table.empty
            for path in save_table(table, Path(directory), name)
        ]


class SweepInterrupted(KeyboardInterrupt):
    """A sweep that was stopped; `finished` holds the points that are done."""

    def __init__(self, finished: Sweep, asked: int) -> None:
        super().__init__(f"{len(finished.points)} of {asked} points kept")
        self.finished = finished
        self.asked = asked


def sweep(
    scenario: ScenarioLike,
    over: Mapping[str, Sequence[object]],
    *,
    replications: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    directory: str | PathLike[str] | None = None,
    jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Sweep:
    """Simulate a scenario at every combination of the values given.

    Every point is checked before the first is simulated. The results do not depend on `jobs`.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    over : mapping
        Values by key path: ``{"cell.ap.cwmin": [7, 15, 31]}``. With several paths every combination
        is simulated; the last path varies fastest.
    replications, seed, settings
        Replace values at every point, see `simulate`.
    directory : path, optional
        Where the result of each point is kept, by a fingerprint of its scenario; a point found
        there is not simulated again.
    jobs : int, optional
        Points simulated at the same time; by default one for each available processor.
    progress : callable, optional
        Called with the `Progress` over all points that are still to be simulated.

    Raises
    ------
    ScenarioError
        If the scenario is refused at one of the points.
    UserError
        If a path has no values, one of them twice, or is given one value as well.
    SweepInterrupted
        At Ctrl-C, or if `progress` returns False, with the points that are done.
    """
    alone = dict(settings) | {
        path: value
        for path, value in (("replications", replications), ("seed", seed))
        if value is not None
    }
    both = next((path for path in over if path in alone), None)
    if both is not None:
        raise UserError(f"over {both}: the same path is given the value {alone[both]} as well")
    base = replaced(scenario, settings, replications=replications, seed=seed)
    texts = [texts_of(path, values) for path, values in over.items()]
    combinations = [dict(zip(over, values, strict=True)) for values in product(*texts)]
    scenarios = [Scenario(base, settings) for settings in combinations]
    store = None if directory is None else Store(Path(directory))
    # Settings that mean the same are one scenario, and simulated once.
    distinct = {each.key: each for each in scenarios}
    summaries = {key: None if store is None else store.find(key) for key in distinct}
    todo = [each for key, each in distinct.items() if summaries[key] is None]
    tally = Tally(todo, progress)
    threads = threads_asked(jobs)

    def simulate_point(scenario: Scenario) -> None:
        text = tally.simulate(scenario, max(1, threads // len(todo)))
        if text is not None:
            summaries[scenario.key] = json.loads(text)
            if store is not None:
                store.keep(scenario.key, text)

    def finished() -> Sweep:
        points = zip(combinations, scenarios, strict=True)
        found = ((at, summaries[each.key], each) for at, each in points)
        done = [Point(at, summary, each) for at, summary, each in found if summary is not None]
        return Sweep(base, done)

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(simulate_point, scenario) for scenario in todo]
        try:
            wait_for_all(futures)
        except BaseException as error:
            tally.stop.set()
            pool.shutdown(cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                raise SweepInterrupted(finished(), len(scenarios)) from None
            raise
    if tally.stop.is_set() and None in summaries.values():
        raise SweepInterrupted(finished(), len(scenarios))
    return finished()


def texts_of(path: str, values: object) -> list[str]:
    """Values to try as ``--set`` takes them."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UserError(f"over {path}: {values!r} is not a list of values", f'{{"{path}": [...]}}')
    texts = [as_setting(value) for value in values]
    if not texts:
        raise UserError(f"over {path}: no values")
    twice = next((text for index, text in enumerate(texts) if text in texts[:index]), None)
    if twice is not None:
        raise UserError(f"over {path}: the value {twice} is given twice")
    return texts


class Tally:
    """Progress summed over points that are simulated at the same time."""

    def __init__(self, scenarios: Sequence[Scenario], progress: ProgressCallback | None) -> None:
        self.stop = threading.Event()
        self._progress = progress
        self._lock = threading.Lock()
        known = [scenario.typed for scenario in scenarios]
        self._replications = sum(each.replications for each in known)
        self._total = sum(each.replications * each.duration_s for each in known)
        self._done: dict[Scenario, tuple[int, float]] = {}

    def simulate(self, scenario: Scenario, jobs: int) -> str | None:
        """The result of a point as JSON; None if it was stopped."""
        if self.stop.is_set():
            return None

        def on_progress(seen: Progress) -> bool:
            self._report(scenario, seen["replications_done"], seen["simulated_s"])
            return not self.stop.is_set()

        output = _core.simulate(scenario.checked, jobs, on_progress)
        if output.interrupted:
            return None
        known = scenario.typed
        self._report(scenario, known.replications, known.replications * known.duration_s)
        return output.summary_json

    def _report(self, scenario: Scenario, replications: int, simulated: float) -> None:
        with self._lock:
            self._done[scenario] = (replications, simulated)
            if self._progress is None:
                return
            go_on = self._progress(
                Progress(
                    replications_done=sum(done for done, _ in self._done.values()),
                    replications=self._replications,
                    simulated_s=sum(simulated for _, simulated in self._done.values()),
                    total_s=self._total,
                )
            )
        if go_on is False:
            self.stop.set()


def wait_for_all(futures: Sequence[Future[None]]) -> None:
    """Wait until all are done; raise the first exception as soon as there is one."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
