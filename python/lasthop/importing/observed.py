"""What an import has seen: a cell, its stations, what they send and receive, how sure that is."""

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
        What is to be known, in a sentence without its period.
    warns : bool
        Whether it changes results so that it is said as a warning, too.
    """

    text: str
    warns: bool = False


@dataclass(frozen=True)
class Connections:
    """TCP connections of a station, one way.

    Attributes
    ----------
    count : int
        How many at a time.
    measured : bool
        Whether they were counted; otherwise they are assumed.
    note : str
        What was measured of them, or why they are assumed.
    """

    count: int
    measured: bool
    note: str = ""


@dataclass(frozen=True)
class Stream:
    """Datagrams of a station, one way.

    Attributes
    ----------
    rate_bps : float
        Mean rate of payload. [bit/s]
    payload_bytes : int
        Their usual payload. [bytes]
    note : str
        Source of the values.
    """

    rate_bps: float
    payload_bytes: int
    note: str = "measured"


@dataclass(frozen=True)
class Flow:
    """One connection as a capture shows it.

    Attributes
    ----------
    direction : str
        ``"up"`` from the station, or ``"down"``.
    start_s, stop_s : float
        First and last packet, from the beginning of the capture. [s]
    data_bytes : int
        Payload that went in its direction, repeats left out as far as they show. [bytes]
    goodput_bps : float
        The same over its time. [bit/s]
    rtt_s : float
        Mean round trip, None if nothing tells. [s]
    by_time_stamps : bool
        Whether the ends' time stamps tell it; otherwise the order of ACKs and data does.
    segments, retransmitted : int
        Segments that were seen, and how many of them again.
    handshake_s : float
        Round trip of its handshake, None if that was not seen. [s]
    window_limited : bool
        Whether its window limited it; otherwise its application did.
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
    """Access parameters of one category; None where nothing was said.

    Attributes
    ----------
    aifsn : int
        Slots between SIFS and the backoff. [slots]
    cwmin, cwmax : int
        Contention windows. [slots]
    txop_s : float
        Limit of a transmission opportunity, 0: one frame at a time. [s]
    default : bool
        Whether the program's own default stands here, since the file says nothing.
    txop_note : str
        Source of the limit of a transmission opportunity, if it has another than the rest.
    """

    aifsn: int | None = None
    cwmin: int | None = None
    cwmax: int | None = None
    txop_s: float | None = None
    default: bool = False
    txop_note: str = ""


@dataclass(frozen=True)
class Station:
    """One station.

    Attributes
    ----------
    address : str
        MAC or IP address, which a scenario shows only if asked to.
    up_bps, down_bps : float
        Rates of its data frames and of those to it, None if not seen. [bit/s]
    phy : str
        Preset of its own if it is older than the cell.
    mcs, streams : int
        What the rates follow from in 802.11n, ac and ax, None elsewhere. [-]
    upload, download : Connections
        TCP connections, None if there are none.
    udp_up, udp_down : Stream
        Datagrams, None if there are none.
    error_up, error_down : float
        Part of its frames that noise destroys, None if nothing tells. [-]
    flows : sequence of Flow
        Its connections one by one, where a capture shows them.
    notes : sequence of str
        What else is known: signal, retries.
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
    """A cell with its stations, as far as a file told.

    Attributes
    ----------
    source : str
        What was read, in words: kind and file.
    phy : str
        Preset of the cell.
    phy_note : str
        Where it comes from.
    stations : sequence of Station
        In order of first sight.
    cell : mapping
        Further keys of the cell, by name, each with its value as TOML writes it and a comment.
    ap : mapping
        The same of ``cell.ap``.
    access : mapping
        Access parameters by table and category: ``("cell.ap", "voice")``.
    wire : mapping
        Keys of the wire.
    tcp : mapping
        Keys of TCP.
    ap_queue : int
        Packets that the access point's queue holds, None if nothing tells. [packets]
    ap_queue_note : str
        Where that comes from.
    duration_s : float
        Time that the file covers, 0 if it is of no time. [s]
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
