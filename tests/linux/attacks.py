"""Does a guest that attacks the gateway get more than one share? Each row is one attack.

    .venv/bin/python tests/linux/attacks.py                     all rows, as root
    .venv/bin/python tests/linux/attacks.py gre "many macs"     only these
    .venv/bin/python tests/linux/attacks.py --list              names of the rows
    .venv/bin/python tests/linux/attacks.py --bridge --estimated --discipline fq_codel
    .venv/bin/python tests/linux/attacks.py --filters           without a BPF program

```text
SERVER --- ISP --- wan GATEWAY lan --- AP (bridge, 20 Mbit/s per direction) --- STATIONS
```

An honest guest downloads by TCP. The device next to it receives 18 Mbit/s from the server, or sends
18 Mbit/s. The device uses any MAC addresses, IP addresses and protocols: this script makes all its
frames, and answers ARP and neighbour solicitations for all its addresses. The rate C of the
gateway's bottleneck is 12 Mbit/s. With `--estimated` the gateway estimates C. The honest guest and
the victim are listed with their MAC addresses. Before the attack, the gateway finds the device, and
the quarantine of the device ends.

A row fails if an honest guest gets less than 90 % of its goodput in the control row. In that row
the device uses plain UDP in the same direction and at the same rate. In rows with floods the
honest guest also resolves names. The byte counts of the filters must agree within 1 % with those
of nftables. The report shows the output of `status`. The script writes out/attacks.json. A row
takes about 20 s, and 5 CPU seconds.
"""

import argparse
import errno
import itertools
import json
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from unittest import mock

import traffic
from attack_air import (
    AIR_BPS,
    AIR_PACKETS,
    DEVICE,
    DEVICE_V4,
    GATE_V4,
    HONEST,
    HONEST_V4,
    LONG_AIR_PACKETS,
    VICTIM,
    VICTIM_V4,
    Air,
)
from attack_frames import (
    DEVICE_V6,
    PAYLOAD,
    Device,
    Maker,
    arp,
    checksum,
    cloned,
    discovery,
    every,
    flood_of,
    forged,
    fragments,
    in_turn,
    invented,
    last_of,
    mac_every,
    macs,
    number_of,
    plain,
    privacy,
    protocol,
    raw,
    solicitation,
    summed,
    to_port,
    v4,
    v6,
)
from frames import ipv4, udp
from lab import (
    GATEWAY,
    ISP,
    SERVER,
    SERVER_V4,
    STATIONS,
    Child,
    entered,
    sh,
    wait_until,
)
from lasthop.enforce.gateway.classification import Programs
from lasthop.linux import rights
from lasthop.linux.bpf import BpfError
from lasthop.linux.packets import attach
from running import Running, up

ROOT = Path(__file__).parents[2]
C_BPS, SENT_BPS = 12_000_000, 18_000_000
MIN_SHARE = 0.9
NAMES_PER_S = 5
"""Rate of name lookups by the honest guest. [1/s]"""
ETHERNET = 14
"""Length of an Ethernet header. [bytes]"""
TICK_S = 0.005
"""Time between two bursts of the device. [s]"""
ANSWERS_S = 8.0
"""Time for which the device answers ARP requests and neighbour solicitations, in addition to the
duration of its attack. [s]
"""


@dataclass(frozen=True)
class Row:
    """A row of the report: one attack."""

    make: Maker
    down: bool = True
    """Whether the server sends to the device, which has requested the data."""
    rate_bps: int = SENT_BPS
    """Sending rate. [bit/s]"""
    with_victim: bool = False
    """Whether a second honest guest downloads."""
    resolves: bool = False
    """Whether the honest guest resolves names during the attack."""
    own_macs: bool = False
    """Whether each address of the device has a separate MAC address."""
    discipline: str | None = None
    groups: bool = False
    """Whether honest guests are in a group, and all other stations share a maximum rate."""

    @property
    def control(self) -> "Row":
        """Return the control row, with which this row is compared."""
        return replace(self, make=plain, resolves=False, own_macs=False, groups=False)


GROUP = bytes.fromhex("01005e000001")
EVERYBODY = b"\xff" * 6
OPTIONS = b"\x11\0\x01\x04\0\0\0\0"
"""IPv6 destination options header, followed by UDP."""
ECHO_REPLY = summed(ipv4(1, b"\0\0" + bytes(PAYLOAD), DEVICE_V4, to=GATE_V4))
ECHO = b"\x08\0" + checksum(b"\x08\0" + bytes(PAYLOAD)) + bytes(PAYLOAD - 2)
"""An ICMP echo request (RFC 792). The gateway answers the request, so that both directions are
used.
"""
MULTICAST = summed(ipv4(17, udp(5353, PAYLOAD), DEVICE_V4, to="224.0.0.1"))
up_by = partial(Row, down=False)
flooding = partial(Row, down=False, resolves=True)
forging = partial(Row, down=False, rate_bps=8_000_000, with_victim=True)
ROWS: dict[str, Row] = {
    "control": Row(plain),
    "20 privacy addresses": Row(privacy),
    "24 IPv6 addresses": Row(last_of(24)),
    **{f"a new IPv6 address every {s} s": Row(every(s, v6)) for s in (0.5, 1, 3)},
    **{f"a new IPv4 address every {s} s": Row(every(s, v4)) for s in (0.5, 1, 3)},
    "gre": Row(protocol(47)),
    "gre, up": up_by(protocol(47)),
    "esp": Row(protocol(50)),
    "esp, up": up_by(protocol(50)),
    "fragments": Row(fragments),
    "fragments, up": up_by(fragments),
    "extension headers": Row(protocol(60, OPTIONS + udp(53, PAYLOAD), DEVICE_V6)),
    "extension headers, up": up_by(protocol(60, OPTIONS + udp(53, PAYLOAD), DEVICE_V6)),
    "icmp": Row(protocol(1, b"\x08\0" + bytes(PAYLOAD))),
    "icmp, up": up_by(protocol(1, b"\0\0" + bytes(PAYLOAD))),
    "uploads to port 53": flooding(to_port(53)),
    "uploads to port 67": up_by(to_port(67, 68)),
    "uploads to port 547": up_by(protocol(17, udp(547, PAYLOAD, 546), DEVICE_V6)),
    "exempt kinds in turn, up": flooding(
        in_turn(
            to_port(53),
            to_port(67, 68),
            flood_of(ECHO_REPLY),
            flood_of(arp(DEVICE, DEVICE_V4)),
            flood_of(solicitation(DEVICE, DEVICE_V6)),
        )
    ),
    "echo requests to the gateway, up": up_by(
        flood_of(summed(ipv4(1, ECHO, DEVICE_V4, to=GATE_V4)))
    ),
    "nine macs": Row(macs(9), own_macs=True),
    "many macs": Row(macs(4095), own_macs=True),
    "many macs, up": up_by(macs(4095), own_macs=True),
    "a new mac every second": Row(mac_every(1), own_macs=True),
    "nine macs, groups": Row(macs(9), own_macs=True, groups=True),
    "many macs, groups": Row(macs(4095), own_macs=True, groups=True),
    "many macs, up, groups": up_by(macs(4095), own_macs=True, groups=True),
    "a new mac every second, groups": Row(mac_every(1), own_macs=True, groups=True),
    "a cloned mac, up": Row(cloned, down=False, with_victim=True),
    "flood of arp": flooding(flood_of(arp(DEVICE, DEVICE_V4), EVERYBODY)),
    "flood of solicitations": flooding(flood_of(solicitation(DEVICE, DEVICE_V6))),
    "flood of forged arp": flooding(flood_of(arp(HONEST, DEVICE_V4), EVERYBODY)),
    "flood of forged solicitations": flooding(flood_of(solicitation(HONEST, DEVICE_V6))),
    "flood of echo replies": flooding(flood_of(ECHO_REPLY)),
    "flood of multicast": flooding(flood_of(MULTICAST, GROUP)),
    "arp as the victim": forging(
        in_turn(plain, flood_of(arp(VICTIM, DEVICE_V4)), flood_of(arp(VICTIM, HONEST_V4)))
    ),
    "forged udp": forging(forged()),
    "forged udp, random ports": forging(forged(ports=True)),
    "forged tcp": forging(forged(tcp=True)),
    "forged tcp, random ports": forging(forged(tcp=True, ports=True)),
    "forged udp, fq_codel": forging(forged(ports=True), discipline="fq_codel"),
    "forged tcp, fq_codel": forging(forged(tcp=True, ports=True), discipline="fq_codel"),
}
SHARED_BY_DESIGN = {"a cloned mac, up", "nine macs", "many macs", "many macs, up"}
"""Rows that are printed but cannot fail. In these rows the device gets several shares by design: a
station is identified only by its MAC address, and without groups each MAC address has a share.
"""
OTHERS_BPS = 6_000_000
"""Maximum total rate of the stations that the file does not list. [bit/s]"""


@dataclass
class Result:
    """Measurements of a row."""

    row: str
    honest_bps: float
    victim_bps: float | None
    device_bps: float
    """Rate of the attack's packets that were not dropped, measured at the device if the server
    sends, else at `wan`. [bit/s]
    """
    names: float | None
    """Fraction of the name lookups that were answered; None if the row has no lookups. [-]"""
    counted: dict[str, float]
    """Bytes counted by the filters, divided by the bytes that nftables counts at `lan`, by
    direction. [-]
    """
    largest: list[str]
    """Stations with the largest rates, as `status` reports them."""
    warnings: list[str]
    faults: list[str]


def flood(row: Row, seconds: float, next_hop: bytes) -> None:
    """Send the frames of an attack, as the device or as the server, in the namespace of the sender.

    `next_hop` is the MAC address of the sender's router.
    """
    device = Device(row.down)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind(("up0" if row.down else "wl0", 0))
        begin_s, sent_bits = time.monotonic(), 0
        numbers = itertools.count()
        while (now_s := time.monotonic() - begin_s) < seconds:
            while sent_bits < row.rate_bps * now_s:
                (kind, data), mac, to = row.make(device, next(numbers), now_s)
                source = bytes(6) if row.down else raw(mac)
                frame = (to or next_hop) + source + struct.pack("!H", kind) + data
                sent_bits += 8 * len(frame)
                with suppress(OSError):  # the queue of the interface is full
                    sender.send(frame)
            time.sleep(TICK_S)


def answer(row: Row, seconds: float) -> None:
    """Answer ARP requests and neighbour solicitations for the device, in the namespace of the
    stations.
    """
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sock:
        sock.bind(("wl0", 3))
        attach(sock, QUESTIONS)
        sock.settimeout(0.2)
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            try:
                frame = sock.recv(2048)
            except TimeoutError:
                continue
            is_arp = frame[12:14] == b"\x08\x06"
            if not is_arp and frame[12:14] + frame[20:21] != b"\x86\xdd\x3a":
                continue  # the packet arrived before the filter was set
            target = str(ip_address(frame[38:42] if is_arp else frame[62:78]))
            number = number_of(target)
            if number is None:
                continue
            mac = invented(number) if row.own_macs and target != DEVICE_V4 else DEVICE
            if is_arp:
                kind, data = arp(mac, target, str(ip_address(frame[28:32])), operation=2)
            else:
                asker = str(ip_address(frame[22:38]))
                kind, data = discovery(136, mac, target, asker, target)
            sock.send(frame[6:12] + raw(mac) + struct.pack("!H", kind) + data)


# Classic BPF program (linux/filter.h) that accepts ARP requests and neighbour solicitations.
QUESTIONS = [
    (0x28, 0, 0, 12),  # load the Ethernet type
    (0x15, 0, 2, 0x0806),
    (0x28, 0, 0, 20),  # load the ARP operation
    (0x15, 5, 6, 1),
    (0x15, 0, 5, 0x86DD),
    (0x30, 0, 0, 20),  # load the next header of IPv6
    (0x15, 0, 3, 58),
    (0x30, 0, 0, 54),  # load the ICMPv6 type
    (0x15, 0, 1, 135),
    (0x06, 0, 0, 2048),
    (0x06, 0, 0, 0),
]


def resolve(seconds: float) -> tuple[int, int]:
    """Resolve names at the server as the honest guest. Return the number of questions and the
    number of answers.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.bind((HONEST_V4, 0))
        asker.settimeout(1 / NAMES_PER_S)
        end_s, asked, answered = time.monotonic() + seconds, 0, 0
        while time.monotonic() < end_s:
            begin_s = time.monotonic()
            asked += 1
            asker.sendto(struct.pack("!HHHHHH", asked & 0xFFFF, 0x100, 1, 0, 0, 0), (SERVER_V4, 53))
            try:
                asker.recv(512)
                answered += 1
            except TimeoutError:
                pass
            time.sleep(max(0.0, begin_s + 1 / NAMES_PER_S - time.monotonic()))
        return asked, answered


def answer_names(seconds: float) -> None:
    """Answer name lookups, in the namespace of the server."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((SERVER_V4, 53))
        server.settimeout(0.2)
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            try:
                data, who = server.recvfrom(2048)
            except TimeoutError:
                continue
            if who[0] == HONEST_V4:
                server.sendto(data, who)


def counters(namespace: str, device: str) -> dict[str, int]:
    """Return the byte counters of an interface, by direction."""
    (link,) = json.loads(sh(f"ip -n {namespace} -j -s link show {device}"))
    return {way: int(link["stats64"][way]["bytes"]) for way in ("rx", "tx")}


def count_at_lan(*, bridge: bool) -> None:
    """Count packets that will leave at `lan`. They are counted before the filters, since a leaf may
    drop them.
    """
    families = ("bridge",) if bridge else ("inet", "arp")
    for family in families:
        hook = "output" if family == "arp" else "postrouting"
        chain = f"type filter hook {hook} priority 300; policy accept;"
        with entered(GATEWAY):
            sh(
                f"nft add table {family} own; nft 'add chain {family} own at_lan {{ {chain} }}'; "
                f"nft 'add rule {family} own at_lan oifname \"lan\" counter'"
            )


def at_lan() -> dict[str, int]:
    """Return the bytes that arrived at `lan`, and the bytes that the gateway forwarded to `lan`, by
    direction. Bytes that its leaves then dropped are included.
    """
    with entered(GATEWAY):
        listed = json.loads(sh("nft -j list ruleset"))["nftables"]
    left = 0
    for rule in (each["rule"] for each in listed if "rule" in each):
        for count in (part["counter"] for part in rule["expr"] if "counter" in part):
            # only rules of the family arp count the frame header
            header = 0 if rule["family"] == "arp" else ETHERNET
            left += count["bytes"] + header * count["packets"]
    return {"from_stations": counters(GATEWAY, "lan")["rx"], "to_stations": left}


def filtered(status: dict[str, Any]) -> dict[str, int]:
    """Return the byte counters of the filters, by direction."""
    return {
        row["direction"]: row["redirected_bytes"]
        + sum(row["exempt_bytes"].values())
        + row["unmatched_bytes"]
        for row in status["filters"]
    }


def status_of(running: Running) -> dict[str, Any]:
    """Return the status that `status` reports, with current counters."""
    time.sleep(1.1)  # the reported counters are at most one second old
    status = running.status()
    assert status is not None
    return status


def find_device(running: Running) -> None:
    """Announce the device by ARP, as an honest guest does, until the gateway has found it."""

    def is_found() -> bool:
        with entered(STATIONS), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind(("wl0", 0))
            kind, data = arp(DEVICE, DEVICE_V4)
            sender.send(EVERYBODY + raw(DEVICE) + struct.pack("!H", kind) + data)
        time.sleep(0.3)
        status = running.status()
        return status is not None and any(row["mac"] == DEVICE for row in status["stations"])

    wait_until(is_found, "the device is found")


def mac_of(namespace: str, device: str) -> bytes:
    """Return the MAC address of an interface."""
    (link,) = json.loads(sh(f"ip -n {namespace} -j link show {device}"))
    return raw(link["address"])


def gateway_text(arguments: argparse.Namespace, row: Row) -> str:
    """Return the text of the gateway file."""
    discipline = row.discipline or arguments.discipline
    lines = [
        "[gateway]",
        'wan = "wan"',
        'lan = "lan"',
        'metrics = "off"',
        f'discipline = "{discipline}"',
        f'wce.max = "{AIR_BPS * 1.5 / 1e6:g} Mbps"'
        if arguments.estimated
        else f'rate = "{C_BPS / 1e6:g} Mbps"',
        'discover = { neighbours = true, interval = "1 s", quarantine = "1 s" }',
        f'station.honest = {{ mac = "{HONEST}", address = "{HONEST_V4}" }}',
    ]
    honest = "honest, victim" if row.with_victim else "honest"
    if row.groups:
        lines.append(f'group.guests = {{ stations = "{honest}" }}')
        lines.append(f'group.unlisted = {{ max = "{OTHERS_BPS / 1e6:g} Mbps" }}')
    if row.with_victim:
        lines.append(f'station.victim = {{ mac = "{VICTIM}", address = "{VICTIM_V4}" }}')
    return "\n".join(lines) + "\n"


def measured(name: str, row: Row, arguments: argparse.Namespace, directory: Path) -> Result:
    """Measure a row."""
    seconds, warm_up = arguments.seconds, arguments.warm_up
    directory.mkdir()
    with ExitStack() as stack:
        packets = LONG_AIR_PACKETS if arguments.estimated else AIR_PACKETS
        stack.enter_context(Air(bridge=arguments.bridge, packets=packets))
        running = stack.enter_context(up(directory, gateway_text(arguments, row)))
        total_s = seconds + warm_up
        # the device answers ARP and neighbour solicitations also before and after its attack
        answering = [Child(STATIONS, lambda: answer(row, total_s + ANSWERS_S))]
        find_device(running)
        flows = {"honest": [traffic.Flow(HONEST_V4, download=True)]}
        if row.with_victim:
            flows["victim"] = [traffic.Flow(VICTIM_V4, download=True)]
        for each in itertools.chain(*flows.values()):
            stack.callback(each.close)
        count_at_lan(bridge=arguments.bridge)
        before, own_before = filtered(status_of(running)), at_lan()
        asking = None
        if row.resolves:
            answering.append(Child(SERVER, lambda: answer_names(total_s)))
            asking = Child(STATIONS, lambda: resolve(total_s))
        router = (ISP, "up0") if arguments.bridge else (GATEWAY, "lan")
        place, hop = (SERVER, mac_of(ISP, "down0")) if row.down else (STATIONS, mac_of(*router))
        attacking = Child(place, lambda: flood(row, total_s, hop))
        at = (STATIONS, "wl0", "rx") if row.down else (GATEWAY, "wan", "tx")
        traffic.run(list(itertools.chain(*flows.values())), warm_up)
        begin_s, passed = time.monotonic(), counters(*at[:2])[at[2]]
        goodputs = traffic.goodputs(flows, seconds, 0)
        passed_bps = 8 * (counters(*at[:2])[at[2]] - passed) / (time.monotonic() - begin_s)
        attacking.result()
        names = asking.result() if asking is not None else None
        for child in answering:
            child.result()
        status = status_of(running)
        now, own = filtered(status), at_lan()
        counted = {
            way: (now[way] - before[way]) / max(own[way] - own_before[way], 1)
            for way in own
            if way in now
        }
        rows = sorted(status["stations"], key=lambda each: -each.get("sent_bytes", 0))
        largest = [f"{each['name']} {each.get('sent_bytes', 0)}" for each in rows[:3]]
        # A download's headers are 4.6 % of its goodput, and its ACKs 2.5 % in the other direction.
        honest_bps = (1.046 if row.down else 0.025) * sum(goodputs.values())
        return Result(
            name,
            goodputs["honest"],
            goodputs.get("victim"),
            max(passed_bps - honest_bps, 0.0),
            None if names is None else names[1] / max(names[0], 1),
            counted,
            largest,
            status["warnings"],
            status["faults"],
        )


def wrong(result: Result, control: Result) -> list[str]:
    """Return the reasons why a row fails, as messages."""
    faults = []
    if result.row not in SHARED_BY_DESIGN:
        least_bps = MIN_SHARE * control.honest_bps
        for who, bps in (("honest", result.honest_bps), ("victim", result.victim_bps)):
            if bps is not None and bps < least_bps:
                faults.append(f"{result.row}: {who} has {bps / 1e6:.2f} of {least_bps / 1e6:.2f}")
    if result.names is not None and result.names < MIN_SHARE:
        faults.append(f"{result.row}: {result.names:.0%} of the names were resolved")
    for direction, ratio in result.counted.items():
        # nftables also counts packets to addresses that do not answer; they never reach `lan`
        if abs(ratio - 1) > 0.01 and result.row not in SHARED_BY_DESIGN:
            faults.append(f"{result.row}: the filters count {ratio:.3f} of the bytes {direction}")
    return faults


def refuse(_: object) -> None:
    """Refuse to load a program, like a kernel without BPF."""
    raise BpfError(errno.EPERM, "a BPF program")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure rows. Return 1 if any row fails."""
    parser = argparse.ArgumentParser(description="attacks of a guest on the gateway")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to measure (all)")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--seconds", type=float, default=10.0, help="time that counts (10)")
    parser.add_argument("--warm-up", type=float, default=4.0, help="time before that (4)")
    parser.add_argument("--bridge", action="store_true", help="let the gateway bridge")
    parser.add_argument("--estimated", action="store_true", help="estimate C")
    parser.add_argument("--discipline", default="pfifo", help="queue of leaves (pfifo)")
    parser.add_argument("--filters", action="store_true", help="classify without a BPF program")
    given = parser.parse_args(arguments)
    if given.filters:
        mock.patch.object(Programs, "__init__", refuse).start()
    if given.list:
        print("\n".join(ROWS))
        return 0
    if unknown := set(given.rows) - set(ROWS):
        parser.error(f"unknown row {sorted(unknown)[0]}: --list prints the names")
    names = given.rows or list(ROWS)
    controls: dict[Row, Result] = {}
    results, faults = [], []
    with tempfile.TemporaryDirectory() as directory:
        numbers = itertools.count()
        for name in names:
            row = ROWS[name]
            if (missing := rights.tried(row.discipline or given.discipline).missing) is not None:
                print(f"{name:32}  not measured: this machine has {missing}")
                continue
            for title, each in ((f"control of {name}", row.control), (name, row)):
                if each in controls:
                    continue
                result = measured(title, each, given, Path(directory, str(next(numbers))))
                if each == row.control:
                    controls[each] = result
                results.append(result)
                faults += wrong(result, controls[row.control])
                print(line(result), flush=True)
    out = ROOT / "out"
    out.mkdir(exist_ok=True)
    content = {"settings": vars(given), "results": [asdict(each) for each in results]}
    out.joinpath("attacks.json").write_text(json.dumps(content, indent=1) + "\n")
    for fault in faults:
        print(f"wrong: {fault}")
    return 1 if faults else 0


def line(result: Result) -> str:
    """Return the line of the report for the result of a row."""
    victim = "-" if result.victim_bps is None else f"{result.victim_bps / 1e6:.2f}"
    names = "-" if result.names is None else f"{result.names:.0%}"
    words = [
        f"{result.row:32}",
        f"honest {result.honest_bps / 1e6:5.2f}",
        f"victim {victim:>5}",
        f"device {result.device_bps / 1e6:5.2f} Mbit/s",
        f"names {names:>4}",
        f"filters {', '.join(f'{ratio:.3f}' for ratio in result.counted.values())}",
        f"largest {result.largest}",
    ]
    lines = ["  ".join(words)]
    lines += [f"    warning: {warning}" for warning in result.warnings]
    lines += [f"    fault: {fault}" for fault in result.faults]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
