"""Transmissions of one sender of a scenario: PPDUs, responses, TXOPs, and EIFS.

Frames are formed by the rules of ``docs/concepts/aggregation.md``, for packets of one size that are
always available. Times are whole nanoseconds; only an `Exchange` has times in seconds.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from lasthop.models.aggregates import durations
from lasthop.models.aggregates.durations import (
    Ppdu,
    Standard,
    aggregate_bytes,
    control_ns,
    expected_response_ns,
)
from lasthop.models.aggregates.saturated import Exchange
from lasthop.progress.cost_limits import check_time
from lasthop.scenario.typed import (
    AccessCategory,
    AggregatingCell,
    Aggregation,
    CellScenario,
    Station,
    UdpFlow,
)

STANDARDS: Mapping[str, Standard] = {"802.11n": "ht", "802.11ac": "vht", "802.11ax": "he"}
"""PHY format by standard, for the standards with aggregation."""

LONGEST_BYTES: Mapping[Standard, int] = {"ht": 65_535, "vht": 1_048_575, "he": 6_500_631}
"""Longest PSDU with several MPDUs. IEEE 802.11ax-2021, 9.4.2.55, 9.4.2.157, 9.4.2.248. [bytes]"""
MAX_MPDUS: Mapping[Standard, int] = {"ht": 64, "vht": 64, "he": 256}
"""Largest BlockAck window of each PHY format. IEEE 802.11ax-2021, 9.3.1.8. [MPDUs]"""
LONGEST_AMSDU_BYTES: Mapping[Standard, int] = {"ht": 7_935, "vht": 11_398, "he": 11_398}
"""Longest A-MSDU. IEEE 802.11-2020, table 9-34. [bytes]"""
SUBFRAME_BYTES = 14
"""Header of an A-MSDU subframe. IEEE 802.11-2020, 9.3.2.2. [bytes]"""


@dataclass(frozen=True)
class Mpdus:
    """Contents of a PPDU.

    Attributes
    ----------
    count : int
        Number of MPDUs.
    packets : int
        Number of packets in the MPDUs.
    psdu_bytes : int
        Length of the PSDU. [bytes]
    """

    count: int
    packets: int
    psdu_bytes: int


@dataclass(frozen=True)
class Sending:
    """A sender of packets of one size to one receiver, in a cell of 802.11n, ac or ax.

    Attributes
    ----------
    cell : AggregatingCell
    station : Station
        Station that sends to the access point, or to which the access point sends.
    is_up : bool
        Whether the station is the sender.
    access : AccessCategory
        The sender's access parameters.
    own : Aggregation
        Aggregation limits of the sender.
    packet_bytes, payload_bytes : int
        Length of an IP packet, and of its payload. [bytes]
    """

    cell: AggregatingCell
    station: Station
    is_up: bool
    access: AccessCategory
    own: Aggregation
    packet_bytes: int
    payload_bytes: int

    @classmethod
    def of(cls, scenario: CellScenario, flow: UdpFlow) -> "Sending":
        """Return the sender of a UDP flow."""
        cell, station = scenario.cell, scenario.station[flow.station]
        assert isinstance(cell, AggregatingCell)
        node = station if flow.is_up else cell.ap
        aggregation = node.aggregates(flow.category)
        assert aggregation is not None
        # The station is copied without its name, so that equal senders compare as equal.
        own = node.access(flow.category)
        access = AccessCategory(
            aifsn=own.aifsn,
            cwmin=own.cwmin,
            cwmax=own.cwmax,
            txop_packets=own.txop_packets,
            txop_limit_s=own.txop_limit_s,
        )
        udp = flow.udp
        sizes = udp.packet_bytes, udp.payload_bytes
        return cls(cell, station, flow.is_up, access, aggregation, *sizes)

    @cached_property
    def standard(self) -> Standard | None:
        """PHY format of the sender's PPDUs; None if it sends single frames."""
        return STANDARDS.get(self.station.phy or self.cell.phy)

    @cached_property
    def band_ghz(self) -> float:
        """Frequency band of the cell. [GHz]"""
        return float(self.cell.band.removesuffix(" GHz"))

    @cached_property
    def most_mpdus(self) -> int:
        """Largest number of MPDUs in an A-MPDU, and size of the BlockAck window; 1 without a
        BlockAck agreement.
        """
        return min(self.own.mpdus, MAX_MPDUS[self.standard]) if self.standard else 1

    @cached_property
    def ppdu(self) -> Ppdu | None:
        """Transmission parameters of the sender's PPDUs; None if it sends single frames."""
        if self.standard is None:
            return None
        cell, station = self.cell, self.station
        assert station.mcs is not None
        assert station.streams is not None
        width_mhz = int(cell.width.removesuffix(" MHz"))
        is_older = STANDARDS[cell.phy] == "he" != self.standard
        return Ppdu(
            self.standard,
            min(width_mhz, 40) if self.standard == "ht" else width_mhz,
            station.mcs,
            station.streams,
            gi_ns=800 if is_older else _ns(cell.guard_interval_s),
            ltf_ns=_ns(cell.ltf_s or 6.4e-6),
            coding="bcc" if is_older else cell.coding,
            band_ghz=self.band_ghz,
            padding_us=_ns(cell.packet_padding_s or 0.0) // 1000,
            rules=cell.durations,
        )

    def ppdu_ns(self, psdu_bytes: int) -> int:
        """Return the duration of a PPDU. [ns]"""
        if psdu_bytes not in self._ppdus_ns:
            self._ppdus_ns[psdu_bytes] = (
                durations.ofdm_ns(psdu_bytes, self.rate_mbps, self.band_ghz)
                if self.ppdu is None
                else self.ppdu.duration_ns(psdu_bytes)
            )
        return self._ppdus_ns[psdu_bytes]

    @cached_property
    def _ppdus_ns(self) -> dict[int, int]:
        return {}

    @property
    def rate_mbps(self) -> int:
        """PHY rate of a sender of single frames. [Mb/s]"""
        rate_bps = self.station.rate_bps if self.is_up else self.station.downlink_rate_bps
        return round(rate_bps / 1e6)

    @cached_property
    def control_mbps(self) -> tuple[int, int]:
        """PHY rates of RTS and BlockAckReq, and of the responses of the receiver. [Mb/s]"""
        rates = self.station.uplink_control_bps if self.is_up else self.station.downlink_control_bps
        rts, response = (round(each / 1e6) for each in rates)
        return rts, response

    def control_ns(self, frame: str) -> int:
        """Return the duration of a control frame that the sender sends or receives. [ns]"""
        rts, response = self.control_mbps
        asks = frame in ("rts", "block_ack_request")
        return control_ns(frame, rts if asks else response, self.band_ghz)

    @property
    def block_ack(self) -> str:
        """Type of BlockAck, by the size of the BlockAck window."""
        return "block_ack_64" if self.most_mpdus <= 64 else "block_ack_256"

    def response_ns(self, mpdus: int) -> int:
        """Return the duration of the response to a PPDU of `mpdus` MPDUs. [ns]"""
        return self.control_ns("ack" if mpdus == 1 else self.block_ack)

    @property
    def sifs_ns(self) -> int:
        """SIFS. [ns]"""
        return _ns(self.cell.sifs_s)

    @property
    def ahead_ns(self) -> int:
        """Duration of RTS and CTS, including the SIFS after each frame. [ns]"""
        return self.control_ns("rts") + self.control_ns("cts") + 2 * self.sifs_ns

    def is_protected(self, psdu_bytes: int) -> bool:
        """Return whether an RTS precedes a PPDU of this length that begins a channel access."""
        threshold, longest_s = self.cell.rts_threshold_bytes, self.cell.rts_longer_than_s
        return (threshold is not None and psdu_bytes > threshold) or (
            longest_s is not None and self.ppdu_ns(psdu_bytes) > _ns(longest_s)
        )

    @cached_property
    def packets_per_mpdu(self) -> int:
        """Number of packets in an MPDU."""
        most = self.own.amsdu_bytes
        if most is None or self.standard is None:
            return 1
        most = min(most, LONGEST_AMSDU_BYTES[self.standard])
        packets = 1
        while self.mpdu_bytes(packets + 1) - self.cell.mac_header_bytes <= most:
            packets += 1
        return packets

    @cached_property
    def most_bytes(self) -> int:
        """Longest PSDU that the sender may send. [bytes]"""
        own = self.own.most_bytes
        return own if self.standard is None else min(own, LONGEST_BYTES[self.standard])

    def mpdu_bytes(self, packets: int = 1) -> int:
        """Return the length of an MPDU with `packets` packets; several packets form an A-MSDU.
        [bytes]
        """
        msdu_bytes = self.packet_bytes + self.cell.llc_bytes
        if packets == 1:
            return self.cell.mac_header_bytes + msdu_bytes
        subframe = SUBFRAME_BYTES + msdu_bytes
        padded = 4 * -(-subframe // 4)
        return self.cell.mac_header_bytes + (packets - 1) * padded + subframe

    def mpdus(self, left_ns: int | None, *, opens: bool) -> Mpdus:
        """Return the next PPDU of a sender whose queue is full.

        Parameters
        ----------
        left_ns : int, optional
            Remaining time of a TXOP for RTS, PPDU and response; None if the TXOP has no time limit.
            [ns]
        opens : bool
            Whether the PPDU begins the TXOP; at least one MPDU is then sent, whatever its length.
        """
        grown = self._grown
        if left_ns is None:
            fitting = len(grown)
        else:
            fitting = bisect_right(self._opening_ns if opens else self._following_ns, left_ns)
        if not self._is_allowed(grown[0]):
            fitting = 0
        if fitting == 0:
            return grown[0] if opens else Mpdus(0, 0, 0)
        return grown[fitting - 1]

    @cached_property
    def _grown(self) -> tuple[Mpdus, ...]:
        return self.ppdus()

    @cached_property
    def _opening_ns(self) -> tuple[int, ...]:
        """Duration of the longest exchange with any of the first n PPDUs of `ppdus`, for each n, if
        the PPDU begins a channel access. [ns]
        """
        return tuple(
            accumulate((self.until_answered_ns(each, opens=True) for each in self._grown), max)
        )

    @cached_property
    def _following_ns(self) -> tuple[int, ...]:
        """Duration of the longest exchange with any of the first n PPDUs of `ppdus`, for each n, if
        the PPDU continues a TXOP. [ns]
        """
        return tuple(
            accumulate((self.until_answered_ns(each, opens=False) for each in self._grown), max)
        )

    def ppdus(self) -> tuple[Mpdus, ...]:
        """PPDUs of one packet, of two packets, and so on, up to the longest PPDU within the
        sender's limits.
        """
        held = list[Mpdus]()
        for each in self._growing():
            if held and not self._is_allowed(each):
                break
            held.append(each)
        return tuple(held)

    def until_answered_ns(self, mpdus: Mpdus, *, opens: bool) -> int:
        """Return the time from the start of an exchange with a PPDU to the end of the response.
        [ns]

        Parameters
        ----------
        mpdus : Mpdus
        opens : bool
            Whether the PPDU begins a channel access, so that an RTS may precede the PPDU.
        """
        ahead_ns = self.ahead_ns if opens and self.is_protected(mpdus.psdu_bytes) else 0
        return (
            ahead_ns + self.ppdu_ns(mpdus.psdu_bytes) + self.sifs_ns + self.response_ns(mpdus.count)
        )

    def _growing(self) -> Iterator[Mpdus]:
        """Yield PPDUs of one packet, of two packets, and so on, without regard to the limits of
        bytes and time.
        """
        mpdu_bytes = self.mpdu_bytes(self.packets_per_mpdu)
        for full in range(self.most_mpdus):
            for packets in range(1, self.packets_per_mpdu + 1):
                last = self.mpdu_bytes(packets)
                psdu_bytes = last
                if full > 0:
                    psdu_bytes = full * 4 * -(-(4 + mpdu_bytes) // 4) + 4 + last
                elif self.standard is not None:
                    psdu_bytes = aggregate_bytes(self.standard, last, 1)
                yield Mpdus(full + 1, full * self.packets_per_mpdu + packets, psdu_bytes)

    def _is_allowed(self, mpdus: Mpdus) -> bool:
        """Return whether a PPDU is within the sender's limits of bytes and time."""
        is_short = mpdus.psdu_bytes <= self.most_bytes
        return is_short and self.ppdu_ns(mpdus.psdu_bytes) <= _ns(self.own.time_s)

    @property
    def limit_ns(self) -> int | None:
        """TXOP limit as a duration; None if the TXOP has no time limit. [ns]"""
        limit_s = self.access.txop_limit_s
        return None if limit_s is None else _ns(limit_s)

    @property
    def is_single(self) -> bool:
        """Whether each channel access has only one PPDU, whatever its number of MPDUs."""
        return self.access.txop_packets == 1

    @cached_property
    def first(self) -> Mpdus:
        """First PPDU of a channel access if the sender's queue is full."""
        return self.mpdus(self.limit_ns, opens=True)

    @cached_property
    def _exchanges(self) -> dict[int, Exchange]:
        return {}

    def exchange(self, mpdus: int) -> Exchange:
        """Return the channel access that begins with a PPDU of `mpdus` MPDUs."""
        if mpdus not in self._exchanges:
            self._exchanges[mpdus] = self._exchange(mpdus)
        return self._exchanges[mpdus]

    def _exchange(self, mpdus: int) -> Exchange:
        first = self.first
        # If MPDUs are lost, a PPDU may have a number of MPDUs other than `first.count`. Each of its
        # MPDUs is then a full A-MSDU.
        if mpdus != first.count:
            psdu_bytes = self._whole(mpdus)
            first = Mpdus(mpdus, mpdus * self.packets_per_mpdu, psdu_bytes)
        is_protected = self.is_protected(first.psdu_bytes)
        ahead_ns = self.ahead_ns if is_protected else 0
        ppdu_ns = self.ppdu_ns(first.psdu_bytes)
        ended_ns = ahead_ns + ppdu_ns
        first_ns = self.control_ns("rts") if is_protected else ppdu_ns
        until_ns = ended_ns + self.sifs_ns + self.response_ns(first.count)
        return self._access(first_ns, ended_ns, until_ns, [first], is_protected=is_protected)

    def request(self) -> Exchange:
        """Return the channel access that begins with a BlockAckReq."""
        request_ns = self.control_ns("block_ack_request")
        until_ns = request_ns + self.sifs_ns + self.control_ns(self.block_ack)
        return self._access(request_ns, request_ns, until_ns, [], is_protected=True)

    def _whole(self, mpdus: int) -> int:
        assert self.standard is not None
        return aggregate_bytes(self.standard, self.mpdu_bytes(self.packets_per_mpdu), mpdus)

    def _access(
        self, first_ns: int, ended_ns: int, until_ns: int, held: list[Mpdus], *, is_protected: bool
    ) -> Exchange:
        """Return a channel access, including the further PPDUs of its TXOP."""
        held = list(held)
        for each in self._following(until_ns):
            held.append(each)
            until_ns += self.sifs_ns + self.ppdu_ns(each.psdu_bytes)
            until_ns += self.sifs_ns + self.response_ns(each.count)
        data_wait_s = self._wait_s(is_data=True)
        return Exchange(
            first_frame_s=1e-9 * first_ns,
            ended_s=1e-9 * ended_ns,
            exchange_s=1e-9 * until_ns,
            first_wait_s=self._wait_s(is_data=False) if is_protected else data_wait_s,
            wait_s=data_wait_s,
            sizes=tuple(each.count for each in held),
            payload_bytes=float(sum(each.packets for each in held) * self.payload_bytes),
            is_protected=is_protected,
        )

    def _following(self, until_ns: int) -> Iterator[Mpdus]:
        """Yield the further PPDUs of a TXOP; `until_ns` is the duration of its previous
        exchanges."""
        most = self.access.txop_packets
        count = 1
        while self.limit_ns is not None and (most is None or count < most):
            left_ns = self.limit_ns - until_ns - self.sifs_ns
            check_time("PPDUs of an opportunity")
            mpdus = self.mpdus(left_ns, opens=False)
            if mpdus.count == 0:
                return
            yield mpdus
            count += 1
            until_ns += self.sifs_ns + self.ppdu_ns(mpdus.psdu_bytes)
            until_ns += self.sifs_ns + self.response_ns(mpdus.count)

    def _wait_s(self, *, is_data: bool) -> float:
        """Return the difference of EIFS and AIFS after a frame that was not received. [s]"""
        if self.cell.eifs == "ack":
            response_ns = control_ns("ack", self.cell.eifs_rate_bps / 1e6, self.band_ghz)
        elif is_data and self.ppdu is not None:
            response_ns = expected_response_ns(mcs=self.ppdu.mcs)
        else:
            rate_mbps = self.rate_mbps if is_data else self.control_mbps[0]
            response_ns = expected_response_ns(rate_mbps=rate_mbps)
        return 1e-9 * (self.sifs_ns + response_ns)


def _ns(time_s: float) -> int:
    return round(1e9 * time_s)
