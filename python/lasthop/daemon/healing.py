"""What somebody changes is put right: told by events of the kernel, looked at, mended.

An event is a reason to look at the part where it happened; what is not as it ought to be is mended
alone, and everything is set up anew only where its container is gone. What was told is shown by
`status` until a look finds it well.

Looks and tries are bounded, whatever others do: between two looks is a pause in proportion to what
the first has taken, during which events wait in the kernel; what is changed back again and again
is a fault, and mended ever more seldom (`patience`).
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, Protocol

from lasthop.daemon.differences import EVERYTHING, Difference, told
from lasthop.daemon.loop import Loop
from lasthop.daemon.patience import Patience
from lasthop.errors import UserError
from lasthop.linux import links
from lasthop.linux.events import Attended, Event, Events
from lasthop.linux.netlink import Socket

PAUSE_S, FIGHT_PAUSE_S = 0.02, 0.15
"""Least time between two looks, and while somebody else changes things back. [s]"""
SHARE = 4
"""A pause is so many times as long as the look before it: looks take a fifth of a processor."""
LONGEST_PAUSE_S = 1.0
RETRIED_S = 5.0
"""Time between two tries to set up, if no event comes before. [s]"""


class Kept(Protocol):
    """What is kept as it ought to be. A part is what is looked at as a whole."""

    faults: list[str]
    """What is wrong with what is in force, in words."""

    def tell_doubts(self, to: Callable[[], None]) -> None:
        """Call this when the kernel refuses something: others may have changed what is there."""

    @property
    def kernel(self) -> Socket:
        """The connection whose own changes are no news."""

    @property
    def is_set_up(self) -> bool:
        """Whether anything is in force."""

    @property
    def interfaces(self) -> Sequence[str]:
        """Names of the machine's interfaces that it is about."""

    @property
    def container(self) -> str:
        """What holds all that is ours, in words."""

    @property
    def all_parts(self) -> frozenset[Any]:
        """Every part."""

    @property
    def of_interfaces(self) -> Any:
        """The part that the machine's interfaces are."""

    def attended(self, numbers: Mapping[str, int]) -> Attended:
        """What to hear of, the interfaces that are there having these numbers."""

    def parts_of(self, events: Iterable[Event] | None) -> Set[Any]:
        """What is to be looked at after these events; everything if nobody knows what they were."""

    def differences(self, parts: Set[Any]) -> list[Difference]:
        """What of these parts is not as it ought to be."""

    def mend(self, found: Sequence[Difference]) -> None:
        """Put right what can be; `UserError` for the first that is refused, after all others."""

    def check(self) -> None:
        """Refuse what can be known to fail before anything is set up."""

    def down(self) -> list[str]:
        """Take everything back; what could not be, in words."""


class Healing:
    """Keeps what the kernel has as the layout says.

    Parameters
    ----------
    kept : Kept
    loop : Loop
    say : callable
        Takes a line of the log.
    set_up : callable
        Sets everything up for who is there, and calls `attend` in the end.
    returned : callable
        Called when an interface is there again, under another number.
    """

    def __init__(
        self,
        kept: Kept,
        loop: Loop,
        say: Callable[[str], None],
        set_up: Callable[[], None],
        returned: Callable[[], None],
    ) -> None:
        self.kept = kept
        self.loop = loop
        self.say = say
        self.set_up = set_up
        self.returned = returned
        self.events = Events()
        self.patience = Patience()
        self.parts: set[Any] = set()
        """What is to be looked at."""
        self.numbers: dict[str, int] = {}
        """Numbers of the interfaces that are there."""
        self.rested_s = 0.0
        """No look before; on the clock that never jumps."""
        kept.tell_doubts(self.doubt)
        loop.watch(self.events.socket, self.heard)

    def close(self) -> None:
        """Let go of sockets."""
        self.events.close()

    # What is heard.

    def attend_to_all(self) -> None:
        """Hear of whatever others do, while our own numbers are not known."""
        self.events.attend(self.kept.kernel.port)

    def attend(self) -> None:
        """Hear of what happens to what is ours, and take note of what has."""
        there = links.every_link(self.kept.kernel)
        names = self.kept.interfaces
        self.numbers = {name: there[name].number for name in names if name in there}
        self.events.attend(self.kept.kernel.port, self.kept.attended(self.numbers))

    def heard(self) -> None:
        """Take what the kernel tells, and look soon."""
        self.take()
        if self.parts:
            self.soon()

    def take(self) -> None:
        """Note where something has happened."""
        self.parts |= self.kept.parts_of(self.events.read())

    def doubt(self) -> None:
        """Look at everything soon."""
        self.parts |= self.kept.all_parts
        self.soon()

    def soon(self) -> None:
        """Look when it is time; until then events may wait in the kernel."""
        if time.monotonic() < self.rested_s:
            self.loop.unwatch(self.events.socket)
        self.loop.at(self.rested_s, self.look)

    # What is done.

    def look(self) -> None:
        """Look at what is in question, and mend what is wrong."""
        began_s = time.monotonic()
        self.loop.watch(self.events.socket, self.heard)
        try:
            self.take()
            parts, self.parts = self.parts, set()
            if self.kept.is_set_up:
                self.mend(set(self.kept.all_parts) if self.kept.faults else parts)
            else:
                self.set_up_anew([])
        except Exception as error:
            self.try_again(RETRIED_S)
            if not isinstance(error, UserError):
                raise
            self.tell([str(error)])
        finally:
            now_s = time.monotonic()
            least_s = FIGHT_PAUSE_S if self.kept.faults else PAUSE_S
            pause_s = min(max(SHARE * (now_s - began_s), least_s), LONGEST_PAUSE_S)
            self.rested_s = now_s + pause_s
            self.patience.forget(now_s)

    def mend(self, parts: set[Any]) -> None:
        """Put right what is wrong with these parts."""
        if self.kept.of_interfaces in parts:
            self.see_interfaces()
        kept = self.kept
        found, refusal = kept.differences(parts), ""
        for _ in range(2):  # what is refused at first may go when the rest is right
            if any(each.name == EVERYTHING for each in found):
                self.set_up_anew(found)
                return
            now_s = time.monotonic()
            due = [each for each in found if each.repair and self.patience.allows(each.name, now_s)]
            if not due:
                break
            try:
                kept.mend(due)
            except UserError as error:
                found, refusal = kept.differences(kept.all_parts), str(error)
            else:
                self.say(f"{'; '.join(told(due))}: repaired")
                done = {each.name for each in due}
                found, refusal = [each for each in found if each.name not in done], ""
                break
        to_try = [each.name for each in found if each.repair]
        faults = self.lines(found)
        if found and refusal:
            self.patience.refused(to_try, time.monotonic())
            faults.append(refusal)
        self.tell(faults)
        if to_try:
            self.try_again(self.patience.until_s(to_try) - time.monotonic())

    def lines(self, found: Sequence[Difference]) -> list[str]:
        """What is wrong, in lines, and what is changed back again and again."""
        fought = [each for each in found if each.repair and self.patience.fights(each.name)]
        others = [each for each in found if each not in fought]
        again = "it is changed repeatedly by another program; repairs become less frequent"
        return [*told(others), *(f"{line}: {again}" for line in told(fought))]

    def tell(self, faults: list[str]) -> None:
        """Let these be what is wrong."""
        for line in faults:
            if line not in self.kept.faults:
                self.say(line)
        if self.kept.faults and not faults:
            self.say("everything is in order")
        self.kept.faults = faults

    def try_again(self, wait_s: float) -> None:
        """Look again in a while, if nothing happens before."""
        self.parts |= self.kept.all_parts
        self.loop.at(time.monotonic() + max(wait_s, FIGHT_PAUSE_S), self.look)

    def see_interfaces(self) -> None:
        """Attend to interfaces that are there again; those that are gone are told of by name."""
        before = self.numbers
        self.attend()
        if set(self.numbers.items()) - set(before.items()):
            self.returned()

    def set_up_anew(self, found: Sequence[Difference]) -> None:
        """Take everything back and set it up; packets pass as if nothing were there meanwhile."""
        kept, patience = self.kept, self.patience
        if found:
            self.say(f"{'; '.join(told(found))}: setting up again")
        try:
            for line in kept.down():  # also what could not be taken back before
                raise UserError(line)
            kept.check()
            if patience.allows(EVERYTHING, time.monotonic()):
                self.set_up()
        except UserError as error:
            self.attend()
            self.tell([f"not shaping: {error}"])
            self.try_again(RETRIED_S)
            return
        if kept.is_set_up:
            self.say("shaping again")
            kept.faults = []
            return
        self.attend()
        again = "removed repeatedly; it is restored less and less often"
        self.tell([f"{kept.container} is {again}"])
        self.try_again(patience.until_s([EVERYTHING]) - time.monotonic())
