"""What is in force: the file, the shaper that carries it out, and what the kernel says of it."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from lasthop.daemon.differences import Difference
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.inspection import ALL, Part, parts_of
from lasthop.enforce.gateway.layout import Layout, ifb_name
from lasthop.enforce.gateway.observed import Observed
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.linux.events import Event, EventFilter
from lasthop.linux.netlink import Socket


@dataclass
class Shaping:
    """What rates, stations and control have in common; another file replaces it in place."""

    parts = Part

    gateway: Gateway
    shaper: Shaper
    observed: Observed
    faults: list[str] = field(default_factory=list)
    """What is wrong with what is in force, in words."""
    doubts: Callable[[], None] = field(default_factory=lambda: lambda: None)
    """Called when the kernel refuses something: others may have changed what is there."""

    @property
    def layout(self) -> Layout | None:
        """Classes and members in the kernel; None while nothing is shaped."""
        return self.shaper.layout

    # What healing asks for.

    def tell_doubts(self, to: Callable[[], None]) -> None:
        """Call this when the kernel refuses something."""
        self.doubts = to

    @property
    def kernel(self) -> Socket:
        """The connection whose own changes are no news."""
        return self.shaper.kernel

    @property
    def is_set_up(self) -> bool:
        """Whether anything is in force."""
        return self.layout is not None

    @property
    def interfaces(self) -> Sequence[str]:
        """Interfaces towards the Internet and towards stations."""
        return (self.gateway.wan, *self.gateway.lans)

    @property
    def container(self) -> str:
        """The IFB, in words."""
        return f"interface {ifb_name(self.gateway)}"

    def event_filter(self, numbers: Mapping[str, int]) -> EventFilter:
        """What to hear of, the interfaces that are there having these numbers."""
        own, blocks = list(numbers.values()), list[int]()
        if (layout := self.layout) is not None:
            own.append(layout.ifb.number)
            blocks += [layout.to_block.number, layout.from_block.number]
        return EventFilter((*self.interfaces, ifb_name(self.gateway)), own, blocks)

    def parts_of(self, events: Iterable[Event] | None) -> Set[Part]:
        """What is to be looked at after these events."""
        if self.layout is not None:
            return parts_of(events, self.layout)
        return ALL if events is None or events else set()

    def differences(self, parts: Set[Part]) -> list[Difference]:
        """What of these parts is not as it ought to be."""
        return self.shaper.differences(parts)

    def repair(self, differences: Sequence[Difference]) -> None:
        """Put right what can be; `UserError` for the first that is refused, after all others."""
        self.shaper.repair(differences)

    def check(self) -> None:
        """Refuse what can be known to fail before anything is set up."""
        self.shaper.check()

    def down(self) -> list[str]:
        """Revert all changes before setting up again; return what could not be reverted."""
        return self.shaper.down(unload=False)

    def is_whole(self, present: Container[str]) -> bool:
        """Whether the interface towards the Internet and one towards stations are there."""
        gateway = self.gateway
        return gateway.wan in present and any(name in present for name in gateway.lans)

    def wrong(self, error: Exception) -> None:
        """Note what the kernel refused; healing finds out why."""
        self.faults = [str(error)]
        self.doubts()
