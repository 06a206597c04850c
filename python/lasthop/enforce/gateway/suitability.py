"""Warnings that `check`, `up` and `status` print about a valid gateway configuration."""

from collections.abc import Mapping
from contextlib import suppress

from lasthop.enforce.gateway.config import Gateway
from lasthop.errors import UserError
from lasthop.linux import links
from lasthop.linux.links import Link
from lasthop.linux.neighbours import addresses_at
from lasthop.linux.netlink import Socket
from lasthop.linux.tc import PACKET_BYTES

MAX_PACKET_BYTES = PACKET_BYTES - 14
"""Length of the longest IP packet that a leaf can send with one quantum. The Ethernet header also
counts towards the quantum. [bytes]"""
NAMED = 3
"""Largest number of stations whose names a warning lists."""


def warnings_for(gateway: Gateway) -> list[str]:
    """Return warnings about a gateway. Its interfaces need not exist on this machine."""
    with Socket() as kernel:
        present = links.every_link(kernel)
        return [
            *caps_by_default(gateway),
            *out_of_service(gateway, present),
            *not_forwarding(gateway, present, kernel),
            *without_address(gateway, present, kernel),
            *with_long_frames(gateway, present),
        ]


def caps_by_default(gateway: Gateway) -> list[str]:
    """Return warnings about access points whose rate C is limited by the default of
    `gateway.wce.max`."""
    results = []
    for ap in gateway.aps:
        if ap.rate_bps is None and ap.max_by_default:
            most = f"{ap.max_bps / 1e6:g} Mbit/s"
            results.append(
                f"access point {ap.name}: C is at most {most} (`gateway.wce.max`, its default): "
                "set it to somewhat more than the WLAN can carry"
            )
    return results


def out_of_service(gateway: Gateway, present: dict[str, Link]) -> list[str]:
    """Return warnings about the gateway's interfaces that are down."""
    ours = [name for name in (gateway.wan, *gateway.lans) if name in present]
    return [
        f"interface {name} is down: ip link set {name} up"
        for name in dict.fromkeys(ours)
        if not present[name].is_up
    ]


def not_forwarding(gateway: Gateway, present: dict[str, Link], kernel: Socket) -> list[str]:
    """Return warnings if the machine neither routes nor bridges between `wan` and `lan`.

    IPv6 is checked only if the interfaces towards access points have IPv6 addresses.
    """
    across = bridge_of(gateway.wan, present)
    if across and all(bridge_of(name, present) == across for name in gateway.lans):
        return []
    results = []
    if not links.forwards(4):
        results.append("the machine does not forward IPv4: sysctl -w net.ipv4.ip_forward=1")
    numbers = [present[name].number for name in gateway.lans if name in present]
    every = [each for number in numbers for each in addresses_at(kernel, number)]
    if any(each.version == 6 for each in every) and not links.forwards(6):
        results.append(
            "the machine does not forward IPv6: sysctl -w net.ipv6.conf.all.forwarding=1"
        )
    return results


def without_address(gateway: Gateway, present: dict[str, Link], kernel: Socket) -> list[str]:
    """Return warnings about interfaces (or their bridges) without an IP address, which cannot send
    pings."""
    results = []
    for ap in gateway.aps:
        bridge = bridge_of(ap.interface, present)
        by = present.get(bridge or ap.interface)
        if by is not None and ap.rate_bps is None and not addresses_at(kernel, by.number):
            what = f"bridge {bridge} of" if bridge else "interface"
            results.append(
                f"{what} {ap.interface} has no address, so that no station can be pinged: "
                "give it one in the stations' subnet, or set `gateway.rate`"
            )
    return list(dict.fromkeys(results))


def with_long_frames(gateway: Gateway, present: dict[str, Link]) -> list[str]:
    """Return warnings about interfaces whose MTU is longer than one quantum of a leaf."""
    results = []
    for name in gateway.lans:
        with suppress(OSError):  # the interface may have been removed
            if name in present and (longest := links.longest_packet(name)) > MAX_PACKET_BYTES:
                results.append(
                    f"interface {name} has an MTU of {longest} bytes: shares are equal up to "
                    f"{MAX_PACKET_BYTES}: ip link set {name} mtu {MAX_PACKET_BYTES}"
                )
    return results


def by_address(stations: Mapping[str, str]) -> list[str]:
    """Return warnings about stations that are classified by IP address, grouped by reason."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in stations.items():
        by_reason.setdefault(reason, []).append(name)
    results = []
    for reason, names in by_reason.items():
        noun = "stations" if len(names) > 1 else "station"
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        results.append(
            f"{noun} {', '.join(names[:NAMED])}{more}: classified by IP address, since "
            f"{reason}: a guest can forge such an address, and new addresses are unclassified"
        )
    return results


def without_programs(why: str | None) -> list[str]:
    """Return a warning if u32 filters classify packets because BPF programs cannot be loaded."""
    if why is None:
        return []
    return [
        f"{why}: ARP, DNS and DHCP wait in the leaves, and bytes at the filters are not counted: "
        "the process must have CAP_BPF, and the kernel CONFIG_BPF_SYSCALL and CONFIG_NET_CLS_BPF"
    ]


def bridge_of(name: str, present: dict[str, Link]) -> str | None:
    """Return the bridge to which an interface belongs as a port, or None."""
    link = present.get(name)
    for other, bridge in present.items():
        if link is not None and bridge.number == link.master and bridge.kind == "bridge":
            return other
    return None


def refuse_unsuitable(gateway: Gateway, present: dict[str, Link]) -> None:
    """Refuse interfaces whose frames have no MAC address or would be counted twice."""
    for name in gateway.lans:
        link = present.get(name)
        if link is not None and link.hardware != links.ETHERNET:
            raise UserError(
                f"interface {name}: its packets have no MAC addresses: "
                "expected an Ethernet or WLAN interface"
            )
        lower = next(
            (each for each in links.below(name, present)[1:] if each in gateway.lans), None
        )
        if lower is not None:
            raise UserError(
                f"interface {name}: its frames also pass {lower}, so that they would be counted "
                "twice: expected interfaces of which none is above another"
            )


def refuse_bridges(gateway: Gateway, present: dict[str, Link]) -> None:
    """Refuse a bridge that forwards packets without passing them to its bridge interface."""
    for item, other in [(gateway.wan, lan) for lan in gateway.lans]:
        for bridge, port in ((item, other), (other, item)):
            if bridge_of(port, present) == bridge:
                ports = [name for name in present if bridge_of(name, present) == bridge]
                raise UserError(
                    f"interface {bridge}: it is the bridge of {port}, and forwarded packets do "
                    f"not enter a bridge; expected the port, one of {', '.join(ports)}"
                )
