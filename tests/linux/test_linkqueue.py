"""`lasthop queue` on an uplink: the queue is set up, changed and removed. Other tests check the BPF
program that packets pass before the queue.
"""

import json
import math
import socket
import struct
import time
from contextlib import ExitStack, nullcontext
from pathlib import Path
from threading import Thread

import pytest
import uml

import linkqueue_lab
from commands import lasthop
from lab import (
    GATEWAY,
    SERVER_V4,
    STATIONS,
    Child,
    entered,
    gateway_text,
    log_in,
    sh,
    station_v4,
    station_v6,
    wait_until,
)
from lasthop.daemon.state import State
from lasthop.enforce.queue import config
from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.shaped import Shaped
from lasthop.errors import UserError
from lasthop.linux import links
from linkqueue_lab import SHARED, TEXTS, THRESHOLD, others, status, written
from traffic import Flow, run, transfers

lab, programs, directory = linkqueue_lab.lab, linkqueue_lab.programs, linkqueue_lab.directory
UDP_SEGMENT = 103
"""Socket option of linux/udp.h: the kernel splits a datagram into segments of this size. [bytes]"""
SEGMENTS = 20
"""Number of segments of a merged packet."""
MAX_PACING_RATE = 47
"""Value of SO_MAX_PACING_RATE in asm-generic/socket.h; the option is in bytes per second."""


# -- commands of a user ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TEXTS)
def test_up_and_down_leave_the_machine_as_it_was(
    directory: Path, kind: str, programs: None
) -> None:
    before = others(directory)
    file = written(directory, TEXTS[kind])
    assert lasthop("queue", "check", file)[0] == 0
    code, printed = lasthop("queue", "up", file)
    assert code == 0, printed
    assert printed.startswith("up, process ")
    try:
        assert others(directory) != before
        assert transfers(station_v4(0))
        code, printed = lasthop("queue", "status", file, "--json")
        status = json.loads(printed)
        assert (status["interface"], status["shaping"], status["faults"]) == ("wan", True, [])
        assert [row["name"] for row in status["classes"]] == (
            ["near", "far", None] if kind == "shared" else []
        )
        code, printed = lasthop("queue", "status", file)
        assert code == 0
        assert "rate [Mbit/s]" in printed
    finally:
        assert lasthop("queue", "down", file) == (0, "down\n")
    assert others(directory) == before
    assert lasthop("queue", "status", file) == (0, "the queue is not up\n")
    assert lasthop("queue", "down", file) == (0, "nothing is up\n")


def test_another_file_is_taken_over_or_refused(directory: Path, programs: None) -> None:
    file = written(directory, THRESHOLD)
    assert lasthop("queue", "up", file)[0] == 0
    try:
        written(directory, THRESHOLD.replace("15", "40").replace("50 Mbps", "20 Mbps"))
        code, printed = lasthop("queue", "up", file)
        assert (code, "continues with" in printed) == (0, True), printed
        with entered(GATEWAY):
            assert "limit 39p" in sh("tc qdisc show dev wan")
            assert "rate 20Mbit" in sh("tc class show dev wan")
        written(directory, SHARED)
        code, printed = lasthop("queue", "up", file)
        assert code == 0, printed
        with entered(GATEWAY):
            assert "lasthop_sharing direct-action" in sh("tc filter show dev wan parent 6c68:")
        written(directory, THRESHOLD.replace('"wan"', '"lan"').replace('from = "lan"\n', ""))
        code, printed = lasthop("queue", "up", file)
        assert code == 2
        assert "of this file is already up" in printed
        status = json.loads(lasthop("queue", "status", file, "--json")[1])
        assert status["queue"] == "vbs"
    finally:
        lasthop("queue", "down", file)


def test_merged_packets_are_split_in_front_of_the_queue(directory: Path) -> None:
    """Containers on the same machine send one packet with many segments."""
    file = written(directory, THRESHOLD.replace('from = "lan"\n', ""))  # GRO stays on
    sh(f"ip -n {STATIONS} link set wl0 gso_max_segs 65535")
    flows = [Flow(station_v4(k), download=False) for k in range(2)]
    sending = Thread(target=run, args=(flows, 2.0))
    assert lasthop("queue", "up", file)[0] == 0
    try:
        sending.start()
        longest = 0
        while sending.is_alive():
            with entered(GATEWAY):
                shown = json.loads(sh("tc -s -j qdisc show dev wan"))
            (queue,) = (each for each in shown if each["kind"] == "pfifo")
            longest = max(longest, queue["backlog"])
        assert queue["drops"] > 0
        assert 0 < longest <= 14 * 1514
    finally:
        sending.join()
        for flow in flows:
            flow.close()
        lasthop("queue", "down", file)
        sh(f"ip -n {STATIONS} link set wl0 gso_max_segs 1")


def test_segments_of_a_merged_packet_are_counted_as_they_enter(
    directory: Path, programs: None
) -> None:
    """The program of `vbs` must count the segments of a merged packet separately, as the shaper
    does.

    The link is slow, so that the queue does not run empty between two steps of the test, even on a
    busy machine.
    """
    text = SHARED.replace('from = "lan"\n', "").replace("50 Mbps", "200 kbps")  # GRO stays on
    wanted = config.read(text)
    sh(f"ip -n {STATIONS} link set wl0 gso_max_segs 65535")
    with entered(STATIONS), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind((station_v4(0), 0))
        sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1400)
        with entered(GATEWAY), Shaped(wanted, log_in(directory)) as shaped:
            shaped.up()

            def waiting() -> int:
                return shaped.counters()[1].backlog_packets

            def counted() -> int:
                assert shaped.sharing is not None
                return sum(each.packets for each in shaped.sharing.states(len(wanted.classes)))

            def send(segments: int) -> None:
                sender.sendto(bytes(segments * 1400), (SERVER_V4, 9))

            def received() -> int:
                (shown,) = json.loads(sh("ip -j -s link show dev lan"))
                return int(shown["stats64"]["rx"]["packets"])

            try:
                earlier = received()
                send(SEGMENTS)
                wait_until(lambda: counted() > 0, "the arrival of a merged packet")
                assert counted() == SEGMENTS
                assert received() - earlier < SEGMENTS  # merged, with at most a few other packets
                wait_until(lambda: waiting() <= SEGMENTS / 2, "the departure of segments")
                assert counted() == SEGMENTS  # the program counts only when a packet arrives
                before = waiting()
                send(2 * SEGMENTS)
                wait_until(lambda: counted() != SEGMENTS, "the arrival of a second merged packet")
                after = counted()
            finally:
                sh(f"ip -n {STATIONS} link set wl0 gso_max_segs 1")
                shaped.down()
    # At most `before` segments of the first packet still wait, and one may be in service.
    assert 2 * SEGMENTS <= after <= 2 * SEGMENTS + before + 1


def test_an_interface_has_one_owner(directory: Path) -> None:
    both = written(
        directory,
        gateway_text(1) + THRESHOLD.replace('"wan"', '"lan"').replace('from = "lan"\n', ""),
    )
    assert lasthop("gateway", "up", both)[0] == 0
    try:
        code, printed = lasthop("queue", "up", both)
        assert code == 2
        assert "a gateway of this directory is already up" in printed
        assert f"end it by `lasthop gateway down {both}`" in printed
        assert lasthop("queue", "down", both) == (0, "nothing is up\n")
    finally:
        assert lasthop("gateway", "down", both) == (0, "down\n")


def test_impossible_settings_are_refused_in_a_line_and_change_nothing(directory: Path) -> None:
    before = others(directory)
    missing = written(directory, THRESHOLD.replace('"wan"', '"nowhere"'))
    for verb in ("check", "up"):
        code, printed = lasthop("queue", verb, missing)
        assert code == 2
        assert printed.startswith('error: interface.name: there is no interface "nowhere"\nhint: ')
    pi = written(directory, THRESHOLD.replace("threshold = 15", "proportional.slope = 0.01"))
    code, printed = lasthop("queue", "plan", pi)
    assert (code, "Linux has no discipline proportional" in printed) == (2, True)
    with entered(GATEWAY):
        sh("tc qdisc add dev wan root handle 5: pfifo")
    try:
        file = written(directory, THRESHOLD)
        code, printed = lasthop("queue", "up", file)
        assert code == 2
        assert printed == (
            "error: interface wan: it has a queueing discipline pfifo 5:, which lasthop has not "
            "made\nhint: if nothing needs it: tc qdisc del dev wan root\n"
        )
    finally:
        with entered(GATEWAY):
            sh("tc qdisc del dev wan root")
    assert others(directory) == before


def test_a_discipline_that_the_kernel_lacks_is_named_by_its_option(directory: Path) -> None:
    """The check precedes any change, so that a running queue is not interrupted."""
    text = THRESHOLD.replace("queue.threshold = 15", "queue = { limit = 100, pie = {} }")
    before = others(directory)
    message = "interface.queue: this kernel has no pie (CONFIG_NET_SCH_PIE)"
    file, other = written(directory, THRESHOLD), written(directory, text, "pie.toml")
    if lacks_pie():
        printed = (
            f"error: {message}\nhint: install a kernel (or its package of modules) with sch_pie\n"
        )
        assert lasthop("queue", "check", other) == (2, printed)
        assert lasthop("queue", "up", file)[0] == 0
        try:
            assert transfers(station_v4(0))
            counted = status(file)["sent_packets"]
            code, refused_by = lasthop("queue", "up", other)
            assert (code, message in refused_by) == (2, True), refused_by
            assert transfers(station_v4(0))
            time.sleep(1.1)
            assert status(file)["sent_packets"] > counted
        finally:
            assert lasthop("queue", "down", file) == (0, "down\n")
    with entered(GATEWAY), Shaped(config.read(text), log_in(directory)) as shaped:
        with pytest.raises(UserError) if lacks_pie() else nullcontext() as refused:
            shaped.up()
        if refused is not None:
            assert str(refused.value) == message
        assert shaped.down() == []
    assert others(directory) == before


def lacks_pie() -> bool:
    try:
        sh("tc qdisc add dev lo root pie && tc qdisc del dev lo root")
    except AssertionError:
        return True
    return False


# -- the program -----------------------------------------------------------------------------------


def send(
    count: int,
    source: str,
    to: tuple[str, int] = (SERVER_V4, 9),
    mark: int = 0,
    size_bytes: int = 4,
) -> None:
    """Send datagrams from a station, or marked datagrams from the gateway itself."""
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    with entered(GATEWAY if mark else STATIONS), socket.socket(family, socket.SOCK_DGRAM) as sender:
        if mark:
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
        else:
            sender.bind((source, 0))
        for number in range(count):
            sender.sendto(struct.pack("=I", number).ljust(size_bytes, b"."), to)


def offered(shaped: Shaped) -> list[int]:
    """Return the number of packets that arrived in each of two classes, and without a class."""
    assert shaped.sharing is not None
    return [each.offered for each in shaped.sharing.states(2)]


def shaped_of(wanted: LinkQueue, directory: Path) -> Shaped:
    shaped = Shaped(wanted, log_in(directory))
    shaped.up()
    return shaped


def test_a_packet_is_of_the_class_that_its_mark_or_address_says(
    directory: Path, programs: None
) -> None:
    with entered(GATEWAY):
        shaped = shaped_of(config.read(SHARED), directory)
        mac = links.every_link(shaped.kernel)["wan"].mac.hex(":")
    try:
        assert shaped.sharing is not None
        for source, count in ((station_v4(0), 11), (station_v4(1), 12), (station_v4(2), 13)):
            send(count, source)
        send(14, station_v6(0), ("fd77::2", 9))
        send(15, "", mark=7)
        expected = [11 + 14 + 15, 12]
        # packets wait until the kernel has resolved the MAC address of the next hop
        wait_until(lambda: offered(shaped)[:2] == expected, f"{expected} packets")
        none = offered(shaped)[2]
        assert 13 <= none <= 13 + 20  # the number includes neighbour and router solicitations
        by_mac = SHARED.replace(f'address = "{station_v4(1)}/32"', f'mac = "{mac}"')
        with entered(GATEWAY):
            shaped.apply(config.read(by_mac))
        send(16, station_v4(1))
        far = offered(shaped)[1]
        assert (
            12 + 16 <= far <= 12 + 16 + 20
        )  # the number includes unmarked packets, which leave with their original address
    finally:
        with entered(GATEWAY):
            assert shaped.down() == []
        shaped.close()


@pytest.mark.parametrize("probability", [0.1, 0.3])
def test_packets_are_blocked_with_the_probability_of_the_map(
    directory: Path, programs: None, probability: float
) -> None:
    """The fraction of blocked packets differs from the probability by at most one percentage point.
    With this number of packets, one percentage point is five standard deviations.
    """
    packets, unblocked = 60_000, 5_000
    assert transfers(station_v4(0)), "neighbours are known now"
    assert transfers(station_v4(1))
    with entered(GATEWAY):
        shaped = shaped_of(config.read(SHARED.replace("50 Mbps", "10 Gbps")), directory)
    try:
        assert shaped.sharing is not None
        shaped.sharing.hold([probability, 0.0])
        send(packets, station_v4(0))
        send(unblocked, station_v4(1))
        near, far, none = shaped.sharing.states(2)
        assert (near.offered, far.offered) == (packets, unblocked)
        assert abs(near.lost / packets - probability) < 0.01
        assert far.lost == none.lost == 0
    finally:
        with entered(GATEWAY):
            assert shaped.down() == []
        shaped.close()


def test_the_queue_holds_its_threshold_and_no_more(directory: Path) -> None:
    """The threshold is fifteen packets, including the packet in service. This packet has left the
    kernel's queue, so that fourteen packets wait there.

    A packet takes eight seconds, so that no packet is sent while the test counts.
    """
    assert transfers(station_v4(0)), "neighbours are known now"
    text = THRESHOLD.replace("50 Mbps", "1 kbps")
    with entered(GATEWAY):
        shaped = shaped_of(config.read(text), directory)
    try:
        send(60, station_v4(0), size_bytes=1000)
        with entered(GATEWAY):
            root, queue = shaped.counters()
        assert queue.backlog_packets == 14
        assert root.sent_packets + queue.backlog_packets + queue.dropped_packets >= 60
    finally:
        with entered(GATEWAY):
            assert shaped.down() == []
        shaped.close()


def test_a_prefix_of_all_addresses_has_none_of_the_other_version(
    directory: Path, programs: None
) -> None:
    """`::/0` includes no IPv4 address, and an IPv4 prefix includes no IPv6 address with an embedded
    IPv4 address.
    """
    text = SHARED.replace(f'"{station_v4(0)}, {station_v6(0)}"', '"::/0"').replace(", mark = 7", "")
    with entered(GATEWAY):
        shaped = shaped_of(config.read(text), directory)
    try:
        send(20, station_v4(2))
        send(10, station_v6(2), ("fd77::2", 9))
        wait_until(lambda: offered(shaped)[2] >= 20, "20 packets of no class")
        near, far, none = offered(shaped)
        assert 10 <= near <= 10 + 20  # the number includes neighbour and router solicitations
        assert far == 0
        assert none <= 20 + 20
    finally:
        with entered(GATEWAY):
            assert shaped.down() == []
        shaped.close()


def test_settings_change_while_packets_are_counted(directory: Path, programs: None) -> None:
    """The program keeps its counters when its settings change."""
    packets = 20_000
    assert transfers(station_v4(0)), "neighbours are known now"
    fast = config.read(SHARED.replace("50 Mbps", "10 Gbps"))
    with entered(GATEWAY):
        shaped = shaped_of(fast, directory)
    sender = Child(GATEWAY, lambda: send(packets, station_v4(0)))
    try:
        sharing = shaped.sharing
        assert sharing is not None
        sharing.hold([0.0, 0.0])
        changes, until_s = 0, time.monotonic() + 30
        while sharing.states(1)[0].offered < packets // 2 and time.monotonic() < until_s:
            sharing.apply(fast)
            sharing.hold([0.0, 0.0])
            changes += 1
        assert changes > 0
        assert sender.result() is None
        assert sharing.states(1)[0].offered == packets
    finally:
        with entered(GATEWAY):
            assert shaped.down() == []
        shaped.close()


def test_a_check_reports_the_flows_that_it_hears(directory: Path) -> None:
    """The test observes three uploads at the uplink, without a download.

    All uploads are paced, so that the queue stays short. If uploads filled the queue, one of them
    might wait for a timeout for a third of the listening time. `lasthop queue check` would then not
    classify this upload as a long-lived flow.
    """
    file = written(directory, THRESHOLD)
    moving = directory / "moving"

    def send_until_killed() -> None:
        with ExitStack() as stack:
            ends = [Flow(station_v4(k % 3), download=k == 3) for k in range(4)]
            for each in ends:
                stack.callback(each.close)
                each.sender.setsockopt(socket.SOL_SOCKET, MAX_PACING_RATE, 1_000_000)
            while any(each.received < 100_000 for each in ends):
                run(ends, 0.1)
            moving.touch()
            run(ends, math.inf)

    assert lasthop("queue", "up", file)[0] == 0
    sender = Child(STATIONS, send_until_killed)
    try:
        wait_until(moving.exists, "sending")
        code, printed = lasthop("queue", "check", file, "--listen", "2", "--json")
        assert code == 0, printed
        heard = json.loads(printed)["heard"]
        assert heard["flows"] == len(heard["rtts_s"]) == 3
        assert 0 < heard["rtt_s"] < 0.1
        sender.kill()
        code, printed = lasthop("queue", "check", file, "--listen", "2")
        assert (code, "wan in 2 s: no long-lived flows" in printed) == (0, True), printed
    finally:
        sender.kill()
        assert sender.result() is None
        assert lasthop("queue", "down", file) == (0, "down\n")
    for words, expected in (
        (
            ["--listen", "2", "--flows", "3"],
            "--listen: measures flows and RTT: expected no --flows",
        ),
        (["--listen", "2", "--congestion", "bogus"], '--congestion: "bogus"'),
        (["--congestion", "reno"], "--congestion reno: expected --flows and --rtt"),
        (["--flows", "x", "--rtt", "1 s"], '"x": expected a number of flows from 1 to 100000'),
    ):
        code, printed = lasthop("queue", "check", file, *words)
        assert (code, expected in printed) == (2, True), printed


@pytest.mark.usefixtures("user_mode")
def test_a_kernel_with_every_queue_has_the_settings_that_tc_makes() -> None:
    """Compare two ways to set up each queue in user-mode Linux: `up`, and the commands that `plan`
    prints. Both have the same effect on the kernel.
    """
    script = Path(__file__).parent / "inside" / "queues.py"
    results = uml.answer(script)
    assert {name: wrong for name, wrong in results.items() if wrong} == {}
    assert len(results) == 7 + 1


def test_a_directory_names_the_program_that_is_up_in_it(directory: Path) -> None:
    state = State(directory)
    state.make()
    assert state.take()
    state.begin(None, "queue")
    assert state.word() == "queue"
    state.release()
