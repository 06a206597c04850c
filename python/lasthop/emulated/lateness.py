"""Messages about the lateness of packets in an emulation, and about the load that this machine can
carry."""

LATE_S = 2e-3
"""Lateness above which a warning is printed. It is about the time to transmit one packet with
802.11b at 11 Mb/s. [s]"""
IN_TIME = 0.8
"""Largest utilisation of the packet thread at which packets are not late. The packet thread
transfers packets between the hosts and the network. [-]

Packets wait for the packet thread as in a queue with a single server. At a utilisation of 0.8 and
50 us per packet, 1 % of the packets wait longer than 0.5 ms (M/D/1). At a utilisation of 1, the
waiting time is unbounded.
"""
BURSTS = 2.0
"""Largest ratio of the lateness to the time that the packet thread needs for the largest burst of
simultaneous packets. Up to this ratio, the warning names the burst as the cause of the lateness.
A burst is often a PPDU. The packets of a PPDU may wait while the packet thread transfers another
PPDU, but rarely while it transfers two other PPDUs. [-]"""
MUCH_WAITING = 0.5
"""Threshold for a warning: fraction of time for which the socket thread waits for a processor. The
socket thread runs senders and receivers. Measured with ten simultaneous emulations of 48 Mb/s on
two processors: the fraction was 0.36 to 1.07, and goodput was lost from 0.86 on. [-]"""


def waiting(waited: float) -> str | None:
    """Return a warning if `waited` exceeds `MUCH_WAITING`, else None. `waited` is the fraction of
    time for which the socket thread waited for a processor. [-]
    """
    if waited <= MUCH_WAITING:
        return None
    return (
        f"warning: senders and receivers waited for a processor for {min(waited, 1.0):.0%} of "
        "the time, and may have been slower than its network"
    )


def lateness(
    late_s: float, at_work: float | None, carried_pps: float | None, at_once: float = 1.0
) -> str:
    """Return a line about the lateness of packets. If the lateness exceeds `LATE_S`, the line is a
    warning with the reason.

    Parameters
    ----------
    late_s : float
        Lateness that 1 % of the packets exceed. [s]
    at_work : float or None
        Fraction of time for which the packet thread did not sleep. [-]
    carried_pps : float or None
        Packet rate at which the packet thread transferred packets. [packets/s]
    at_once : float
        Largest number of packets that were due simultaneously. [packets]
    """
    text = f"1 % of the packets were handed over more than {late_s * 1e3:.3g} ms late"
    if late_s <= LATE_S:
        return text
    if at_work is None or not carried_pps:
        return f"warning: {text}"
    burst_s = at_once * at_work / carried_pps
    if at_work <= IN_TIME and late_s <= BURSTS * burst_s:
        return (
            f"warning: {text}: up to {at_once:.0f} packets are due simultaneously, and to carry as "
            f"many takes {burst_s * 1e3:.2g} ms"
        )
    if at_work <= IN_TIME:
        return (
            f"warning: {text}: carrying them took {at_work:.0%} of the time, so something else had "
            "this machine"
        )
    most_pps = in_time_pps(at_work, carried_pps)
    return (
        f"warning: {text}: the machine carries about {rounded(most_pps)} packets per second of "
        f"this scenario, which needs {rounded(carried_pps)}"
    )


def in_time_pps(at_work: float, carried_pps: float) -> float:
    """Return the packet rate at which the packet thread would have the utilisation `IN_TIME`, if
    the time per packet is constant. [packets/s]"""
    return carried_pps * IN_TIME / at_work


def rounded(number: float) -> str:
    """Return a number as text with two significant digits, and with commas between thousands."""
    return f"{float(f'{number:.2g}'):,.0f}"
