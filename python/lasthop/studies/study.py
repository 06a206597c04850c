"""A study: its scenarios, the measured quantities, and the figure.

The definition of a study applies to both simulation and model. A `Quantity` contains the simulated
value of each replication and the model's prediction, and arithmetic on quantities acts on both.
Therefore one formula, such as a ratio or a mean over stations, gives both the simulated interval
and the prediction.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lasthop.answers.digits import estimate
from lasthop.answers.student_t import student_t_975
from lasthop.scenario.scenario import Scenario
from lasthop.studies.rules import Measured

if TYPE_CHECKING:
    import lasthop.plot.figure

Figure: TypeAlias = "lasthop.plot.figure.Figure"
"""A matplotlib picture. The type is a text, so that matplotlib is imported only when a picture is
drawn.
"""

Tree = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Values of a run, by list of the result, then by item, then by quantity."""


class Arithmetic(ABC):
    """Base class of objects that can be added, subtracted, multiplied and divided."""

    @abstractmethod
    def combined(self, other: Self | float, operation: np.ufunc) -> Self:
        """Return the result of an operation on this object and another object or a number."""

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
    """Values of one quantity in all replications, with its prediction.

    Parameters
    ----------
    samples : array
        One value per replication; NaN for a missing value.
    predicted : float, optional
        Prediction of the model; None if there is no prediction.
    """

    samples: NDArray[np.float64]
    predicted: float | None = None

    def combined(self, other: "Quantity | float", operation: np.ufunc) -> "Quantity":
        """Apply an operation to the values of every replication, and to the predictions."""
        right = other if isinstance(other, Quantity) else Quantity(np.asarray(other), other)
        with np.errstate(divide="ignore", invalid="ignore"):
            samples = operation(self.samples, right.samples)
            if self.predicted is None or right.predicted is None:
                return Quantity(samples)
            predicted = float(operation(self.predicted, right.predicted))
        return Quantity(samples, predicted if np.isfinite(predicted) else None)

    def measured(self) -> Measured:
        """Return the mean over the replications, its Student's interval, and the prediction."""
        samples = self.samples
        if not np.all(np.isfinite(samples)):
            return Measured(predicted=self.predicted)
        mean = float(np.mean(samples))
        if len(samples) < 2:
            return Measured(mean, None, self.predicted)
        degrees = len(samples) - 1
        error = float(np.std(samples, ddof=1)) / len(samples) ** 0.5
        return Measured(mean, student_t_975(degrees) * error, self.predicted)

    def __str__(self) -> str:
        measured = self.measured()
        return estimate(measured.simulated, measured.ci95)


def theory(value: float) -> Quantity:
    """Return a quantity with a prediction and no simulated value."""
    return Quantity(np.array([np.nan]), float(value))


def mean_of(quantities: Sequence[Quantity]) -> Quantity:
    """Return the mean of several quantities, computed for each replication."""
    total = quantities[0]
    for quantity in quantities[1:]:
        total = total + quantity
    return total / float(len(quantities))


def listed(quantities: Iterable[Quantity]) -> str:
    """Return the values of quantities with their intervals as text."""
    return ", ".join(map(str, quantities))


def along(function: Callable[..., float], *curves: Sequence[Quantity]) -> Quantity:
    """Return a number computed from complete curves, for each replication and for the predictions.

    Parameters
    ----------
    function : callable
        Function from one array per curve, with the values along the sweep, to a number.
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
    """Return the samples of the quantity with the largest mean, together with the largest
    prediction of any quantity.
    """
    return _extreme(quantities, 1.0)


def smallest(quantities: Sequence[Quantity]) -> Quantity:
    """Return the samples of the quantity with the smallest mean, together with the smallest
    prediction of any quantity.
    """
    return _extreme(quantities, -1.0)


def _extreme(quantities: Sequence[Quantity], sign: float) -> Quantity:
    chosen = max(quantities, key=lambda each: sign * float(np.mean(each.samples)))
    predictions = [quantity.predicted for quantity in quantities if quantity.predicted is not None]
    if len(predictions) < len(quantities):
        return Quantity(chosen.samples)
    return Quantity(chosen.samples, sign * max(sign * value for value in predictions))


@dataclass(frozen=True)
class Run:
    """Simulated values of one scenario, and predicted values if the model supports it.

    Parameters
    ----------
    samples : tree
        Per-replication values by list, item and quantity.
    prediction : tree
        Predicted values; empty if the model refuses the scenario.
    remarks : tuple of str
        Reasons of a refusal by the model, or warnings of the model.
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
        """Return one quantity of one item, for example of ``("stations", "first",
        "goodput_bps")``.
        """
        samples = np.asarray(self.samples[list_name][item][quantity], dtype=np.float64)
        predicted = self.prediction.get(list_name, {}).get(item, {}).get(quantity)
        return Quantity(samples, predicted)

    def has(self, list_name: str, item: str, quantity: str) -> bool:
        """Return whether the run has this quantity of an item."""
        return quantity in self.samples[list_name][item]

    def items(self, list_name: str) -> list[str]:
        """Return the names of a result list's items, in the order of the result."""
        return list(self.samples[list_name])

    def track(self, list_name: str, item: str, quantity: str) -> tuple[list[float], list[float]]:
        """Return times [s] and values of one time series.

        Raises
        ------
        KeyError
            If the series was not recorded.
        """
        for track in self.series.get("tracks", ()):
            if (track["list"], track["name"], track["quantity"]) == (list_name, item, quantity):
                return self.series["time_s"], track["values"]
        raise KeyError((list_name, item, quantity))


Runs = Mapping[str, Run]

Read = Callable[[Run], Quantity]
"""Type of a function that reads a quantity of one run."""


@dataclass(frozen=True)
class Reading(Arithmetic):
    """Function that reads a quantity of a run; arithmetic on readings acts on the quantities.

    Parameters
    ----------
    function : callable
        Function from a run to the quantity.
    """

    function: Callable[[Run], Quantity]

    def __call__(self, run: Run) -> Quantity:
        """Read the quantity of a run."""
        return self.function(run)

    def combined(self, other: "Reading | float", operation: np.ufunc) -> "Reading":
        """Return a reading that applies an operation to the quantities of two readings."""
        return Reading(
            lambda run: self(run).combined(
                other(run) if isinstance(other, Reading) else other, operation
            )
        )


def reading(list_name: str, item: str, quantity: str) -> Reading:
    """Return the reading of one quantity of one item, for example of ``("cells", "cell",
    "jain")``.
    """
    return Reading(lambda run: run.quantity(list_name, item, quantity))


def mean_reading(list_name: str, prefix: str, quantity: str) -> Reading:
    """Return the reading of a quantity's mean over the items of one result list. Only items whose
    names begin with `prefix` are included.
    """
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
    """Return a scenario with some values replaced. In a table, only the given keys are replaced."""
    return {
        **tree,
        **{
            key: changed(tree.get(key, {}), **value) if isinstance(value, Mapping) else value
            for key, value in values.items()
        },
    }


def about(claim: str, finding: Callable[[Runs], str]) -> Callable[[Runs], dict[str, str]]:
    """Return a `findings` function for a study that has a finding about a single claim only."""
    return lambda runs: {claim: finding(runs)}


BY_MODEL = "by the model only"
"""Text that names the source of the values of a study that uses only a model."""


class OutsideRegimeError(RuntimeError):
    """Error for runs that violate the conditions of the paper, so that they cannot decide a
    claim.
    """


def require(condition: bool, message: str) -> None:
    """Raise an error if the runs violate a condition of the paper, for example that no packet is
    dropped.

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
        Unique name, such as ``hotspot-fig05``: the subject of the paper, and the prefix of the
        study's values in the claims of this subject.
    title : str
        Subject of the figure.
    points : mapping
        Scenarios to run, in the grammar of scenario files, by a name that is local to the study;
        empty if only a model is used.
    measure : callable
        Function from the runs to the values that claims read.
    shown : callable
        Function from the runs to values that only tables of the documentation show.
    draw : callable, optional
        Function from the runs to the figure; None if the study has no figure.
    findings : callable
        Function from the runs to findings by claim, as sentences with numbers. If the claim
        deviates from the paper, its finding explains why.
    regime : callable
        Function that is given the runs. It raises `OutsideRegimeError` if the runs violate a
        condition of the paper.
    model : str, optional
        Model that predicts the points; by default a suitable model for each point.
    basis : str
        Text that names the source of the values, such as "by the model only". It is shown only if
        `points` is empty.
    quick : Study, optional
        Study that replaces this study in a quick run. By default, a quick run simulates the first
        replications of every point.
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
        """Subject of the study's paper, such as ``hotspot``."""
        return self.key.rpartition("-")[0]

    @property
    def name(self) -> str:
        """Name of the study within its subject. This name is the prefix of the study's values in
        claims.
        """
        return self.key.rpartition("-")[2]

    def values(self, runs: Runs) -> dict[str, Measured]:
        """Return the measured values of the study, under the names in ``claims.toml``.

        Raises
        ------
        OutsideRegimeError
            If the runs are outside the conditions of the paper.
        """
        try:
            self.regime(runs)
        except OutsideRegimeError as error:
            raise OutsideRegimeError(f"{self.key}: {error}") from None
        results = {**self.measure(runs), **self.shown(runs)}
        return {f"{self.name}.{name}": each.measured() for name, each in results.items()}

    def shortened(self, share: float) -> "Study":
        """Return the study of a quick run.

        Parameters
        ----------
        share : float
            Fraction of the replications (at least two replications) for a study without its own
            quick study.
        """
        if self.quick is not None:
            return self.quick
        points = {}
        for name, tree in self.points.items():
            some = max(2, round(share * Scenario(tree)["replications"]))
            points[name] = {**tree, "replications": some}
        return replace(self, points=points)
