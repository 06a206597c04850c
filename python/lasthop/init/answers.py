"""Answers to the questions of `lasthop init`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lasthop.init.aims import AIMS, MODELS, Aim

__all__ = [
    "AGGREGATING",
    "DISCIPLINES",
    "FAR_DB",
    "NEAR_DB",
    "OLD_PHY",
    "Answers",
    "Group",
    "Traffic",
    "Wire",
    "disciplines",
]

AGGREGATING = ("802.11n", "802.11ac", "802.11ax")
"""Wi-Fi standards whose stations have an MCS instead of a rate."""

NEAR_DB, FAR_DB = 40.0, 15.0
"""Signal-to-noise ratios of a station near the access point, and of a station two walls away.
[dB]
"""

OLD_PHY = "802.11n"
"""Physical layer of a station that is called old; such a station has one spatial stream."""

DISCIPLINES = ("codel", "fq_codel", "pie")
"""Queue disciplines that are accepted instead of a number of packets."""


def disciplines(hop: str) -> tuple[str, ...]:
    """Return the queue disciplines for a last hop. With aggregation, mac80211 is also available."""
    return (*DISCIPLINES, "mac80211") if hop in AGGREGATING else DISCIPLINES


@dataclass(frozen=True)
class Group:
    """Group of equal stations of a cell, or of hosts of a router.

    Attributes
    ----------
    count : int
        Number of stations or hosts.
    rate_mbps : float
        Rate of each station or host; None if frames have an MCS. [Mb/s]
    snr_db : float
        Signal-to-noise ratio, which chooses the MCS; None if frames have no MCS. [dB]
    is_old : bool
        Whether the stations are old: they have the physical layer `OLD_PHY` and one spatial stream.
    """

    count: int
    rate_mbps: float | None = None
    snr_db: float | None = None
    is_old: bool = False

    @property
    def speed(self) -> tuple[bool, float]:
        """Sort key of the groups of a cell, slowest first: old stations, then stations with weak
        signals.
        """
        return not self.is_old, self.rate_mbps or self.snr_db or 0.0


@dataclass(frozen=True)
class Wire:
    """The line between the access point and the servers, or the router's link.

    Attributes
    ----------
    rate_mbps : float or None
        Rate from the servers; None if the rate is unlimited. [Mb/s]
    rtt_ms : float
        Round-trip time without queues. [ms]
    back_mbps : float or None
        Rate to the servers if it differs from `rate_mbps`. [Mb/s]
    """

    rate_mbps: float | None
    rtt_ms: float
    back_mbps: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the line has neither a rate limit nor a delay."""
        return self.rate_mbps is None and not self.rtt_ms


@dataclass(frozen=True)
class Traffic:
    """Numbers of connections and calls of one station."""

    up: int = 0
    down: int = 0
    calls: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether the station neither sends nor receives."""
        return not (self.up or self.down or self.calls)


@dataclass(frozen=True)
class Answers:
    """Answers to the questions so far; a question without an answer has the default value below.

    Attributes
    ----------
    aim : str
        Aim of the user, a key of `lasthop.init.aims.AIMS`.
    hop : str
        ``"802.11b"``, ``"802.11g"``, ``"802.11n"``, ``"802.11ac"``, ``"802.11ax"`` or ``"router"``.
    stations : sequence of Group
        Stations of the cell, or hosts of the router.
    traffic : sequence of Traffic
        Connections of each station, in the order of the groups.
    wire : Wire
        The wire, or the router's link.
    queue : str
        Number of packets, or the name of a discipline or of a kind of access point.
    """

    aim: str = MODELS
    hop: str = ""
    stations: Sequence[Group] = ()
    traffic: Sequence[Traffic] = ()
    wire: Wire = Wire(None, 0.0)
    queue: str = ""

    def with_answer(self, key: str, value: object) -> "Answers":
        """Return these answers with the answer to one more question."""
        return replace(self, **{key: value})  # type: ignore[arg-type]

    @property
    def is_router(self) -> bool:
        """Whether the hop is a wired router."""
        return self.hop == "router"

    @property
    def count(self) -> int:
        """Number of all stations or hosts."""
        return sum(group.count for group in self.stations)

    @property
    def aggregates(self) -> bool:
        """Whether the last hop is a cell whose frames have an MCS."""
        return self.hop in AGGREGATING

    @property
    def chosen_aim(self) -> Aim:
        """Aim of the user, with its question and commands."""
        return AIMS[self.aim]

    @property
    def compares_models(self) -> bool:
        """Whether the aim is to compare models with simulations."""
        return self.aim == MODELS
