"""Repair of changes that other programs make: events of the kernel, inspections, repairs.

An event is a reason to inspect the part where it happened. Only differences are repaired.
Everything is set up again only if its container was removed. `status` shows a fault until an
inspection no longer finds the fault.

Inspections and repairs are bounded, whatever other programs do. After an inspection there is a
pause in proportion to its duration, and events wait in the kernel. A setting that another program
changes back repeatedly is a fault, and is repaired less and less often (`patience`).
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
"""Minimum pause after an inspection, and minimum pause while another program changes settings back.
[s]"""
SHARE = 4
"""Ratio of a pause to the duration of the inspection before it. Inspections therefore take at most
a fifth of one processor. [-]"""
MAX_PAUSE_S = 1.0
RETRY_S = 5.0
"""Time between two attempts to set up, if no event comes earlier. [s]"""


class Monitored(Protocol):
    """State of the kernel that is monitored and repaired. Each part is inspected as a whole."""

    faults: list[str]
    """Faults of the present state, in words."""
    parts: Any
    """Enumeration of the parts; its member INTERFACES is the part of the interfaces."""

    def tell_doubts(self, to: Callable[[], None]) -> None:
        """Set the function that is called when the kernel refuses a change.

        Another program may have changed the state.
        """

    @property
    def kernel(self) -> Socket:
        """Connection of this process, whose own changes cause no events."""

    @property
    def is_set_up(self) -> bool:
        """Whether anything is set up."""

    @property
    def interfaces(self) -> Sequence[str]:
        """Names of the interfaces of the service."""

    @property
    def container(self) -> str:
        """Description of the container of everything that is set up."""

    def event_filter(self, numbers: Mapping[str, int]) -> EventFilter:
        """Return the filter of events, given the numbers of the present interfaces."""

    def parts_of(self, events: Iterable[Event] | None) -> Set[Any]:
        """Return the parts to inspect after these events; all parts if events were lost."""

    def differences(self, parts: Set[Any]) -> list[Difference]:
        """Return the differences of these parts from the wanted state."""

    def repair(self, differences: Sequence[Difference]) -> None:
        """Repair differences. Then raise `UserError` for the first repair that was refused."""

    def check(self) -> None:
        """Raise `UserError` if setting up would fail."""

    def down(self) -> list[str]:
        """Revert all changes, and return the changes that could not be reverted, in words."""


class Healing:
    """Keeps the state of the kernel equal to the layout.

    Parameters
    ----------
    monitored : Monitored
        State of the kernel.
    loop : Loop
        Event loop of the service.
    say : callable
        Function that writes a line of the log.
    set_up : callable
        Function that sets everything up for the present stations, and calls `attend` at the end.
    returned : callable
        Function that is called when an interface was created again and has another number.
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
        """Parts to inspect."""
        self.numbers: dict[str, int] = {}
        """Numbers of the present interfaces."""
        self.next_s = 0.0
        """Earliest time of the next inspection, on the monotonic clock. [s]"""
        monitored.tell_doubts(self.doubt)
        loop.watch(self.events.socket, self.on_events)

    def close(self) -> None:
        """Close the sockets."""
        self.events.close()

    # Events.

    def attend_to_all(self) -> None:
        """Receive events of all changes by other programs, before the numbers of the interfaces are
        known."""
        self.events.attend(self.monitored.kernel.port)

    def attend(self) -> None:
        """Receive only events about the service's objects. Store the numbers of the interfaces."""
        present = links.every_link(self.monitored.kernel)
        names = self.monitored.interfaces
        self.numbers = {name: present[name].number for name in names if name in present}
        self.events.attend(self.monitored.kernel.port, self.monitored.event_filter(self.numbers))

    def on_events(self) -> None:
        """Read events, and inspect their parts soon."""
        self.read_events()
        if self.parts:
            self.inspect_soon()

    def read_events(self) -> None:
        """Store the parts of the events."""
        self.parts |= self.monitored.parts_of(self.events.read())

    def doubt(self) -> None:
        """Inspect all parts soon."""
        self.parts |= set(self.monitored.parts)
        self.inspect_soon()

    def inspect_soon(self) -> None:
        """Inspect after the pause. Until then events wait in the kernel."""
        if time.monotonic() < self.next_s:
            self.loop.unwatch(self.events.socket)
        self.loop.at(self.next_s, self.inspect)

    # Inspections and repairs.

    def inspect(self) -> None:
        """Inspect the parts with events, and repair them."""
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
        """Repair the differences of these parts."""
        if self.monitored.parts.INTERFACES in parts:
            self.update_interfaces()
        monitored = self.monitored
        result, refusal = monitored.differences(parts), ""
        for _ in range(2):  # A repair that is refused at first may succeed after the other repairs.
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
        """Return differences as lines. Parts that another program changes back repeatedly are
        marked."""
        fought = [each for each in differences if each.repair and self.patience.fights(each.name)]
        others = [each for each in differences if each not in fought]
        again = "it is changed repeatedly by another program; repairs become less frequent"
        return [*summarised(others), *(f"{line}: {again}" for line in summarised(fought))]

    def tell(self, faults: list[str]) -> None:
        """Set the faults, and log those that are new."""
        for line in faults:
            if line not in self.monitored.faults:
                self.say(line)
        if self.monitored.faults and not faults:
            self.say("everything is in order")
        self.monitored.faults = faults

    def try_again(self, wait_s: float) -> None:
        """Inspect again after a time, if no event comes earlier."""
        self.parts |= set(self.monitored.parts)
        self.loop.at(time.monotonic() + max(wait_s, FIGHT_PAUSE_S), self.inspect)

    def update_interfaces(self) -> None:
        """Receive events of interfaces that were created again. Their names are known, their
        numbers are new."""
        before = self.numbers
        self.attend()
        if set(self.numbers.items()) - set(before.items()):
            self.returned()

    def set_up_anew(self, differences: Sequence[Difference]) -> None:
        """Revert everything and set it up again; until then packets pass without shaping."""
        monitored, patience = self.monitored, self.patience
        if differences:
            self.say(f"{'; '.join(summarised(differences))}: setting up again")
        try:
            # This includes changes that an earlier attempt could not revert.
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
