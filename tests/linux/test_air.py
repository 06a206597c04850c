"""Compare the capture of an emulated cell with the packets that the kernel saw on the
interfaces.
"""

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulating import emulated, skip_without_rights

CELL = """\
name = "two stations, one of them with errors"
duration = "5 s"
warmup = "0 s"
{cell}
tcp.congestion = "reno"
[station.laptop]
[station.other]
upload = 1
"""
SNIFFS = """
import socket, struct, sys, time
# with a protocol it would hear all interfaces at once, and nothing while it is bound to one
there = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
there.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE: nothing is dropped
there.bind(("lasthop", 0x0003))
with open(sys.argv[1], "wb", buffering=0) as file:
    while True:
        packet, (_, _, kind, *_) = there.recvfrom(65536)
        file.write(struct.pack("<HB", len(packet), kind == socket.PACKET_OUTGOING) + packet)
"""
ECHOES = """
import socket, threading
calls = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
calls.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)  # may be marked
def take(there):
    with there:
        for _ in range(3):  # in 41 fragments each, which come at once however busy the machine is
            calls.sendto(bytes(60_000), ("laptop", 9))
        there.sendall(bytes(100_000) + b"".join(iter(lambda: there.recv(65536), b"")))
with socket.create_server(("", 80)) as one:
    while True:
        threading.Thread(target=take, args=(one.accept()[0],)).start()
"""
ASKS = """
import socket, sys
with socket.create_connection(("server", 80)) as one:
    one.sendall(bytes(range(256)) * 200)
    one.shutdown(socket.SHUT_WR)
    print(sum(map(len, iter(lambda: one.recv(65536), b""))))
"""
# Settings of two cells, `SINGLE` and `AGGREGATES`.
# In `SINGLE`, the queue marks every packet that waits.
# In `AGGREGATES`, the queue marks two of three packets if forty packets wait.
SINGLE = (
    'cell = { phy = "802.11b", rate = "5.5 Mbps", '
    'ap_queue = { limit = 60, codel = { ecn = true, ce_threshold = "10 us" } } }'
)
AGGREGATES = (
    'cell = { phy = "802.11ax", width = "20 MHz", mcs = 1, '
    "ap_queue = { limit = 400, red = "
    "{ min_th = 2, max_th = 60, max_p = 1, weight = 1, ecn = true } } }"
)
HEADERS = {SINGLE: 24 + 8, AGGREGATES: 26 + 8}
"""Length of the headers before a data frame's packet, LLC/SNAP included. [bytes]"""


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


def frames(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield each frame of a capture in pcapng format, and the comment of its record."""
    content = path.read_bytes()
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 6:
            (size,) = struct.unpack_from("<I", content, at + 20)
            frame = content[at + 28 : at + 28 + size]
            rest = content[at + 28 + -(-size // 4) * 4 : at + length - 4]
            yield frame, rest[4:] if rest else b""
        at += length
    assert at == len(content)


def on_air(path: Path, headers: int) -> dict[bool, list[bytes]]:
    """Return IP packets that were received over the air, keyed by whether they were uplink
    packets.
    """
    seen: dict[bool, list[bytes]] = {True: [], False: []}
    for frame, comment in frames(path):
        (radiotap,) = struct.unpack_from("<H", frame, 2)
        mac = frame[radiotap:-4]
        if mac[0] & 0x0C == 0x08 and not comment.startswith((b"collided", b"corrupted")):
            seen[bool(mac[1] & 1)].append(mac[headers:])
    return seen


def sniffed(path: Path) -> dict[bool, list[bytes]]:
    """Return the captured IPv4 packets of an interface. The key is True for sent packets, and False
    for received packets.
    """
    content, at = path.read_bytes(), 0
    seen: dict[bool, list[bytes]] = {True: [], False: []}
    while at < len(content):
        length, leaves = struct.unpack_from("<HB", content, at)
        packet = content[at + 3 : at + 3 + length]
        if packet[0] >> 4 == 4:
            seen[bool(leaves)].append(packet)
        at += 3 + length
    return seen


@pytest.mark.parametrize("cell", [SINGLE, AGGREGATES], ids=["single frames", "aggregates"])
def test_captured_frames_are_the_packets_of_the_interfaces(tmp_path, cell):
    scenario, air, of_server = (tmp_path / name for name in ("x.toml", "air.pcapng", "server"))
    scenario.write_text(CELL.replace("{cell}", cell))
    for name, text in (("sniffs", SNIFFS), ("echoes", ECHOES), ("asks", ASKS)):
        (tmp_path / name).write_text(text)
    of_laptop = tmp_path / "laptop"
    python = sys.executable
    words = [scenario, "--json", "--pcapng", air, "--at", "laptop"]
    words += ["--with", "server", f"{python} {tmp_path}/sniffs {of_server}"]
    words += ["--with", "laptop", f"{python} {tmp_path}/sniffs {of_laptop}"]
    words += ["--with", "server", f"{python} {tmp_path}/echoes"]
    # the programs capture packets once both files exist
    seen = f"until [ -e {of_server} ] && [ -e {of_laptop} ]; do sleep 0.05; done"
    words += ["--", "sh", "-c", f"{seen}; until {python} {tmp_path}/asks; do sleep 0.1; done"]
    done = emulated(*words)
    assert done.returncode == 0, done.stderr
    assert str(100_000 + 256 * 200) in done.stderr
    assert json.loads(done.stdout)["kind"] == "emulation"
    captured, at_server, at_laptop = (
        on_air(air, HEADERS[cell]),
        sniffed(of_server),
        sniffed(of_laptop),
    )
    # Packets arrive at an interface in the order in which they crossed the air.
    # The capture at the interfaces begins later, so that it does not contain the first packets.
    came = at_server[False]
    assert len(came) > 200
    assert contains(captured[True], came)
    from_laptop = [packet for packet in captured[False] if packet[16:20] == bytes([10, 0, 0, 1])]
    assert len(at_laptop[False]) > 50
    assert contains(from_laptop, at_laptop[False])
    assert any(packet[1] & 3 == 3 for packet in from_laptop)  # the queue has marked a packet


def contains(packets: list[bytes], part: list[bytes]) -> bool:
    """Return whether `packets` contains `part` as consecutive packets. If not, print where the
    packets of `part` are in `packets`.
    """
    starts = [index for index, packet in enumerate(packets) if packet == part[0]]
    if any(packets[index : index + len(part)] == part for index in starts):
        return True
    places = [packets.index(packet) if packet in packets else None for packet in part]
    print(f"{len(packets)} packets on the air; places of {len(part)} packets: {places}")
    return False
