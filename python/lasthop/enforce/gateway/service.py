"""A gateway that is up: it finds stations, pings them, sets rates, heals, and answers questions.

`Loop` says when, `Rates`, `Stations` and `Healing` do it, `Control` answers; here is what they have
in common: setting up, counting, and taking over another file.
"""

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from lasthop.daemon.control import Control
from lasthop.daemon.healing import Healing
from lasthop.daemon.log import say
from lasthop.daemon.loop import Loop, in_words
from lasthop.daemon.service_kind import Show
from lasthop.daemon.state import State
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.admission import Remembered
from lasthop.enforce.gateway.cautions import without_programs
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.counting import Counting
from lasthop.enforce.gateway.layout import refuse_what_does_not_fit
from lasthop.enforce.gateway.leaves import unmanaged, why
from lasthop.enforce.gateway.observed import Observed
from lasthop.enforce.gateway.rates import Rates
from lasthop.enforce.gateway.roster import Roster
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.enforce.gateway.shaping import Shaping
from lasthop.enforce.gateway.stations import Stations
from lasthop.enforce.gateway.weights import range_of_rates
from lasthop.errors import UserError

PATIENCE_S = 1.0
"""So long another thread waits for the loop. [s]"""


class Service:
    """A gateway in the making, running, and taken down again.

    Parameters
    ----------
    gateway : Gateway
    state : State
        Its lock is held by this process.
    again : callable
        Reads the file anew, for a reload.
    say : callable
        Takes a line of the log.
    """

    def __init__(
        self,
        gateway: Gateway,
        state: State,
        again: Callable[[], Gateway],
        say: Callable[[str], None] = say,
    ) -> None:
        self.state = state
        self.again = again
        self.say = say
        self.shaping = Shaping(gateway, Shaper(gateway, state.log), Observed(gateway))
        self.loop = Loop(say)
        self.rates = Rates(self.shaping, self.loop.watch, self.loop.unwatch)
        self.memory = Remembered(state)
        self.stations = Stations(self.shaping, self.rates.forget, self.memory)
        self.healing = Healing(self.shaping, self.loop, say, self.set_up, self.listen_anew)
        self.counting = Counting(self.shaping, self.loop, self.count, self.rates.ping)
        self.started_s = time.time()
        self.show: Show | None = None
        self.latest: dict[str, Any] = {}
        """The status as it was told last."""
        self.status()

    # Up and down.

    def up(self) -> None:
        """Take back what a process that was killed has left, look around, and set up."""
        remaining = self.shaping.shaper.changes.undo_all()
        if remaining:
            raise UserError(f"{self.state.log.path}: {remaining[0]}", "undo the named change first")
        self.shaping.shaper.check()
        self.stations.look_now()
        self.set_up()

    def set_up(self) -> None:
        """Set up the kernel for who is there, and all that watches it."""
        self.healing.attend_to_all()
        self.shaping.shaper.up(self.stations.wanted())
        self.stations.weigh()
        self.healing.attend()
        self.listen_anew()
        self.shaping.observed = Observed(self.shaping.gateway)
        self.rates.set_up()
        self.loop.at(time.monotonic(), self.rates.ping)

    def listen_anew(self) -> None:
        """Listen at the interfaces towards stations that are there now."""
        present = {
            name: number
            for name, number in self.healing.numbers.items()
            if name in self.shaping.gateway.lans
        }
        self.counting.listen_anew(present)
        self.rates.listen_anew()
        self.stations.meet_at(present.values())
        self.stations.listen_anew()

    def down(self) -> list[str]:
        """Take everything back; what could not be, in words."""
        return self.shaping.shaper.down()

    def close(self) -> None:
        """Let go of sockets."""
        self.shaping.shaper.close()
        self.healing.close()
        self.rates.close()
        self.counting.close()
        self.stations.close()

    def run(self, is_up: Callable[[], None], show: Show | None) -> None:
        """Run until SIGTERM, SIGINT or a request to stop.

        `is_up` is called once all is set up; `show` gets the status every second.
        """
        control = Control(self.state, self, config.read)
        self.show, self.counting.is_watched = show, show is not None
        with ExitStack() as stack:
            workers = stack.enter_context(ThreadPoolExecutor(1, "discovery"))
            asked = control.open(stack)
            self.loop.watch(asked, lambda: control.serve(asked))
            self.loop.take_signals(stack, {signal.SIGHUP: self.reload_and_say})
            for raw in self.rates.pinger.sockets.values():
                self.loop.watch(raw, self.rates.take_answers)
            is_up()
            self.loop.every(self.rates.until_ping, self.rates.ping)
            self.loop.every(self.counting.until_count, self.count)
            self.stations.watch(self.loop, workers)
            self.loop.run()

    def stop(self) -> None:
        """End once what is being done is done."""
        self.loop.stop()

    # What the kernel says.

    def count(self) -> None:
        """Hear of stations, and read all counters."""
        self.stations.listen()
        self.counting.count()
        if self.show is not None:
            self.show(self.status())

    def status_for_others(self) -> dict[str, Any]:
        """The status, for another thread; as it was, if the loop is busy for long."""
        return self.loop.ask(self.status, PATIENCE_S) or self.latest

    def heal(self) -> None:
        """Look at everything now, and put right what others have changed."""
        self.healing.doubt()
        self.healing.inspect()

    # Another file.

    def reload_and_say(self) -> None:
        """Read the file anew; if it is refused, the log says why."""
        for line in self.reload():
            self.say(f"reload refused: {line}")

    def reload(self, again: Callable[[], Gateway] | None = None) -> list[str]:
        """Read the file anew, or another one from now on; if anything is wrong with it, in words,
        what is in force stays so.
        """
        wanted = again or self.again
        try:
            new = wanted()
            self.refuse(new)
        except UserError as error:
            return str(error).splitlines()
        except Exception as error:
            return [in_words(error)]
        try:
            self.take_over(new)
        except Exception as error:
            return [in_words(error)]
        self.again = wanted
        return []

    def refuse(self, new: Gateway) -> None:
        """Refuse, before anything is touched, a file that cannot be taken over."""
        lan = self.shaping.gateway.lan
        if new.lan != lan:
            raise UserError(
                f'gateway.lan: "{new.lan}" differs from "{lan}" of the running gateway; first end '
                f"the running gateway with `down`"
            )
        listed, known = {each.name for each in new.stations}, self.stations.admission.known
        stations = carried_over(self.stations.roster, new).stations()
        fit = [each for each in stations if each.name in listed or each.mac in known]
        refuse_what_does_not_fit(new, fit)
        with Shaper(new, self.state.log) as shaper:
            shaper.check(is_up=True)

    def take_over(self, new: Gateway) -> None:
        """Do what another file says; if that fails, what the old one says again."""
        shaping, stations = self.shaping, self.stations
        old, shaping.gateway = shaping.gateway, new
        if old == new:
            return
        before, roster = shaping.shaper, stations.roster
        stations.roster = carried_over(roster, new)
        # What was wrong with the old sources is over, also what a look under way finds.
        stations.looking, stations.faults = None, []
        try:
            if before.layout is not None and same_classes(old, new):
                self.let(new)
                return
            for line in before.down():
                raise UserError(line)
            shaping.shaper = Shaper(new, self.state.log)
            shaping.shaper.check()
            self.set_up()
        except Exception:
            if shaping.shaper is not before:
                shaping.shaper.close()
            shaping.gateway, shaping.shaper, stations.roster = old, before, roster
            if before.layout is None:
                self.heal()
            else:
                self.let(old)
            raise
        before.close()

    def let(self, gateway: Gateway) -> None:
        """Let stations of this file in, whose classes are those that there are."""
        shaper = self.shaping.shaper
        shaper.gateway = shaper.running().gateway = self.shaping.observed.gateway = gateway
        self.stations.listen_anew()
        self.stations.settle(self.stations.wanted())

    def status(self) -> dict[str, Any]:
        """What there is to know, for people and programs, with counters a second old at most."""
        self.counting.count_again()
        now, shaping = time.monotonic(), self.shaping
        stations = self.stations.weighed(self.rates.said_of(shaping.observed.stations(), now))
        discipline = shaping.layout.discipline if shaping.layout is not None else None
        self.latest = {
            "name": shaping.gateway.name,
            "pid": os.getpid(),
            "started_s": self.started_s,
            "shaping": shaping.layout is not None and shaping.is_whole(self.healing.numbers),
            "faults": [
                *shaping.faults,
                *self.stations.faults,
                *self.stations.refusals(),
                *self.stations.unsound(),
                *([self.memory.fault] if self.memory.fault else ()),
                *self.loop.faults.values(),
                *self.rates.faults(now),
            ],
            "warnings": [
                *self.stations.warnings,
                *self.stations.cautions(),
                *without_programs(shaping.shaper.why_filters),
                *(unmanaged(shaping.gateway, discipline) if discipline is not None else ()),
                *self.rates.warnings(),
            ],
            "leaves": discipline and {"discipline": discipline, "why": why(shaping.gateway)},
            "filters": shaping.shaper.filtered(),
            "ports": self.stations.ports(),
            "aps": [self.rates.status(ap) for ap in shaping.gateway.aps],
            "groups": shaping.observed.of_groups(),
            "stations": stations,
        }
        return self.latest


def same_classes(old: Gateway, new: Gateway) -> bool:
    """Whether only stations and discovery differ, so that nobody else need notice."""
    shares = [[(g.name, g.share, g.max_bps) for g in gateway.groups] for gateway in (old, new)]
    return (
        shares[0] == shares[1]
        and range_of_rates(old) == range_of_rates(new)
        and all(
            getattr(old, name) == getattr(new, name)
            for name in ("wan", "lan", "queue_packets", "discipline", "flow_leaves", "aps")
        )
    )


def carried_over(roster: Roster, gateway: Gateway) -> Roster:
    """The roster for another file, with all that was found."""
    new = Roster(gateway)
    new.found, new.routers, new.ports = roster.found, roster.routers, roster.ports
    new.take_bindings(roster)
    return new
