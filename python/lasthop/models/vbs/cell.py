"""A cell in the model's terms: the traffic in classes of equal flows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lasthop.models.access import Access
from lasthop.models.vbs.chain import Floats
from lasthop.models.vbs.window import Law

EIGHT_ATTEMPTS = Access(attempts=8)
"""Access parameters of the DCF, eight attempts for a packet."""


@dataclass(frozen=True)
class Frame:
    """A packet as it goes over the air.

    Attributes
    ----------
    success_s : float
        Exchange with its MAC ACK, and DIFS. [s]
    failure_s : float
        Only the frame, and EIFS. [s]
    error : float
        Probability that an attempt without collision fails by channel errors, :math:`p_w`. [-]
    """

    success_s: float
    failure_s: float
    error: float = 0.0


@dataclass(frozen=True)
class StationKind:
    """Stations that are alike.

    Attributes
    ----------
    count : int
        How many, :math:`n_i`. [stations]
    access : Access
    """

    count: int
    access: Access = EIGHT_ATTEMPTS


@dataclass(frozen=True)
class FlowClass:
    """Connections that are alike.

    Attributes
    ----------
    count : int
        How many in all. [connections]
    station : int
        Index of their stations in `Cell.stations`.
    upload : bool
        The data comes from the stations.
    down, up : Frame
        Packets of the AP and of a station: data in one direction, ACKs in the other.
    law : Law
        Law of the sender's window.
    payload_bytes : int
        Payload of a segment. [bytes]
    min_rto_s : float
        Least retransmission timeout. [s]
    sharing : int or None
        Index of its share in `Cell.targets`, if the AP's queue is shared.
    """

    count: int
    station: int
    upload: bool
    down: Frame
    up: Frame
    law: Law
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
        :math:`B_{ap}`, the packet in service included. [packets]
    slot_s : float
        :math:`\\sigma`. [s]
    wire_s : float
        Round-trip propagation time of the wire, :math:`T`. [s]
    frozen : bool
        Counters stand still in busy slots.
    targets : tuple of float
        Shares of the AP's buffer under virtual buffer sharing, :math:`h_i^*`, each of one or more
        classes. [-]
    occupancy : float
        Part of the buffer that virtual buffer sharing keeps filled, :math:`c`. [-]
    regulated : bool
        A controller holds that part on average, by random drops; else, as by Algorithm 1, it is
        filled like a drop-tail buffer.
    partitioned : bool
        Each target is a drop-tail buffer of its own, of :math:`c\\,h_i^* B_{ap}` packets.
    names : tuple of str
        Names of the classes that `targets` are of, for messages.
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
        """Connections of each class. [connections]"""
        return np.array([float(each.count) for each in self.classes])

    @property
    def uploads(self) -> Sequence[bool]:
        """Whether each class is of uploads."""
        return [each.upload for each in self.classes]
