"""Result of an import: a cell, its stations, their traffic, and the reliability of the values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lasthop.scenario.access_points import Fact

__all__ = ["Access", "Connections", "Flow", "Network", "Note", "Station", "Stream"]


@dataclass(frozen=True)
class Note:
    """A remark for readers of the scenario.

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
        Whether they were counted; otherwise they are assumed.
    note : str
        Measured properties of the connections, or the reason why they are assumed.
    """

    count: int
    measured: bool
    note: str = ""


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
    """Connection in a capture.

    Attributes
    ----------
    direction : str
        ``"up"`` from the station, or ``"down"``.
    start_s, stop_s : float
        Times of the first and last packet since the beginning of the capture. [s]
    data_bytes : int
        Payload in this direction, without retransmissions that the capture shows. [bytes]
    goodput_bps : float
        `data_bytes` in bits divided by the duration. [bit/s]
    rtt_s : float
        Mean round-trip time, None if unknown. [s]
    by_time_stamps : bool
        Whether `rtt_s` is from TCP time stamps; otherwise it is from the order of ACKs and data.
    segments, retransmitted : int
        Number of segments that were seen, and number of retransmissions among them.
    handshake_s : float
        Round-trip time of the handshake, None if it was not seen. [s]
    window_limited : bool
        Whether the window limited the connection; otherwise its application limited it.
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
    """EDCA parameters of one category; None for values that are not set.

    Attributes
    ----------
    aifsn : int
        Number of slots between SIFS and the backoff. [slots]
    cwmin, cwmax : int
        Contention windows. [slots]
    txop_s : float
        TXOP limit; 0 for one frame per TXOP. [s]
    default : bool
        Whether the values are the program's defaults, since the file does not set them.
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
        Rates of data frames from and to the station, None if not seen. [bit/s]
    phy : str
        Preset of the station, if it is older than that of the cell.
    mcs, streams : int
        MCS and streams, which set the rates in 802.11n, ac and ax; None for other presets. [-]
    upload, download : Connections
        TCP connections, None if there are none.
    udp_up, udp_down : Stream
        Datagrams, None if there are none.
    error_up, error_down : float
        Fraction of its frames that noise destroys, None if unknown. [-]
    flows : sequence of Flow
        All its connections, if a capture shows them.
    notes : sequence of str
        Further known properties: signal, retries.
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
    """Cell with its stations, as far as the file describes them.

    Attributes
    ----------
    source : str
        Source in words: kind and file.
    phy : str
        Preset of the cell.
    phy_note : str
        Source of the preset.
    stations : sequence of Station
        Stations in the order in which they first appear.
    cell : mapping
        Further keys of the cell, by name, each with its value as TOML writes it and a comment.
    ap : mapping
        Further keys of ``cell.ap``, in the same form.
    access : mapping
        EDCA parameters by table and category: ``("cell.ap", "voice")``.
    wire : mapping
        Keys of the wire.
    tcp : mapping
        Keys of TCP.
    ap_queue : int
        Length of the access point's queue, None if unknown. [packets]
    ap_queue_note : str
        Source of the queue length.
    duration_s : float
        Time that the file covers, 0 if the file has no times. [s]
    notes : sequence of Note
        Remarks.
    facts : sequence of Fact
        Facts about access points that are assumed since the file does not say them; the queue is
        one of them unless ``ap_queue`` is known.
    """

    source: str
    phy: str
    phy_note: str
    stations: Sequence[Station]
    cell: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ap: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    access: Mapping[tuple[str, str], Access] = field(default_factory=dict)
    wire: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    tcp: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ap_queue: int | None = None
    ap_queue_note: str = ""
    duration_s: float = 0.0
    notes: Sequence[Note] = ()
    facts: Sequence[Fact] = ()
