"""A WLAN cell: access parameters, nodes, channels."""

from dataclasses import dataclass
from typing import Literal

from lasthop.models.reading.queues import Queue

BEST_EFFORT = "best-effort"
"""Category of flows that name none; its access parameters are the node's own."""


@dataclass(frozen=True, kw_only=True)
class AccessCategory:
    """Access parameters of a category at a node."""

    aifsn: int
    cwmin: int
    cwmax: int
    txop_packets: int | None
    txop_limit_s: float | None

    @property
    def has_bursts(self) -> bool:
        """Whether more than one packet may be sent at an access."""
        return self.txop_packets != 1 or self.txop_limit_s is not None


@dataclass(frozen=True, kw_only=True)
class Node(AccessCategory):
    """Access point or station; its own access parameters are those of best effort."""

    attempts_short: int
    queue_packets: int
    queue: Queue
    voice: AccessCategory
    video: AccessCategory
    background: AccessCategory

    def access(self, category: str) -> AccessCategory:
        """Access parameters of a category."""
        others = {"voice": self.voice, "video": self.video, "background": self.background}
        return self if category == BEST_EFFORT else others[category]


@dataclass(frozen=True, kw_only=True)
class AccessPoint(Node):
    """The access point of a cell."""

    queue_order: Literal["fifo", "mixed"]


@dataclass(frozen=True, kw_only=True)
class Channel:
    """What the channel does to the frames of a station."""

    error_up: float
    error_down: float
    ack_error_up: float
    ack_error_down: float
    snr_db: float | None


@dataclass(frozen=True, kw_only=True)
class ChannelChange(Channel):
    """The channel of a station from an instant on."""

    at_s: float


@dataclass(frozen=True, kw_only=True)
class Station(Node, Channel):
    """A station of a cell."""

    name: str
    group: str
    """Its table in the file."""
    rate_bps: float
    downlink_rate_bps: float
    uplink_rts_rate_bps: float
    uplink_response_rate_bps: float
    downlink_rts_rate_bps: float
    downlink_response_rate_bps: float
    channel_changes: tuple[ChannelChange, ...] = ()

    @property
    def table(self) -> str:
        """Key path of its table."""
        return f"station.{self.group}"

    @property
    def uplink_control_bps(self) -> tuple[float, float]:
        """Rates of RTS and of what answers, on the way up. [bit/s]"""
        return self.uplink_rts_rate_bps, self.uplink_response_rate_bps

    @property
    def downlink_control_bps(self) -> tuple[float, float]:
        """The same on the way down. [bit/s]"""
        return self.downlink_rts_rate_bps, self.downlink_response_rate_bps


@dataclass(frozen=True, kw_only=True)
class VbsClass:
    """Flows that have a share of the access point's queue."""

    name: str
    share: float
    target_share: float
    flows: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A WLAN cell."""

    phy: Literal["802.11b", "802.11g", "802.11g-long"]
    slot_s: float
    sifs_s: float
    preamble_s: float
    eifs_rate_bps: float
    mac_header_bytes: int
    llc_bytes: int
    rts_threshold_bytes: int | None
    ack_timeout_s: float | None
    countdown: Literal["dcf", "edca"]
    cf_end: bool
    rate_control: Literal["fixed", "arf"]
    ap: AccessPoint
    vbs_classes: tuple[VbsClass, ...] = ()
