"""Cell of the 802.11e model: its access parameters, its frames and exchanges, and its stations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lasthop.models.access import Access
from lasthop.models.edca.options import ApQueue

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Packet:
    """A packet on the air.

    Attributes
    ----------
    exposed_s : float
        Duration of the frame that a collision destroys: the data frame, or the RTS before it. [s]
    exchange_s : float
        Duration of a successful exchange up to the end of the MAC ACK, without AIFS. [s]
    payload_bytes : int
        TCP payload; 0 for a TCP ACK. [bytes]
    """

    exposed_s: float
    exchange_s: float
    payload_bytes: int


@dataclass(frozen=True)
class Connection:
    """Equal TCP connections of a station, whose receivers acknowledge every segment.

    Attributes
    ----------
    window : int
        Total number of outstanding packets of all these connections, data packets and TCP ACKs.
        [packets]
    up, down : Packet
        Packets that the station sends, and packets that the AP sends. In an upload, `up` is a data
        packet and `down` a TCP ACK; in a download, `up` is the TCP ACK and `down` the data packet.
    """

    window: int
    up: Packet
    down: Packet


@dataclass(frozen=True)
class StationTraffic:
    """Traffic of a station: its connections.

    If a station has several kinds of connections, their packets are assumed to be mixed at random,
    at the station and at the AP. The proportions are those of the windows.
    """

    connections: tuple[Connection, ...]

    @property
    def window(self) -> int:
        """Outstanding packets of the station, :math:`W`. [packets]"""
        return sum(connection.window for connection in self.connections)

    def share(self, connection: Connection) -> float:
        """Return the fraction of the station's packets that belong to a kind of connections. [-]"""
        return connection.window / self.window


@dataclass(frozen=True)
class Cell:
    """An AP and its stations. The stations differ only in rates, packets and directions.

    Attributes
    ----------
    stations : tuple of StationTraffic
        Traffic of each station; all windows are equal.
    station_access, ap_access : Access
        Access parameters of every station, and of the AP.
    slot_s, sifs_s : float
        Slot time and SIFS. [s]
    eifs_lead_s : float
        Difference of EIFS and AIFS: SIFS and a MAC ACK. [s]
    ap_queue : "fifo" or "mixed"
        Order of the packets in the AP's queue.
    """

    stations: tuple[StationTraffic, ...]
    station_access: Access
    ap_access: Access
    slot_s: float
    sifs_s: float
    eifs_lead_s: float
    ap_queue: ApQueue = "fifo"

    def __post_init__(self) -> None:
        if len({station.window for station in self.stations}) != 1:
            raise ValueError("the stations' windows differ, or there is no station")
        if min(connection.window for s in self.stations for connection in s.connections) < 1:
            raise ValueError("a window is below one packet")

    @property
    def size(self) -> int:
        """Number of stations, :math:`N_{STA}`."""
        return len(self.stations)

    @property
    def window(self) -> int:
        """Outstanding packets of each station, :math:`W`. [packets]"""
        return self.stations[0].window

    def aifs_s(self, access: Access) -> float:
        """Return the AIFS: SIFS and AIFSN slots (eq. 1). [s]"""
        return self.sifs_s + access.aifsn * self.slot_s


def mean_over_packets(stations: Sequence[StationTraffic], what: str, way: str) -> float:
    """Return the mean of the attribute `what` of `Packet`, over the packets that the stations send
    (`way` is ``"up"``) or receive (`way` is ``"down"``).

    All stations exchange packets at the same packet rate, whatever their PHY rates.
    """
    total = sum(
        station.share(connection) * float(getattr(getattr(connection, way), what))
        for station in stations
        for connection in station.connections
    )
    return total / len(stations)
