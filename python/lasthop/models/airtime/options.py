"""Options that differ from the scenario, and inputs of the model from a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, Self

from lasthop.errors import UserError
from lasthop.models.choices import Choices

Order = Literal["fifo", "rounds", "airtime"]
"""How a queue shares out the air: by arrival, an aggregate each in turn, the same time for each."""


@dataclass(frozen=True)
class Options(Choices):
    """Options that the scenario does not decide.

    Attributes
    ----------
    queue : "fifo", "rounds", "airtime" or None
        The access point's queue; None takes the scenario's: ``"fifo"`` for a drop-tail queue,
        ``"airtime"`` for ``mac80211``, ``"rounds"`` where its `airtime_fairness` is false.
    aggregates : mapping of str to float, or None
        Mean MPDUs in the PPDUs to each station, or to each of a group by the group's name, from a
        run: its ``downlink_mpdus_per_ppdu``. None:
        what the limits of aggregates, and the order of a full queue, make of them. [MPDUs]
    """

    queue: Order | None = None
    aggregates: Mapping[str, float] | None = None

    @classmethod
    def of(cls, given: Mapping[str, object], model: str) -> Self:
        """Return options by name; ``"near=31.5,far=2"`` may stand for a mapping of `aggregates`.

        Raises
        ------
        UserError
            An option is unknown, or its value is.
        """
        others = {name: value for name, value in given.items() if name != "aggregates"}
        chosen = super().of(others, model)
        value = given.get("aggregates")
        return cls(chosen.queue, None if value is None else _sizes(value))

    def to_dict(self) -> dict[str, Any]:
        """By name, as results contain them."""
        sizes = None if self.aggregates is None else dict(self.aggregates)
        return {"queue": self.queue, "aggregates": sizes}


def _sizes(value: object) -> Mapping[str, float]:
    """Return the mean aggregates by station."""
    if isinstance(value, str):
        pairs = [each.rpartition("=")[::2] for each in value.split(",")]
        named: Mapping[Any, Any] = dict(pairs)
        if len(named) < len(pairs):
            raise UserError("option aggregates: a station is named twice")
    elif isinstance(value, Mapping):
        named = value
    else:
        raise UserError(f'option aggregates: "{value!s:.60}" is no mapping from stations to MPDUs')
    return {str(name).strip(): _size(name, size) for name, size in named.items()}


def _size(name: object, size: object) -> float:
    try:
        if isinstance(size, bool) or not isinstance(size, (str, int, float)):
            raise TypeError
        result = float(size)
    except (TypeError, ValueError):
        result = 0.0
    if not (name and isfinite(result) and result >= 1.0):
        raise UserError(
            f'option aggregates: "{name!s:.60}={size!s:.60}" is not a station with MPDUs from 1 on',
            'as in "near=31.5,far=2"',
        )
    return result
