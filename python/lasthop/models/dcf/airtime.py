"""Durations of frames and exchanges in 802.11a, b and g.

The functions read the normalised scenario. The engine has separate tables in Rust, so that an error
in either implementation shows as a disagreement.
"""

from lasthop.scenario.typed import AccessCategory, Cell

ACK_BYTES = CTS_BYTES = 14
"""Length of a MAC ACK and of a CTS frame, including FCS. IEEE 802.11-2020, 9.3.1. [bytes]"""
RTS_BYTES = 20
"""Length of an RTS frame, including FCS. [bytes]"""

OFDM_SYMBOL_S = 4e-6
"""Duration of an OFDM symbol. IEEE 802.11-2020, table 17-5. [s]"""
OFDM_SERVICE_AND_TAIL_BITS = 16 + 6
"""SERVICE and tail bits of an OFDM frame. IEEE 802.11-2020, 17.3.2. [bits]"""
SYMBOLS_PER_S = 250_000
"""OFDM symbols per second. It is a whole number, so that numbers of symbols are exact. [1/s]"""
ROUNDING = 1e-9
"""Tolerance for rounding errors when a TXOP limit in seconds is converted to a number of packets.
[packets]
"""
ERP_SIGNAL_EXTENSION_S = 6e-6
"""Signal extension: the silence that ERP-OFDM adds after each frame. IEEE 802.11-2020, 18.3.2.4.
[s]
"""

EXTENSIONS_S = {"802.11g": ERP_SIGNAL_EXTENSION_S, "802.11a": 0.0}
"""Signal extension after each OFDM frame, by PHY. [s]"""


def frame_s(cell: Cell, mac_bytes: int, rate_bps: float) -> float:
    r"""Return the duration of a frame on the air, including the preamble. [s]

    .. math:: T = T_{pre} + 8 L / R \quad\text{(802.11b, 802.11g-long)}, \qquad
              T = T_{pre} + T_{sym} \lceil (22 + 8 L) / (R\, T_{sym}) \rceil + T_{ext}
              \quad\text{(802.11g; a, without extension)}

    Parameters
    ----------
    cell : Cell
        The cell of the scenario.
    mac_bytes : int
        MAC frame with FCS, :math:`L`. [bytes]
    rate_bps : float
        Rate, :math:`R`. [bit/s]
    """
    if cell.phy in EXTENSIONS_S:
        bits = OFDM_SERVICE_AND_TAIL_BITS + 8 * mac_bytes
        symbols = -(-bits * SYMBOLS_PER_S // round(rate_bps))
        return cell.preamble_s + symbols * OFDM_SYMBOL_S + EXTENSIONS_S[cell.phy]
    return cell.preamble_s + 8 * mac_bytes / rate_bps


def data_bytes(cell: Cell, packet_bytes: int) -> int:
    """Return the length of the MAC frame that carries an IP packet of `packet_bytes`. [bytes]"""
    return packet_bytes + cell.mac_header_bytes + cell.llc_bytes


def aifs_s(cell: Cell, aifsn: int) -> float:
    """Return AIFS, the arbitration interframe space: SIFS plus AIFSN slots. With AIFSN 2 it is
    DIFS. [s]
    """
    return cell.sifs_s + aifsn * cell.slot_s


def eifs_s(cell: Cell, aifsn: int) -> float:
    """Return the extended interframe space: SIFS, a MAC ACK at the EIFS rate, and AIFS. [s]"""
    return eifs_lead_s(cell) + aifs_s(cell, aifsn)


def eifs_lead_s(cell: Cell, rate_bps: float | None = None) -> float:
    """Return EIFS less AIFS: SIFS and a MAC ACK, by default at the cell's EIFS rate. [s]"""
    return cell.sifs_s + frame_s(cell, ACK_BYTES, rate_bps or cell.eifs_rate_bps)


def uses_rts(cell: Cell, packet_bytes: int) -> bool:
    """Return whether an RTS precedes the data frame of an IP packet of `packet_bytes`."""
    threshold = cell.rts_threshold_bytes
    return threshold is not None and data_bytes(cell, packet_bytes) > threshold


def exchange_s(
    cell: Cell,
    packet_bytes: int,
    rate_bps: float,
    sender_control_bps: float,
    receiver_control_bps: float,
) -> float:
    """Return the duration of a successful exchange, from its first frame to the end of the MAC ACK,
    without AIFS. [s]
    """
    sifs = cell.sifs_s
    data = frame_s(cell, data_bytes(cell, packet_bytes), rate_bps)
    total = data + sifs + frame_s(cell, ACK_BYTES, receiver_control_bps)
    if uses_rts(cell, packet_bytes):
        total += frame_s(cell, RTS_BYTES, sender_control_bps) + sifs
        total += frame_s(cell, CTS_BYTES, receiver_control_bps) + sifs
    return total


def first_frame_s(
    cell: Cell, packet_bytes: int, rate_bps: float, sender_control_bps: float
) -> float:
    """Return the duration of the frame that a collision destroys: the RTS if RTS is used, or the
    data frame. [s]
    """
    if uses_rts(cell, packet_bytes):
        return frame_s(cell, RTS_BYTES, sender_control_bps)
    return frame_s(cell, data_bytes(cell, packet_bytes), rate_bps)


def packets_in_txop(cell: Cell, access: AccessCategory, exchange_s: float) -> int:
    """Return the TXOP limit in packets. A limit in seconds allows the packets whose MAC ACKs end
    within the limit.

    Parameters
    ----------
    cell : Cell
    access : AccessCategory
        Access parameters of the sending category.
    exchange_s : float
        Duration of the exchange of one packet, by `exchange_s`. [s]
    """
    most = access.txop_packets
    if access.txop_limit_s is None:
        return 1 if most is None else most
    fitting = int((access.txop_limit_s + cell.sifs_s) / (exchange_s + cell.sifs_s) + ROUNDING)
    return max(1, fitting if most is None else min(fitting, most))
