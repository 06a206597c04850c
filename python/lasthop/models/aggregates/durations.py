r"""Durations of PPDUs of 802.11n, ac and ax, and of control frames such as BlockAck.

.. math:: T = T_{pre} + T_{sym} N_{sym} + T_{PE}, \qquad
          N_{sym} = \lceil (16 + 8 L + 6 N_{ES}) / N_{DBPS} \rceil
          \quad\text{(BCC; LDPC has no tail bits and may need one more symbol)}

:math:`L` is the length of the PSDU in bytes, :math:`N_{ES}` the number of BCC encoders, and
:math:`N_{DBPS}` the number of data bits per symbol. All times are whole nanoseconds, as in the
engine. The engine has separate formulas, so that an error in either implementation shows as a
disagreement.

References: IEEE 802.11-2016, 19.3.9, 19.3.11.7.5, 19.4.3 (HT), 21.3.10.5, 21.4.3 (VHT), 17.4.3
(OFDM); IEEE 802.11ax-2021, 27.3.12.5, 27.4.3 (HE). ``rules = "ns-3"`` computes as ns-3 3.44 does
(src/wifi/model/{ht,vht,he}/*-phy.cc). In ns-3 there is no VHT-SIG-B and no packet extension.
Durations with short GI are not rounded up to 4 us, and HE-LTFs last 8 us. The number of symbols is
always that of BCC, also with LDPC.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal

Standard = Literal["ht", "vht", "he"]

SERVICE_BITS, TAIL_BITS = 16, 6
"""Lengths of the SERVICE field, and of the tail of each BCC encoder. IEEE 802.11-2016, 19.3.11.2.
[bits]
"""
CONTROL_BYTES = {
    "ack": 14,
    "cts": 14,
    "rts": 20,
    "block_ack_request": 24,
    "block_ack_64": 32,
    "block_ack_256": 56,
}
"""Lengths of control frames, including FCS. IEEE 802.11-2020, 9.3.1. [bytes]"""
OFDM_SYMBOL_NS = 4000
"""Duration of a symbol of non-HT OFDM at 20 MHz. IEEE 802.11-2016, table 17-5. [ns]"""
SIGNAL_EXTENSION_NS = 6000
"""Signal extension: the silence after each frame in the 2.4 GHz band. IEEE 802.11-2020, 18.3.2.4.
[ns]
"""

_CODING = (
    (1, Fraction(1, 2)),
    (2, Fraction(1, 2)),
    (2, Fraction(3, 4)),
    (4, Fraction(1, 2)),
    (4, Fraction(3, 4)),
    (6, Fraction(2, 3)),
    (6, Fraction(3, 4)),
    (6, Fraction(5, 6)),
    (8, Fraction(3, 4)),
    (8, Fraction(5, 6)),
    (10, Fraction(3, 4)),
    (10, Fraction(5, 6)),
)
"""Coded bits per subcarrier, and code rate, of each MCS."""
_MCS = {"ht": 8, "vht": 10, "he": 12}
_SUBCARRIERS = {
    "ht": {20: 52, 40: 108},
    "vht": {20: 52, 40: 108, 80: 234, 160: 468},
    "he": {20: 234, 40: 468, 80: 980, 160: 1960},
}
_SHORT_SUBCARRIERS = {20: 60, 40: 120, 80: 240, 160: 492}
"""N_SD,short: number of data subcarriers for a quarter of an HE symbol, by channel width. IEEE
802.11ax-2021, table 27-33.
"""
_LTFS = (0, 1, 2, 4, 4, 6, 6, 8, 8)
"""Number of long training symbols, by number of spatial streams. IEEE 802.11-2016, table 21-13."""
_VHT_FORBIDDEN = {(20, streams, 9) for streams in (1, 2, 4, 5, 7, 8)} | {
    (80, 3, 6),
    (80, 7, 6),
    (80, 6, 9),
    (160, 3, 9),
}
"""Combinations of width, streams and MCS that do not exist. IEEE 802.11-2016, tables 21-30 to
21-61.
"""
_NS3_LACKS = {(160, 8, 5): 7, (160, 8, 8): 11}
"""Number of BCC encoders by width, streams and MCS. The standard lists these combinations as
exceptions, and ns-3 does not implement them.
"""


@dataclass(frozen=True)
class Ppdu:
    """Transmission parameters of the PPDUs of a link.

    Attributes
    ----------
    standard : {"ht", "vht", "he"}
        802.11n (HT-mixed), 802.11ac (VHT SU) or 802.11ax (HE SU).
    width_mhz : int
        Channel width. [MHz]
    mcs : int
        MCS of one stream: 0 to 7 (HT), 0 to 9 (VHT) or 0 to 11 (HE). HT's MCS 15 is MCS 7 with two
        streams.
    streams : int
        Number of spatial streams.
    gi_ns : int
        Guard interval: 400 or 800, for HE 800, 1600 or 3200. [ns]
    ltf_ns : int
        HE-LTF without its guard interval: 3200, 6400 or 12800. [ns]
    coding : {"bcc", "ldpc"}
    band_ghz : float
        Frequency band: 2.4, 5 or 6. [GHz]
    padding_us : int
        Nominal packet padding of HE: 0, 8 or 16. [us]
    rules : {"standard", "ns-3"}
    """

    standard: Standard
    width_mhz: int
    mcs: int
    streams: int = 1
    gi_ns: int = 800
    ltf_ns: int = 6400
    coding: Literal["bcc", "ldpc"] = "bcc"
    band_ghz: float = 5
    padding_us: int = 0
    rules: Literal["standard", "ns-3"] = "standard"

    def __post_init__(self) -> None:
        widths = _SUBCARRIERS[self.standard]
        streams = 4 if self.standard == "ht" else 8
        guards = (800, 1600, 3200) if self.standard == "he" else (400, 800)
        if self.width_mhz not in widths or not 0 <= self.mcs < _MCS[self.standard]:
            raise ValueError(f"{self!r}: no such width or MCS")
        if not 1 <= self.streams <= streams or self.gi_ns not in guards:
            raise ValueError(f"{self!r}: no such streams or guard interval")
        if self.standard == "vht" and (self.width_mhz, self.streams, self.mcs) in _VHT_FORBIDDEN:
            raise ValueError(f"{self!r}: VHT has no such width, streams and MCS")

    @property
    def symbol_ns(self) -> int:
        """Duration of a symbol, including the guard interval. [ns]"""
        return (12_800 if self.standard == "he" else 3200) + self.gi_ns

    @property
    def coded_bits(self) -> int:
        """Coded bits of a symbol, :math:`N_{CBPS}`. [bits]"""
        per_subcarrier, _ = _CODING[self.mcs]
        return _SUBCARRIERS[self.standard][self.width_mhz] * per_subcarrier * self.streams

    @property
    def data_bits(self) -> int:
        r"""Data bits of a symbol, :math:`N_{DBPS} = \lfloor N_{CBPS} R \rfloor`. [bits]"""
        return int(self.coded_bits * _CODING[self.mcs][1])

    @property
    def encoders(self) -> int:
        """Number of BCC encoders, :math:`N_{ES}`: the smallest number that the data rate allows and
        that divides the bits of a symbol.

        IEEE 802.11-2016, tables 19-27 to 19-38, has one encoder up to 300 Mb/s for HT. Tables 21-30
        to 21-61 have one encoder per 540 Mb/s for VHT. All encoders have equal numbers of coded
        bits, and of data bits, per symbol.
        """
        if self.standard == "he":
            return 1
        if self.standard == "ht":
            return 1 if self.data_bits <= 1200 else 2
        count = -(-self.data_bits // 2160)
        while self.coded_bits % count or self.data_bits % count:
            count += 1
        return count

    @property
    def preamble_ns(self) -> int:
        """Duration of all fields before the first data symbol. [ns]"""
        ltfs = _LTFS[self.streams]
        legacy = 20_000  # L-STF, L-LTF, L-SIG
        if self.standard == "ht":
            return legacy + 8000 + 4000 + 4000 * ltfs
        if self.standard == "vht":
            sig_b = 0 if self.rules == "ns-3" else 4000
            return legacy + 8000 + 4000 + 4000 * ltfs + sig_b
        ltf = 8000 if self.rules == "ns-3" else self.ltf_ns + self.gi_ns
        return legacy + 4000 + 8000 + 4000 + ltf * ltfs

    def duration_ns(self, psdu_bytes: int) -> int:
        """Return the duration of a PPDU, including the signal extension. [ns]

        Parameters
        ----------
        psdu_bytes : int
            Length of the PSDU (HT) or APEP (VHT, HE), at least 1. [bytes]
        """
        tail = SIGNAL_EXTENSION_NS if self.band_ghz == 2.4 else 0
        if self.rules == "ns-3":
            return self.preamble_ns + self._symbols_of_ns3(psdu_bytes) * self.symbol_ns + tail
        if self.standard == "he":
            symbols, factor = self._he_symbols(psdu_bytes)
            extension = 1000 * max(0, self.padding_us - 4 * (4 - factor))
            return self.preamble_ns + symbols * self.symbol_ns + extension + tail
        data_ns = self._symbols(psdu_bytes) * self.symbol_ns
        return self.preamble_ns + 4000 * -(-data_ns // 4000) + tail

    def _symbols(self, psdu_bytes: int) -> int:
        """Return the number of symbols of HT and VHT. IEEE 802.11-2016, equations 19-32, 21-62."""
        bits = SERVICE_BITS + 8 * psdu_bytes
        if self.coding == "bcc":
            return -(-(bits + TAIL_BITS * self.encoders) // self.data_bits)
        symbols = -(-bits // self.data_bits)
        if self.standard == "vht":
            bits = symbols * self.data_bits
        return symbols + _ldpc_needs_more(bits, symbols * self.coded_bits, _CODING[self.mcs][1])

    def _he_symbols(self, psdu_bytes: int) -> tuple[int, int]:
        """Return the number of HE symbols and the pre-FEC padding factor. IEEE 802.11ax-2021,
        27.3.12.5.
        """
        per_subcarrier, rate = _CODING[self.mcs]
        coded = _SHORT_SUBCARRIERS[self.width_mhz] * per_subcarrier * self.streams
        data = int(coded * rate)
        bits = SERVICE_BITS + 8 * psdu_bytes + (TAIL_BITS if self.coding == "bcc" else 0)
        symbols = -(-bits // self.data_bits)
        excess = bits % self.data_bits
        factor = min(-(-excess // data), 4) if excess else 4
        if self.coding == "ldpc":
            last = (self.data_bits, self.coded_bits)
            if factor < 4:
                last = (factor * data, factor * coded)
            payload = (symbols - 1) * self.data_bits + last[0]
            available = (symbols - 1) * self.coded_bits + last[1]
            if _ldpc_needs_more(payload, available, rate):
                return (symbols + 1, 1) if factor == 4 else (symbols, factor + 1)
        return symbols, factor

    def _symbols_of_ns3(self, psdu_bytes: int) -> int:
        """Return the number of symbols in ns-3, which computes bits per symbol from a rate in whole
        bit/s per stream.
        """
        per_subcarrier, coding = _CODING[self.mcs]
        carriers = _SUBCARRIERS[self.standard][self.width_mhz]
        stream = ceil(Fraction(10**9, self.symbol_ns) * carriers * per_subcarrier * coding)
        rate = self.streams * stream
        encoders = 1
        if self.standard == "ht":
            encoders = ceil(Fraction(rate, 320_000_000 if self.gi_ns == 800 else 350_000_000))
        elif self.standard == "vht":
            lacking = _NS3_LACKS.get((self.width_mhz, self.streams, self.mcs))
            encoders = self.encoders if lacking is None else lacking
        bits = SERVICE_BITS + 8 * psdu_bytes + TAIL_BITS * encoders
        return ceil(bits / Fraction(rate * self.symbol_ns, 10**9))


def _ldpc_needs_more(payload: int, available: int, rate: Fraction) -> bool:
    """Return whether LDPC needs an extra symbol, because too many bits would be punctured. IEEE
    802.11-2016, 19.3.11.7.5.

    Parameters
    ----------
    payload, available : int
        Number of bits to encode, and number of available coded bits. [bits]
    rate : Fraction
        Code rate. [-]
    """
    redundancy = 1 - rate
    if available <= 648:
        words, length = 1, 1296 if available >= payload + 912 * redundancy else 648
    elif available <= 1296:
        words, length = 1, 1944 if available >= payload + 1464 * redundancy else 1296
    elif available <= 1944:
        words, length = 1, 1944
    elif available <= 2592:
        words, length = 2, 1944 if available >= payload + 2916 * redundancy else 1296
    else:
        words, length = ceil(payload / (1944 * rate)), 1944
    shortened = max(Fraction(0), words * length * rate - payload)
    punctured = max(Fraction(0), words * length - available - shortened)
    parity = words * length * redundancy
    few_shortened = shortened < Fraction(12, 10) * punctured * rate / redundancy
    return (punctured > parity / 10 and few_shortened) or punctured > parity * Fraction(3, 10)


def control_ns(frame: str, rate_mbps: float, band_ghz: float = 5) -> int:
    """Return the duration of a control frame in non-HT OFDM. [ns]

    Parameters
    ----------
    frame : str
        A key of :data:`CONTROL_BYTES`.
    rate_mbps : float
        Rate, above 0. [Mb/s]
    band_ghz : float
        Frequency band: 2.4, 5 or 6. [GHz]
    """
    return ofdm_ns(CONTROL_BYTES[frame], rate_mbps, band_ghz)


def ofdm_ns(mac_bytes: int, rate_mbps: float, band_ghz: float = 5) -> int:
    """Return the duration of a frame in non-HT OFDM of 20 MHz. [ns]

    Parameters
    ----------
    mac_bytes : int
        Length of the MAC frame, including FCS. [bytes]
    rate_mbps : float
        Rate: 6 to 54 in the standard; any rate above 0 is accepted. [Mb/s]
    band_ghz : float
        Frequency band: 2.4, 5 or 6. [GHz]
    """
    bits = SERVICE_BITS + 8 * mac_bytes + TAIL_BITS
    symbols = -(-bits * 10**9 // (OFDM_SYMBOL_NS * round(1e6 * rate_mbps)))
    return 20_000 + OFDM_SYMBOL_NS * symbols + (SIGNAL_EXTENSION_NS if band_ghz == 2.4 else 0)


def expected_response_ns(*, mcs: int | None = None, rate_mbps: float = 6) -> int:
    """Return the duration of the response that EIFS assumes after a frame that was not decoded.
    [ns]

    The response is that of IEEE 802.11-2020, table 10-8.

    Parameters
    ----------
    mcs : int, optional
        MCS of an HT, VHT or HE PPDU; None for a frame of 802.11a, b or g.
    rate_mbps : float
        Rate of a frame of 802.11a, b or g. [Mb/s]
    """
    if mcs is not None:
        return 68_000 if mcs == 0 else 44_000 if mcs <= 2 else 32_000
    slow = {1: 304_000, 2: 248_000, 5.5: 248_000, 11: 248_000}
    return {**slow, 6: 44_000, 9: 44_000, 12: 32_000, 18: 32_000}.get(rate_mbps, 28_000)


def aggregate_bytes(standard: Standard, mpdu_bytes: int, mpdus: int) -> int:
    """Return the length of a PSDU of equal MPDUs. Each MPDU has a delimiter, and all MPDUs except
    the last are padded to 4 bytes. [bytes]

    An HT PPDU with one MPDU is not an A-MPDU: it contains only the MPDU. IEEE 802.11-2016, 9.7.

    Parameters
    ----------
    standard : {"ht", "vht", "he"}
    mpdu_bytes : int
        Length of an MPDU with MAC header and FCS. [bytes]
    mpdus : int
        Number of MPDUs, at least 1.
    """
    if standard == "ht" and mpdus == 1:
        return mpdu_bytes
    subframe = 4 + mpdu_bytes
    return (mpdus - 1) * 4 * -(-subframe // 4) + subframe
