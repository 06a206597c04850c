"""Simulation of many scenarios, of which only the requested quantities are kept, as arrays."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict

from lasthop import _core
from lasthop.answers.quantities import check_name, registry
from lasthop.arguments import callback, flag, listed_values, short
from lasthop.errors import ScenarioError, Stopped, UserError
from lasthop.extras import need
from lasthop.numeric import whole_number
from lasthop.scenario.scenario import Scenario, ScenarioLike, as_setting
from lasthop.scenario.source import FILE_KEY, Setting
from lasthop.simulation.simulate import replaced, thread_count
from lasthop.warnings.many import short_warmups
from lasthop.warnings.stationarity import ROUND_TRIPS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "SINGLE",
    "ArrayResult",
    "SimulateManyInterrupted",
    "SimulateManyProgress",
    "list_and_name",
    "simulate_many",
]

MAX_SEED = 2**53 - 1
"""Largest seed of a scenario."""

SINGLE = ("cells", "aps", "totals")
"""Result lists with one item per scenario. Arrays of their quantities have one dimension."""


class SimulateManyProgress(TypedDict):
    """Progress of `simulate_many`."""

    runs_done: int
    """Number of finished scenarios."""
    runs: int
    """Number of all scenarios."""


SimulateManyProgressCallback: TypeAlias = Callable[[SimulateManyProgress], bool | None]


class DataFrame(Protocol):
    """Interface of a data frame, such as that of pandas."""

    @property
    def columns(self) -> Iterable[Any]:
        """Names of the columns."""

    def __getitem__(self, column: Any, /) -> Any:
        """Return a column."""

    def to_dict(self) -> Any:
        """Return the data frame as a dictionary."""


SettingsOfMany: TypeAlias = Mapping[str, object] | Sequence[Mapping[str, object]] | DataFrame
"""Settings by key path. A value applies to all scenarios; a list has one value per scenario.
Instead, one mapping per scenario or a data frame with one row per scenario is accepted.
"""


class ArrayResult(Mapping[str, "NDArray[np.float64]"]):
    """Results of `simulate_many`: one array of numbers per requested quantity.

    The keys are the requested quantities, such as ``"stations.goodput_bps"``. The shape of an array
    is (scenarios, items), and `names` returns the names of the items. Arrays of ``cells``, ``aps``
    and ``totals`` have the shape (scenarios,). Units are those of the quantities. A value is NaN if
    the scenario is not finished, if it has no such item, or if the item has no value.

    Two results are equal if their names and all their numbers are the same to the last bit; NaN
    equals NaN.
    """

    def __init__(
        self,
        arrays: Mapping[str, "NDArray[np.float64]"],
        names: Mapping[str, tuple[str, ...]],
        is_finished: "NDArray[np.bool_]",
    ) -> None:
        self._arrays = dict(arrays)
        self._names = dict(names)
        self.is_finished = is_finished
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
        return f"ArrayResult({finished_text(self)}: {shapes}{warned})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayResult):
            return NotImplemented
        return (
            self._names == other._names
            and is_same(self.is_finished, other.is_finished)
            and all(is_same(array, other[quantity]) for quantity, array in self.items())
        )

    # The arrays can be changed, so a result has no hash.
    __hash__ = None  # type: ignore[assignment]

    def names(self, quantity: str) -> tuple[str, ...]:
        """Return the names of the items of a requested quantity, one per column of its array.

        Parameters
        ----------
        quantity : str
            Key of this result, such as ``"stations.goodput_bps"``.
        """
        return self._names[quantity]


class SimulateManyInterrupted(KeyboardInterrupt):
    """Interruption of `simulate_many` by Ctrl-C.

    Parameters
    ----------
    finished : ArrayResult
        Result with the finished scenarios.
    """

    def __init__(self, finished: ArrayResult) -> None:
        super().__init__(finished_text(finished))
        self.finished = finished

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.finished,)


def is_same(array: "NDArray[Any]", other: "NDArray[Any]") -> bool:
    """Return whether two arrays are the same to the last bit. NaN equals NaN."""
    import numpy as np

    if array.shape != other.shape or array.dtype != other.dtype:
        return False
    missing = np.isnan(array)
    if not np.array_equal(missing, np.isnan(other)):
        return False
    return bool(array[~missing].tobytes() == other[~missing].tobytes())


def finished_text(result: ArrayResult) -> str:
    """Return a message with the number of finished scenarios."""
    return f"{result.is_finished.sum()} of {len(result.is_finished)} scenarios are finished"


def simulate_many(
    scenarios: ScenarioLike | Iterable[ScenarioLike],
    *,
    quantities: str | Sequence[str],
    settings: SettingsOfMany = (),
    seeds: Iterable[int] | None = None,
    replications: int | None = None,
    tails: bool = False,
    jobs: int | None = None,
    progress: SimulateManyProgressCallback | None = None,
) -> ArrayResult:
    """Simulate many scenarios and return the requested quantities as arrays.

    Use it for thousands of short simulations. The values are bit-identical to those of `simulate`
    for each scenario, and do not depend on `jobs`. The scenarios run on threads of the engine.
    During the simulation, no Python code runs for a scenario, and other Python threads can run.
    Every scenario is checked before the first is simulated. Everything except the requested
    quantities is dropped immediately.

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
        Values that replace those of the scenario. In a mapping, the value of a path is one value
        for all scenarios, or a list, tuple, range or array with a value for each:
        ``{"cell.ap.cwmin": [7, 15, 31]}``. In a sequence, each scenario has its own mapping. A data
        frame has a row for each scenario.
    seeds : iterable of int, optional
        Seed of each scenario; by default the scenarios have their own seeds.
    replications : int, optional
        Replications of each scenario, which replace those of the scenario. Values are means over
        the replications.
    tails : bool
        Whether to also measure percentiles and other tail statistics, see `simulate`.
    jobs : int, optional
        Number of threads; by default one for each available processor.
    progress : callable, optional
        Called about every 50 ms with a `SimulateManyProgress`. The simulation stops if it returns
        False.

    Returns
    -------
    ArrayResult
        One array per quantity, of shape (scenarios, items), or (scenarios,) for quantities of
        ``cells``, ``aps`` and ``totals``. A `RuntimeWarning` names quantities without any value.
        `ArrayResult.warnings` has warnings about the simulations.

    Raises
    ------
    ScenarioError
        If a scenario is refused; the message begins with its index, counted from 0.
    UserError
        If lists are empty or have different lengths, if there is no such quantity, if a seed is not
        valid, or if a scenario is longer than the engine supports.
    Stopped
        If `progress` returns False; `finished` is an `ArrayResult` with the finished scenarios.
    SimulateManyInterrupted
        If Ctrl-C interrupts the call, with `finished` as for `Stopped`. The first Ctrl-C waits for
        the running scenarios, the second stops them.

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
    need("lasthop.simulate_many")
    threads = thread_count(jobs)
    callback("progress", progress)
    tails = flag("tails", tails)
    requested = checked_quantities(quantities)
    inputs = Inputs(scenarios, settings, seeds, replications)
    pairs = [list_and_name(quantity) for quantity in requested]
    core = _core.Many(inputs.bases, inputs.rows, inputs.seeds, pairs, tails)
    refused = core.check(threads)
    if refused is not None:
        with prefix_errors(refused):
            row = inputs.rows[refused if len(inputs.rows) > 1 else 0]
            base = inputs.bases[refused if len(inputs.bases) > 1 else 0]
            Scenario(Scenario.of(base), row)
    state = core.run(threads, progress)
    result = to_arrays(core, requested)
    result.warnings = short_warmups(core.short_warmups(ROUND_TRIPS))
    if not result.is_finished.all():
        if state == "interrupted":
            raise SimulateManyInterrupted(result)
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
    listed: list[str] = [quantities] if isinstance(quantities, str) else []
    listed = listed or listed_values("quantities", quantities, '["cells.goodput_bps"]')
    if not listed:
        raise UserError("quantities: must have at least one quantity, such as cells.goodput_bps")
    for quantity in listed:
        list_and_name(quantity)
    return list(dict.fromkeys(listed))


def list_and_name(quantity: str) -> tuple[str, str]:
    """Return the list and the name of a quantity, such as ``"cells.jain"``.

    Raises
    ------
    UserError
        If there is no such quantity, or if the list is missing.
    """
    if not isinstance(quantity, str):
        raise UserError(f"quantities: {short(quantity)}: expected text, such as cells.goodput_bps")
    check_name(quantity)
    list_name, _, name = quantity.rpartition(".")
    if not list_name:
        lists = ", ".join(f"{each}.{name}" for each in registry()[name].lists)
        raise UserError(f"quantities: {name}: missing list; expected one of {lists}")
    return list_name, name


class Inputs:
    """Scenarios, settings and seeds in the form in which the engine reads them. Each attribute has
    one element per scenario, or a single element for all of them; `rows` and `seeds` may be empty.
    """

    def __init__(
        self,
        scenarios: ScenarioLike | Iterable[ScenarioLike],
        settings: SettingsOfMany,
        seeds: Iterable[int] | None,
        replications: int | None,
    ) -> None:
        sources: list[ScenarioLike]
        # Bytes are no scenario, and no list either: the check of the scenario refuses them.
        many = isinstance(scenarios, Iterable) and not isinstance(
            scenarios, str | bytes | PathLike | Mapping | Scenario
        )
        sources = list(scenarios) if many else [scenarios]  # type: ignore[arg-type, list-item]
        if replications is not None and whole_number(replications) is None:
            raise UserError(f"replications={short(replications)}: expected a whole number from 1")
        self.lengths: dict[str, int] = {"scenarios": len(sources)} if many else {}
        self.rows = self._rows(settings)
        self.seeds = self._seeds(seeds)
        self._check()
        self.bases: list[_core.Scenario] = []
        for number, source in enumerate(sources):
            with prefix_errors(number if many else None):
                base = replaced(source, (), replications=replications)
            self.bases.append(base.checked)
        if replications is not None and any(path == "replications" for path, _ in self._every()):
            raise UserError(
                "`replications`: set by both `replications` and `settings`; expected only one of "
                "them"
            )
        if any(FILE_KEY in path or FILE_KEY in value for path, value in self._every()):
            self._read_files()

    def _every(self) -> Iterator[Setting]:
        return (setting for row in self.rows for setting in row)

    def _rows(self, settings: Any) -> list[list[Setting]]:
        if hasattr(settings, "to_dict") and hasattr(settings, "columns"):
            names = [str(name) for name in settings.columns]
            if (name := next((own for own in names if names.count(own) > 1), None)) is not None:
                raise UserError(
                    f"settings: the data frame has several columns {name}; expected each key path "
                    "once"
                )
            settings = {str(name): list(settings[name]) for name in settings.columns}
        if isinstance(settings, Mapping):
            fixed: dict[str, str] = {}
            lists: dict[str, list[str]] = {}
            for key, value in settings.items():
                values, path = values_of(value), str(key)
                if isinstance(values, list):
                    lists[path] = [text_of(each, path, k) for k, each in enumerate(values)]
                else:
                    fixed[path] = text_of(values, path)
            paths = [str(path) for path in settings]
            self.lengths |= {f"settings {path}": len(values) for path, values in lists.items()}
            count = max(map(len, lists.values()), default=1 if paths else 0)
            self._check()
            return [
                [(path, fixed[path] if path in fixed else lists[path][k]) for path in paths]
                for k in range(count)
            ]
        rows = list(settings) if isinstance(settings, Iterable) else [settings]
        if isinstance(settings, str) or not all(isinstance(row, Mapping) for row in rows):
            raise UserError(
                f"settings={short(settings)}: expected a mapping of key paths, a list of mappings, "
                "or a data frame",
                'write {"cell.ap.cwmin": [7, 15]} or [{"cell.ap.cwmin": 7}, {"cell.ap.cwmin": 15}]',
            )
        if rows or settings != ():
            self.lengths["settings"] = len(rows)
        return [
            [(str(path), text_of(value, str(path), number)) for path, value in row.items()]
            for number, row in enumerate(rows)
        ]

    def _seeds(self, seeds: Iterable[int] | None) -> list[int]:
        if seeds is None:
            return []
        listed = listed_values("seeds", seeds, "range(1, 1001)")
        checked = [seed_of(number, seed) for number, seed in enumerate(listed)]
        self.lengths["seeds"] = len(checked)
        if any(path == "seed" for path, _ in self._every()):
            raise UserError("`seed`: set by both `seeds` and `settings`; expected only one of them")
        return checked

    def _check(self) -> None:
        """Refuse empty lists, and lists of different lengths."""
        for name, length in self.lengths.items():
            if length == 0:
                raise UserError(f"{name}: the list is empty; expected a value for each scenario")
        if len(set(self.lengths.values())) > 1:
            lengths = ", ".join(f"{name} {length}" for name, length in self.lengths.items())
            raise UserError(
                f"scenarios, settings, seeds: expected lists of equal length, got {lengths}"
            )

    def _read_files(self) -> None:
        """Check each scenario here, because only Python reads the files that settings name."""
        scenarios = []
        for number in range(max(len(self.bases), len(self.rows))):
            base = self.bases[number if len(self.bases) > 1 else 0]
            row = self.rows[number if len(self.rows) > 1 else 0]
            with prefix_errors(number):
                scenarios.append(Scenario(Scenario.of(base), row).checked)
        self.bases, self.rows = scenarios, []


def values_of(value: object) -> object:
    """Return a list if the value has a value for each scenario, and otherwise the value itself."""
    if isinstance(value, list | tuple | range):
        return list(value)
    shape = getattr(value, "shape", ())
    return list(value) if shape and isinstance(value, Iterable) else value


def text_of(value: object, path: str, number: int | None = None) -> str:
    """Return a value of a setting as text; errors name the scenario with this number."""
    with prefix_errors(number):
        return as_setting(value, path)


def seed_of(number: int, seed: object) -> int:
    """Return a seed as an integer.

    Raises
    ------
    UserError
        If it is not a seed.
    """
    value = whole_number(seed)
    if value is None or not 0 <= value <= MAX_SEED:
        raise UserError(
            f"scenario {number}: seeds[{number}]={seed!r}: expected a whole number from 0 to "
            f"{MAX_SEED}"
        )
    return value


@contextmanager
def prefix_errors(number: int | None) -> Iterator[None]:
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


def to_arrays(core: _core.Many, requested: Sequence[str]) -> ArrayResult:
    """Return the results of the engine as arrays."""
    import numpy as np

    is_finished = np.frombuffer(core.finished(), np.bool_)
    arrays: dict[str, NDArray[np.float64]] = {}
    names: dict[str, tuple[str, ...]] = {}
    for quantity, (items, numbers) in zip(requested, core.columns(), strict=True):
        array = np.frombuffer(numbers, np.float64).reshape(len(is_finished), len(items))
        names[quantity] = tuple(items)
        if quantity.rpartition(".")[0] not in SINGLE:
            arrays[quantity] = array
        else:
            arrays[quantity] = array[:, 0] if items else np.full(len(is_finished), np.nan)
    return ArrayResult(arrays, names, is_finished)


def warn_of_missing(result: ArrayResult, tails: bool) -> None:
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
