"""Stations of a running gateway: the stations that are present, and the stations with a leaf.

The search for stations may wait for an access point, and therefore runs in a separate thread.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any, TypeAlias

from lasthop.daemon.loop import Loop
from lasthop.enforce.gateway.admission import Admission, Memory, StoredState
from lasthop.enforce.gateway.bypass import bypasses
from lasthop.enforce.gateway.classification import Surroundings
from lasthop.enforce.gateway.config import KnownStation
from lasthop.enforce.gateway.discovery import bridge_ports, listen, look
from lasthop.enforce.gateway.entries import UNKNOWN_MAC
from lasthop.enforce.gateway.layout import Member
from lasthop.enforce.gateway.phy_rates import PhyRates
from lasthop.enforce.gateway.ports import WINDOW_S
from lasthop.enforce.gateway.roster import MAX_ADDRESSES, MAX_MACHINES, Roster, Sighting
from lasthop.enforce.gateway.shaping import Shaping
from lasthop.enforce.gateway.suitability import by_address, warnings_for
from lasthop.errors import UserError
from lasthop.linux.bpf import BpfError
from lasthop.linux.heard import Heard
from lasthop.linux.netlink import KernelError
from lasthop.linux.newcomers import Newcomers
from lasthop.linux.tc import Address

MEETING_S = 1.0
"""Minimum time between two searches for stations, even if many stations arrive. [s]"""
MAX_MOVES = 10
"""Number of interface changes of one MAC address between two searches for stations. If this number
is reached, two machines seem to use the MAC address. [-]"""
MAX_MET = 1000
"""Largest number of neighbours in the set `Stations.met`. Above this number, the set is emptied.
[-]"""


Sightings: TypeAlias = tuple[list[Sighting], list[str]]
"""Sightings of all sources, and messages about faulty sources."""


class Stations:
    """Stations that are present, with all reports about these stations.

    Parameters
    ----------
    shaping : Shaping
    left : callable
        Called with the name of each station that has left.
    memory : Memory, optional
        MAC addresses that were admitted in the last run.
    """

    def __init__(
        self, shaping: Shaping, left: Callable[[str], None], memory: Memory | None = None
    ) -> None:
        self.shaping = shaping
        self.left = left
        self.memory = memory or Memory()
        self.admission = Admission()
        self.wait_for: Callable[[float], None] = lambda _: None
        """Function that schedules the next admission. It is called with the time at which the next
        MAC address may be admitted. [s]"""
        self.moves: dict[str, int] = {}
        """Number of interface changes since the start, as read at the last search for stations, by
        MAC address. [-]"""
        self.moving: dict[str, float] = {}
        """Time of the last search that showed frequent interface changes, for each MAC address that
        two machines seem to use. [s]"""
        self.roster = Roster(shaping.gateway)
        self.phy_rates = PhyRates()
        self.heard = Heard(())
        self.looking: Future[Sightings] | None = None
        self.last_sightings: Sightings | None = None
        """Result of the last search for stations; None before the first search or after an
        error."""
        self.looked_s = 0.0
        """Time on the monotonic clock at which the last search began. [s]"""
        self.is_late = False
        """Whether another search for stations was requested while a search was running."""
        self.newcomers = Newcomers(())
        self.met: set[Address] = set()
        """Addresses of neighbours that the kernel has already reported. A neighbour need not be a
        station."""
        self.faults: list[str] = []
        """Messages about faulty sources, from the last search."""
        self.warnings: list[str] = []
        self.bypassed: list[str] = []
        """Messages about hardware flowtables that contain an interface towards stations."""
        self.refused: list[str] = []
        """Messages about stations without a leaf, or without one of their addresses."""

    def look_now(self) -> None:
        """Query all sources of stations in this thread, and process their reports."""
        remaining = self.memory.read()
        self.admission.known = dict.fromkeys(remaining.admitted)
        self.roster.bindings.restore(remaining.ignored, time.monotonic())
        self.last_sightings = look(self.shaping.gateway)
        seen, self.faults = self.last_sightings
        self.roster.see(seen, time.monotonic())
        self.see_rates(seen)

    def watch(self, loop: Loop, workers: Executor) -> None:
        """Schedule periodic searches for stations, and a search when the kernel reports a new
        neighbour."""

        def begin() -> None:
            self.discover(workers, lambda: loop.tell(taken))

        def taken() -> None:
            if self.take_look():
                begin()

        def meet() -> None:
            if self.are_new(self.newcomers.read()):
                loop.at(max(time.monotonic(), self.looked_s + MEETING_S), begin)

        def admit() -> None:
            self.settle(self.wanted())

        self.wait_for = lambda at_s: loop.at(at_s, admit)
        self.wait_for(self.admission.due_s())
        loop.every(lambda: self.shaping.gateway.discovery.interval_s, begin)
        loop.watch(self.newcomers.socket, meet)

    def discover(self, workers: Executor, done: Callable[[], None]) -> None:
        """Start a search for stations. First process the result of the last search, if it is still
        unprocessed.

        The thread of the search calls `done` at its end, if the result differs from the last
        result.
        """
        self.take_look()
        if self.looking is not None:
            self.is_late = True
            return
        self.looked_s, self.is_late = time.monotonic(), False
        self.looking = workers.submit(look, self.shaping.gateway)
        self.looking.add_done_callback(lambda ended: done() if self.is_news(ended) else None)
        self.look_at_machine()

    def is_news(self, ended: Future[Sightings]) -> bool:
        """Return whether the result of a search should be processed now. The thread of the search
        calls this method."""
        before = self.last_sightings
        self.last_sightings = None if ended.exception() else ended.result()
        return self.is_late or self.last_sightings is None or self.last_sightings != before

    def take_look(self) -> bool:
        """Process the result of the last search. Return whether another search was requested while
        the last search was running."""
        if self.looking is None or not self.looking.done():
            return False
        done, self.looking = self.looking, None
        seen, self.faults = done.result()
        self.see(seen)
        return self.is_late

    def are_new(self, addresses: Iterable[Address]) -> bool:
        """Return whether one of these neighbours is new: the kernel has not reported it before, and
        no source has reported it as a station."""
        roster = self.roster
        new = set(addresses) - roster.addresses - self.met - roster.bindings.by_address.keys()
        self.met = (self.met if len(self.met) < MAX_MET else set()) | new
        return bool(new)

    def listen(self) -> None:
        """Process the hosts that have sent frames at bridge ports."""
        seen = list(listen(self.shaping.gateway, self.heard))
        if seen:
            self.see(seen)

    def listen_anew(self) -> None:
        """Open a socket at the bridge ports, for which the kernel has no neighbour tables."""
        self.heard.close()
        self.heard = Heard(bridge_ports(self.shaping.gateway))
        self.look_at_machine()

    def look_at_machine(self) -> None:
        """Collect the warnings about this machine and its flowtables. Errors of the kernel are
        ignored."""
        with suppress(UserError):
            past = bypasses(self.shaping.gateway)
            self.warnings = [*warnings_for(self.shaping.gateway), *past.warnings]
            self.bypassed = past.faults

    def see(self, seen: Iterable[Sighting]) -> None:
        """Process the reports of sources. Then remove stations that have left, and add stations
        that have arrived."""
        self.roster.see(seen, time.monotonic())
        self.see_rates(seen)
        self.see_moves()
        self.settle(self.wanted())

    def wanted(self) -> list[KnownStation]:
        """Return the stations that should have a leaf now."""
        shaping, roster, now = self.shaping, self.roster, time.monotonic()
        everybody = roster.stations()
        listed = {each.name for each in shaping.gateway.stations}
        results = {
            each.name
            for each in everybody
            if each.name not in listed and not shaping.gateway.names(each.mac)
        }
        macs = {each.mac: each.ap for each in everybody if each.name in results}
        admission, discovery = self.admission, shaping.gateway.discovery
        admission.quarantine_s = discovery.quarantine_s
        admission.max_new_leaves = discovery.new_per_minute
        admitted = admission.see((mac for mac in macs if mac is not None), now)
        self.memory.write(StoredState(admission.known, roster.ignored))
        self.wait_for(admission.due_s())
        waiting = {mac: ap for mac, ap in macs.items() if mac and ap and mac not in admitted}
        shaping.shaper.others = Surroundings(roster.ignored, roster.routed, waiting)
        return [each for each in everybody if each.name not in results or each.mac in admitted]

    def see_moves(self) -> None:
        """Find the MAC addresses that two machines seem to use, from frequent interface changes."""
        now, moves = time.monotonic(), self.shaping.shaper.moves()
        for mac, count in moves.items():
            if count - self.moves.get(mac, count) >= MAX_MOVES:
                self.moving[mac] = now
        self.moves = moves
        self.moving = {mac: at_s for mac, at_s in self.moving.items() if now - at_s <= WINDOW_S}

    def see_rates(self, seen: Iterable[Sighting]) -> None:
        """Record the data rates that sources report."""
        rates = [each for each in seen if each.rate_bps is not None]
        if rates:
            active = self.shaping.observed.active
            keys = {name: (m.ap.name, m.station.mac or "") for name, m in self.members.items()}
            self.phy_rates.add(
                rates, {keys[name] for name in active & keys.keys()}, set(keys.values())
            )

    @property
    def members(self) -> Mapping[str, Member]:
        """Stations with a leaf, by name; empty while nothing is shaped."""
        layout = self.shaping.layout
        return {} if layout is None else layout.members

    def weigh(self) -> None:
        """Set the weights of stations from the data rates that their access points report."""
        if self.members and any(ap.reads_rates for ap in self.shaping.gateway.aps):
            present = {name: (member.ap, member.station) for name, member in self.members.items()}
            self.shaping.shaper.weigh(self.phy_rates.of(present))

    def weighed(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the status rows of stations, with the data rate that determines each weight, and
        the source of this rate."""
        results = []
        for row in rows:
            added: dict[str, Any] = {}
            member, layout = self.members.get(row["name"]), self.shaping.layout
            if member is not None and layout is not None and member.ap.fairness == "rate":
                rate = layout.weights.rate(member.station)
                added = {"phy_rate_bps": rate.rate_bps, "phy_rate_source": rate.source}
            results.append({**row, **added})
        return results

    def settle(self, wanted: Sequence[KnownStation]) -> None:
        """Remove and add leaves, so that exactly these stations have a leaf."""
        shaper = self.shaping.shaper
        if shaper.layout is None:
            return
        by_name = {station.name: station for station in wanted}
        members = shaper.layout.members
        stays = {
            name
            for name, member in members.items()
            if name in by_name
            and by_name[name].ap == member.ap.name
            and by_name[name].rate_bps == member.station.rate_bps
            and by_name[name].subnets == member.station.subnets
            and by_name[name].group == member.station.group
        }
        refused: list[str] = []
        try:
            for name in set(members) - stays:
                shaper.leave(name)
                self.left(name)
            # An address that changes from one station to another is first removed from the old
            # station.
            for name in stays:
                has = set(members[name].addresses)
                left = has & set(by_name[name].addresses)
                if left != has:
                    shaper.readdress(name, left)
                if members[name].station.mac != by_name[name].mac:
                    shaper.identify(name, by_name[name].mac)
            for name, station in by_name.items():
                try:
                    if name not in stays:
                        shaper.join(station, fill=False)
                    elif set(members[name].addresses) != set(station.addresses):
                        shaper.readdress(name, station.addresses)
                except KernelError:
                    raise
                except UserError as error:  # No class number is free.
                    refused.append(f"{name}: {error}")
            shaper.fill_all()
            self.weigh()
        except (UserError, BpfError) as error:
            self.shaping.wrong(error)
        self.refused = refused

    def refusals(self) -> list[str]:
        """Return messages about stations that are not shaped because there are too many
        stations."""
        lines = []
        if self.refused:
            more = f" (and {len(self.refused) - 1} more)" if len(self.refused) > 1 else ""
            lines.append(f"not shaped: {self.refused[0]}{more}")
        if self.roster.dropped is not None:
            lines.append(
                f"station {self.roster.dropped}: its oldest addresses were dropped: at most "
                f"{MAX_ADDRESSES} addresses are kept for all stations"
            )
        if self.roster.is_full:
            lines.append(
                f"more than {MAX_MACHINES} machines are found: later machines are not shaped"
            )
        return lines

    def unsound(self) -> list[str]:
        """Return messages about faults of the classification: hardware flowtables, and MAC
        addresses that two machines use."""
        results = [*self.bypassed, *self.roster.ports.faults()]
        results += [
            f"MAC address {mac} sends at two interfaces of {', '.join(self.shaping.gateway.lans)}: "
            "two machines use it, and have one share"
            for mac in self.moving
        ]
        return results

    def ports(self) -> list[dict[str, Any]]:
        """Return a status row for each port, with the number of MAC addresses at the port, and the
        number of these MAC addresses that wait for a leaf."""
        roster, waiting = self.roster, self.admission.first_s
        counts = roster.ports.counts()
        waits = Counter(roster.ports.at[mac].port for mac in waiting if mac in roster.ports.at)
        return [
            {"name": port, "macs": counts[port], "waiting": waits[port]} for port in sorted(counts)
        ]

    def warnings_for(self) -> list[str]:
        """Return warnings about the classification of stations."""
        results = list(self.roster.bindings.warnings())
        if (queue := len(self.admission.admitted_s)) >= self.admission.max_new_leaves:
            results.append(
                f"`discover.new_per_minute`: reached: {queue} new MAC addresses got a leaf in the "
                f"last minute, {self.admission.waiting} wait: list the stations that must not wait"
            )
        # The MAC address of a listed station is unknown until the station sends a frame.
        silent = {
            name
            for name, seen in self.shaping.observed.seen.items()
            if seen.counters is not None and not seen.counters.sent_bytes
        }
        reasons = self.shaping.shaper.by_address()
        return results + by_address(
            {
                name: reason
                for name, reason in reasons.items()
                if reason != UNKNOWN_MAC or name not in silent
            }
        )

    def close(self) -> None:
        """Close all sockets."""
        self.heard.close()
        self.newcomers.close()
