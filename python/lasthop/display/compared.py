"""Quantities of the table of `lasthop compare`, with their titles and units."""

from typing import TYPE_CHECKING

from lasthop.answers.digits import signed

if TYPE_CHECKING:
    from lasthop.comparison.compare import Row

__all__ = ["MEASURED_DIFFERENCE", "SHOWN", "measured_difference"]

MEASURED_DIFFERENCE = "measured - simulated"
"""Title of the column of `measured_difference`."""

SHOWN = {
    "goodput_share": ("goodput share [%]", 100.0),
    "queue_share": ("share of the queue [%]", 100.0),
    "fairness_level": ("fairness level [-]", 1.0),
    "queue_packets": ("mean queue [packets]", 1.0),
    "collision_rate": ("collision rate [%]", 100.0),
    "mpdus_per_ppdu": ("MPDUs per PPDU [-]", 1.0),
    "downlink_mpdus_per_ppdu": ("downlink MPDUs per PPDU [-]", 1.0),
    "reordering_s": ("reordering [ms]", 1e3),
    "downlink_reordering_s": ("downlink reordering [ms]", 1e3),
    "active_stations": ("active stations", 1.0),
    "jain": ("Jain's index [-]", 1.0),
    "updown_ratio": ("up/down ratio [-]", 1.0),
    "goodput_bps": ("goodput [Mb/s]", 1e-6),
    "loss_probability": ("loss [%]", 100.0),
    "utilisation": ("utilisation [%]", 100.0),
    "occupancy_packets": ("mean queue [packets]", 1.0),
    "occupancy_sd_packets": ("deviation of queue [packets]", 1.0),
    "sojourn_s": ("queueing delay [ms]", 1e3),
    "one_way_delay_s": ("one-way delay [ms]", 1e3),
    "drop_probability": ("drops [%]", 100.0),
    "mark_probability": ("marks [%]", 100.0),
    "airtime_fraction": ("air time [%]", 100.0),
    "aggressiveness": ("aggressiveness r [-]", 1.0),
    "rtt_s": ("round-trip time [ms]", 1e3),
    "rtt_p50_s": ("median RTT [ms]", 1e3),
    "rtt_p95_s": ("95 % of RTTs [ms]", 1e3),
    "rtt_p99_s": ("99 % of RTTs [ms]", 1e3),
    "connections": ("connections [-]", 1.0),
    "cwnd_packets": ("mean window [packets]", 1.0),
    "period_s": ("period of queue [s]", 1.0),
}
"""Quantities of the table, in order. For each quantity: the title with the printed unit, and the
factor from the unit in the result to the printed unit.
"""


def measured_difference(row: "Row", scale: float) -> str:
    """Return the measured value minus the simulated value of a row, with its interval, as text.

    Parameters
    ----------
    row : Row
        A row of a comparison, in SI units.
    scale : float
        Factor from SI units to the unit of the text.
    """
    if row.measured_difference is None:
        return signed(None)
    return signed(*(value * scale for value in row.measured_difference))
