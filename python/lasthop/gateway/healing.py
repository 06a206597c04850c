"""What somebody changes is put right: told by events of the kernel, looked at, mended.

An event is a reason to look at the part where it happened; what is not as it ought to be is mended
alone, and everything is set up anew only where the IFB is gone. What was told is shown by `status`
until a look finds it well.

Looks and tries are bounded, whatever others do: between two looks is a pause in proportion to what
the first has taken, during which events wait in the kernel; what is changed back again and again
is a fault, and mended ever more seldom (`patience`).
"""

import time
from collections.abc import Callable, Sequence

from lasthop.daemon.loop import Loop
from lasthop.daemon.patience import Patience
from lasthop.errors import UserError
from lasthop.gateway.differences import EVERYTHING, Difference, told
from lasthop.gateway.inspection import ALL, Part, parts_of
from lasthop.gateway.layout import ifb_name
from lasthop.gateway.shaping import Shaping
from lasthop.linux import links
from lasthop.linux.events import Attended, Events

PAUSE_S, FIGHT_PAUSE_S = 0.02, 0.15
"""Least time between two looks, and while somebody else changes things back. [s]"""
SHARE = 4
"""A pause is so many times as long as the look before it: looks take a fifth of a processor."""
LONGEST_PAUSE_S = 1.0
RETRIED_S = 5.0
"""Time between two tries to set up, if no event comes before. [s]"""


class Healing:
    """Keeps what the kernel has as the layout says.

    Parameters
    ----------
    shaping : Shaping
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
        shaping: Shaping,
        loop: Loop,
        say: Callable[[str], None],
        set_up: Callable[[], None],
        returned: Callable[[], None],
    ) -> None:
        self.shaping = shaping
        self.loop = loop
        self.say = say
        self.set_up = set_up
        self.returned = returned
        self.events = Events()
        self.patience = Patience()
        self.parts: set[Part] = set()
        """What is to be looked at."""
        self.numbers: dict[str, int] = {}
        """Numbers of the interfaces towards Internet and stations that are there."""
        self.rested_s = 0.0
        """No look before; on the clock that never jumps."""
        shaping.doubts = self.doubt
        loop.watch(self.events.socket, self.heard)

    def close(self) -> None:
        """Let go of sockets."""
        self.events.close()

    @property
    def is_whole(self) -> bool:
        """Whether the interface towards the Internet and one towards stations are there."""
        gateway = self.shaping.gateway
        return gateway.wan in self.numbers and any(name in self.numbers for name in gateway.lans)

    # What is heard.

    def attend_to_all(self) -> None:
        """Hear of whatever others do, while our own numbers are not known."""
        self.events.attend(self.shaping.shaper.kernel.port)

    def attend(self) -> None:
        """Hear of what happens to what is ours, and take note of what has."""
        shaper, gateway = self.shaping.shaper, self.shaping.gateway
        there = links.every_link(shaper.kernel)
        names = (gateway.wan, *gateway.lans)
        self.numbers = {name: there[name].number for name in names if name in there}
        layout = shaper.layout
        numbers, blocks = list(self.numbers.values()), list[int]()
        if layout is not None:
            numbers.append(layout.ifb.number)
            blocks += [layout.to_block.number, layout.from_block.number]
        attended = Attended((*names, ifb_name(gateway)), numbers, blocks)
        self.events.attend(shaper.kernel.port, attended)

    def heard(self) -> None:
        """Take what the kernel tells, and look soon."""
        self.take()
        if self.parts:
            self.soon()

    def take(self) -> None:
        """Note where something has happened."""
        events, layout = self.events.read(), self.shaping.layout
        if layout is not None:
            self.parts |= parts_of(events, layout)
        elif events is None or events:
            self.parts |= ALL

    def doubt(self) -> None:
        """Look at everything soon."""
        self.parts |= ALL
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
            if self.shaping.layout is None:
                self.set_up_anew([])
            else:
                self.mend(set(ALL) if self.shaping.faults else parts)
        except Exception as error:
            self.try_again(RETRIED_S)
            if not isinstance(error, UserError):
                raise
            self.tell([str(error)])
        finally:
            now_s = time.monotonic()
            least_s = FIGHT_PAUSE_S if self.shaping.faults else PAUSE_S
            pause_s = min(max(SHARE * (now_s - began_s), least_s), LONGEST_PAUSE_S)
            self.rested_s = now_s + pause_s
            self.patience.forget(now_s)

    def mend(self, parts: set[Part]) -> None:
        """Put right what is wrong with these parts."""
        if Part.INTERFACES in parts:
            self.see_interfaces()
        shaper = self.shaping.shaper
        found, refusal = shaper.differences(parts), ""
        for _ in range(2):  # what is refused at first may go when the rest is right
            if any(each.name == EVERYTHING for each in found):
                self.set_up_anew(found)
                return
            now_s = time.monotonic()
            due = [each for each in found if each.repair and self.patience.allows(each.name, now_s)]
            if not due:
                break
            try:
                shaper.mend(due)
            except UserError as error:
                found, refusal = shaper.differences(ALL), str(error)
            else:
                self.say(f"{'; '.join(told(due))}: mended")
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
        again = "something changes it again and again; it is mended ever more seldom"
        return [*told(others), *(f"{line}: {again}" for line in told(fought))]

    def tell(self, faults: list[str]) -> None:
        """Let these be what is wrong."""
        for line in faults:
            if line not in self.shaping.faults:
                self.say(line)
        if self.shaping.faults and not faults:
            self.say("everything is as it ought to be")
        self.shaping.faults = faults

    def try_again(self, wait_s: float) -> None:
        """Look again in a while, if nothing happens before."""
        self.parts |= ALL
        self.loop.at(time.monotonic() + max(wait_s, FIGHT_PAUSE_S), self.look)

    def see_interfaces(self) -> None:
        """Attend to interfaces that are there again; those that are gone are told of by name."""
        before = self.numbers
        self.attend()
        if set(self.numbers.items()) - set(before.items()):
            self.returned()

    def set_up_anew(self, found: Sequence[Difference]) -> None:
        """Take everything back and set it up; packets pass as if nothing were there meanwhile."""
        shaper, patience = self.shaping.shaper, self.patience
        if found:
            self.say(f"{'; '.join(told(found))}: setting up anew")
        try:
            for line in shaper.down():  # also what could not be taken back before
                raise UserError(line)
            shaper.check()
            if patience.allows(EVERYTHING, time.monotonic()):
                self.set_up()
        except UserError as error:
            self.attend()
            self.tell([f"not shaping: {error}"])
            self.try_again(RETRIED_S)
            return
        if shaper.layout is not None:
            self.say("shaping again")
            self.shaping.faults = []
            return
        self.attend()
        name = ifb_name(self.shaping.gateway)
        self.tell([f"interface {name} is removed again and again; it is made ever more seldom"])
        self.try_again(patience.until_s([EVERYTHING]) - time.monotonic())
