"""Quanta of leaves with fairness "rate": in proportion to the data rates of their stations.

A station's rate is the rate read from its access point (`phy_rates`), else the rate in the
configuration, else the highest rate of all stations. A station's quantum is its rate divided by the
lowest rate, in packets per round. If rates are read, the lowest rate is that of the access point's
present stations. Rates in the configuration may differ at most by a factor of `MAX_RATIO`.

If rates are read, a quantum is at most `queue` packets, the limit of a queue, because a queue
cannot contain more packets. The lowest rate is therefore at least the highest rate divided by
`queue`. A station with an even lower rate also sends one packet per round.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lasthop.enforce.gateway.config import AccessPoint, Gateway, KnownStation
from lasthop.errors import UserError

MAX_RATIO = 10_000
"""Largest ratio of two rates in the configuration. It is also the largest quantum. [packets]"""
ASSUMED_RATIO = 10
"""Smallest assumed ratio of the highest rate to the lowest rate, if rates are read from access
points. It determines the size of queues. The ratio of 54 to 6 Mbit/s is 9; the ratio of MCS 9 to
MCS 0 of 802.11ac is 13. [-]"""


class Range(NamedTuple):
    """Lowest and highest data rate that determine weights of stations. [bit/s]"""

    least: int
    largest: int


class PhyRate(NamedTuple):
    """Data rate that determines the weight of a station."""

    rate_bps: int | None
    """Data rate of the station; None if the rate is unknown. A station with an unknown rate has the
    highest weight. [bit/s]"""
    source: str
    """Source of the rate: ``"iw"``, ``"hostapd"``, ``"snmp"``, ``"file"``, or ``"highest"``."""


class Weights:
    """Data rates of stations, and the quanta that are computed from these rates.

    Parameters
    ----------
    gateway : Gateway
    """

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        of_file = range_of_rates(gateway)
        self.ranges = {ap.name: of_file for ap in gateway.aps}
        self.read: Mapping[str, PhyRate] = {}
        """Data rates that were read from access points, by station name."""

    def set_rates(
        self, read: Mapping[str, PhyRate], members: Iterable[tuple[AccessPoint, KnownStation]]
    ) -> None:
        """Set the data rates that were read from access points, and compute the range of rates of
        the stations at each access point."""
        self.read = read
        rates: dict[str, list[int]] = {}
        for ap, station in members:
            if ap.reads_rates and (rate := self.rate(station).rate_bps) is not None:
                rates.setdefault(ap.name, []).append(rate)
        of_file = range_of_rates(self.gateway)
        for ap in self.gateway.aps:
            if ap.reads_rates:
                known = rates.get(ap.name)
                self.ranges[ap.name] = self.limited(known) if known else of_file

    def limited(self, rates: Iterable[int]) -> Range:
        """Return the range of these rates. The lowest rate is raised if necessary, so that the
        ratio of the highest to the lowest rate is at most the limit of a queue in packets."""
        largest = max(rates)
        return Range(max(min(rates), -(-largest // self.gateway.queue_packets)), largest)

    def rate(self, station: KnownStation) -> PhyRate:
        """Return the data rate that determines a station's weight."""
        if (read := self.read.get(station.name)) is not None:
            return read
        return PhyRate(station.rate_bps, "highest" if station.rate_bps is None else "file")

    def quantum_packets(self, ap: AccessPoint, station: KnownStation) -> float:
        """Return the quantum of a station. [packets]"""
        within = self.ranges[ap.name]
        rate = self.rate(station).rate_bps or within.largest
        return max(rate / within.least, 1.0)

    def max_quantum_packets(self, ap: AccessPoint) -> float:
        """Return the largest quantum that is assumed when the size of an access point's queues is
        chosen. [packets]"""
        within = self.ranges[ap.name]
        longest = within.largest / within.least
        return max(longest, ASSUMED_RATIO) if ap.reads_rates else longest


def range_of_rates(gateway: Gateway) -> Range:
    """Return the lowest and highest rate of the listed stations, for fairness "rate". [bit/s]"""
    rated = [station for station in gateway.stations if station.rate_bps]
    if not rated or all(ap.fairness != "rate" for ap in gateway.aps):
        return Range(1, 1)
    by_rate = sorted(rated, key=lambda station: station.rate_bps or 0)
    least, largest = by_rate[0].rate_bps or 1, by_rate[-1].rate_bps or 1
    if largest > MAX_RATIO * least:
        slow, fast = (f"`gateway.station.{by_rate[k].name}.rate`" for k in (0, -1))
        raise UserError(
            f"{fast}: {largest} bit/s is more than {MAX_RATIO} times {slow}, {least} bit/s; "
            f'expected with fairness "rate" a ratio up to {MAX_RATIO}'
        )
    return Range(least, largest)


def short_queue(gateway: Gateway) -> list[str]:
    """Return a warning if a station's quantum exceeds the limit of the station's queue. Such a
    queue may become empty before the quantum is sent."""
    least, largest = range_of_rates(gateway)
    turn = round(largest / least)
    if turn <= gateway.queue_packets:
        return []
    return [
        f'fairness = "rate": the turn of the fastest station is {turn} packets, and '
        f"`gateway.queue` holds {gateway.queue_packets}: where it runs empty within a turn, "
        "that station gets less"
    ]
