"""Result of an import: a cell, its stations and their traffic, and the source of each value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lasthop.scenario.access_points import Fact

__all__ = ["Access", "Connections", "Flow", "Network", "Note", "Station", "Stream"]


@dataclass(frozen=True)
class Note:
    """A remark for the reader of the imported scenario.

    Attributes
    ----------
    text : str
        Sentence without its period.
    warns : bool
        Whether the note affects results and is also printed as a warning.
    """

    text: str
    warns: bool = False


@dataclass(frozen=True)
class Connections:
    """TCP connections of a station in one direction.

    Attributes
    ----------
    count : int
        Number of simultaneous connections.
    measured : bool
        Whether the connections were counted; if False, their number is assumed.
    note : str
        Measured properties of the connections, or the reason why connections are assumed.
    rate_bps : float
        Rate of payload at which the application writes to each connection; None if the window
        limits the connections. [bit/s]
    paced : Connections
        Connections with a rate, in addition to those that the window limits; None if there are
        none.
    """

    count: int
    measured: bool
    note: str = ""
    rate_bps: float | None = None
    paced: "Connections | None" = None


@dataclass(frozen=True)
class Stream:
    """UDP datagrams of a station in one direction.

    Attributes
    ----------
    rate_bps : float
        Mean rate of payload. [bit/s]
    payload_bytes : int
        Usual payload of a datagram. [bytes]
    note : str
        Source of the values.
    """

    rate_bps: float
    payload_bytes: int
    note: str = "measured"


@dataclass(frozen=True)
class Flow:
    """A TCP or QUIC connection in a capture.

    Attributes
    ----------
    direction : str
        ``"up"`` from the station, or ``"down"``.
    start_s, stop_s : float
        Times of the first and last packet since the beginning of the capture. [s]
    data_bytes : int
        Payload in this direction, without the captured retransmissions. [bytes]
    goodput_bps : float
        `data_bytes` in bits divided by the duration. [bit/s]
    rtt_s : float
        Mean round-trip time; None if it is unknown. [s]
    by_time_stamps : bool
        Whether `rtt_s` is computed from TCP time stamps; if False, from the times of ACKs and data.
    segments, retransmitted : int
        Number of captured segments, and number of retransmissions among them.
    handshake_s : float
        Round-trip time of the handshake; None if the handshake was not captured. [s]
    window_limited : bool
        Whether the window limited the connection; if False, its application limited it.
    """

    direction: str
    start_s: float
    stop_s: float
    data_bytes: int
    goodput_bps: float
    rtt_s: float | None
    by_time_stamps: bool
    segments: int
    retransmitted: int
    handshake_s: float | None = None
    window_limited: bool = True


@dataclass(frozen=True)
class Access:
    """EDCA parameters of one access category; None for a parameter that is not set.

    Attributes
    ----------
    aifsn : int
        Number of slots between SIFS and the backoff. [slots]
    cwmin, cwmax : int
        Contention windows. [slots]
    txop_s : float
        TXOP limit; 0 for one frame per TXOP. [s]
    default : bool
        Whether the values are defaults, since the file does not set the parameters.
    txop_note : str
        Source of the TXOP limit, if it differs from the source of the other values.
    """

    aifsn: int | None = None
    cwmin: int | None = None
    cwmax: int | None = None
    txop_s: float | None = None
    default: bool = False
    txop_note: str = ""


@dataclass(frozen=True)
class Station:
    """Station of a cell.

    Attributes
    ----------
    address : str
        MAC or IP address, which a scenario shows only on request.
    up_bps, down_bps : float
        Rates of data frames from and to the station; None if there were no frames. [bit/s]
    phy : str
        Physical layer of the station, if it is older than that of the cell.
    mcs, streams : int
        MCS and number of streams, which set the rates in 802.11n, ac and ax; None for older
        standards. [-]
    upload, download : Connections
        TCP connections in each direction; None if there are none.
    udp_up, udp_down : Stream
        UDP datagrams in each direction; None if there are none.
    error_up, error_down : float
        Fraction of frames that noise destroys; None if it is unknown. [-]
    flows : sequence of Flow
        All connections of the station; empty unless the source is a capture.
    notes : sequence of str
        Remarks on further properties, such as signal and retries.
    """

    address: str
    up_bps: float | None = None
    down_bps: float | None = None
    phy: str | None = None
    mcs: int | None = None
    streams: int | None = None
    upload: Connections | None = None
    download: Connections | None = None
    udp_up: Stream | None = None
    udp_down: Stream | None = None
    error_up: float | None = None
    error_down: float | None = None
    flows: Sequence[Flow] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Network:
    """An imported cell with its stations, as far as the file describes them.

    Attributes
    ----------
    source : str
        Description of the source: kind and name of the file.
    phy : str
        Physical layer, the value of ``cell.phy``.
    phy_note : str
        Source of the physical layer.
    stations : sequence of Station
        Stations in the order in which they first appear.
    cell : mapping
        Further keys of the table ``cell``, each with its TOML value and a comment.
    ap : mapping
        Further keys of the table ``cell.ap``, in the same form.
    access : mapping
        EDCA parameters, by table and access category such as ``("cell.ap", "voice")``.
    wire : mapping
        Keys of the table ``wire``.
    line : mapping
        Keys of a link from the router to the Internet, which replaces the wire of a cell if its two
        directions have different queues.
    tcp : mapping
        Keys of the table ``tcp``.
    ap_queue : int
        Limit of the access point's queue; None if it is unknown. [packets]
    ap_queue_note : str
        Source of the queue limit.
    duration_s : float
        Time span of the file; 0 if the file contains no times. [s]
    notes : sequence of Note
        Remarks for the reader of the scenario.
    facts : sequence of Fact
        Assumptions about the access point that the file does not contain, including its queue
        unless ``ap_queue`` is known.
    """

    source: str
    phy: str
    phy_note: str
    stations: Sequence[Station]
    cell: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ap: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    access: Mapping[tuple[str, str], Access] = field(default_factory=dict)
    wire: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    line: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    tcp: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ap_queue: int | None = None
    ap_queue_note: str = ""
    duration_s: float = 0.0
    notes: Sequence[Note] = ()
    facts: Sequence[Fact] = ()
