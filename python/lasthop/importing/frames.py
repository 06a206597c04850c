"""Radiotap and 802.11 headers: sender, receiver, rate and payload of a frame.

The radiotap parser of dpkt does not support MCS, VHT or HE. It also parses the whole frame, which
takes most of the time, although only a few fields are needed. References: radiotap.org, IEEE
802.11-2020 clause 9.
"""

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from lasthop.importing.ppdu import SUBCARRIERS, Modulation, Sighting

__all__ = ["DATA", "RADIOTAP", "WLAN", "Frame", "Radio", "frame", "radiotap"]

WLAN, RADIOTAP, PRISM, PPI = 105, 127, 119, 192
"""Link types of 802.11 captures: plain frames, radiotap, and two obsolete headers that are
skipped."""

FIELDS = (
    (8, 8),  # TSFT
    (1, 1),  # flags
    (1, 1),  # rate
    (4, 2),  # channel
    (2, 2),  # FHSS
    (1, 1),  # signal
    (1, 1),  # noise
    (2, 2),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),  # antenna
    (1, 1),
    (1, 1),
    (2, 2),  # RX flags
    (2, 2),  # TX flags
    (1, 1),  # RTS retries
    (1, 1),  # data retries
    (8, 4),  # XChannel
    (3, 1),  # MCS
    (8, 4),  # A-MPDU
    (12, 2),  # VHT
    (12, 8),  # time stamp
    (12, 2),  # HE
)
"""Size and alignment of each radiotap field, by its bit. [bytes]"""

FLAGS, RATE, CHANNEL, SIGNAL, NOISE, MCS, VHT, HE = 1, 2, 3, 5, 6, 19, 21, 23
FCS_AT_END, BAD_FCS = 0x10, 0x40

MANAGEMENT, CONTROL, DATA, EXTENSION = range(4)
BEACON, PROBE_RESPONSE = 8, 5
RTS, CTS, ACK = 11, 12, 13
TO_DS, FROM_DS, RETRY, PROTECTED = 1, 2, 8, 0x40
QOS = 0x8
AMSDU = b"\x80"
"""Bit that marks an A-MSDU, in the first byte of the QoS control field."""
SUBFRAME_HEADER = 14
"""Length of the header of each packet in an A-MSDU: two addresses and a length. [bytes]"""
SNAP = b"\xaa\xaa\x03"

HT_WIDTHS = (20, 40, 20, 20)
VHT_WIDTHS = (20, 40, 20, 20, 80, *[40] * 2, *[20] * 4, 160, *[80] * 2, *[40] * 4, *[20] * 8)
HE_WIDTHS = (20, 40, 80, 160)
"""Channel widths by the codes of radiotap for 802.11ax. [MHz]"""
RU_SUBCARRIERS = {4: 24, 5: 48, 6: 102}
RU_WIDTHS = {7: 20, 8: 40, 9: 80, 10: 160}
"""Widths of 802.11ax resource units by the codes of radiotap. [MHz]"""
HE_GUARD_NS = (800, 1600, 3200, 800)
HE_MCS_KNOWN, HE_MU = 0x20, 2
"""Bit of radiotap's HE field that marks the MCS as valid, and the code of the first multi-user
format.
"""
NOTHING = Sighting(0.0)


class Radio(NamedTuple):
    """Properties of a frame that the capturing radio reported.

    Attributes
    ----------
    sent : Sighting
        Rate and modulation; the rate is 0 if it is not reported.
    mhz : int
        Frequency of the channel, 0 if it is not reported. [MHz]
    signal_dbm, noise_dbm : int
        Levels of signal and noise, None if they are not reported. [dBm]
    fcs : bool
        Whether the frame ends with its check sequence.
    bad : bool
        Whether the check sequence is wrong.
    length : int
        Length of the radiotap header. [bytes]
    """

    sent: Sighting
    mhz: int
    signal_dbm: int | None
    noise_dbm: int | None
    fcs: bool
    bad: bool
    length: int


BARE = Radio(NOTHING, 0, None, None, False, False, 0)


class Frame(NamedTuple):
    """Header of a frame. Missing addresses are empty.

    Attributes
    ----------
    kind, subtype : int
        Frame type and subtype.
    receiver, transmitter, third : bytes
        First three addresses of the frame header.
    to_ds, from_ds, retry, protected : bool
        Flags of the frame control field.
    qos, amsdu : bool
        Whether the frame is QoS data, and whether it contains several packets.
    sequence : int
        Sequence control field: sequence number and fragment number.
    payload : bytes
        LLC header and packet of a data frame that is not encrypted, else empty.
    body_bytes : int
        Length of the frame after its header, without check sequence. [bytes]
    """

    kind: int
    subtype: int
    receiver: bytes
    transmitter: bytes
    third: bytes = b""
    to_ds: bool = False
    from_ds: bool = False
    retry: bool = False
    protected: bool = False
    qos: bool = False
    amsdu: bool = False
    sequence: int = 0
    payload: bytes = b""
    body_bytes: int = 0


def radiotap(content: bytes) -> Radio | None:
    """Return the radiotap header at the beginning of a frame; None if it is incomplete."""
    if len(content) < 8 or content[0] != 0:
        return None
    length = int.from_bytes(content[2:4], "little")
    if length < 8 or length > len(content):
        return None
    results = dict(_fields(content, length))
    flags = results[FLAGS][0] if FLAGS in results else 0
    mhz = int.from_bytes(results[CHANNEL][:2], "little") if CHANNEL in results else 0
    return Radio(
        _sent(results),
        mhz,
        _signed(results.get(SIGNAL)),
        _signed(results.get(NOISE)),
        bool(flags & FCS_AT_END),
        bool(flags & BAD_FCS),
        length,
    )


def _fields(content: bytes, length: int) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each radiotap field. Fields of further presence words, which
    describe single antennas, are skipped.
    """
    (present,) = struct.unpack_from("<I", content, 4)
    at, word = 8, present
    while word & 1 << 31 and at + 4 <= length:
        (word,) = struct.unpack_from("<I", content, at)
        at += 4
    for bit, (size, alignment) in enumerate(FIELDS):
        if present & 1 << bit:
            at += -at % alignment
            if at + size > length:
                return
            yield bit, content[at : at + size]
            at += size


def _signed(field: bytes | None) -> int | None:
    return None if field is None else int.from_bytes(field, "little", signed=True)


def _sent(fields: dict[int, bytes]) -> Sighting:
    """Return the rate and the modulation of a frame from its radiotap fields."""
    for bit, read in ((MCS, _ht), (VHT, _vht), (HE, _he)):
        if bit in fields:
            return read(fields[bit])
    return _plain(fields[RATE][0] & 0x7F) if RATE in fields else NOTHING


@lru_cache(maxsize=128)
def _plain(units: int) -> Sighting:
    return Sighting(units * 5e5)


@lru_cache(maxsize=4096)
def _ht(field: bytes) -> Sighting:
    known, flags, index = field
    short = bool(known & 4 and flags & 4)
    width = HT_WIDTHS[flags & 3] if known & 1 else 20
    mcs, streams = (index % 8, 1 + index // 8) if index < 32 else (0, 1)
    return _seen(Modulation("802.11n", mcs, streams, width, 400 if short else 800))


@lru_cache(maxsize=4096)
def _vht(field: bytes) -> Sighting:
    known, flags, bandwidth = struct.unpack_from("<HBB", field)
    mcs, streams = field[4] >> 4, max(field[4] & 0xF, 1)
    width = VHT_WIDTHS[bandwidth & 0x1F] if known & 0x40 and bandwidth & 0x1F < 26 else 20
    short = bool(known & 4 and flags & 4)
    return _seen(Modulation("802.11ac", mcs, streams, width, 400 if short else 800))


@lru_cache(maxsize=4096)
def _he(field: bytes) -> Sighting:
    first, _, third, _, fifth, sixth = struct.unpack("<6H", field)
    unit, guard_ns = fifth & 0xF, HE_GUARD_NS[fifth >> 4 & 3]
    streams = max(sixth & 0xF, 1)
    if third & 1 << 15:
        # A space-time block code uses two streams for each spatial stream.
        streams = max(streams // 2, 1)
    width = HE_WIDTHS[unit] if unit < 4 else RU_WIDTHS.get(unit, 20)
    modulation = Modulation("802.11ax", third >> 8 & 0xF, streams, width, guard_ns)
    dcm = bool(third & 1 << 12)
    several = first & 3 >= HE_MU or unit > 3
    rate_bps = modulation.rate_bps / (1 + dcm)
    if unit in RU_SUBCARRIERS:
        rate_bps *= RU_SUBCARRIERS[unit] / SUBCARRIERS[modulation.phy][width]
    known = bool(first & HE_MCS_KNOWN)
    return Sighting(rate_bps if known else 0.0, modulation, ("DCM",) * dcm + ("OFDMA",) * several)


def _seen(modulation: Modulation) -> Sighting:
    return Sighting(modulation.rate_bps, modulation)


def past_other_headers(link: int, content: bytes) -> bytes:
    """Return the 802.11 frame after a Prism or PPI header; empty if the header is incomplete."""
    if link == PRISM and len(content) >= 8:
        length = int.from_bytes(content[4:8], "little")
    elif link == PPI and len(content) >= 4:
        length = int.from_bytes(content[2:4], "little")
    else:
        return b""
    return content[length:] if 8 <= length <= len(content) else b""


def frame(content: bytes, fcs: bool) -> Frame | None:
    """Return the header of an 802.11 frame; None if it is incomplete or its version is not 0."""
    if len(content) < 10 or content[0] & 3:
        return None
    kind, subtype, flags = content[0] >> 2 & 3, content[0] >> 4, content[1]
    receiver, transmitter, third = content[4:10], content[10:16], content[16:22]
    if kind == CONTROL:
        has_transmitter = subtype not in (CTS, ACK) and len(transmitter) == 6
        sender = transmitter if has_transmitter else b""
        return Frame(kind, subtype, receiver, sender)
    if len(content) < 24 or kind == EXTENSION:
        return None
    to_ds, from_ds = bool(flags & TO_DS), bool(flags & FROM_DS)
    qos = kind == DATA and bool(subtype & QOS)
    start = 24 + (6 if to_ds and from_ds else 0) + (2 if qos else 0)
    end = len(content) - (4 if fcs else 0)
    protected = bool(flags & PROTECTED)
    carries = kind == DATA and not subtype & 4 and not protected and end > start
    return Frame(
        kind,
        subtype,
        receiver,
        transmitter,
        third,
        to_ds,
        from_ds,
        bool(flags & RETRY),
        protected,
        qos,
        qos and bool(content[start - 2 : start - 1] >= AMSDU),
        int.from_bytes(content[22:24], "little"),
        content[start:end] if carries else b"",
        max(end - start, 0),
    )


def packets_of(seen: Frame) -> Iterator[bytes]:
    """Yield the LLC header and payload of each packet in a data frame that is not encrypted."""
    if not seen.amsdu:
        yield from [seen.payload] if seen.payload else []
        return
    at = 0
    while at + SUBFRAME_HEADER < len(seen.payload):
        length = int.from_bytes(seen.payload[at + 12 : at + SUBFRAME_HEADER], "big")
        yield seen.payload[at + SUBFRAME_HEADER : at + SUBFRAME_HEADER + length]
        at += SUBFRAME_HEADER + length
        at += -at % 4  # All subframes except the last are padded.


def spelled(address: bytes) -> str:
    """Return a MAC address as text, such as ``02:00:00:00:00:01``."""
    return address.hex(":")


def is_group(address: bytes) -> bool:
    """Return whether an address is a group address, such as the broadcast address."""
    return bool(address[:1]) and bool(address[0] & 1)
