"""Data rates of stations over time: which reading counts, and when a weight follows.

- **Median of three.** A reading may be that of a frame by which rate control tries another rate.
  The lower median of the last three readings leaves out one such frame. It follows a change at the
  second reading.
- **Only with traffic.** The last frame to an idle station is often a management or null frame at
  the lowest rate, so a reading counts while the station has traffic. Until a station has had
  traffic, its newest reading counts.
- **From a tenth.** A weight follows if the rate is more than `CHANGE` away from it. Neighbouring
  MCS are at least 11 % apart. Differences by the guard interval of 802.11ax and by rounding are
  ignored.

A rate stays while its source does not answer, and as long as the station has a leaf.
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median_low
from typing import TypeAlias

from lasthop.gateway.config import AccessPoint, KnownStation
from lasthop.gateway.roster import Sighting
from lasthop.gateway.weights import PhyRate

READINGS = 3
"""Readings of which the median counts. [-]"""
CHANGE = 0.1
"""Change of a rate that its weight does not follow. [-]"""

Key: TypeAlias = tuple[str, str]
"""Access point and MAC address."""


@dataclass
class Known:
    """Readings of a station, and the rate by which it is weighed."""

    readings: deque[int] = field(default_factory=lambda: deque(maxlen=READINGS))
    """Its last rates. [bit/s]"""
    had_traffic: bool = False
    """Whether they were read while it had traffic."""
    weighed: PhyRate | None = None
    """The rate by which it is weighed."""

    def see(self, rate_bps: int, source: str, *, has_traffic: bool) -> None:
        """Record a reading."""
        if self.had_traffic and not has_traffic:
            return
        if not self.had_traffic:
            self.readings.clear()
            self.had_traffic = has_traffic
        self.readings.append(rate_bps)
        rate = median_low(self.readings)
        before = self.weighed and self.weighed.rate_bps
        if before is None or abs(rate - before) > CHANGE * before:
            self.weighed = PhyRate(rate, source)


class PhyRates:
    """Readings of all stations."""

    def __init__(self) -> None:
        self.known: dict[Key, Known] = {}

    def see(
        self, seen: Iterable[Sighting], active: Collection[Key], there: Collection[Key]
    ) -> None:
        """Record what the sources report now.

        Parameters
        ----------
        active : collection of Key
            Stations with traffic.
        there : collection of Key
            Stations with a leaf. Others are forgotten unless they are in `seen`.
        """
        named: set[Key] = set()
        for each in seen:
            if each.ap is not None and each.rate_bps is not None:
                key = each.ap, each.mac
                known = self.known.setdefault(key, Known())
                known.see(each.rate_bps, each.rate_source or "", has_traffic=key in active)
                named.add(key)
        self.known = {key: each for key, each in self.known.items() if key in named or key in there}

    def of(self, there: Mapping[str, tuple[AccessPoint, KnownStation]]) -> dict[str, PhyRate]:
        """Return the rates of stations at access points whose rates are read, by name."""
        found = {}
        for name, (ap, station) in there.items():
            known = self.known.get((ap.name, station.mac or ""))
            if ap.reads_rates and known is not None and known.weighed is not None:
                found[name] = known.weighed
        return found
