"""Data rates of stations over time: the reading that is used, and the time at which a weight
changes.

- **Median of three.** A reading may be the rate of a probe frame, with which rate control tests
  another rate. The lower median of the last three readings ignores one such reading. A permanent
  change takes effect at the second reading.
- **Only with traffic.** A reading is used only while the station has traffic, since the last frame
  to an idle station is often a null frame at the lowest rate. Until a station has had traffic, its
  newest reading is used.
- **Changes above 10 %.** A weight changes if the measured rate differs from the rate in use by more
  than `HYSTERESIS`. Neighbouring MCS differ by at least 11 %. Smaller differences, from the guard
  interval of 802.11ax or from rounding, are ignored.

A rate remains in use while its source does not answer, as long as the station has a leaf.
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median_low
from typing import TypeAlias

from lasthop.enforce.gateway.config import AccessPoint, KnownStation
from lasthop.enforce.gateway.roster import Sighting
from lasthop.enforce.gateway.weights import PhyRate

READINGS = 3
"""Number of last readings whose median is used. [-]"""
HYSTERESIS = 0.1
"""Largest relative change of a rate that leaves the weight unchanged. [-]"""

Key: TypeAlias = tuple[str, str]
"""Name of the access point, and MAC address of the station."""


@dataclass
class RateHistory:
    """Readings of a station's data rate, and the rate that determines the station's weight."""

    readings: deque[int] = field(default_factory=lambda: deque(maxlen=READINGS))
    """Last data rates that were read for the station. [bit/s]"""
    had_traffic: bool = False
    """Whether the stored readings were taken while the station had traffic."""
    weighed: PhyRate | None = None
    """Data rate that determines the station's weight."""

    def add(self, rate_bps: int, source: str, *, has_traffic: bool) -> None:
        """Record a reading of the station's data rate."""
        if self.had_traffic and not has_traffic:
            return
        if not self.had_traffic:
            self.readings.clear()
            self.had_traffic = has_traffic
        self.readings.append(rate_bps)
        rate = median_low(self.readings)
        before = self.weighed and self.weighed.rate_bps
        if before is None or abs(rate - before) > HYSTERESIS * before:
            self.weighed = PhyRate(rate, source)


class PhyRates:
    """Readings of the data rates of all stations."""

    def __init__(self) -> None:
        self.histories: dict[Key, RateHistory] = {}

    def add(
        self, seen: Iterable[Sighting], active: Collection[Key], members: Collection[Key]
    ) -> None:
        """Record the data rates in the new reports of the sources.

        Parameters
        ----------
        active : collection of Key
            Stations with traffic.
        members : collection of Key
            Stations with a leaf. Readings of stations without a leaf are deleted, unless `seen`
            contains a new reading of the station.
        """
        named: set[Key] = set()
        for each in seen:
            if each.ap is not None and each.rate_bps is not None:
                key = each.ap, each.mac
                history = self.histories.setdefault(key, RateHistory())
                history.add(each.rate_bps, each.rate_source or "", has_traffic=key in active)
                named.add(key)
        self.histories = {
            key: each for key, each in self.histories.items() if key in named or key in members
        }

    def of(self, members: Mapping[str, tuple[AccessPoint, KnownStation]]) -> dict[str, PhyRate]:
        """Return the data rate that determines the weight of each station, by the station's name.
        Stations whose data rate was not read are left out."""
        results = {}
        for name, (ap, station) in members.items():
            history = self.histories.get((ap.name, station.mac or ""))
            if ap.reads_rates and history is not None and history.weighed is not None:
                results[name] = history.weighed
        return results
