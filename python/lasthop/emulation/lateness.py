"""What is said of how late an emulation was, and of what this machine carries in time."""

LATE_S = 2e-3
"""Lateness from which on a reader is warned: one packet of 802.11b at 11 Mb/s on the air. [s]"""
IN_TIME = 0.8
"""Part of the time up to which the thread that carries packets may be at work and keep time. [-]

Its packets wait like those of a single server: at 0.8, with 50 us of work each, 1 % of them wait
for more than 0.5 ms (M/D/1), and at 1 there is no bound.
"""
BURSTS = 2.0
"""Lateness, over the time that the most packets that are due at once take to be carried, up to
which it is their doing: the last of one PPDU may wait for another one, hardly for a third. [-]"""
MUCH_WAITING = 0.5
"""Part of the time for which what drives the sockets waits for a processor, from which on a reader
is warned: ten emulations of 48 Mb/s side by side on two processors waited for 0.36 to 1.07 of it,
and lost goodput from 0.86 on."""


def waiting(waited: float) -> str | None:
    """A warning if what drives the sockets waited for a processor for much of the time."""
    if waited <= MUCH_WAITING:
        return None
    return (
        f"warning: senders and receivers waited for a processor for {min(waited, 1.0):.0%} of "
        "the time, and may have been slower than its network"
    )


def lateness(
    late_s: float, at_work: float | None, carried_pps: float | None, at_once: float = 1.0
) -> str:
    """One line on how late packets were, as a warning with its reason if it was too late.

    Parameters
    ----------
    late_s : float
        Lateness that 1 % of the packets exceed. [s]
    at_work : float or None
        Part of the time in which the thread that carries packets was not asleep. [-]
    carried_pps : float or None
        Packets that it carried in a second. [packets/s]
    at_once : float
        Most packets that were due in one instant. [packets]
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
    """Packets that leave the thread enough sleep, if each takes as long as now. [packets/s]"""
    return carried_pps * IN_TIME / at_work


def rounded(number: float) -> str:
    """Two digits, with commas between thousands."""
    return f"{float(f'{number:.2g}'):,.0f}"
