"""Titles, units and preferred directions of the compared quantities, for tables and texts."""

from dataclasses import dataclass

from lasthop.tuning.categories import CATEGORIES, delay_quantity


@dataclass(frozen=True)
class Shown:
    """Title, unit and preferred direction of a quantity.

    Attributes
    ----------
    title, unit : str
        Title and unit in tables.
    scale : float
        Factor from the unit of results to the unit in tables.
    greatest : bool or None
        Whether larger values are better; None if neither direction is better.
    """

    title: str
    unit: str
    scale: float
    greatest: bool | None

    @property
    def head(self) -> str:
        """Title with its unit, for the head of a column."""
        return f"{self.title} [{self.unit}]"


SHOWN = {
    "calls": Shown("calls", "calls", 1.0, True),
    "beside_calls_goodput_bps": Shown("other goodput", "Mb/s", 1e-6, True),
    "goodput_bps": Shown("goodput", "Mb/s", 1e-6, True),
    "up_goodput_bps": Shown("uploads", "Mb/s", 1e-6, True),
    "down_goodput_bps": Shown("downloads", "Mb/s", 1e-6, True),
    "rtt_s": Shown("RTT", "ms", 1e3, False),
    "sojourn_s": Shown("AP delay", "ms", 1e3, False),
    "sojourn_p99_s": Shown("AP delay, 99th percentile", "ms", 1e3, False),
    "station_sojourn_s": Shown("station delay", "ms", 1e3, False),
    **{
        delay_quantity(category): Shown(f"{category} delay", "ms", 1e3, False)
        for category in CATEGORIES
    },
    "one_way_delay_p99_s": Shown("datagrams, 99th percentile", "ms", 1e3, False),
    "datagram_loss": Shown("datagrams lost", "%", 100.0, False),
    "jain": Shown("Jain's index", "-", 1.0, True),
    "jain_p05": Shown("Jain's index over 1 s, 5th percentile", "-", 1.0, True),
    "direction_jain": Shown("Jain's index of directions", "-", 1.0, True),
    "updown_ratio": Shown("up/down ratio", "-", 1.0, None),
    "worst_fairness_level": Shown("worst fairness level", "-", 1.0, False),
    "longest_starved_s": Shown("longest starved", "s", 1.0, False),
    "starving_stations": Shown("starving stations", "stations", 1.0, False),
    "starved_flows": Shown("starved flows", "flows", 1.0, False),
}
"""Quantities of `lasthop.tuning.measures.Samples` in the order of the tables."""
