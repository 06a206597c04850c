"""Prediction of one scenario: choose a model by name and wrap its result."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lasthop.errors import UserError
from lasthop.extras import need
from lasthop.prediction.prediction import Prediction
from lasthop.progress.cost_limits import MAX_MEMORY_BYTES, MAX_TIME_S, allowing
from lasthop.scenario.scenario import ScenarioLike
from lasthop.simulation.simulate import replaced
from lasthop.warnings.settings import warnings_for

if TYPE_CHECKING:
    from lasthop.models.red import Fluid
    from lasthop.scenario.typed import Scenario as Typed


def fluid(
    scenario: ScenarioLike,
    *,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
) -> "Fluid":
    """Return the fluid model of a scenario, whose ``case`` the functions of `lasthop.stability`
    use.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    settings : mapping or pairs
        Values to replace, such as ``{"dumbbell.rtt": "200 ms"}``.

    Returns
    -------
    Fluid
        Fluid model, with its ``case`` of parameters, its queue, and its number of flows.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    ModelError
        If the scenario has no fluid model; `reasons` has the reasons.

    Examples
    --------
    >>> import lasthop as lh
    >>> from lasthop.stability import roots
    >>> router = {
    ...     "duration": "10 s",
    ...     "queue": {"threshold": 15},
    ...     "dumbbell": {"flows": 60, "bottleneck": "100 Mbps", "rtt": "100 ms"},
    ...     "tcp": {"congestion": "compound", "window": 1000},
    ... }
    >>> roots(lh.fluid(router).case).stable
    True
    """
    from lasthop.models.red import fluid as derived

    return derived(replaced(scenario, settings).typed)


def predict(
    scenario: ScenarioLike,
    *,
    model: str | None = None,
    options: Mapping[str, object] | None = None,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    max_time_s: float = MAX_TIME_S,
    max_memory_bytes: float = MAX_MEMORY_BYTES,
) -> Prediction:
    """Predict a scenario by an analytical model.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    model : str, optional
        Name of the model; by default the one that suits the scenario, see
        `lasthop.models.choose`.
    options : mapping, optional
        Options of the model, which the class ``Options`` of the model's package lists. Examples are
        ``{"beta": 1.2}`` for ``"hotspot"`` and ``{"ack_balance": "printed"}`` for ``"vbs"``.
    settings : mapping or pairs
        Values to replace, such as ``{"cell.ap.cwmin": 15}``.
    max_time_s : float
        Longest time that the computation may take. The time is estimated first. [s]
    max_memory_bytes : float
        Largest memory that the computation may need. [bytes]

    Returns
    -------
    Prediction
        Data frames as of a simulation, without intervals. Quantities that the model does not
        predict are absent.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    TooCostlyError
        If the computation would take more time or memory than its limits.
    ModelError
        If the scenario breaks assumptions of the model; `reasons` lists these assumptions.
    UserError
        If there is no such model, or if the model has no such option.

    Examples
    --------
    >>> import lasthop as lh
    >>> prediction = lh.predict(
    ...     {
    ...         "duration": "5 s",
    ...         "cell": {"phy": "802.11b", "ap_queue": 75},
    ...         "station": {"sender": {"upload": 6}, "reader": {"count": 4, "download": 1}},
    ...     }
    ... )
    >>> prediction.model
    'hotspot'
    >>> prediction.stations["goodput_share"].round(2).to_dict()["sender"]
    0.67
    """
    need("predictions")
    from lasthop import models

    if model is not None and model not in models.MODELS:
        known = ", ".join(sorted(models.MODELS))
        raise UserError(f'model "{model}": expected one of {known}')
    checked = replaced(scenario, settings)
    with allowing(max_time_s, max_memory_bytes):
        chosen = models.choose(checked.typed) if model is None else model
        summary = models.predict(checked.typed, chosen, options)
    own = Prediction(summary, checked).warnings
    warnings = [*warnings_for(checked.typed), *_mean_rates(checked.typed), *own]
    return Prediction(summary | {"warnings": warnings}, checked)


def _mean_rates(scenario: "Typed") -> Iterator[str]:
    """Yield a warning about links whose rate follows a trace, because models use only the mean
    rate.
    """
    wire = scenario.wire
    ways = [
        ("wire/down", wire.trace, wire.rate_bps),
        ("wire/up", wire.back_trace, wire.back_rate_bps),
    ]
    ways += [(link.name, link.trace, link.rate_bps) for link in scenario.routers]
    for name, trace, rate_bps in ways:
        if trace is not None:
            mean = (rate_bps or wire.rate_bps or 0.0) / 1e6
            yield f"link {name} follows a trace; the model uses its mean, {mean:.4g} Mb/s"
