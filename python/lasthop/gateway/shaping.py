"""What is in force: the file, the shaper that carries it out, and what the kernel says of it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lasthop.errors import UserError
from lasthop.gateway.config import Gateway
from lasthop.gateway.layout import Layout
from lasthop.gateway.observed import Observed
from lasthop.gateway.shaper import Shaper


@dataclass
class Shaping:
    """What rates, stations and control have in common; another file replaces it in place."""

    gateway: Gateway
    shaper: Shaper
    observed: Observed
    faults: list[str] = field(default_factory=list)
    """What is wrong with what is in force, in words."""
    doubts: Callable[[], None] = lambda: None
    """Called when the kernel refuses something: others may have changed what is there."""

    @property
    def layout(self) -> Layout | None:
        """Classes and members in the kernel; None while nothing is shaped."""
        return self.shaper.layout

    def wrong(self, error: UserError) -> None:
        """Note what the kernel refused; healing finds out why."""
        self.faults = [str(error)]
        self.doubts()
