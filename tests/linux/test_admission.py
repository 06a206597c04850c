"""Admission of stations: new MAC addresses in quarantine, learnt MAC addresses, ignored
machines.
"""

import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from frames import HERE_V4, HERE_V6, INVENTED, MACS, growth, ipv4, passed, send, udp
from lab import GATEWAY, STATIONS, Lab, address, entered, pair, sh, wait_until
from lasthop.daemon.service_kind import ServiceContext
from lasthop.daemon.state import State
from lasthop.enforce.gateway import config, operate
from lasthop.enforce.gateway.bypass import known
from lasthop.enforce.gateway.classification import Kind
from lasthop.enforce.gateway.discovery import look
from lasthop.enforce.gateway.entries import ROUTED, UNKNOWN_MAC
from lasthop.enforce.gateway.service import GatewayService
from lasthop.linux import links
from lasthop.linux.netlink import Socket
from lasthop.linux.routes import routes_through

FILE = """[gateway]
wan = "wan"
lan = "lan"
rate = "50 Mbps"
metrics = "off"
discipline = "pfifo"
"""
UNKNOWN = ipv4(17, udp(4433), "192.0.2.1")
Start = Callable[[str], GatewayService]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a gateway with two stations that have separate MAC addresses,
    and ends the previous gateway.
    """
    with Lab(stations=1, rate_bps=None), ExitStack() as stack:
        for k, mac in enumerate(MACS):
            sh(f"ip -n {STATIONS} link add g{k} link wl0 address {mac} type macvlan mode bridge")
            sh(f"ip -n {STATIONS} link set g{k} gso_max_segs 1 up")
            address(STATIONS, f"g{k}", [f"{HERE_V4[k]}/16", f"{HERE_V6[k]}/64"])
        stack.enter_context(entered(GATEWAY))
        running: list[GatewayService] = []

        def end() -> None:
            for service in running:
                assert service.down() == []
                service.close()
            running.clear()

        def begin(more: str) -> GatewayService:
            end()
            gateway = config.read(FILE + more)
            state = State(tmp_path)
            service = GatewayService(
                ServiceContext(gateway, state, lambda: gateway, lambda _: None)
            )
            running.append(service)
            service.up()
            return service

        stack.callback(end)
        yield begin


def see(service: GatewayService) -> None:
    """Let the service read the tables in which it finds stations, such as neighbours and leases."""
    service.stations.see(look(service.shaping.gateway)[0])


def speak(k: int, of: str | None = None) -> None:
    """Let station `k` announce its address by ARP, or claim the address `of` of another station."""
    mac, target = bytes.fromhex(MACS[k].replace(":", "")), bytes([10, 77, 1, 1])
    own = socket.inet_aton(of or HERE_V4[k])
    arp = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + mac + own + bytes(6) + target
    send((0x0806, arp + bytes(18)), MACS[k], to=b"\xff" * 6, count=1)
    time.sleep(0.05)


def names(service: GatewayService) -> set[str]:
    return set(service.shaping.shaper.running().members)


def test_a_new_mac_address_is_unclassified_until_its_quarantine_is_over(start: Start) -> None:
    text = 'discover = { neighbours = true, quarantine = "1 s", new_per_minute = 1 }'
    service = start(text)
    shaper = service.shaping.shaper
    for k in (0, 1):
        speak(k)
        see(service)
    assert names(service) == set()
    before = passed(shaper)
    send(UNKNOWN, MACS[0])
    assert growth(shaper, before) == {"unclassified": 20}
    assert {(row["name"], row["waiting"]) for row in service.status()["ports"]} == {("lan", 2)}
    time.sleep(1.1)
    see(service)
    assert names(service) == {MACS[0]}  # at most one new station per minute is admitted
    before = passed(shaper)
    send(UNKNOWN, MACS[0])
    assert growth(shaper, before) == {MACS[0]: 20}
    assert any("in the last minute, 1 wait" in w for w in service.status()["warnings"])
    # The gateway stores the admitted station, and no other station, for its next run.
    service = start(text)
    assert names(service) == {MACS[0]}


def test_the_loop_admits_a_mac_address_when_its_quarantine_is_over(start: Start) -> None:
    service = start('discover = { neighbours = true, quarantine = "1 s", interval = "100 s" }')
    speak(0)
    due: list[float] = []
    service.stations.wait_for = due.append
    see(service)
    wait_s = due[-1] - time.monotonic()
    assert 0.5 < wait_s <= 1.0
    time.sleep(wait_s)
    service.stations.settle(service.stations.wanted())
    assert names(service) == {MACS[0]}


def test_a_station_listed_by_address_is_classified_by_the_mac_address_that_it_has(
    start: Start,
) -> None:
    service = start(f'station.till.address = "{HERE_V4[0]}"')
    shaper = service.shaping.shaper
    assert not any("by IP address" in w for w in service.status()["warnings"])
    send(ipv4(17, udp(4433), HERE_V4[0]), INVENTED)
    service.counting.count()
    (warning,) = (w for w in service.status()["warnings"] if "by IP address" in w)
    assert warning.startswith("station till: classified by IP address, since no MAC address is ")
    speak(0)
    see(service)
    assert not any("by IP address" in w for w in service.status()["warnings"])
    assert shaper.running().members["till"].station.mac == MACS[0]
    before = passed(shaper)
    send(UNKNOWN, MACS[0])
    send(ipv4(17, udp(4433), HERE_V4[0]), INVENTED)  # a forged address: unclassified
    assert growth(shaper, before) == {"till": 20, "unclassified": 20}
    # a station that claims the address does not get the leaf
    speak(1, of=HERE_V4[0])
    see(service)
    before = passed(shaper)
    send(UNKNOWN, MACS[1])
    assert growth(shaper, before) == {"unclassified": 20}
    assert any(f"{MACS[1]} claims it" in w for w in service.status()["warnings"])


def test_an_ignored_machine_passes_and_a_forger_of_its_address_does_not(start: Start) -> None:
    service = start(
        f'discover = {{ neighbours = true, ignore = "{HERE_V4[0]}", quarantine = "0 s" }}'
    )
    shaper = service.shaping.shaper
    speak(0)
    speak(1)
    see(service)
    assert names(service) == {MACS[1]}
    counters = shaper.classified("wlan")
    assert counters is not None
    ignored = counters[0][Kind.IGNORED].packets
    before = passed(shaper)
    send(ipv4(17, udp(4433), HERE_V4[0]), MACS[0])  # the ignored machine passes
    send(ipv4(17, udp(4433), HERE_V4[0]), MACS[1])  # a forged address
    send(UNKNOWN, MACS[0])  # another address of the ignored machine
    assert growth(shaper, before) == {MACS[1]: 20, "unclassified": 20}
    counters = shaper.classified("wlan")
    assert counters is not None
    assert counters[0][Kind.IGNORED].packets - ignored == 20
    before = counters[1][Kind.IGNORED].packets, passed(shaper)
    sh(f"ip netns exec {GATEWAY} ping -q -c 1 -W 2 {HERE_V4[0]}")
    counters = shaper.classified("wlan")
    assert counters is not None
    assert counters[1][Kind.IGNORED].packets - before[0] == 1
    assert growth(shaper, before[1]) == {}


def test_packets_without_a_station_are_charged_to_the_access_point_of_their_address(
    start: Start,
) -> None:
    service = start(
        'discover = { neighbours = true, quarantine = "100 s" }\n'
        'ap.a.subnets = "10.77.1.0/25"\nap.b.subnets = "10.77.1.128/25"\n'
    )
    shaper = service.shaping.shaper
    sh(
        f"ip -n {STATIONS} address add 10.77.1.200/16 dev g1; "
        f"ip -n {STATIONS} -4 address del {HERE_V4[1]}/16 dev g1"
    )

    def unclassified() -> list[int]:
        counters = [shaper.classified(ap) for ap in "ab"]
        return [each[0][Kind.UNCLASSIFIED].packets for each in counters if each is not None]

    before = unclassified()
    send(ipv4(17, udp(4433), "10.77.1.201"), INVENTED)
    assert [now - then for now, then in zip(unclassified(), before, strict=True)] == [0, 20]
    send(UNKNOWN, INVENTED)
    assert [now - then for now, then in zip(unclassified(), before, strict=True)] == [20, 20]
    # the MAC address in quarantine is known to be at port b, whatever its IP address
    speak(1, of="10.77.1.200")
    see(service)
    send(UNKNOWN, MACS[1])
    assert [now - then for now, then in zip(unclassified(), before, strict=True)] == [20, 40]
    names = [row["ap"] for row in service.status()["filters"]]
    assert names == ["a", "a", "b", "b"]


def test_one_mac_address_at_two_interfaces_is_a_fault(start: Start) -> None:
    pair(GATEWAY, "lan2", STATIONS, "wl2")
    service = start(
        f'ap.a.interface = "lan"\nap.b.interface = "lan2"\n'
        f'station.till = {{ mac = "{MACS[0]}", address = "{HERE_V4[0]}", ap = "a" }}'
    )
    see(service)
    for _ in range(6):
        send(UNKNOWN, MACS[0], count=1)
        send(UNKNOWN, MACS[0], count=1, device="wl2")
    wait_until(lambda: service.shaping.shaper.moves().get(MACS[0], 0) >= 10, "moves")
    see(service)
    assert any(
        f"MAC address {MACS[0]} sends at two interfaces of lan, lan2" in fault
        for fault in service.status()["faults"]
    )


def test_check_reports_stations_classified_by_address_and_the_number_of_mac_addresses(
    start: Start,
) -> None:
    assert start("").down() == []  # this part needs only the lab, and no gateway
    speak(0)
    sh(f"ip -n {GATEWAY} route add 10.9.0.0/16 via {HERE_V4[1]}")
    speak(1)
    gateway = config.read(
        FILE + f'station.a.address = "{HERE_V4[0]}"\nstation.b.address = "10.9.0.1"\n'
        'station.c.address = "10.77.1.77"'
    )
    inventory = known(gateway)
    assert inventory.by_address == {"b": ROUTED, "c": UNKNOWN_MAC}
    warnings = operate.check(gateway).warnings
    warnings = [warning for warning in warnings if "by IP address" in warning]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"station b: classified by IP address, since {ROUTED}: ")
    assert inventory.ports == {"lan": 2}


def test_a_process_without_the_right_to_load_programs_says_so() -> None:
    def answer(*names: str) -> str:
        done = f"become({names!r}); print(rights.bpf_refused())"
        code = f"from another_user import become; from lasthop.linux import bpf, rights; {done}"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", code]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout

    refused = answer("net_admin", "net_raw")
    assert refused.endswith("Operation not permitted (this process has no CAP_BPF)\n")
    assert answer("net_admin", "net_raw", "bpf") == "None\n"


def test_one_mac_address_at_two_ports_of_a_bridge_is_a_fault(start: Start) -> None:
    pair(GATEWAY, "lan2", STATIONS, "wl2")
    sh(f"ip -n {GATEWAY} link add br0 type bridge; ip -n {GATEWAY} link set br0 up")
    for port in ("lan", "lan2"):
        sh(f"ip -n {GATEWAY} link set {port} master br0")
    service = start('ap.a.interface = "br0"\ndiscover.neighbours = true')
    for device in ("wl0", "wl2") * 3:
        send((0x0806, bytes(46)), INVENTED, to=b"\xff" * 6, count=1, device=device)
        speak(1)
        see(service)
    assert service.stations.unsound() == [
        f"MAC address {INVENTED} is at two ports, lan and lan2: "
        "two machines use it, and have one share"
    ]
    counts = {row["name"]: row["macs"] for row in service.status()["ports"]}
    # the packet of the second address and a packet of wl0 itself are counted
    assert counts["lan"] >= 1
    assert counts["lan2"] >= 1


def test_routers_at_an_interface_are_known_with_the_networks_they_reach() -> None:
    with Lab(stations=1, rate_bps=None), entered(GATEWAY):
        sh(
            """
            ip route add 10.9.0.0/16 via 10.77.1.20 dev lan
            ip route add 10.7.0.0/16 via inet6 fe80::2 dev lan
            ip route add 10.8.0.0/16 nexthop via 10.77.1.21 dev lan nexthop via 10.78.0.9 dev wan
            ip -6 route add 2001:db8:1::/56 via fe80::1 dev lan
            """
        )
        with Socket() as kernel:
            routes = routes_through(kernel, {links.index_of("lan")})
    assert {str(via): list(map(str, each)) for via, each in routes.items()} == {
        "10.77.1.20": ["10.9.0.0/16"],
        "10.77.1.21": ["10.8.0.0/16"],
        "fe80::1": ["2001:db8:1::/56"],
        "fe80::2": ["10.7.0.0/16"],
    }
