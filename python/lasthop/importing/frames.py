"""Radiotap and 802.11 headers: who sent a frame to whom, at what rate, and what it carries.

dpkt's own radiotap knows no MCS, VHT or HE and takes the whole frame apart, which costs most of a
capture's time; what is needed here are a few fields. References: radiotap.org, IEEE 802.11-2020
clause 9.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["DATA", "RADIOTAP", "WLAN", "Frame", "Radio", "frame", "radiotap"]

WLAN, RADIOTAP, PRISM, PPI = 105, 127, 119, 192
"""Link types of 802.11: bare, behind radiotap, behind headers that are read past."""

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
"""Size and alignment of each field, by its bit. [bytes]"""

FLAGS, RATE, CHANNEL, SIGNAL, NOISE, MCS, VHT, HE = 1, 2, 3, 5, 6, 19, 21, 23
FCS_AT_END, BAD_FCS = 0x10, 0x40
FIVE_GHZ_MHZ = 4900

MANAGEMENT, CONTROL, DATA, EXTENSION = range(4)
BEACON, PROBE_RESPONSE = 8, 5
RTS, CTS, ACK = 11, 12, 13
TO_DS, FROM_DS, RETRY, PROTECTED = 1, 2, 8, 0x40
QOS = 0x8
SNAP = b"\xaa\xaa\x03"

HT_20_BPS = (6.5e6, 13e6, 19.5e6, 26e6, 39e6, 52e6, 58.5e6, 65e6)
"""Rates of MCS 0 to 7, one stream, 20 MHz, long guard interval (IEEE 802.11-2020, table 19-27)."""


class Radio(NamedTuple):
    """What a radio said of a frame.

    Attributes
    ----------
    rate_bps : float
        Rate, 0 if it is not told. [bit/s]
    later : str
        Letters of a later physical layer: ``"n"``, ``"ac"``, ``"ax"``; else empty.
    mhz : int
        Channel, 0 if it is not told. [MHz]
    signal_dbm, noise_dbm : int
        Levels, None if they are not told. [dBm]
    fcs : bool
        Whether the frame ends with its check sequence.
    bad : bool
        Whether that is wrong.
    length : int
        Bytes of the header.
    """

    rate_bps: float
    later: str
    mhz: int
    signal_dbm: int | None
    noise_dbm: int | None
    fcs: bool
    bad: bool
    length: int


BARE = Radio(0.0, "", 0, None, None, False, False, 0)


class Frame(NamedTuple):
    """Head of a frame; addresses are empty where it has none.

    Attributes
    ----------
    kind, subtype : int
        Type and subtype.
    receiver, transmitter, third : bytes
        Its first three addresses.
    to_ds, from_ds, retry, protected : bool
        Flags.
    qos : bool
        Whether it is QoS data.
    sequence : int
        Sequence and fragment number.
    payload : bytes
        LLC of a data frame that is not encrypted, else empty.
    body_bytes : int
        Length of what follows the header, without check sequence. [bytes]
    """

    kind: int
    subtype: int
    receiver: bytes
    transmitter: bytes
    third: bytes
    to_ds: bool
    from_ds: bool
    retry: bool
    protected: bool
    qos: bool
    sequence: int
    payload: bytes
    body_bytes: int


def radiotap(content: bytes) -> Radio | None:
    """The radiotap header at the beginning; None if it is not whole."""
    if len(content) < 8 or content[0] != 0:
        return None
    length = int.from_bytes(content[2:4], "little")
    if length < 8 or length > len(content):
        return None
    found = dict(_fields(content, length))
    flags = found[FLAGS][0] if FLAGS in found else 0
    rate, later = _rate(found)
    mhz = int.from_bytes(found[CHANNEL][:2], "little") if CHANNEL in found else 0
    return Radio(
        rate,
        later,
        mhz,
        _signed(found.get(SIGNAL)),
        _signed(found.get(NOISE)),
        bool(flags & FCS_AT_END),
        bool(flags & BAD_FCS),
        length,
    )


def _fields(content: bytes, length: int) -> Iterator[tuple[int, bytes]]:
    """Fields of the first presence word; of later ones only antennas are of interest to anybody."""
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


def _rate(found: dict[int, bytes]) -> tuple[float, str]:
    """Rate, and the letters of a later physical layer; of these the rate is about right. [bit/s]"""
    if MCS in found:
        known, flags, index = found[MCS]
        streams, width = 1 + index // 8, 2.1 if known & 1 and flags & 3 == 1 else 1.0
        short = 10 / 9 if known & 4 and flags & 4 else 1.0
        return HT_20_BPS[index % 8] * streams * width * short, "n"
    if VHT in found:
        rate = found[VHT][4]
        return HT_20_BPS[min(rate >> 4, 7)] * max(rate & 0xF, 1), "ac"
    if HE in found:
        return 54e6, "ax"
    return (found[RATE][0] & 0x7F) * 5e5 if RATE in found else 0.0, ""


def past_other_headers(link: int, content: bytes) -> bytes:
    """The frame behind a header of Prism or PPI, of old drivers; empty if it is not whole."""
    if link == PRISM and len(content) >= 8:
        length = int.from_bytes(content[4:8], "little")
    elif link == PPI and len(content) >= 4:
        length = int.from_bytes(content[2:4], "little")
    else:
        return b""
    return content[length:] if 8 <= length <= len(content) else b""


def frame(content: bytes, fcs: bool) -> Frame | None:
    """The head of an 802.11 frame; None if it is not whole or not of version 0."""
    if len(content) < 10 or content[0] & 3:
        return None
    kind, subtype, flags = content[0] >> 2 & 3, content[0] >> 4, content[1]
    receiver, transmitter, third = content[4:10], content[10:16], content[16:22]
    if kind == CONTROL:
        has_transmitter = subtype not in (CTS, ACK) and len(transmitter) == 6
        sender = transmitter if has_transmitter else b""
        return Frame(
            kind, subtype, receiver, sender, b"", False, False, False, False, False, 0, b"", 0
        )
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
        int.from_bytes(content[22:24], "little"),
        content[start:end] if carries else b"",
        max(end - start, 0),
    )


def spelled(address: bytes) -> str:
    """A MAC address as it is written: ``02:00:00:00:00:01``."""
    return address.hex(":")


def is_group(address: bytes) -> bool:
    """Whether an address is of a group, such as that of all."""
    return bool(address[:1]) and bool(address[0] & 1)
