"""A cell of the vbs model, with its traffic in classes of equal flows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lasthop.models.access import Access
from lasthop.models.vbs.chain import Floats
from lasthop.models.vbs.window import WindowGrowth

EIGHT_ATTEMPTS = Access(attempts=8)
"""Access parameters of the DCF, with eight attempts per packet."""


@dataclass(frozen=True)
class Frame:
    """A packet on the air.

    Attributes
    ----------
    success_s : float
        Duration of an exchange with its MAC ACK, and DIFS. [s]
    failure_s : float
        Duration of a frame without MAC ACK, and EIFS. [s]
    error : float
        Probability that an attempt without collision fails by channel errors, :math:`p_w`. [-]
    """

    success_s: float
    failure_s: float
    error: float = 0.0


@dataclass(frozen=True)
class StationKind:
    """A group of equal stations.

    Attributes
    ----------
    count : int
        Number of stations, :math:`n_i`. [stations]
    access : Access
    """

    count: int
    access: Access = EIGHT_ATTEMPTS


@dataclass(frozen=True)
class FlowClass:
    """A class of equal TCP connections.

    Attributes
    ----------
    count : int
        Number of connections. [connections]
    station : int
        Index of the connections' stations in `Cell.stations`.
    upload : bool
        Whether the data comes from the stations.
    down, up : Frame
        Packets that the AP sends, and packets that a station sends. In a download, the AP sends
        data and the station TCP ACKs; in an upload, it is the reverse.
    growth : WindowGrowth
        Growth and reduction of the sender's window.
    payload_bytes : int
        Payload of a segment. [bytes]
    min_rto_s : float
        Least retransmission timeout. [s]
    sharing : int or None
        Index of the class's share in `Cell.targets`; None if the AP's queue has no virtual buffer
        sharing.
    """

    count: int
    station: int
    upload: bool
    down: Frame
    up: Frame
    growth: WindowGrowth
    payload_bytes: int = 1460
    min_rto_s: float = 0.2
    sharing: int | None = None


@dataclass(frozen=True)
class Cell:
    """A cell with one access point.

    Attributes
    ----------
    classes : tuple of FlowClass
    stations : tuple of StationKind
    ap : Access
    buffer_packets : int
        Size of the AP's buffer including the packet in service, :math:`B_{ap}`. [packets]
    slot_s : float
        Slot time, :math:`\\sigma`. [s]
    wire_s : float
        Round-trip propagation time of the wire, :math:`T`. [s]
    frozen : bool
        Whether backoff counters freeze in busy slots.
    targets : tuple of float
        Target shares of the AP's buffer under virtual buffer sharing, :math:`h_i^*`. Each target
        applies to one or more of the `classes`. [-]
    occupancy : float
        Target fraction of the AP's buffer that virtual buffer sharing keeps filled, :math:`c`. [-]
    regulated : bool
        Whether a controller drops packets at random such that the fraction `occupancy` of the
        buffer is filled on average. If false, this fraction of the buffer acts as a drop-tail
        buffer, as in Algorithm 1.
    partitioned : bool
        Whether each target is a separate drop-tail buffer of :math:`c\\,h_i^* B_{ap}` packets.
    names : tuple of str
        Names of the classes to which `targets` apply, for messages.
    """

    classes: tuple[FlowClass, ...]
    stations: tuple[StationKind, ...]
    ap: Access = EIGHT_ATTEMPTS
    buffer_packets: int = 100
    slot_s: float = 20e-6
    wire_s: float = 0.0
    frozen: bool = False
    targets: tuple[float, ...] = ()
    occupancy: float = 0.6
    regulated: bool = False
    partitioned: bool = False
    names: tuple[str, ...] = ()

    @property
    def counts(self) -> Floats:
        """Number of connections of each class. [connections]"""
        return np.array([float(each.count) for each in self.classes])

    @property
    def uploads(self) -> Sequence[bool]:
        """Whether the connections of each class are uploads."""
        return [each.upload for each in self.classes]
