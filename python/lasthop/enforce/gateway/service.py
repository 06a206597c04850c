"""Service of a running gateway. It finds stations, pings them, sets rates, repairs changes by other
programs, and answers requests.

`Loop` schedules all tasks. `Rates`, `Stations`, `Healing` and `Control` perform these tasks. This
module creates these objects, reads counters, and applies a changed configuration.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from lasthop.daemon.healing import Healing
from lasthop.daemon.service import Service
from lasthop.daemon.service_kind import ServiceContext
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.admission import Remembered
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.counting import Counting
from lasthop.enforce.gateway.layout import refuse_excess_stations
from lasthop.enforce.gateway.leaves import memory, unmanaged, why
from lasthop.enforce.gateway.metrics import serve_metrics
from lasthop.enforce.gateway.observed import Observed
from lasthop.enforce.gateway.rates import Rates
from lasthop.enforce.gateway.roster import Roster
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.enforce.gateway.shaping import Shaping
from lasthop.enforce.gateway.stations import Stations
from lasthop.enforce.gateway.suitability import without_programs
from lasthop.enforce.gateway.weights import range_of_rates
from lasthop.errors import UserError

PATIENCE_S = 1.0
"""Longest time for which another thread waits for a reply from the event loop. [s]"""


class GatewayService(Service[Gateway]):
    """Service that sets up a gateway, runs it, and reverts its changes.

    Parameters
    ----------
    context : ServiceContext
        Context of the service. This process must hold the lock of the service.
    """

    def __init__(self, context: ServiceContext[Gateway]) -> None:
        super().__init__(context)
        gateway, log = context.wanted, context.state.log
        self.shaping = Shaping(gateway, Shaper(gateway, log), Observed(gateway))
        self.rates = Rates(self.shaping, self.loop.watch, self.loop.unwatch)
        self.memory = Remembered(context.state)
        self.stations = Stations(self.shaping, self.rates.forget, self.memory)
        self.healing = Healing(self.shaping, self.loop, context.say, self.set_up, self.listen_again)
        self.counting = Counting(self.shaping, self.loop, self.count, self.rates.ping)
        self.counting.is_watched = context.show is not None
        self.latest: dict[str, Any] = {}
        """Last status that was computed."""
        self.status()

    @property
    def kernel_state(self) -> Shaper:
        """Classes and filters of the gateway in the kernel."""
        return self.shaping.shaper

    # Start and end of the service.

    def published(self) -> AbstractContextManager[None]:
        """Return a context that serves metrics, if the configuration enables metrics."""
        return serve_metrics(self.context.wanted.metrics, self.status_for_others)

    def prepare(self) -> None:
        """Search for stations before anything is set up."""
        self.shaping.shaper.check()
        self.stations.look_now()

    def set_up(self) -> None:
        """Create the classes and filters for the present stations, and start all monitoring."""
        self.healing.attend_to_all()
        self.shaping.shaper.up(self.stations.wanted())
        self.stations.weigh()
        self.healing.attend()
        self.listen_again()
        self.shaping.observed = Observed(self.shaping.gateway)
        self.rates.set_up()
        self.loop.at(time.monotonic(), self.rates.ping)

    def listen_again(self) -> None:
        """Open the sockets at the interfaces towards stations again, since interfaces may have
        changed."""
        present = {
            name: number
            for name, number in self.healing.numbers.items()
            if name in self.shaping.gateway.lans
        }
        self.counting.listen_anew(present)
        self.rates.listen_anew()
        self.stations.newcomers.attend(present.values())
        self.stations.listen_anew()

    def close(self) -> None:
        """Close all sockets."""
        self.shaping.shaper.close()
        self.healing.close()
        self.rates.close()
        self.counting.close()
        self.stations.close()

    def run(self) -> None:
        """Run until SIGTERM, SIGINT or a request to stop arrives."""
        with ExitStack() as stack:
            workers = stack.enter_context(ThreadPoolExecutor(1, "discovery"))
            self.listen(stack, config.read)
            for raw in self.rates.pinger.sockets.values():
                self.loop.watch(raw, self.rates.take_answers)
            self.context.is_up()
            self.loop.every(self.rates.until_ping, self.rates.ping)
            self.loop.every(self.counting.until_count, self.count)
            self.stations.watch(self.loop, workers)
            self.loop.run()

    # Counters and events of the kernel.

    def count(self) -> None:
        """Process new hosts at bridge ports, and read all counters."""
        self.stations.listen()
        self.counting.count()
        if self.context.show is not None:
            self.context.show(self.status())

    def status_for_others(self) -> dict[str, Any]:
        """Return the status for another thread. If the event loop is busy for too long, return the
        last status."""
        return self.loop.ask(self.status, PATIENCE_S) or self.latest

    def heal(self) -> None:
        """Inspect everything now, and repair changes by other programs."""
        self.healing.doubt()
        self.healing.inspect()

    # A changed configuration.

    def refuse(self, new: Gateway) -> None:
        """Raise `UserError` for a configuration that cannot be applied, before anything is
        changed."""
        lan = self.shaping.gateway.lan
        if new.lan != lan:
            raise UserError(
                f'gateway.lan: "{new.lan}" differs from "{lan}" of the running gateway; first end '
                f"the running gateway with `down`"
            )
        listed, known = {each.name for each in new.stations}, self.stations.admission.known
        stations = carried_over(self.stations.roster, new).stations()
        fit = [each for each in stations if each.name in listed or each.mac in known]
        refuse_excess_stations(new, fit)
        with Shaper(new, self.state.log) as shaper:
            shaper.check(is_up=True)

    def take_over(self, new: Gateway) -> None:
        """Apply a changed configuration. If that fails, apply the old configuration again."""
        shaping, stations = self.shaping, self.stations
        old, shaping.gateway = shaping.gateway, new
        if old == new:
            return
        before, roster = shaping.shaper, stations.roster
        stations.roster = carried_over(roster, new)
        # Messages about the old sources are deleted. The result of a search that is still running
        # is ignored.
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
        """Apply a configuration that differs from the present one only in stations and
        discovery."""
        shaper = self.shaping.shaper
        shaper.gateway = shaper.running().gateway = self.shaping.observed.gateway = gateway
        self.stations.listen_anew()
        self.stations.settle(self.stations.wanted())

    def status(self) -> dict[str, Any]:
        """Return the status. Its counters are at most one second old."""
        self.counting.count_again()
        now, shaping = time.monotonic(), self.shaping
        stations = self.stations.weighed(self.rates.with_pings(shaping.observed.stations(), now))
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
                *self.stations.warnings_for(),
                *without_programs(shaping.shaper.why_filters),
                *(unmanaged(shaping.gateway, discipline) if discipline is not None else ()),
                *(memory(discipline) if discipline is not None else ()),
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
    """Return whether two configurations differ only in stations and discovery, so that the HTB
    classes are equal."""
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
    """Return a roster for a changed configuration, with all machines of the old roster."""
    new = Roster(gateway)
    new.machines, new.routers, new.ports = roster.machines, roster.routers, roster.ports
    new.take_bindings(roster)
    return new
