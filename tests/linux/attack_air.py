"""Network namespaces in which a device attacks a gateway: a server, the gateway, an access point
and its guests.

```text
SERVER --- ISP --- wan GATEWAY lan --- AP (bridge, 20 Mbit/s per direction) --- STATIONS
```
"""

from lab import (
    AP,
    GATEWAY,
    ISP,
    SERVER,
    SERVER_V4,
    SERVER_V6,
    STATIONS,
    address,
    clean_up,
    pair,
    routes,
    sh,
)

AIR_BPS = 20_000_000
AIR_PACKETS, LONG_AIR_PACKETS = 75, 250
"""Usual length, and larger length, of the access point's queue. [packets] The estimator detects a
queue of 40 ms or more, and it takes 45 ms to send 75 packets.
"""
HONEST, VICTIM, DEVICE = "02:00:5e:10:00:0a", "02:00:5e:10:00:0b", "02:00:5e:10:00:0c"
HONEST_V4, VICTIM_V4, DEVICE_V4 = "10.77.1.10", "10.77.1.11", "10.77.1.12"
GATE_V4 = "10.77.1.1"


class Air:
    """Network namespaces of a server, a gateway, an access point and its guests."""

    def __init__(self, *, bridge: bool, packets: int = AIR_PACKETS) -> None:
        self.packets = packets
        clean_up()
        for name in (SERVER, ISP, GATEWAY, AP, STATIONS):
            sh(f"ip netns add {name}; ip -n {name} link set lo up")
        pair(SERVER, "up0", ISP, "down0")
        pair(ISP, "up0", GATEWAY, "wan")
        pair(GATEWAY, "lan", AP, "up0")
        pair(AP, "down0", STATIONS, "wl0")
        sh(f"ip netns exec {ISP} sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")
        address(SERVER, "up0", [f"{SERVER_V4}/24", f"{SERVER_V6}/64"])
        address(ISP, "down0", ["10.77.0.1/24", "fd77::1/64"])
        routes(SERVER, "10.77.0.1", "fd77::1")
        if bridge:
            self.bridge()
        else:
            self.router()
        self.share_air()
        for mac, here, device in ((HONEST, HONEST_V4, "g0"), (VICTIM, VICTIM_V4, "g1")):
            self.guest(device, mac, here)

    def router(self) -> None:
        """Configure the gateway as a router."""
        address(ISP, "up0", ["10.78.0.1/24", "fd78::1/64"])
        address(GATEWAY, "wan", ["10.78.0.2/24", "fd78::2/64"])
        address(GATEWAY, "lan", [f"{GATE_V4}/16", "fd77:1::1/64"])
        settings = "net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"
        loose = "net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.lan.rp_filter=0"
        sh(f"ip netns exec {GATEWAY} sysctl -qw {settings} {loose}")
        routes(ISP, "10.78.0.2", "fd78::2")
        routes(GATEWAY, "10.78.0.1", "fd78::1")
        sh(f"ip -n {GATEWAY} route add 10.77.0.0/24 via 10.78.0.1")

    def bridge(self) -> None:
        """Configure the gateway as a bridge; the ISP is the guests' router."""
        sh(f"ip -n {GATEWAY} link add br0 type bridge; ip -n {GATEWAY} link set br0 up")
        for device in ("wan", "lan"):
            sh(f"ip -n {GATEWAY} link set {device} master br0")
        address(ISP, "up0", [f"{GATE_V4}/16", "fd77:1::1/64"])
        address(GATEWAY, "br0", ["10.77.1.2/16", "fd77:1::2/64"])
        routes(GATEWAY, GATE_V4, "fd77:1::1")

    def share_air(self) -> None:
        """Make a bridge in the access point, with a FIFO per direction."""
        sh(
            f"""
            ip -n {AP} link add br0 type bridge
            ip -n {AP} link set br0 up
            ip -n {STATIONS} link set wl0 promisc on
            """
        )
        for device in ("up0", "down0"):
            sh(
                f"""
                ip -n {AP} link set {device} master br0
                tc -n {AP} qdisc add dev {device} root handle 1: htb default 1
                tc -n {AP} class add dev {device} parent 1: classid 1:1 htb rate {AIR_BPS}
                tc -n {AP} qdisc add dev {device} parent 1:1 pfifo limit {self.packets}
                """
            )

    def guest(self, device: str, mac: str, here: str) -> None:
        """Add a guest with a separate MAC address. The guest answers ARP only for its own IP
        address.
        """
        table = 100 + int(device[1:])
        sh(
            f"""
            ip -n {STATIONS} link add {device} link wl0 address {mac} type macvlan mode bridge
            ip netns exec {STATIONS} sysctl -qw net.ipv4.conf.{device}.arp_ignore=1
            ip netns exec {STATIONS} sysctl -qw net.ipv4.conf.{device}.arp_announce=2
            ip -n {STATIONS} link set {device} gso_max_segs 1 up
            ip -n {STATIONS} address add {here}/16 dev {device}
            ip -n {STATIONS} rule add from {here} table {table}
            ip -n {STATIONS} route add default via {GATE_V4} dev {device} table {table}
            """
        )

    def __enter__(self) -> "Air":
        return self

    def __exit__(self, *_: object) -> None:
        clean_up()
