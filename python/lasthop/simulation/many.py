"""Simulation of many scenarios, of which only the requested quantities are kept, as arrays."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from lasthop import _core
from lasthop.answers.quantities import check_name, registry
from lasthop.errors import ScenarioError, Stopped, UserError
from lasthop.extras import need
from lasthop.scenario.scenario import Scenario, ScenarioLike, as_setting
from lasthop.scenario.source import FILE_KEY, Setting
from lasthop.simulation.simulate import replaced, threads_asked
from lasthop.warnings.many import short_warmups
from lasthop.warnings.stationarity import ROUND_TRIPS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ManyInterrupted", "ManyProgress", "ManyResult", "simulate_many"]

MAX_SEED = 2**53 - 1
"""Largest seed of a scenario."""

SINGLE = ("cells", "aps", "totals")
"""Lists with one item per scenario. Arrays of their quantities have one dimension."""


class ManyProgress(TypedDict):
    """Progress of `simulate_many`."""

    runs_done: int
    """Number of finished scenarios."""
    runs: int
    """Number of all scenarios."""


ManyProgressCallback: TypeAlias = Callable[[ManyProgress], bool | None]

ManySettings: TypeAlias = Mapping[str, object] | Sequence[Mapping[str, object]] | Any
"""Settings by key path, each a value or a list with one value per scenario; or one mapping per
scenario; or a data frame with a row per scenario.
"""


class ManyResult(Mapping[str, "NDArray[np.float64]"]):
    """Results of `simulate_many`: one array of numbers per requested quantity.

    The keys are the requested quantities, such as ``"stations.goodput_bps"``. The shape of an array
    is (scenarios, items), and `names` returns the names of the items. Arrays of ``cells``, ``aps``
    and ``totals`` have the shape (scenarios,). Units are those of the quantities. A value is NaN if
    the scenario is not finished, if it has no such item, or if the item has no value.
    """

    def __init__(
        self,
        arrays: Mapping[str, "NDArray[np.float64]"],
        names: Mapping[str, tuple[str, ...]],
        finished: "NDArray[np.bool_]",
    ) -> None:
        self._arrays = dict(arrays)
        self._names = dict(names)
        self.finished = finished
        """Whether each scenario is finished, shape (scenarios,)."""
        self.warnings: list[str] = []
        """Warnings to check before you trust the result: warm-ups that are too short, each with the
        number of scenarios."""

    def __getitem__(self, quantity: str) -> "NDArray[np.float64]":
        return self._arrays[quantity]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self.items())
        warned = f"; see warnings: {len(self.warnings)}" if self.warnings else ""
        return f"ManyResult({finished_text(self)}: {shapes}{warned})"

    def names(self, quantity: str) -> tuple[str, ...]:
        """Return the names of the items of a requested quantity, one per column of its array.

        Parameters
        ----------
        quantity : str
            Key of this result, such as ``"stations.goodput_bps"``.
        """
        return self._names[quantity]


class ManyInterrupted(KeyboardInterrupt):
    """Exception: Ctrl-C interrupted `simulate_many`; `finished` has the finished scenarios."""

    def __init__(self, finished: ManyResult) -> None:
        super().__init__(finished_text(finished))
        self.finished = finished

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.finished,)


def finished_text(result: ManyResult) -> str:
    """Return a message with the number of finished scenarios."""
    return f"{result.finished.sum()} of {len(result.finished)} scenarios are finished"


def simulate_many(
    scenarios: ScenarioLike | Iterable[ScenarioLike],
    *,
    quantities: str | Sequence[str],
    settings: ManySettings = (),
    seeds: Iterable[int] | None = None,
    replications: int | None = None,
    tails: bool = False,
    jobs: int | None = None,
    progress: ManyProgressCallback | None = None,
) -> ManyResult:
    """Simulate many scenarios and return the requested quantities as arrays.

    Use it for thousands of short simulations. The values are bit-identical to those of `simulate`
    for each scenario, and do not depend on `jobs`. The scenarios run on threads of the engine,
    without the GIL and without work in Python for each scenario. Every scenario is checked before
    the first is simulated. Everything except the requested quantities is dropped immediately.

    Lists in `scenarios`, `settings` and `seeds` belong together: scenario k has the k-th element of
    each list. Their lengths must be equal. For every combination of settings, use
    `itertools.product` or `sweep`.

    Parameters
    ----------
    scenarios : str, path, mapping, Scenario, or an iterable of these
        One scenario for all runs, or a scenario for each; see `Scenario`.
    quantities : str or sequence of str
        Quantities to return, each with its list, such as ``"stations.goodput_bps"`` or
        ``"cells.jain"``. The nomenclature lists all quantities with their units.
    settings : mapping, sequence of mappings, or data frame
        Values to replace. In a mapping, the value of a path is one value for all scenarios, or a
        list, tuple, range or array with a value for each: ``{"cell.ap.cwmin": [7, 15, 31]}``. In a
        sequence, each scenario has its own mapping. A data frame has a row for each scenario.
    seeds : iterable of int, optional
        Seed of each scenario; by default the scenarios have their own seeds.
    replications : int, optional
        Replications of each scenario, which replace those of the scenario. Values are means over
        the replications.
    tails : bool
        Whether to measure also the quantities that averages do not show, see `simulate`.
    jobs : int, optional
        Number of threads; by default one for each available processor.
    progress : callable, optional
        Called about every 50 ms with a `ManyProgress`; the simulation stops if it returns False.

    Returns
    -------
    ManyResult
        One array per quantity, of shape (scenarios, items), or (scenarios,) for quantities of
        ``cells``, ``aps`` and ``totals``. A `RuntimeWarning` names quantities without any value.
        `ManyResult.warnings` has warnings about the simulations.

    Raises
    ------
    ScenarioError
        If a scenario is refused; the message begins with its index, counted from 0.
    UserError
        If lists are empty or have different lengths, if there is no such quantity, if a seed is not
        valid, or if a scenario is longer than the engine supports.
    Stopped
        If `progress` returns False; `finished` is a `ManyResult` with the finished scenarios.
    ManyInterrupted
        At Ctrl-C, with `finished` as for `Stopped`. After the first Ctrl-C, running scenarios are
        finished. The second Ctrl-C ends them.

    Examples
    --------
    >>> import lasthop as lh
    >>> cell = {"cell": {"phy": "802.11b"}, "station": {"reader": {"count": 3, "download": 1}}}
    >>> many = lh.simulate_many(
    ...     {"duration": "2 s", "warmup": "1 s", **cell},
    ...     quantities=["cells.goodput_bps", "stations.goodput_bps"],
    ...     seeds=range(1, 101),
    ... )
    >>> many["cells.goodput_bps"].shape, many["stations.goodput_bps"].shape
    ((100,), (100, 3))
    >>> many.names("stations.goodput_bps")
    ('reader-1', 'reader-2', 'reader-3')
    """
    need("simulate_many", "numpy")
    threads = threads_asked(jobs)
    asked = checked_quantities(quantities)
    given = Given(scenarios, settings, seeds, replications)
    pairs = [(name.rpartition(".")[0], name.rpartition(".")[2]) for name in asked]
    core = _core.Many(given.bases, given.rows, given.seeds, pairs, tails)
    refused = core.check(threads)
    if refused is not None:
        with numbered(refused):
            row = given.rows[refused if len(given.rows) > 1 else 0]
            base = given.bases[refused if len(given.bases) > 1 else 0]
            Scenario(Scenario.of(base), row)
    state = core.run(threads, progress)
    result = arrays_of(core, asked)
    result.warnings = short_warmups(core.short_warmups(ROUND_TRIPS))
    if not result.finished.all():
        if state == "interrupted":
            raise ManyInterrupted(result)
        raise Stopped(finished_text(result), result)
    warn_of_missing(result, tails)
    return result


def checked_quantities(quantities: str | Sequence[str]) -> list[str]:
    """Return the requested quantities, each once.

    Raises
    ------
    UserError
        If there is none, if there is no such quantity, or if the list is missing.
    """
    asked = [quantities] if isinstance(quantities, str) else list(dict.fromkeys(quantities))
    if not asked:
        raise UserError("quantities: must have at least one quantity, such as cells.goodput_bps")
    for name in asked:
        if not isinstance(name, str):
            raise UserError(f"quantities: {name!r}: expected text, such as cells.goodput_bps")
        check_name(name)
        if "." not in name:
            lists = ", ".join(f"{each}.{name}" for each in registry()[name].lists)
            raise UserError(f"quantities: {name}: the list is missing; expected one of {lists}")
    return asked


class Given:
    """Scenarios, settings and seeds in the form in which the engine reads them. Each attribute has
    one element per scenario, or a single element for all of them; `rows` and `seeds` may be empty.
    """

    def __init__(
        self,
        scenarios: ScenarioLike | Iterable[ScenarioLike],
        settings: ManySettings,
        seeds: Iterable[int] | None,
        replications: int | None,
    ) -> None:
        sources: list[ScenarioLike]
        many = not isinstance(scenarios, str | PathLike | Mapping | Scenario)
        if isinstance(scenarios, str | PathLike | Mapping | Scenario):
            sources = [scenarios]
        else:
            sources = list(scenarios)
        self.lengths: dict[str, int] = {"scenarios": len(sources)} if many else {}
        self.rows = self._rows(settings)
        self.seeds = self._seeds(seeds)
        self._check()
        self.bases: list[_core.Scenario] = []
        for number, source in enumerate(sources):
            with numbered(number if many else None):
                base = replaced(source, (), replications=replications)
            self.bases.append(base.checked)
        if replications is not None and any(path == "replications" for path, _ in self._every()):
            raise UserError("replications: settings have a value of `replications`, too")
        if any(FILE_KEY in path or FILE_KEY in value for path, value in self._every()):
            self._read_files()

    def _every(self) -> Iterator[Setting]:
        return (setting for row in self.rows for setting in row)

    def _rows(self, settings: ManySettings) -> list[list[Setting]]:
        if hasattr(settings, "to_dict") and hasattr(settings, "columns"):
            frame: Any = settings
            settings = {str(name): list(frame[name]) for name in frame.columns}
        if isinstance(settings, Mapping):
            fixed: dict[str, str] = {}
            lists: dict[str, list[str]] = {}
            for key, value in settings.items():
                own, path = values_of(value), str(key)
                if isinstance(own, list):
                    lists[path] = [as_setting(each) for each in own]
                else:
                    fixed[path] = as_setting(own)
            paths = [str(path) for path in settings]
            self.lengths |= {f"settings {path}": len(own) for path, own in lists.items()}
            count = max(map(len, lists.values()), default=1 if paths else 0)
            self._check()
            return [
                [(path, fixed[path] if path in fixed else lists[path][k]) for path in paths]
                for k in range(count)
            ]
        rows = list(settings) if isinstance(settings, Iterable) else [settings]
        if isinstance(settings, str) or not all(isinstance(row, Mapping) for row in rows):
            raise UserError(
                f"settings={settings!r}: neither values by path nor a list of mappings",
                'write {"cell.ap.cwmin": [7, 15]} or [{"cell.ap.cwmin": 7}, {"cell.ap.cwmin": 15}]',
            )
        if rows or settings != ():
            self.lengths["settings"] = len(rows)
        return [[(str(path), as_setting(value)) for path, value in row.items()] for row in rows]

    def _seeds(self, seeds: Iterable[int] | None) -> list[int]:
        if seeds is None:
            return []
        listed: object = seeds
        if not isinstance(listed, Iterable) or isinstance(listed, str):
            raise UserError(f"seeds={seeds!r}: expected a list of seeds, such as range(1, 1001)")
        checked = [seed_of(number, seed) for number, seed in enumerate(seeds)]
        self.lengths["seeds"] = len(checked)
        if any(path == "seed" for path, _ in self._every()):
            raise UserError("seeds: settings have a value of `seed`, too")
        return checked

    def _check(self) -> None:
        """Refuse empty lists, and lists of different lengths."""
        for name, length in self.lengths.items():
            if length == 0:
                raise UserError(f"{name}: the list is empty; expected a value for each scenario")
        if len(set(self.lengths.values())) > 1:
            lengths = ", ".join(f"{name} {length}" for name, length in self.lengths.items())
            raise UserError(f"lists must have the same length, one value per scenario: {lengths}")

    def _read_files(self) -> None:
        """Check each scenario here, because only Python reads the files that settings name."""
        made = []
        for number in range(max(len(self.bases), len(self.rows))):
            base = self.bases[number if len(self.bases) > 1 else 0]
            row = self.rows[number if len(self.rows) > 1 else 0]
            with numbered(number):
                made.append(Scenario(Scenario.of(base), row).checked)
        self.bases, self.rows = made, []


def values_of(value: object) -> object:
    """Return a list if the value has a value for each scenario, and otherwise the value itself."""
    if isinstance(value, list | tuple | range):
        return list(value)
    shape = getattr(value, "shape", ())
    return list(value) if shape and isinstance(value, Iterable) else value


def seed_of(number: int, seed: object) -> int:
    """Return a seed as an integer.

    Raises
    ------
    UserError
        If it is not a seed.
    """
    try:
        whole = index(seed)  # type: ignore[arg-type]
    except TypeError:
        whole = -1
    if not 0 <= whole <= MAX_SEED:
        raise UserError(
            f"scenario {number}: seeds[{number}]={seed!r}: expected a whole number from 0 to "
            f"{MAX_SEED}"
        )
    return whole


@contextmanager
def numbered(number: int | None) -> Iterator[None]:
    """Make errors of a scenario begin with its index, if there is one."""
    try:
        yield
    except ScenarioError as error:
        if number is not None:
            error.problems = [
                problem._replace(source=f"scenario {number}: {problem.source}")
                for problem in error.problems
            ]
        raise


def arrays_of(core: _core.Many, asked: Sequence[str]) -> ManyResult:
    """Return the results of the engine as arrays."""
    import numpy as np

    finished = np.frombuffer(core.finished(), np.bool_)
    arrays: dict[str, NDArray[np.float64]] = {}
    names: dict[str, tuple[str, ...]] = {}
    for quantity, (own, numbers) in zip(asked, core.columns(), strict=True):
        array = np.frombuffer(numbers, np.float64).reshape(len(finished), len(own))
        names[quantity] = tuple(own)
        if quantity.rpartition(".")[0] not in SINGLE:
            arrays[quantity] = array
        else:
            arrays[quantity] = array[:, 0] if own else np.full(len(finished), np.nan)
    return ManyResult(arrays, names, finished)


def warn_of_missing(result: ManyResult, tails: bool) -> None:
    """Warn of requested quantities without any value."""
    import numpy as np

    missing = [name for name, array in result.items() if np.isnan(array).all()]
    if missing:
        needs = not tails and any(
            registry()[name.rpartition(".")[2]].needs_tails for name in missing
        )
        also = "; some quantities need tails=True" if needs else ""
        message = f"no scenario has a value of {', '.join(missing)}{also}"
        warnings.warn(message, RuntimeWarning, stacklevel=3)
