"""Queue of sqm-scripts: its interface and its rates."""

from typing import NamedTuple

from lasthop.importing.uci import Section

__all__ = ["Shaper", "spelled"]


class Shaper(NamedTuple):
    """A queue in the configuration of sqm-scripts.

    Attributes
    ----------
    section : Section
        Section of the file that describes the queue.
    interface : str
        Interface that the queue shapes.
    down_kbps, up_kbps : int
        Rates of ingress and egress at the interface; 0 if a direction is not shaped. [kbit/s]
    """

    section: Section
    interface: str
    down_kbps: int
    up_kbps: int

    @property
    def words(self) -> str:
        """Return the interface and its rates as text for remarks."""
        return f"{self.interface} ({spelled(self.down_kbps)} down, {spelled(self.up_kbps)} up)"


def spelled(kbps: int) -> str:
    """Return a rate as text of a scenario, or of a remark if the direction is not shaped."""
    if kbps >= 1000:
        return f"{kbps / 1e3:.9g} Mbps"
    return f"{kbps} kbps" if kbps else "not shaped"
