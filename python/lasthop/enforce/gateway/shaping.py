"""Present state of the gateway: its configuration, its shaper, and faults that the kernel
reports."""

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
    """State that the objects `Rates` and `Stations` and the control socket share. A changed
    configuration updates this object in place."""

    parts = Part

    gateway: Gateway
    shaper: Shaper
    observed: Observed
    faults: list[str] = field(default_factory=list)
    """Messages about faults of the present state."""
    doubts: Callable[[], None] = field(default_factory=lambda: lambda: None)
    """Function that is called when the kernel refuses a request. The function requests an
    inspection, since another program may have changed the kernel's state."""

    @property
    def layout(self) -> Layout | None:
        """Layout of the HTB classes in the kernel; None while nothing is shaped."""
        return self.shaper.layout

    # Methods that `lasthop.daemon.healing` calls.

    def tell_doubts(self, to: Callable[[], None]) -> None:
        """Set the function that is called when the kernel refuses a request."""
        self.doubts = to

    @property
    def kernel(self) -> Socket:
        """Netlink socket through which this process makes its changes. Events about these changes
        are ignored."""
        return self.shaper.kernel

    @property
    def is_set_up(self) -> bool:
        """Whether the classes and filters exist in the kernel."""
        return self.layout is not None

    @property
    def interfaces(self) -> Sequence[str]:
        """Names of the interfaces towards the Internet and towards stations."""
        return (self.gateway.wan, *self.gateway.lans)

    @property
    def container(self) -> str:
        """Text that names the IFB in messages."""
        return f"interface {ifb_name(self.gateway)}"

    def event_filter(self, numbers: Mapping[str, int]) -> EventFilter:
        """Return the filter for the netlink events that concern the gateway. `numbers` contains the
        kernel's number of each present interface, by the interface's name."""
        own, blocks = list(numbers.values()), list[int]()
        if (layout := self.layout) is not None:
            own.append(layout.ifb.number)
            blocks += [layout.to_block.number, layout.from_block.number]
        return EventFilter((*self.interfaces, ifb_name(self.gateway)), own, blocks)

    def parts_of(self, events: Iterable[Event] | None) -> Set[Part]:
        """Return the parts of the kernel state to inspect after these events."""
        if self.layout is not None:
            return parts_of(events, self.layout)
        return ALL if events is None or events else set()

    def differences(self, parts: Set[Part]) -> list[Difference]:
        """Return the differences between the kernel's state and the layout, in these parts of the
        state."""
        return self.shaper.differences(parts)

    def repair(self, differences: Sequence[Difference]) -> None:
        """Repair all differences. Then raise `UserError` for the first repair that the kernel
        refused."""
        self.shaper.repair(differences)

    def check(self) -> None:
        """Raise `UserError` for every failure that can be foreseen, before anything is set up."""
        self.shaper.check()

    def down(self) -> list[str]:
        """Revert all changes before the gateway is set up again. Return a message for each change
        that could not be reverted."""
        return self.shaper.down(unload=False)

    def is_whole(self, present: Container[str]) -> bool:
        """Return whether `wan` and at least one `lan` interface exist."""
        gateway = self.gateway
        return gateway.wan in present and any(name in present for name in gateway.lans)

    def wrong(self, error: Exception) -> None:
        """Record an error of the kernel, and request an inspection to find its reason."""
        self.faults = [str(error)]
        self.doubts()
