r"""Stations in the hot-spot model: their connections and access priority."""

from dataclasses import dataclass

from lasthop.scenario.transports import DELAYED_ACK


@dataclass(frozen=True)
class Connections:
    """Equal TCP connections in one direction of one station.

    Attributes
    ----------
    count : int
        Number of connections, :math:`N`. [connections]
    window : float
        Receive window of each connection, :math:`W`. [segments]
    segments_per_ack : float
        Segments per ACK: 2 with delayed ACKs, as in the paper; 1 with immediate ACKs, beyond the
        paper. [segments]
    mss : int
        Payload of a segment, which affects only goodput. [bytes]
    """

    count: int
    window: float
    segments_per_ack: float = DELAYED_ACK
    mss: int = 1460

    @property
    def segments(self) -> float:
        """Sum of all windows, :math:`N W`. [segments]"""
        return self.count * self.window

    @property
    def acks(self) -> float:
        """Number of ACKs for the segments of all windows, :math:`N W / b`. [packets]"""
        return self.segments / self.segments_per_ack


@dataclass(frozen=True)
class StationLoad:
    r"""A station of the model: its connections and its access priority.

    Attributes
    ----------
    uploads, downloads : tuple of Connections
        Connections whose data source is the station, and connections whose data source is the fixed
        host.
    beta : float
        Access priority :math:`\beta_i`: the medium access probability of the station divided by
        that of the AP. [-]
    """

    uploads: tuple[Connections, ...] = ()
    downloads: tuple[Connections, ...] = ()
    beta: float = 1.0

    def __post_init__(self) -> None:
        if not self.beta > 0.0:
            raise ValueError(f"beta {self.beta!r} is not positive")
        for connections in self.uploads + self.downloads:
            if connections.count < 1 or not connections.window >= 1.0:
                raise ValueError(f"{connections!r} has no connection or a window below 1 segment")

    @property
    def active(self) -> bool:
        """Whether the station has at least one connection."""
        return bool(self.uploads or self.downloads)

    @property
    def upload_window(self) -> float:
        r"""Sum of the windows of all uploads, :math:`N^{up}_i W_i`. [segments]"""
        return sum(c.segments for c in self.uploads)

    @property
    def packets_at_station(self) -> float:
        r"""Number of packets in the station's buffer if the buffer contained all windows of the
        station. [packets]

        The number is :math:`N^{up}_i W_i + N^{dw}_i W_i / 2`: in this buffer, uploads have segments
        and downloads have ACKs.
        """
        return self.upload_window + sum(c.acks for c in self.downloads)

    @property
    def packets_at_ap(self) -> float:
        r"""Number of packets in the AP's buffer if the buffer contained all windows of the station.
        [packets]

        The number is :math:`N^{up}_i W_i / 2 + N^{dw}_i W_i`: in this buffer, uploads have ACKs and
        downloads have segments.
        """
        return sum(c.acks for c in self.uploads) + sum(c.segments for c in self.downloads)


@dataclass(frozen=True)
class Equilibrium:
    r"""Mean queues and loss probability of a hot-spot: the solution of system Omega or Psi.

    Attributes
    ----------
    ap_queue : float
        Mean occupancy of the AP's buffer, :math:`Q_{ap}`. [packets]
    loss : float
        Probability that a packet is lost at the AP, :math:`p`. [-]
    station_queues : tuple of float
        Mean occupancy of each station's buffer, :math:`Q_i`. [packets]
    pipe : float
        Packets that the AP sends during the wired round trip (footnote 19). [packets]
    lossless : bool
        Whether the solution is that of system Omega; if not, it is that of system Psi.
    neutral : bool
        Whether the system has many solutions: every AP queue between 0 and ``ap_queue`` then also
        solves the system.
    """

    ap_queue: float
    loss: float
    station_queues: tuple[float, ...]
    pipe: float = 0.0
    lossless: bool = True
    neutral: bool = False
