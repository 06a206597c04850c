"""Create the objects of a layout in the kernel of this machine, and remove them."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from itertools import groupby
from typing import Any

from lasthop.daemon.differences import Difference, summarised
from lasthop.daemon.kernel_state import KernelState
from lasthop.enforce.gateway.classification import (
    EXEMPT,
    REDIRECTED,
    Counted,
    Kind,
    Programs,
    Surroundings,
)
from lasthop.enforce.gateway.config import Gateway, KnownStation
from lasthop.enforce.gateway.entries import Entries, keys_of
from lasthop.enforce.gateway.inspection import ALL, Part, look
from lasthop.enforce.gateway.layout import MAJOR, Layout, blocks_of, ifb_name
from lasthop.enforce.gateway.leaves import assumed, is_chosen
from lasthop.enforce.gateway.planned import Planned
from lasthop.enforce.gateway.suitability import refuse_bridges, refuse_unsuitable
from lasthop.enforce.gateway.weights import PhyRate
from lasthop.errors import UserError
from lasthop.linux import leaf_queue, links, offload, tc
from lasthop.linux.bpf import BpfError
from lasthop.linux.changes import check_hooks_are_free, mac_of
from lasthop.linux.counters import Counters, class_counter, class_counters, qdiscs, queue_counters
from lasthop.linux.neighbours import own_addresses, subnets_at
from lasthop.linux.netlink import KernelError, Request, is_missing
from lasthop.linux.undo import UndoLog

REMOVALS = (tc.DELFILTER, tc.DELCLASS)
"""Types of netlink messages that remove an object."""


class Shaper(KernelState):
    """State of a gateway's bottlenecks in the kernel.

    Parameters
    ----------
    gateway : Gateway
        Configuration of the gateway.
    log, after_message
        See `KernelState`.
    """

    def __init__(
        self, gateway: Gateway, log: UndoLog, after_message: Callable[[], None] | None = None
    ) -> None:
        super().__init__(log, after_message)
        self.gateway = gateway
        self.rates = {ap.name: ap.first_rate_bps for ap in gateway.aps}
        self.programs: Programs | None = None
        self.why_filters: str | None = None
        """Reason why u32 filters classify packets instead of BPF programs; None if BPF programs
        classify."""
        self.others = Surroundings()
        """MAC addresses that do not belong to exactly one station, as the sources report them."""
        self.on_link: list[tc.Subnet] = []
        """Subnets of the interfaces towards access points, read at the last search for stations."""
        self.layout: Layout | None = None
        """Layout of the objects in the kernel; None while nothing is set up."""

    def check(self, *, is_up: bool = False) -> None:
        """Raise `UserError` for every failure that can be foreseen, before anything is changed.

        If the gateway is already up, existing objects in the kernel are accepted if they have the
        gateway's own marks.
        """
        own = {block.number for block in blocks_of(self.gateway.lan)} if is_up else set()
        present = links.every_link(self.kernel)
        links.index_of(self.gateway.wan)
        for name in self.gateway.lans:
            device = tc.Device(name, links.index_of(name))
            for qdisc in qdiscs(self.kernel, device.number):
                if qdisc.has_hooks and not own & {*qdisc.blocks}:
                    refuse_of_another(device.name, qdisc.blocks[0], present)
                    check_hooks_are_free(self.kernel, device)
        refuse_bridges(self.gateway, present)
        refuse_unsuitable(self.gateway, present)
        name = ifb_name(self.gateway)
        if name in present and not is_up:
            raise UserError(
                f"interface {name}: exists already, and this gateway has not made it",
                "end the script of `lasthop gateway plan --sh` or the gateway with another --state "
                f"that has; if nothing needs it: ip link del {name}",
            )

    def up(self, stations: Iterable[KnownStation]) -> None:
        """Create all objects. If anything fails, revert all changes."""
        self.check()
        with self.reverted_on_failure():
            self.set_up(list(stations))

    def set_up(self, stations: list[KnownStation]) -> None:
        """Create all objects. The filters that redirect packets are created last."""
        gateway = self.gateway
        wan = tc.Device(gateway.wan, links.index_of(gateway.wan))
        lans = [tc.Device(name, links.index_of(name)) for name in gateway.lans]
        ifb = self.changes.add_ifb(ifb_name(gateway), tc.DIRECT_PACKETS)
        chosen = leaf_queue.best(self.kernel, ifb) if is_chosen(gateway) else gateway.discipline
        self.has_programs()
        layout = Layout(gateway, ifb, chosen, self.programs)
        self.changes.carry_out(list(layout.foundation(self.rates)))
        for device in self.receiving((wan, *lans)):
            self.changes.stop_merging(device)
        for lan in lans:
            self.changes.set_segments(lan, links.ONE_SEGMENT)
            self.changes.add_hooks(lan, layout.hooks)
        joins: list[Request] = []
        for station in stations:
            # No class number is free for this station; other stations are still shaped.
            with suppress(UserError):
                joins += layout.join(station)
        self.changes.carry_out(joins)
        self.fill(layout)
        self.changes.carry_out(list(layout.start()))
        self.layout = layout

    def receiving(self, devices: Sequence[tc.Device]) -> list[tc.Device]:
        """Return the devices at which receive offload can merge packets that arrive at `devices`:
        these devices, and the lower devices of VLANs and bridges among them."""
        present = links.every_link(self.kernel)
        names = dict.fromkeys(name for each in devices for name in links.below(each.name, present))
        return [tc.Device(name, present[name].number) for name in names if name in present]

    def down(self, *, unload: bool = True) -> list[str]:
        """Revert all changes. Return a message for each change that could not be reverted.

        If `unload` is false, the BPF programs stay loaded for the next `up`, since the kernel needs
        a tenth of a second to verify them.
        """
        self.layout = None
        remaining = self.changes.undo_all()
        if unload:
            self.unload_programs()
        return remaining

    def has_programs(self) -> bool:
        """Return whether BPF programs classify by MAC address. Load the programs if nothing is set
        up."""
        if self.programs is None and self.layout is None:
            try:
                self.programs = Programs()
                self.why_filters = None
            except BpfError as error:
                self.why_filters = f"BPF program: refused, u32 filters classify instead: {error}"
        return self.programs is not None

    def unload_programs(self) -> None:
        """Close the descriptors of the BPF programs."""
        if self.programs is not None:
            self.programs.close()
            self.programs = None

    def fill_all(self) -> None:
        """Write the entries of all stations to the BPF maps."""
        if self.layout is not None:
            self.fill(self.layout)

    def fill(self, layout: Layout) -> None:
        """Write the entries of a layout to the BPF maps."""
        if self.programs is None:
            return
        present = links.every_link(self.kernel)
        numbers = {name: present[name].number for name in self.gateway.lans if name in present}
        own = own_addresses(self.kernel)
        self.on_link = subnets_at(self.kernel, set(numbers.values()))
        self.programs.apply(Entries(layout, self.on_link, self.others).table(numbers, own))

    def by_address(self) -> dict[str, str]:
        """Return the reason why a station is classified by IP address, by the station's name."""
        if self.layout is None or self.programs is None:
            return {}
        return Entries(self.layout, self.on_link, self.others).by_address

    def moves(self) -> dict[str, int]:
        """Return how often each MAC address of a station has changed its interface, by MAC
        address."""
        if self.layout is None or self.programs is None or len(self.gateway.lans) < 2:
            return {}
        macs = {each.station.mac for each in self.layout.members.values()}
        return {mac: self.programs.moves(mac) for mac in macs if mac is not None}

    def filtered(self) -> list[dict[str, Any]]:
        """Return a row with byte counters of the classifier for each access point and direction,
        for status and metrics."""
        rows: list[dict[str, Any]] = []
        if self.layout is None or self.programs is None:
            return rows
        for ap in self.gateway.aps:
            counted = self.classified(ap.name) or []
            for direction, result in zip(("from_stations", "to_stations"), counted, strict=True):
                rows.append(
                    {
                        "ap": ap.name,
                        "direction": direction,
                        "redirected_bytes": sum(result[kind].bytes for kind in REDIRECTED),
                        "exempt_bytes": {each.name.lower(): result[each].bytes for each in EXEMPT},
                        "unclassified_bytes": result[Kind.UNCLASSIFIED].bytes,
                        "multicast_bytes": result[Kind.MULTICAST].bytes,
                        "forged_bytes": result[Kind.FORGED].bytes,
                        "unmatched_bytes": result[Kind.UNMATCHED].bytes,
                    }
                )
        return rows

    def classified(self, ap: str) -> list[dict[Kind, Counted]] | None:
        """Return the counters of packets and bytes at the classifier by kind of packet: first for
        packets from stations, then for packets to stations.

        Return None if no BPF program is loaded.
        """
        self.running()
        if self.programs is None:
            return None
        names = [each.name for each in self.gateway.aps]
        return self.programs.counts(names.index(ap))

    def join(self, station: KnownStation, *, fill: bool = True) -> None:
        """Create the classes of a station. If the kernel refuses a request, all requests of the
        station are reverted.

        If `fill` is false, packets of the station are unclassified until the next `fill_all`.
        """
        layout = self.running()
        requests = layout.join(station)
        try:
            self.carry(requests)
            if fill:
                self.fill(layout)
        except (KernelError, BpfError):
            self.leave(station.name)
            raise

    def leave(self, name: str) -> None:
        """Remove the classes and filters of a station that has left."""
        layout = self.running()
        if self.programs is not None:
            self.programs.remove(keys_of(layout.members[name]))
        self.carry(layout.leave(name))

    def readdress(self, name: str, addresses: Iterable[tc.Address]) -> None:
        """Set the addresses of a station. The BPF programs use these addresses after the next
        `fill_all`."""
        self.carry(self.running().readdress(name, addresses))

    def identify(self, name: str, mac: str | None) -> None:
        """Set another MAC address of a station. The BPF programs use this address after the next
        `fill_all`."""
        self.carry(self.running().identify(name, mac))

    def set_rate(self, ap: str, rate_bps: int) -> None:
        """Set the rate of an access point's bottleneck with a single netlink message. [bit/s]"""
        layout = self.running()
        self.changes.carry_out([layout.rate(self.gateway.ap(ap), rate_bps)])
        self.rates[ap] = rate_bps

    def weigh(self, read: Mapping[str, PhyRate]) -> None:
        """Set the weights of stations from the data rates of access points. `read` is indexed by
        station name."""
        self.carry(self.running().weigh(read))

    def counters(self) -> dict[int, Counters]:
        """Return the counters of all classes, by number."""
        layout = self.running()
        result = class_counters(self.kernel, layout.ifb.number)
        if layout.discipline in leaf_queue.DROPS_LATER:
            for number, queue in queue_counters(self.kernel, layout.ifb.number).items():
                if number in result:
                    drops = queue.dropped_packets
                    result[number] = result[number]._replace(dropped_packets=drops)
        return result

    def passed_bytes(self, ap: str) -> int:
        """Return the number of bytes that have left an access point's class."""
        layout = self.running()
        return class_counter(self.kernel, layout.ifb.number, layout.ap_class[ap]).sent_bytes

    def differences(self, parts: Set[Part] = ALL) -> list[Difference]:
        """Return the differences between the kernel's state and the layout, in these parts of the
        state."""
        return look(self.kernel, self.running(), self.rates, parts)

    def faults(self) -> list[str]:
        """Return a message for each difference between the kernel's state and the layout."""
        return summarised(self.differences())

    def repair(self, differences: Iterable[Difference]) -> None:
        """Repair differences, and write the entries of the BPF maps."""
        super().repair(differences)
        self.fill_all()

    def carry(self, requests: list[Request]) -> None:
        """Send requests in order. Objects that a request removes may already be missing."""
        for is_removal, some in groupby(requests, lambda each: each.kind in REMOVALS):
            if is_removal:
                self.remove(list(some))
            else:
                self.changes.carry_out(list(some))

    def remove(self, requests: list[Request]) -> None:
        """Send requests that remove objects, one by one. Missing objects are ignored."""
        for request in requests:
            try:
                self.changes.carry_out([request])
            except KernelError as error:
                if not is_missing(error):
                    raise

    def running(self) -> Layout:
        """Return the layout. Call this only while everything is set up."""
        if self.layout is None:
            raise UserError(f"gateway {self.gateway.name}: the gateway is not up")
        return self.layout


def refuse_of_another(interface: str, block: int, present: Iterable[str]) -> None:
    """Raise `UserError` if another program's filter block at an interface has the number of a
    gateway's block."""
    if block >> 16 != MAJOR:
        return
    lans = [name for name in present if block in (each.number for each in blocks_of(name))]
    whose = f', that of `lan = "{lans[0]}"`' if lans else ""
    raise UserError(
        f"interface {interface}: a lasthop gateway already shapes its packets{whose}",
        "end it by `lasthop gateway down` with its file, and with its --state if it has one",
    )


def plan(gateway: Gateway, *, by_mac: bool = True) -> list[str]:
    """Return the shell commands that are equivalent to `up`, for the stations with addresses in the
    configuration.

    Parameters
    ----------
    gateway : Gateway
    by_mac : bool, optional
        Whether BPF programs classify packets. If False, u32 filters classify packets, which `up`
        uses if the kernel refuses the programs.
    """
    ifb = tc.Device(ifb_name(gateway), 0)
    programs = Planned(ifb.name) if by_mac else None
    layout = Layout(gateway, ifb, programs=programs)
    rates = {ap.name: ap.first_rate_bps for ap in gateway.aps}
    lines = []
    if is_chosen(gateway):
        lines.append(f"# leaves: {assumed(gateway)}, if the kernel has it; see `check`")
    lines += [
        links.add_ifb(ifb.name, mac_of(ifb.name), tc.DIRECT_PACKETS).command,
        links.set_up(ifb.name).command,
        *(programs.load() if programs is not None else ()),
        *(request.command for request in layout.foundation(rates)),
    ]
    devices = [tc.Device(name, 0) for name in (gateway.wan, *gateway.lans)]
    lines += [offload.shell_command(device.name, False) for device in devices]
    lines += [links.set_segments(device.name, links.ONE_SEGMENT).command for device in devices[1:]]
    lines += [tc.hooks(device, *layout.hooks).command for device in devices[1:]]
    requests: list[Request] = []
    for station in gateway.stations:
        if station.can_be_placed:
            requests += layout.join(station)
    lines += [request.command for request in requests]
    if programs is not None:
        numbers = {name: k for k, name in enumerate(gateway.lans, start=1)}
        table = Entries(layout).table(numbers, ())
        lines += programs.fill(table, {k: name for name, k in numbers.items()})
    return lines + [request.command for request in layout.start()]
