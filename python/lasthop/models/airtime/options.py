"""Options of the model: the queue discipline, and mean aggregate sizes from a simulation run."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, Self

from lasthop.errors import UserError
from lasthop.models.choices import Choices
from lasthop.numeric import real_number

Order = Literal["fifo", "rounds", "airtime"]
"""Order of service of a queue: packets by arrival, one aggregate per station in turn, or the same
air time for each station.
"""


@dataclass(frozen=True)
class Options(Choices):
    """Options of the model, which are not part of a scenario.

    Attributes
    ----------
    queue : "fifo", "rounds", "airtime" or None
        Discipline of the access point's queue. None uses the scenario's discipline: ``"fifo"`` for
        a drop-tail queue, ``"airtime"`` for ``mac80211``, and ``"rounds"`` for ``mac80211`` without
        `airtime_fairness`.
    aggregates : mapping of str to float, or None
        Mean number of MPDUs in the PPDUs to each station, or to each station of a group by the
        group's name. The values are ``downlink_mpdus_per_ppdu`` of a run. If None, the model
        computes the mean numbers from the limits of aggregates and from the order in which a full
        queue sends. [MPDUs]
    """

    queue: Order | None = None
    aggregates: Mapping[str, float] | None = None

    @classmethod
    def of(cls, given: Mapping[str, object], model: str) -> Self:
        """Return the options of the model. `aggregates` may be a text such as
        ``"near=31.5,far=2"``.

        Raises
        ------
        UserError
            If an option or its value is unknown.
        """
        others = {name: value for name, value in given.items() if name != "aggregates"}
        chosen = super().of(others, model)
        value = given.get("aggregates")
        return cls(chosen.queue, None if value is None else _sizes(value))

    def to_dict(self) -> dict[str, Any]:
        """Return the options by name, in the form in which results contain options."""
        sizes = None if self.aggregates is None else dict(self.aggregates)
        return {"queue": self.queue, "aggregates": sizes}


def _sizes(value: object) -> Mapping[str, float]:
    """Return the mean numbers of MPDUs in a PPDU by station, from a mapping or a text."""
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
        result = float(size) if isinstance(size, str) else real_number(size) or 0.0
    except ValueError:
        result = 0.0
    if not (name and isfinite(result) and result >= 1.0):
        raise UserError(
            f'option aggregates: "{name!s:.60}={size!s:.60}" is not a station with MPDUs from 1 on',
            'as in "near=31.5,far=2"',
        )
    return result
