"""Prediction, simulation and, if asked for, emulation of one scenario, side by side."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop._core import FORMAT
from lasthop.answers.answer import Answer, Shown
from lasthop.answers.pictures import PICTURES
from lasthop.answers.quantities import LISTS
from lasthop.answers.tables import data_frame
from lasthop.arguments import callback
from lasthop.display.columns import shown_with_nodes
from lasthop.errors import (
    ConvergenceError,
    ModelError,
    TooCostlyError,
    UserError,
    shortcoming,
)
from lasthop.linux_only import require_linux
from lasthop.measured import Files, Measured, measurements
from lasthop.models.stated import stated_errors
from lasthop.prediction.predict import predict
from lasthop.prediction.prediction import Prediction
from lasthop.progress.cost_limits import MAX_MEMORY_BYTES, MAX_TIME_S
from lasthop.scenario.scenario import Scenario, ScenarioLike
from lasthop.scenario.typed import CsmaScenario, PingFlow
from lasthop.simulation.result import Result
from lasthop.simulation.simulate import ProgressCallback, replaced, simulate, thread_count

if TYPE_CHECKING:
    import pandas as pd

    from lasthop.comparison.oscillation import Oscillation
    from lasthop.emulated.emulation import Emulation
    from lasthop.plot.figure import Figure, Place

__all__ = ["Comparison", "Row", "compare"]

ALWAYS_SHOWN = {
    "stations": ("goodput_share", "fairness_level", "goodput_bps", "queue_packets"),
    "aps": ("queue_packets",),
    "cells": ("goodput_bps", "jain", "updown_ratio"),
    "classes": ("goodput_bps", "goodput_share", "queue_share", "loss_probability"),
    "links": ("utilisation", "airtime_fraction"),
}
"""Quantities of each list that the table shows even if the model does not predict them."""

OF_LINKS = ("occupancy_packets", "occupancy_sd_packets", "sojourn_s")
"""Quantities of link queues. The queue of a station or access point has no row of its own; its
values are shown in the rows of the station or access point.
"""

OF_WIRED = ("one_way_delay_s",)
"""Additional quantities for classes of wired flows."""

OF_MEASURED = (
    "goodput_bps",
    "rtt_s",
    "one_way_delay_s",
    "loss_probability",
    "retransmissions",
)
"""Quantities of flows that measurements may contain."""

OF_PINGS = ("rtt_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s", "loss_probability")
"""Quantities of flows of pings."""

OF_QDISCS = (*OF_LINKS[:1], *OF_LINKS[2:], "drop_probability")
"""Quantities of queues that measurements of qdiscs may contain."""

OF_USERS = ("goodput_bps", "rtt_s")
"""Quantities of flows in a conflict graph, whose flows form no classes."""

NAMES = {
    "goodput_bps": "goodput",
    "goodput_share": "share",
    "fairness_level": "fairness level",
    "loss_probability": "loss",
}
"""Quantities for which the model's documentation states an error, with their names in sentences."""

UNKNOWN = {"mean": None, "ci95": None}
"""Placeholder for a missing estimate."""


@dataclass(frozen=True)
class Row:
    """One row of a comparison: a quantity of one item, predicted, simulated, emulated and
    measured.
    """

    list: str
    name: str
    quantity: str
    predicted: float | None
    simulated: float | None
    ci95: float | None
    """Half width of the 95 % confidence interval of the simulated mean."""
    emulated: float | None = None
    """Mean over the emulations; None if nothing was emulated."""
    emulated_ci95: float | None = None
    """Half width of the 95 % confidence interval of the emulated mean; None for a single run."""
    measured: float | None = None
    """Mean value measured in a real network; None if it was not measured."""
    measured_ci95: float | None = None
    """Half width of the 95 % confidence interval over several measurement files to which the user
    gave the same name.
    """

    @property
    def difference(self) -> float | None:
        """Simulated value minus predicted value."""
        if self.predicted is None or self.simulated is None:
            return None
        return self.simulated - self.predicted

    @property
    def measured_difference(self) -> tuple[float, float] | None:
        """Measured value minus simulated value, and the half width of its 95 % interval; None if
        one of the values is missing. The half width is the root of the sum of the squares of both
        half widths; a half width that is unknown counts as 0.
        """
        if self.measured is None or self.simulated is None:
            return None
        half = hypot(self.ci95 or 0.0, self.measured_ci95 or 0.0)
        return self.measured - self.simulated, half


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Prediction and simulation of a scenario, side by side.

    A comparison can be pickled and copied. Two comparisons are equal if prediction, refusal,
    simulation and emulation are equal.
    """

    kind = "comparison"

    prediction: Prediction | None
    """Prediction of the model; None if the model refused the scenario, see `refusal`."""
    refusal: str | None
    """Reason why the model refused, as a clause whose subject is "the scenario"; else None."""
    simulation: Result
    emulation: "Emulation | None" = None
    """Emulation of the scenario; None if no emulation was requested."""
    measured: Measured | None = None
    """Measurements of a real network, matched with the scenario's flows."""
    loaded: "tuple[Row, ...] | None" = field(default=None, compare=False)
    """Rows read from a file; None if the comparison was not loaded."""

    @property
    def scenario(self) -> Scenario:
        """Scenario of the comparison.

        Raises
        ------
        UserError
            If the comparison was loaded from a file, which has no scenario.
        """
        return self.simulation.scenario

    @property
    def has_scenario(self) -> bool:  # type: ignore[override]
        """Whether the comparison has its scenario, and can be drawn."""
        return self.simulation.has_scenario

    @property
    def warnings(self) -> list[str]:
        """Warnings of prediction, simulation and emulation."""
        answers = self.prediction, self.simulation, self.emulation
        return [line for answer in answers if answer is not None for line in answer.warnings]

    def single_answers(self) -> "Iterator[tuple[Answer, Answer | None]]":
        """Yield the simulation with its prediction, then the emulation if there is one."""
        yield self.simulation, self.prediction
        if self.emulation is not None:
            yield self.emulation, None

    @cached_property
    def rows(self) -> list[Row]:
        """Rows of the comparison: every predicted quantity, and also goodputs and queues."""
        return list(self._rows() if self.loaded is None else self.loaded)

    @property
    def beyond_stated(self) -> list[str]:
        """Sentences about predictions whose error exceeds the error in the model's documentation.

        There is one sentence per quantity, for the item with the largest error.

        An error counts only if it exceeds the documented error for every value in the simulation's
        interval. Without intervals there are no sentences.
        """
        if self.prediction is None or not self.simulation.has_scenario:
            return []
        worst: dict[str, tuple[float, Row]] = {}
        stated = stated_errors(self.prediction.model, self.scenario.typed)
        for row in self.rows:
            error = stated.get(row.quantity)
            if error is None or row.list not in error.lists:
                continue
            if row.difference is None or not row.simulated or row.ci95 is None:
                continue
            off = error.of(-row.difference, row.simulated)
            least = abs(off) - abs(error.of(row.ci95, row.simulated))
            if least > error.error and abs(off) > abs(worst.get(row.quantity, (0.0, row))[0]):
                worst[row.quantity] = off, row
        return [
            f"prediction of {NAMES[name]} off by {stated[name].words(off)} at {row.name} "
            f"(stated: {stated[name].words(stated[name].error)})"
            for name, (off, row) in worst.items()
        ]

    @cached_property
    def oscillations(self) -> "list[Oscillation]":
        """Queue lengths of busy routers over time, with the equilibrium of a fluid model."""
        from lasthop.comparison.oscillation import oscillations_of

        return oscillations_of(self.scenario, self.prediction, self.simulation)

    @property
    def oscillation(self) -> "Oscillation | None":
        """First item of `oscillations`: the trace of the predicted queue, or of the busiest link's
        queue.
        """
        return self.oscillations[0] if self.oscillations else None

    @cached_property
    def table(self) -> "pd.DataFrame":
        """All rows as a data frame."""
        return data_frame(self._records())

    def _records(self) -> list[dict[str, Any]]:
        records = [asdict(row) | {"difference": row.difference} for row in self.rows]
        absent = [] if self.emulation is not None else ["emulated", "emulated_ci95"]
        absent += [] if self.measured is not None else ["measured", "measured_ci95"]
        for record in records:
            for key in absent:
                del record[key]
        return records

    @cached_property
    def shown_with_nodes(self) -> set[tuple[str, str]]:
        """List and name of the items whose values repeat those of their station or access point."""
        return shown_with_nodes(self.simulation.contents, self.scenario.typed)

    def repeats_a_node(self, row: Row) -> bool:
        """Return whether a row repeats values of its station or access point.

        A row with measurements of a qdisc never counts as a repetition."""
        measured = row.list == "queues" and row.name in self._qdiscs and row.measured is not None
        return not measured and (row.list, row.name) in self.shown_with_nodes

    def is_only_loss(self, row: Row) -> bool:
        """Return whether a row is the loss of a flow that no row of a class shows.

        The loss must be predicted, and either the predicted or the simulated loss is not zero. Rows
        of flows are otherwise replaced by the rows of their stations and classes.
        """
        if row.list != "flows" or row.quantity != "loss_probability":
            return False
        is_zero = not row.predicted and not row.simulated
        return row.predicted is not None and not is_zero and row.name in self._flows_without_class

    def is_of_pings(self, row: Row) -> bool:
        """Return whether a row compares simulated pings with emulated or measured pings."""
        others = (row.emulated, row.measured)
        return (
            row.name in self._pings and row.list == "flows" and any(x is not None for x in others)
        )

    @cached_property
    def _pings(self) -> frozenset[str]:
        """Names of the flows of pings."""
        flows = self.scenario.typed.flows
        return frozenset(flow.name for flow in flows if isinstance(flow, PingFlow))

    @cached_property
    def _flows_without_class(self) -> frozenset[str]:
        """Names of the flows whose class has no row with a predicted loss."""
        shown = {
            row.name
            for row in self.rows
            if row.list == "classes"
            and row.quantity == "loss_probability"
            and row.predicted is not None
            and not self.repeats_a_node(row)
        }
        flows = self.scenario.typed.flows
        return frozenset(flow.name for flow in flows if flow.class_name not in shown)

    @property
    def _qdiscs(self) -> frozenset[str]:
        """Names of the queues for which qdisc statistics were measured."""
        return frozenset() if self.measured is None else self.measured.qdiscs

    def figure(self, *, figure: "Place | None" = None) -> "Figure":
        """Draw shares, goodputs and queues of model and simulation, side by side.

        The picture has several panels. The panels are drawn into a new figure, or into the figure
        or subfigure `figure`.
        """
        return self.plot(figure=figure)

    def save_figure(self, path: str | Path) -> None:
        """Write the picture as PNG, PDF or SVG, depending on the suffix of `path`."""
        from lasthop.answers.overwrite import refuse_if_foreign
        from lasthop.answers.saving import write_atomically

        if Path(path).suffix.lower() not in PICTURES:
            raise UserError(f"{path}: not a picture; expected one of {', '.join(PICTURES)}")
        refuse_if_foreign(Path(path))
        figure = self.figure()
        write_atomically(Path(path), figure.savefig)

    def to_dict(self) -> dict[str, Any]:
        """Return prediction, simulation and rows as a tree of dictionaries and lists."""
        return {
            "kind": "comparison",
            "format": FORMAT,
            "scenario": self.simulation.heading.scenario,
            "prediction": None if self.prediction is None else self.prediction.to_dict(),
            "refusal": self.refusal,
            "simulation": self.simulation.to_dict(),
            **({} if self.emulation is None else {"emulation": self.emulation.to_dict()}),
            **({} if self.measured is None else {"measured": self.measured.to_dict()}),
            "rows": self._records(),
        }

    def to_json(self) -> str:
        """Return the tree of `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def _rows(self) -> Iterator[Row]:
        predicted = {} if self.prediction is None else self.prediction.contents
        both = "stations" in self.simulation.contents and any(
            not flow.station for flow in self.scenario.typed.flows
        )
        always: dict[str, tuple[str, ...]] = {
            **ALWAYS_SHOWN,
            "classes": tuple(
                quantity
                for quantity in (*ALWAYS_SHOWN["classes"], *OF_WIRED)
                if not (both and quantity == "goodput_share")
            ),
            "queues": OF_LINKS,
        }
        if isinstance(self.scenario.typed, CsmaScenario):
            always["flows"] = OF_USERS
        pings = self._pings
        with_nodes = self.shown_with_nodes
        for list_name in LISTS:
            if list_name == "stability":
                yield from self._oscillation_rows()
                continue
            theirs = items_by_name(predicted.get(list_name, ()))
            ours = items_by_name(self.simulation.contents.get(list_name, ()))
            real = {} if self.emulation is None else self.emulation.contents
            reals = items_by_name(real.get(list_name, ()))
            result = {} if self.measured is None else self.measured.items(list_name)
            shown = shown_quantities(
                always.get(list_name, ()),
                [*theirs.values()],
                [*ours.values()],
            )
            of_pings: Sequence[str] = ()
            if list_name == "flows":
                shown += of_measured(result, shown, OF_MEASURED)
                of_pings = [each for each in OF_PINGS if each not in shown] if pings else ()
            if list_name == "queues":
                qdiscs = {name: result[name] for name in self._qdiscs}
                shown += of_measured(qdiscs, shown, OF_QDISCS)
            for quantity in (*shown, *of_pings):
                for name in ours:
                    if quantity in of_pings and name not in pings:
                        continue
                    known = theirs.get(name, {})
                    if list_name == "queues" and name in self._qdiscs:
                        known = {**result[name], **known}
                    if (list_name, name) in with_nodes and quantity not in known:
                        continue
                    guess, seen, tried, real_one = (
                        each.get(name, {}).get(quantity) or UNKNOWN
                        for each in (theirs, ours, reals, result)
                    )
                    if guess is UNKNOWN and seen is UNKNOWN:
                        continue
                    yield Row(
                        list_name,
                        name,
                        quantity,
                        guess["mean"],
                        *(seen["mean"], seen["ci95"]),
                        *(tried["mean"], tried["ci95"]),
                        *(real_one["mean"], real_one["ci95"]),
                    )

    def _oscillation_rows(self) -> Iterator[Row]:
        """Yield one row per router: period of the fluid model's limit cycle, and period of the
        simulated queue.
        """
        for oscillation in self.oscillations:
            yield Row(
                "stability",
                oscillation.queue,
                "period_s",
                oscillation.cycle_s,
                oscillation.period_s,
                None,
            )


def compare(
    scenario: ScenarioLike,
    *,
    model: str | None = None,
    options: Mapping[str, object] | None = None,
    replications: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    jobs: int | None = None,
    progress: ProgressCallback | None = None,
    emulate: bool = False,
    virtual: bool = False,
    measured: Files | Measured = (),
    max_time_s: float = MAX_TIME_S,
    max_memory_bytes: float = MAX_MEMORY_BYTES,
) -> Comparison:
    """Predict and simulate a scenario, and add an emulation and measurements if asked for.

    If the model refuses the scenario, the comparison has no prediction, and `refusal` names the
    assumption that the scenario breaks.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    model : str
        Name of the model; by default the one that suits the scenario.
    options : mapping, optional
        Options of the model; see `predict`.
    replications, seed, settings, jobs, progress
        See `simulate`.
    emulate : bool
        Whether to also run the scenario with the TCP of Linux in real time; see
        `lasthop.emulation.emulate`.
    virtual : bool
        Whether to run the scenario also with the TCP of Linux in simulated time, with the same
        number of replications as the simulation.
    measured : sequence of files or pairs, mapping, or Measured
        Measurements by flent, iperf3, ping or irtt, or results of lasthop. A file without a name
        contains the streams of all flows of the scenario. With ``("laptop", FILE)`` or ``{"laptop":
        FILE}``, the file contains only the streams of the station or flow ``laptop``. Several files
        of one name are repetitions.
        `Comparison.measured` lists the matches.
    max_time_s, max_memory_bytes
        Limits of the prediction; see `predict`. The limit of memory also applies to time series of
        the simulation.

    Returns
    -------
    Comparison
        Prediction and simulation, with ``rows`` and a ``table`` that compare them, and a figure.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If there is no such model or option, or if the scenario cannot be emulated.
    Stopped
        If `progress` returned False before the first replication finished.
    KeyboardInterrupt
        At Ctrl-C before the first replication finished.

    Examples
    --------
    >>> import lasthop as lh
    >>> both = lh.compare(
    ...     {
    ...         "duration": "5 s",
    ...         "warmup": "1 s",
    ...         "replications": 2,
    ...         "cell": {"phy": "802.11b"},
    ...         "station": {"sender": {"upload": 4}, "reader": {"download": 1}},
    ...     }
    ... )
    >>> shares = both.table.query("quantity == 'goodput_share'").set_index("name")
    >>> bool(shares.loc["sender", "predicted"] > shares.loc["reader", "predicted"])
    True
    """
    callback("progress", progress)
    thread_count(jobs)
    checked = replaced(scenario, settings, replications=replications, seed=seed)
    others = measurements(checked, measured)
    if emulate or virtual:
        asked = "virtual" if virtual else "emulate"
        check_emulation(checked, f"lasthop.compare({asked}=True)")
    prediction, refusal = None, None
    try:
        prediction = predict(
            checked,
            model=model,
            options=options,
            max_time_s=max_time_s,
            max_memory_bytes=max_memory_bytes,
        )
    except (ModelError, ConvergenceError, TooCostlyError) as error:
        refusal = shortcoming(error)
    from lasthop.comparison.oscillation import sampled

    checked = sampled(checked, prediction)
    simulation = simulate(checked, jobs=jobs, progress=progress, max_memory_bytes=max_memory_bytes)
    comparison = Comparison(prediction, refusal, simulation, None, others)
    return with_emulation(comparison, virtual=virtual) if emulate or virtual else comparison


def check_emulation(scenario: Scenario, caller: str) -> None:
    """Check whether a scenario can be emulated on this system.

    `caller` is the function or command that needs the emulation.

    Raises
    ------
    UserError
        If this system is not Linux, or if the scenario cannot be emulated.
    """
    require_linux(caller)
    from lasthop.emulation.limits import check

    check(scenario)


def with_emulation(
    comparison: Comparison,
    progress: "Callable[[float, float], object] | None" = None,
    *,
    virtual: bool,
) -> Comparison:
    """Emulate the scenario of a comparison and add the emulation to the comparison.

    In simulated time, the scenario is emulated as often as it was simulated; in real time, it is
    emulated once. `progress` is called with the emulated time that has passed and the duration of
    all runs. [s]
    """
    from lasthop.emulation.replicate import replicate

    scenario = comparison.scenario
    count = scenario["replications"] if virtual else 1
    # The output of the scenario's programs is suppressed, because it would mix with the comparison.
    emulation = replicate(scenario, count, progress, quiet=True, virtual=virtual)
    return replace(comparison, emulation=emulation)


def items_by_name(items: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the items of a list by name, in the order of the list."""
    return {item["name"]: item for item in items}


def of_measured(
    result: Mapping[str, Mapping[str, Any]], shown: Sequence[str], of: Sequence[str]
) -> list[str]:
    """Return the quantities of the list `of` that were measured and are not in `shown`."""
    known = {quantity for item in result.values() for quantity in item}
    return [quantity for quantity in of if quantity in known and quantity not in shown]


def shown_quantities(
    always: Sequence[str],
    predicted: list[Mapping[str, Any]],
    simulated: list[Mapping[str, Any]],
) -> list[str]:
    """Return the quantities of a list to compare: those in `always`, and all predicted
    quantities.
    """
    shown = dict.fromkeys(
        quantity for quantity in always if any(quantity in item for item in simulated)
    )
    shown |= dict.fromkeys(
        key for item in predicted for key, value in item.items() if isinstance(value, Mapping)
    )
    return list(shown)
