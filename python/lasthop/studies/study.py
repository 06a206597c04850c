"""A study: the scenarios it runs, what it measures in them, and the figure it draws.

A study is declared once and says the same of simulation and model: a `Quantity` carries the
simulation's value in each replication together with the model's prediction, and arithmetic on
quantities acts on both. Values derived from a run (a ratio, a step, a mean over stations) thus get
their interval from the replications and their prediction from the model by the same formula.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lasthop.answers.digits import estimate
from lasthop.scenario.scenario import Scenario
from lasthop.studies.rules import Measured

if TYPE_CHECKING:
    import lasthop.plot.figure

Figure: TypeAlias = "lasthop.plot.figure.Figure"
"""A picture, whose module brings matplotlib and is imported where one is drawn."""

Tree = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Values by list of the result, item and quantity."""


class Arithmetic(ABC):
    """Objects that are added, subtracted, multiplied and divided."""

    @abstractmethod
    def combined(self, other: Self | float, operation: np.ufunc) -> Self:
        """Return the result of an operation."""

    def __add__(self, other: Self | float) -> Self:
        return self.combined(other, np.add)

    def __sub__(self, other: Self | float) -> Self:
        return self.combined(other, np.subtract)

    def __mul__(self, other: Self | float) -> Self:
        return self.combined(other, np.multiply)

    def __truediv__(self, other: Self | float) -> Self:
        return self.combined(other, np.divide)


@dataclass(frozen=True)
class Quantity(Arithmetic):
    """One quantity in every replication, with its prediction.

    Parameters
    ----------
    samples : array
        One value for each replication; NaN where a replication gave none.
    predicted : float, optional
        Prediction of the model.
    """

    samples: NDArray[np.float64]
    predicted: float | None = None

    def combined(self, other: "Quantity | float", operation: np.ufunc) -> "Quantity":
        """Return the result of an operation in every replication, and of the predictions."""
        right = other if isinstance(other, Quantity) else Quantity(np.asarray(other), other)
        with np.errstate(divide="ignore", invalid="ignore"):
            samples = operation(self.samples, right.samples)
            if self.predicted is None or right.predicted is None:
                return Quantity(samples)
            predicted = float(operation(self.predicted, right.predicted))
        return Quantity(samples, predicted if np.isfinite(predicted) else None)

    def measured(self) -> Measured:
        """Return mean and Student-t interval over the replications, and the prediction."""
        samples = self.samples
        if not np.all(np.isfinite(samples)):
            return Measured(predicted=self.predicted)
        mean = float(np.mean(samples))
        if len(samples) < 2:
            return Measured(mean, None, self.predicted)
        from scipy.special import stdtrit

        degrees = len(samples) - 1
        error = float(np.std(samples, ddof=1)) / len(samples) ** 0.5
        return Measured(mean, float(stdtrit(degrees, 0.975)) * error, self.predicted)

    def __str__(self) -> str:
        measured = self.measured()
        return estimate(measured.simulated, measured.ci95)


def theory(value: float) -> Quantity:
    """Return a quantity with a prediction and no simulated value."""
    return Quantity(np.array([np.nan]), float(value))


def mean_of(quantities: Sequence[Quantity]) -> Quantity:
    """Return the mean of several quantities, replication by replication."""
    total = quantities[0]
    for quantity in quantities[1:]:
        total = total + quantity
    return total / float(len(quantities))


def listed(quantities: Iterable[Quantity]) -> str:
    """Return values with their intervals for a sentence."""
    return ", ".join(map(str, quantities))


def along(function: Callable[..., float], *curves: Sequence[Quantity]) -> Quantity:
    """Return a number taken from whole curves, in each replication and of the predictions.

    Parameters
    ----------
    function : callable
        Takes one array for each curve, its values along the sweep; returns a number.
    *curves : sequence of Quantity
        Curves over the same sweep.
    """
    tables = [np.column_stack([point.samples for point in curve]) for curve in curves]
    samples = np.asarray([function(*rows) for rows in zip(*tables, strict=True)])
    lines = [[point.predicted for point in curve] for curve in curves]
    if any(value is None for line in lines for value in line):
        return Quantity(samples)
    predicted = float(function(*(np.asarray(line, np.float64) for line in lines)))
    return Quantity(samples, predicted if np.isfinite(predicted) else None)


def largest(quantities: Sequence[Quantity]) -> Quantity:
    """Return the quantity with the largest mean, and the largest prediction."""
    return _extreme(quantities, 1.0)


def smallest(quantities: Sequence[Quantity]) -> Quantity:
    """Return the quantity with the smallest mean, and the smallest prediction."""
    return _extreme(quantities, -1.0)


def _extreme(quantities: Sequence[Quantity], sign: float) -> Quantity:
    chosen = max(quantities, key=lambda each: sign * float(np.mean(each.samples)))
    predictions = [quantity.predicted for quantity in quantities if quantity.predicted is not None]
    if len(predictions) < len(quantities):
        return Quantity(chosen.samples)
    return Quantity(chosen.samples, sign * max(sign * value for value in predictions))


@dataclass(frozen=True)
class Run:
    """One scenario simulated and, where the model takes it, predicted.

    Parameters
    ----------
    samples : tree
        Per-replication values by list, item and quantity.
    prediction : tree
        The model's values; empty where the model refuses the scenario.
    remarks : tuple of str
        Why it refuses, or what it warns of.
    series : mapping
        Time series of the first replication, if the scenario records them: ``time_s`` [s], and
        ``tracks``, each with list, name, quantity and values.
    scenario : mapping
        The normalised scenario.
    """

    samples: Tree
    prediction: Tree = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    series: Mapping[str, Any] = field(default_factory=dict)
    scenario: Mapping[str, Any] = field(default_factory=dict)

    def quantity(self, list_name: str, item: str, quantity: str) -> Quantity:
        """Return one quantity of one item, such as ``("stations", "first", "goodput_bps")``."""
        samples = np.asarray(self.samples[list_name][item][quantity], dtype=np.float64)
        predicted = self.prediction.get(list_name, {}).get(item, {}).get(quantity)
        return Quantity(samples, predicted)

    def has(self, list_name: str, item: str, quantity: str) -> bool:
        """Return whether an item has a quantity."""
        return quantity in self.samples[list_name][item]

    def items(self, list_name: str) -> list[str]:
        """Return the names of a list's items, in the order of the result."""
        return list(self.samples[list_name])

    def track(self, list_name: str, item: str, quantity: str) -> tuple[list[float], list[float]]:
        """Return times [s] and values of one time series.

        Raises
        ------
        KeyError
            It was not recorded.
        """
        for track in self.series.get("tracks", ()):
            if (track["list"], track["name"], track["quantity"]) == (list_name, item, quantity):
                return self.series["time_s"], track["values"]
        raise KeyError((list_name, item, quantity))


Runs = Mapping[str, Run]

Read = Callable[[Run], Quantity]
"""Function that reads a quantity of one run."""


@dataclass(frozen=True)
class Reading(Arithmetic):
    """Function that reads a quantity of a run; arithmetic acts on what is read.

    Parameters
    ----------
    function : callable
        From a run to the quantity.
    """

    function: Callable[[Run], Quantity]

    def __call__(self, run: Run) -> Quantity:
        """Return the quantity."""
        return self.function(run)

    def combined(self, other: "Reading | float", operation: np.ufunc) -> "Reading":
        """Return the reading of the result of an operation."""
        return Reading(
            lambda run: self(run).combined(
                other(run) if isinstance(other, Reading) else other, operation
            )
        )


def reading(list_name: str, item: str, quantity: str) -> Reading:
    """Return the reading of one quantity of one item, such as ``("cells", "cell", "jain")``."""
    return Reading(lambda run: run.quantity(list_name, item, quantity))


def mean_reading(list_name: str, prefix: str, quantity: str) -> Reading:
    """Return the reading of the mean of a quantity over the items whose names begin so."""
    return Reading(
        lambda run: mean_of(
            [
                run.quantity(list_name, name, quantity)
                for name in run.items(list_name)
                if name.startswith(prefix)
            ]
        )
    )


def changed(tree: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """Return a scenario with other values; of a table, only the given keys are changed."""
    return {
        **tree,
        **{
            key: changed(tree.get(key, {}), **value) if isinstance(value, Mapping) else value
            for key, value in values.items()
        },
    }


def about(claim: str, finding: Callable[[Runs], str]) -> Callable[[Runs], dict[str, str]]:
    """Return the findings of a study about a single claim."""
    return lambda runs: {claim: finding(runs)}


BY_MODEL = "by the model only"
"""Basis of most studies without points."""


class OutsideRegimeError(RuntimeError):
    """A study's runs are not in the regime that the paper names, so that they settle nothing."""


def require(condition: bool, message: str) -> None:
    """Require what the paper says of its own runs, such as that nothing is dropped.

    Raises
    ------
    OutsideRegimeError
    """
    if not condition:
        raise OutsideRegimeError(message)


@dataclass(frozen=True, kw_only=True)
class Study:
    """Runs and measures that decide the claims of a figure, table or sentence of a paper.

    Parameters
    ----------
    key : str
        A name that no other study has, ``hotspot-fig05``: the paper it belongs to, and the prefix
        of its values in the claims of that subject.
    title : str
        Subject of the figure.
    points : mapping
        Scenarios to run, as trees of the scenario grammar, by a name local to the study; none if
        only a model is used.
    measure : callable
        From the runs to the values that the claims read.
    shown : callable
        From the runs to values that tables of the documentation show and no claim reads.
    draw : callable, optional
        From the runs to the figure.
    findings : callable
        Findings that runs of this study isolate, as sentences with figures, by the claim; if the
        claim deviates, the finding is its cause.
    regime : callable
        From the runs to nothing; raises `OutsideRegimeError` unless they are in the regime that the
        paper names.
    model : str, optional
        The model that predicts the points; by default, for each, the one that suits it.
    basis : str
        Basis of the values of a study without points.
    quick : Study, optional
        Study of a quick run, used unchanged; by default the first replications of every point.
    """

    key: str
    title: str
    points: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    measure: Callable[[Runs], Mapping[str, Quantity]]
    shown: Callable[[Runs], Mapping[str, Quantity]] = lambda _: {}
    draw: Callable[[Runs], Figure] | None = None
    findings: Callable[[Runs], Mapping[str, str]] = lambda _: {}
    regime: Callable[[Runs], None] = lambda _: None
    model: str | None = None
    basis: str = BY_MODEL
    quick: "Study | None" = None

    @property
    def subject(self) -> str:
        """The paper it belongs to."""
        return self.key.partition("-")[0]

    @property
    def name(self) -> str:
        """Prefix of its values in the claims of its subject."""
        return self.key.partition("-")[2]

    def values(self, runs: Runs) -> dict[str, Measured]:
        """Return what the study measured, under the names that ``claims.toml`` uses.

        Raises
        ------
        OutsideRegimeError
            The runs are not in the regime that the paper names.
        """
        try:
            self.regime(runs)
        except OutsideRegimeError as error:
            raise OutsideRegimeError(f"{self.key}: {error}") from None
        results = {**self.measure(runs), **self.shown(runs)}
        return {f"{self.name}.{name}": each.measured() for name, each in results.items()}

    def shortened(self, share: float) -> "Study":
        """Return what a quick run takes.

        Parameters
        ----------
        share : float
            Part of the replications, at least two, of a study without a quick form of its own.
        """
        if self.quick is not None:
            return self.quick
        points = {}
        for name, tree in self.points.items():
            some = max(2, round(share * Scenario(tree)["replications"]))
            points[name] = {**tree, "replications": some}
        return replace(self, points=points)
