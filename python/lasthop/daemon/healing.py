"""Repair changes that other programs make to the kernel's state: receive events, inspect, repair.

An event triggers an inspection of the part of the kernel's state that changed. Only differences are
repaired. Everything is set up again only if the container of all objects, such as the IFB, was
removed. `status` shows a fault until an inspection no longer finds the fault.

The CPU time of inspections and repairs is limited, whatever other programs do. After an
inspection, the service pauses in proportion to the inspection's duration, and events wait in the
kernel. A setting that another program repeatedly changes back is reported as a fault, and is
repaired less and less often (`patience`).
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, Protocol

from lasthop.daemon.differences import EVERYTHING, Difference, summarised
from lasthop.daemon.loop import Loop
from lasthop.daemon.patience import Patience
from lasthop.errors import UserError
from lasthop.linux import links
from lasthop.linux.events import Event, EventFilter, Events
from lasthop.linux.netlink import Socket

PAUSE_S, FIGHT_PAUSE_S = 0.02, 0.15
"""Minimum pause after an inspection, and minimum pause after an inspection while faults remain.
[s]"""
SHARE = 4
"""Ratio of a pause to the duration of the preceding inspection. With this ratio, inspections use at
most a fifth of one processor. [-]"""
MAX_PAUSE_S = 1.0
RETRY_S = 5.0
"""Time between two attempts to set up everything again. An event can cause an earlier attempt.
[s]"""


class Monitored(Protocol):
    """State of the kernel that is monitored and repaired. Each part of the state is inspected as a
    whole."""

    faults: list[str]
    """Messages about faults of the present state."""
    parts: Any
    """Enumeration whose members are the parts of the state. The member INTERFACES is the part that
    contains the interfaces."""

    def tell_doubts(self, to: Callable[[], None]) -> None:
        """Set the function that is called when the kernel refuses a change.

        A refusal may mean that another program has changed the state.
        """

    @property
    def kernel(self) -> Socket:
        """Netlink socket through which this process changes the kernel's state. These changes cause
        no events.
        """

    @property
    def is_set_up(self) -> bool:
        """Whether the service's objects exist in the kernel."""

    @property
    def interfaces(self) -> Sequence[str]:
        """Names of the interfaces of the service."""

    @property
    def container(self) -> str:
        """Text that names the container of all objects of the service, such as the IFB."""

    def event_filter(self, numbers: Mapping[str, int]) -> EventFilter:
        """Return the filter of netlink events. `numbers` are the interface numbers, by interface
        name.
        """

    def parts_of(self, events: Iterable[Event] | None) -> Set[Any]:
        """Return the parts of the state to inspect after these events; all parts if events were
        lost."""

    def differences(self, parts: Set[Any]) -> list[Difference]:
        """Return the differences between the kernel's state and the wanted state, in these parts of
        the state."""

    def repair(self, differences: Sequence[Difference]) -> None:
        """Repair differences. Then raise `UserError` for the first repair that the kernel
        refused."""

    def check(self) -> None:
        """Raise `UserError` if setting up everything would fail."""

    def down(self) -> list[str]:
        """Revert all changes. Return a message for each change that could not be reverted."""


class Healing:
    """Monitoring that repairs the kernel's state when it differs from the layout.

    Parameters
    ----------
    monitored : Monitored
        State of the kernel.
    loop : Loop
        Event loop of the service.
    say : callable
        Function that writes a line of the log.
    set_up : callable
        Function that creates all objects for the present stations, and calls `attend` at the end.
    returned : callable
        Function that is called when an interface was created again, so that its number has changed.
    """

    def __init__(
        self,
        monitored: Monitored,
        loop: Loop,
        say: Callable[[str], None],
        set_up: Callable[[], None],
        returned: Callable[[], None],
    ) -> None:
        self.monitored = monitored
        self.loop = loop
        self.say = say
        self.set_up = set_up
        self.returned = returned
        self.events = Events()
        self.patience = Patience()
        self.parts: set[Any] = set()
        """Parts of the kernel's state that should be inspected."""
        self.numbers: dict[str, int] = {}
        """Numbers of the present interfaces, by name."""
        self.next_s = 0.0
        """Earliest time of the next inspection, on the monotonic clock. [s]"""
        monitored.tell_doubts(self.doubt)
        loop.watch(self.events.socket, self.on_events)

    def close(self) -> None:
        """Close the socket that receives events."""
        self.events.close()

    # Events of the kernel.

    def attend_to_all(self) -> None:
        """From now on, receive events about all changes by other programs. Use this method while
        the numbers of the interfaces are unknown."""
        self.events.attend(self.monitored.kernel.port)

    def attend(self) -> None:
        """From now on, receive only events about the service's objects. Store the numbers of the
        present interfaces."""
        present = links.every_link(self.monitored.kernel)
        names = self.monitored.interfaces
        self.numbers = {name: present[name].number for name in names if name in present}
        self.events.attend(self.monitored.kernel.port, self.monitored.event_filter(self.numbers))

    def on_events(self) -> None:
        """Read events, and schedule an inspection of the parts of the kernel's state that
        changed."""
        self.read_events()
        if self.parts:
            self.inspect_soon()

    def read_events(self) -> None:
        """Read events, and store the parts of the kernel's state that changed."""
        self.parts |= self.monitored.parts_of(self.events.read())

    def doubt(self) -> None:
        """Schedule an inspection of the whole kernel state."""
        self.parts |= set(self.monitored.parts)
        self.inspect_soon()

    def inspect_soon(self) -> None:
        """Schedule an inspection after the pause. Until then, events wait in the kernel."""
        if time.monotonic() < self.next_s:
            self.loop.unwatch(self.events.socket)
        self.loop.at(self.next_s, self.inspect)

    # Inspections and repairs.

    def inspect(self) -> None:
        """Compare the kernel's state with the state that the service requires, and repair the
        differences. Only the parts about which the kernel has sent events are compared, or all
        parts if the present state has faults."""
        began_s = time.monotonic()
        self.loop.watch(self.events.socket, self.on_events)
        try:
            self.read_events()
            parts, self.parts = self.parts, set()
            if self.monitored.is_set_up:
                self.repair(set(self.monitored.parts) if self.monitored.faults else parts)
            else:
                self.set_up_anew([])
        except Exception as error:
            self.try_again(RETRY_S)
            if not isinstance(error, UserError):
                raise
            self.tell([str(error)])
        finally:
            now_s = time.monotonic()
            least_s = FIGHT_PAUSE_S if self.monitored.faults else PAUSE_S
            pause_s = min(max(SHARE * (now_s - began_s), least_s), MAX_PAUSE_S)
            self.next_s = now_s + pause_s
            self.patience.forget(now_s)

    def repair(self, parts: set[Any]) -> None:
        """Repair the differences in these parts of the kernel's state."""
        if self.monitored.parts.INTERFACES in parts:
            self.update_interfaces()
        monitored = self.monitored
        result, refusal = monitored.differences(parts), ""
        # Repairs are tried twice, because a repair that the kernel refuses at first may succeed
        # after the other repairs.
        for _ in range(2):
            if any(each.name == EVERYTHING for each in result):
                self.set_up_anew(result)
                return
            now_s = time.monotonic()
            due = [
                each for each in result if each.repair and self.patience.allows(each.name, now_s)
            ]
            if not due:
                break
            try:
                monitored.repair(due)
            except UserError as error:
                result, refusal = monitored.differences(set(monitored.parts)), str(error)
            else:
                self.say(f"{'; '.join(summarised(due))}: repaired")
                done = {each.name for each in due}
                result, refusal = [each for each in result if each.name not in done], ""
                break
        to_try = [each.name for each in result if each.repair]
        faults = self.lines(result)
        if result and refusal:
            self.patience.refused(to_try, time.monotonic())
            faults.append(refusal)
        self.tell(faults)
        if to_try:
            self.try_again(self.patience.until_s(to_try) - time.monotonic())

    def lines(self, differences: Sequence[Difference]) -> list[str]:
        """Return the messages of differences. If another program repeatedly changes a part back,
        the message about this part says so.
        """
        fought = [each for each in differences if each.repair and self.patience.fights(each.name)]
        others = [each for each in differences if each not in fought]
        again = "it is changed repeatedly by another program; repairs become less frequent"
        return [*summarised(others), *(f"{line}: {again}" for line in summarised(fought))]

    def tell(self, faults: list[str]) -> None:
        """Set the faults, and write new faults to the log."""
        for line in faults:
            if line not in self.monitored.faults:
                self.say(line)
        if self.monitored.faults and not faults:
            self.say("everything is in order")
        self.monitored.faults = faults

    def try_again(self, wait_s: float) -> None:
        """Schedule an inspection of the whole state in `wait_s`. An event can cause an earlier
        inspection. [s]"""
        self.parts |= set(self.monitored.parts)
        self.loop.at(time.monotonic() + max(wait_s, FIGHT_PAUSE_S), self.inspect)

    def update_interfaces(self) -> None:
        """Update the numbers of the interfaces, and receive events about interfaces that were
        created again. Such an interface has its old name and a new number.
        """
        before = self.numbers
        self.attend()
        if set(self.numbers.items()) - set(before.items()):
            self.returned()

    def set_up_anew(self, differences: Sequence[Difference]) -> None:
        """Revert all changes and set up everything again. In the meantime, packets are not
        shaped."""
        monitored, patience = self.monitored, self.patience
        if differences:
            self.say(f"{'; '.join(summarised(differences))}: setting up again")
        try:
            # `down` also reverts changes that an earlier attempt could not revert.
            for line in monitored.down():
                raise UserError(line)
            monitored.check()
            if patience.allows(EVERYTHING, time.monotonic()):
                self.set_up()
        except UserError as error:
            self.attend()
            self.tell([f"not shaping: {error}"])
            self.try_again(RETRY_S)
            return
        if monitored.is_set_up:
            self.say("shaping again")
            monitored.faults = []
            return
        self.attend()
        again = "removed repeatedly; it is restored less and less often"
        self.tell([f"{monitored.container} is {again}"])
        self.try_again(patience.until_s([EVERYTHING]) - time.monotonic())
