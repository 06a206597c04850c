"""Commands of the gateway, which run as processes in its namespace."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

import service_lab
from lab import (
    GATEWAY,
    PATIENCE_S,
    STATIONS,
    Lab,
    entered,
    gateway_text,
    leftovers,
    sh,
    station_v4,
    wait_until,
)
from lasthop.linux import rights
from service_lab import Gateway
from traffic import Flow, run, transfers

lab, gateway = service_lab.lab, service_lab.gateway


def members(gateway: Gateway) -> set[str]:
    return {row["name"] for row in gateway.status()["stations"]}


def addresses(gateway: Gateway, name: str) -> list[str]:
    """Return the addresses of a station; empty if the station is absent."""
    rows = gateway.status()["stations"]
    return next((row["addresses"] for row in rows if row["name"] == name), [])


def test_up_status_and_down_report_the_gateway(gateway: Gateway) -> None:
    code, printed = gateway("check")
    leaves = "leaf queues: pfifo, set by `gateway.discipline`"
    assert printed == f"{gateway.file}: ok: cafe: 1 access point, 2 stations; {leaves}\n"
    assert code == 0
    code, printed = gateway("up")
    assert code == 0, printed
    assert printed.startswith("up, process ")
    assert transfers(station_v4(0))
    wait_until(lambda: members(gateway) == {"s0", "s1"}, "two stations")
    wait_until(lambda: gateway.status()["stations"][0]["sent_packets"] > 10, "counting")
    code, printed = gateway("status", "--json")
    assert (code, json.loads(printed)["aps"]) == (0, gateway.status()["aps"])
    code, printed = gateway("status")
    assert code == 0
    assert f"{station_v4(0)} ..." in printed
    assert gateway("down") == (0, "down\n")
    assert gateway("status") == (0, "the gateway is not up\n")
    assert gateway("down") == (0, "nothing is up\n")
    with entered(GATEWAY):
        assert leftovers() == []


def test_the_leaves_that_the_kernel_supports_are_reported(gateway: Gateway) -> None:
    gateway.file.write_text(gateway_text(2, discipline="best"))
    best = rights.tried("best").discipline
    leaves = {"discipline": best, "why": "the best that this kernel has"}
    answers = [json.loads(gateway(verb, "--json")[1]) for verb in ("check", "up", "status")]
    assert [each["leaves"] for each in answers] == [leaves] * 3
    for each in answers:
        lacks = [line for line in each["warnings"] if "leaf queues are FIFOs (pfifo)" in line]
        assert len(lacks) == (best == "pfifo")
    assert f"leaf queues: {best}, the best that this kernel has" in gateway("status")[1]


def test_a_killed_gateway_keeps_shaping_and_can_be_undone(gateway: Gateway) -> None:
    gateway("up")
    os.kill(gateway.status()["pid"], signal.SIGKILL)
    wait_until(gateway.has_ended, "the end of the process")
    assert transfers(station_v4(0))
    code, printed = gateway("status")
    assert printed.startswith("the gateway is not up; a killed process left 2 changes")
    code, printed = gateway("up")
    assert code == 0, printed
    assert transfers(station_v4(0))
    os.kill(gateway.status()["pid"], signal.SIGKILL)
    wait_until(gateway.has_ended, "the end of the process")
    assert gateway("down") == (0, "reverted 2 changes of a process that was killed\n")
    with entered(GATEWAY):
        assert leftovers() == []


def test_a_second_instance_is_refused(gateway: Gateway) -> None:
    gateway("up")
    number = gateway.status()["pid"]
    code, printed = gateway("run")
    assert code == 2
    assert f"the gateway is up already (process {number})" in printed
    assert gateway.status()["pid"] == number
    # `up` with another state directory fails, because a gateway already uses the interfaces
    gateway.state, before = gateway.state.with_name("other"), gateway.state
    code, printed = gateway("up")
    gateway.state = before
    assert code == 2
    assert printed == (
        "error: interface lan: a lasthop gateway already shapes its packets, that of "
        '`lan = "lan"`\n'
        "hint: end it by `lasthop gateway down` with its file, and with its --state if it has one\n"
    )
    assert gateway.status()["shaping"]


def test_an_ingress_of_another_program_is_refused_with_a_hint(gateway: Gateway) -> None:
    with entered(GATEWAY):
        sh("tc qdisc add dev lan ingress")
    for verb in ("check", "up"):
        code, printed = gateway(verb)
        assert code == 2
        assert printed.startswith("error: interface lan: it has a queueing discipline ingress")
        assert "hint: if nothing needs it: tc qdisc del dev lan ingress" in printed
    assert not gateway.state.exists()
    with entered(GATEWAY):
        sh("tc qdisc del dev lan ingress")


def test_check_looks_at_the_machine_while_a_gateway_is_up(gateway: Gateway, tmp_path: Path) -> None:
    with gateway.usual_state(tmp_path / "run"):
        gateway("up")
        code, printed = gateway("check")
        assert (code, "warning: the gateway is up (process " in printed) == (0, True), printed
        gateway.file.write_text(gateway_text(2).replace('"wan"', '"wam"', 1))
        code, printed = gateway("check")
        assert (code, "error: interface wam: no interface has this name" in printed) == (2, True)
        with entered(GATEWAY):
            sh("ip link add usb type veth peer name usb2; tc qdisc add dev usb clsact")
        gateway.file.write_text(gateway_text(2).replace('lan = "lan"', 'lan = "usb"'))
        code, printed = gateway("check")
        assert (code, "interface usb: it has a queueing discipline clsact" in printed) == (2, True)
        with entered(GATEWAY):
            sh("ip link del usb")


def test_a_stopped_process_is_reported_immediately(gateway: Gateway) -> None:
    gateway("up")
    number = gateway.status()["pid"]
    os.kill(number, signal.SIGSTOP)
    status = Path(f"/proc/{number}/status")
    try:
        wait_until(lambda: "State:\tT" in status.read_text(), "the stop of the process")
        for verb in ("status", "down", "up"):
            start = time.monotonic()
            code, printed = gateway(verb)
            # The command ends before the timeout for a process that does not answer.
            assert time.monotonic() - start < 20
            assert code == 2
            assert f"process {number} is stopped and does not answer" in printed
            assert f"hint: continue it by kill -CONT {number}" in printed
    finally:
        os.kill(number, signal.SIGCONT)
    assert gateway("down") == (0, "down\n")


def test_a_default_that_limits_c_is_reported(gateway: Gateway) -> None:
    gateway.file.write_text(gateway_text(2, rate="estimated"))
    expected = (
        "warning: access point wlan: C is at most 6 Mbit/s (`gateway.wce.max`, its default): "
        "set it to somewhat more than the WLAN can carry\n"
    )
    for verb in ("check", "up", "status"):
        code, output = gateway(verb)
        assert (code, expected in output) == (0, True), output
    gateway.file.write_text(gateway_text(2, 'wce.max = "6 Mbps"', rate="estimated"))
    for verb in ("check", "up", "status"):
        assert "warning: access point" not in gateway(verb)[1]


def test_obstacles_to_packets_are_reported(gateway: Gateway) -> None:
    text = gateway_text(1, 'wce.max = "6 Mbps"', rate="estimated")
    gateway.file.write_text(text.replace('lan = "lan"', 'lan = "usb"'))
    forwarding = "net.ipv6.conf.all.forwarding"
    with entered(GATEWAY):
        before = sh(f"sysctl -n {forwarding}").strip()
        sh(f"sysctl -w {forwarding}=0; ip link add usb type veth peer name usb2")
        try:
            printed = gateway("check")[1]
            assert "warning: interface usb is down: ip link set usb up\n" in printed
            assert (
                "warning: interface usb has no address, so that no station can be pinged" in printed
            )
            assert "IPv6" not in printed
            sh("ip link set usb up; ip address add 2001:db8:77::1/64 dev usb nodad")
            printed = gateway("check")[1]
            assert "is down" not in printed
            assert "has no address" not in printed
            assert f"does not forward IPv6: sysctl -w {forwarding}=1\n" in printed
            sh(f"sysctl -w {forwarding}=1")
            assert "IPv6" not in gateway("check")[1]
        finally:
            sh(f"ip link del usb; sysctl -w {forwarding}={before}")


def test_a_missing_leases_file_is_reported_until_its_key_is_removed(
    gateway: Gateway, tmp_path: Path
) -> None:
    gateway.file.write_text(gateway_text(1, f"discover.leases = '{tmp_path}/none'"))
    fault = f"gateway.discover.leases: {tmp_path}/none: No such file or directory"
    assert f"warning: {fault}\n" in gateway("check")[1]
    assert f"warning: {fault}\n" in gateway("up")[1]
    assert gateway.status()["faults"] == [fault]
    gateway.file.write_text(gateway_text(1))
    gateway("up")
    assert gateway.status()["faults"] == []


def test_no_fault_of_a_source_outlives_its_cause(gateway: Gateway, tmp_path: Path) -> None:
    leases = tmp_path / "leases"
    more = f"discover = {{ leases = '{leases}', interval = \"0.2 s\" }}"
    gateway.file.write_text(gateway_text(1, more))
    gateway("up")
    fault = f"gateway.discover.leases: {leases}: No such file or directory"
    for _ in range(2):
        wait_until(lambda: gateway.status()["faults"] == [fault], "it is reported")
        leases.write_text("")
        wait_until(lambda: gateway.status()["faults"] == [], "it is there")
        leases.unlink()


def test_stations_that_do_not_answer_pings_are_reported(gateway: Gateway) -> None:
    """In this test no station answers: the stations' machine ignores pings, and its traffic
    continues.

    The estimator times segments to a station. A download has such segments; an upload has none.
    """
    gateway.file.write_text(gateway_text(2, 'wce.max = "20 Mbps"', rate="estimated"))
    ignore = "sysctl -qw net.ipv6.icmp.echo_ignore_all={0} net.ipv4.icmp_echo_ignore_all={0}"
    sh(f"ip netns exec {STATIONS} {ignore.format(1)}")
    gateway("up")
    flow = Flow(station_v4(0), download=False)
    try:
        fault_text = (
            "access point wlan: no station with traffic answers pings or downloads over TCP "
        )

        def is_reported() -> bool:
            run([flow], 0.2)
            status = gateway.status()
            return (
                [fault[: len(fault_text)] for fault in status["faults"]] == [fault_text]
                and [row["silent"] for row in status["stations"]] == [True, False]
                and [row["pinged"] for row in status["stations"]] == [True, False]
            )

        def is_removed() -> bool:
            run([flow], 0.2)
            return gateway.status()["faults"] == []

        def is_timed() -> bool:
            run([flow, download], 0.2)
            status = gateway.status()
            return status["faults"] == [] and status["stations"][0]["heard"] == "flows"

        wait_until(is_reported, "the fault")
        download = Flow(station_v4(0), download=True)
        wait_until(is_timed, "what is timed")
        download.close()
        sh(f"ip netns exec {STATIONS} {ignore.format(0)}")
        wait_until(is_removed, "answers")
    finally:
        flow.close()
        sh(f"ip netns exec {STATIONS} {ignore.format(0)}")
    wait_until(lambda: not any(r["pinged"] for r in gateway.status()["stations"]), "rest")
    time.sleep(2.5)  # stations that were active in the last two seconds may still be pinged
    pings = gateway.status()["aps"][0]["pings"]
    time.sleep(2)
    assert gateway.status()["aps"][0]["pings"] == pings  # no station has traffic


def test_a_disk_that_is_full_is_no_question_of_rights(gateway: Gateway, tmp_path: Path) -> None:
    gateway.state = tmp_path / "full"
    gateway.state.mkdir()
    sh(f"mount -t tmpfs -o size=4k,nr_inodes=2 none {gateway.state}; touch {gateway.state}/x")
    try:
        code, printed = gateway("up")
    finally:
        sh(f"umount {gateway.state}")
        gateway.state = tmp_path / "state"
    assert (code, printed) == (2, f"error: {tmp_path}/full/lock: No space left on device\n")


def test_a_bad_file_changes_nothing(gateway: Gateway) -> None:
    gateway.file.write_text(gateway_text(2).replace('"wan"', '"wam"', 1))
    code, printed = gateway("up")
    assert code == 2
    assert printed.startswith(
        "error: interface wam: no interface has this name\nhint: this machine"
    )
    with entered(GATEWAY):
        assert leftovers() == []
    gateway.file.write_text(gateway_text(2))
    gateway("up")
    before = gateway.status()
    for bad, why in (
        (gateway_text(2, "queue = 1"), "`gateway.queue`: 1 is too small"),
        (gateway_text(2).replace('"wan"', '"wam"', 1), "interface wam: no interface has this name"),
    ):
        gateway.file.write_text(bad)
        code, printed = gateway("up")
        assert (code, why in printed) == (2, True), printed
        assert transfers(station_v4(0))
    gateway.file.write_text(gateway_text(2))
    after = gateway.status()
    assert after["shaping"]
    assert after["pid"] == before["pid"]


def test_a_good_file_is_taken_over(gateway: Gateway) -> None:
    gateway("up")
    number = gateway.status()["pid"]
    wait_until(lambda: members(gateway) == {"s0", "s1"}, "two stations")
    gateway.file.write_text(gateway_text(3))
    code, printed = gateway("up")
    assert code == 0
    assert printed.startswith(f"process {number} continues with {gateway.file}; leaf queues: pfifo")
    wait_until(lambda: members(gateway) == {"s0", "s1", "s2"}, "a third station")
    # the file requires other classes: everything is set up again, in the same process
    gateway.file.write_text(gateway_text(3, 'fairness = "flow"\nqueue = 50'))
    code, printed = gateway("up")
    assert code == 0, printed
    assert gateway.status()["aps"][0]["fairness"] == "flow"
    assert gateway.status()["pid"] == number
    assert transfers(station_v4(1))
    # SIGHUP also loads the file
    gateway.file.write_text(gateway_text(1))
    os.kill(number, signal.SIGHUP)
    wait_until(lambda: members(gateway) == {"s0"}, "stations leave")


def test_run_ends_with_a_signal_and_takes_everything_back(gateway: Gateway) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with gateway.start("run") as process:
            wait_until(gateway.is_up, "the gateway is up")
            assert transfers(station_v4(0))
            process.send_signal(number)
            out, err = process.communicate(PATIENCE_S)
        assert (process.returncode, out, err) == (0, "", "")
        with entered(GATEWAY):
            assert leftovers() == []


def test_parts_that_others_remove_are_set_up_again(gateway: Gateway) -> None:
    gateway("up")
    for removal in (
        "ip link del lh-lan",
        "tc qdisc del dev lan clsact",
        "ip link set lh-lan down",
    ):
        with entered(GATEWAY):
            sh(removal)
            wait_until(lambda: len(leftovers()) == 3, f"healing after {removal}")
        wait_until(lambda: not gateway.status()["faults"], "no fault is left")
        wait_until(lambda: transfers(station_v4(0)), "traffic flows")


def test_an_interface_that_returns_is_shaped_again(gateway: Gateway) -> None:
    with entered(GATEWAY):
        sh("ip link add usb type veth peer name usb2; ip link set usb up")
    gateway.file.write_text(gateway_text(2).replace('"wan"', '"usb"', 1))
    gateway("up")
    with entered(GATEWAY):
        sh("ip link del usb")
    wait_until(lambda: not gateway.status()["shaping"], "it is noticed")
    assert gateway.status()["faults"] == ["interface usb is gone"]
    assert transfers(station_v4(0))
    with entered(GATEWAY):
        sh("ip link add usb type veth peer name usb2; ip link set usb up")
    wait_until(lambda: gateway.status()["shaping"], "it shapes again")
    assert gateway("down") == (0, "down\n")
    with entered(GATEWAY):
        sh("ip link del usb")


def test_neighbours_join_and_leave_without_disturbing_others(gateway: Gateway, lab: Lab) -> None:
    more = 'discover = { neighbours = true, interval = "0.2 s", absence = "1 s", '
    more += 'quarantine = "0 s" }'
    gateway.file.write_text(gateway_text(1, more))
    guest = "02:00:5e:10:00:0d"
    sh(
        f"""
        ip -n {STATIONS} addr del {station_v4(3)}/16 dev wl0
        ip -n {STATIONS} link add guest link wl0 address {guest} type macvlan mode bridge
        ip -n {STATIONS} link set guest gso_max_segs 1 up
        ip -n {STATIONS} addr add {station_v4(3)}/16 dev guest
        ip -n {STATIONS} rule add from {station_v4(3)} table 113
        ip -n {STATIONS} route add default via 10.77.1.1 dev guest table 113
        """
    )
    for device in ("wl0", "guest"):  # each answers only for its own address
        settings = f"net.ipv4.conf.{device}.arp_ignore=1 net.ipv4.conf.{device}.arp_announce=2"
        sh(f"ip netns exec {STATIONS} sysctl -qw {settings}")
    gateway("up")
    flow = Flow(station_v4(0), download=True)
    try:
        wait_until(lambda: "s0" in members(gateway), "the listed station")
        with entered(GATEWAY):
            sh("ip neigh flush dev lan")
        run([flow], 0.5)
        before = flow.received
        assert transfers(station_v4(3))
        wait_until(lambda: station_v4(3) in addresses(gateway, guest), "a guest")
        run([flow], 0.5)
        assert flow.received > before
        rows = {row["name"]: row for row in gateway.status()["stations"]}
        assert station_v4(0) not in rows[guest]["addresses"]
        with entered(GATEWAY):
            sh(f"ip neigh del {station_v4(3)} dev lan")
        drops = rows["s0"]["dropped_packets"]
        with entered(STATIONS):
            sh(f"ip addr del {station_v4(3)}/16 dev guest")
        wait_until(
            lambda: station_v4(3) not in str(gateway.status()["stations"]), "the guest leaves"
        )
        assert gateway.status()["stations"][0]["dropped_packets"] == drops
    finally:
        flow.close()
        with entered(STATIONS):
            sh("ip link del guest; ip rule del table 113")
            sh(f"ip addr replace {station_v4(3)}/16 dev wl0")
            sh("sysctl -qw net.ipv4.conf.wl0.arp_ignore=0 net.ipv4.conf.wl0.arp_announce=0")


def test_a_newcomer_has_its_place_before_the_next_look(gateway: Gateway, timed: bool) -> None:
    """The kernel reports the new neighbour immediately; the next periodic search for stations would
    be in an hour.
    """
    more = 'discover = { neighbours = true, interval = "1 h", quarantine = "0 s" }'
    gateway.file.write_text(gateway_text(1, more))
    with entered(GATEWAY):
        sh("ip neigh flush dev lan")
    gateway("up")
    began = time.monotonic()
    assert transfers(station_v4(2))
    guest = sh(f"ip -n {STATIONS} -br link show wl0").split()[2]
    wait_until(lambda: station_v4(2) in addresses(gateway, guest), "a guest")
    assert not timed or time.monotonic() - began < 2


def test_uplink_udp_is_counted_and_its_station_not_pinged(gateway: Gateway) -> None:
    import socket

    gateway.file.write_text(gateway_text(2, 'udp = "down"', rate="estimated"))
    gateway("up")
    with entered(STATIONS):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind((station_v4(1), 0))
    sent = 0
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        udp.sendto(bytes(1000), ("10.77.0.2", 9))
        sent += 1
        time.sleep(0.001)
    rows = {row["name"]: row for row in gateway.status()["stations"]}
    udp.close()
    assert rows["s1"]["udp_uplink_bps"] > 0
    assert not rows["s1"]["pinged"]
    assert rows["s0"]["udp_uplink_packets"] == 0
    # the datagrams did not pass through the classes, but ICMP errors to the station did
    assert rows["s1"]["sent_packets"] < sent / 20

    def counted() -> bool:
        rows = {row["name"]: row for row in gateway.status()["stations"]}
        # one packet in eight is counted: +- 6 % for 2,000 packets
        return bool(rows["s1"]["udp_uplink_packets"] == pytest.approx(sent, rel=0.3))

    wait_until(counted, "everything is counted")


def test_the_estimator_pings_and_follows_a_slow_hop(gateway: Gateway, timed: bool) -> None:
    """Without a queue C rises to its cap; `test_capacity.py` tests C with a WLAN queue."""
    more = 'wce = { max = "20 Mbps", interval = "20 ms" }'
    gateway.file.write_text(gateway_text(2, more, rate="estimated"))
    gateway("up")
    flow = Flow(station_v4(0), download=True)
    try:
        deadline = time.monotonic() + PATIENCE_S
        # A station is pinged only while it has traffic, so not in every state that is read here.
        is_pinged = False
        while time.monotonic() < deadline:
            run([flow], 0.2)
            state = gateway.status()
            is_pinged = is_pinged or state["stations"][0]["pinged"]
            if is_pinged and state["aps"][0]["answers"] > 20:
                break
        assert is_pinged
    finally:
        flow.close()
    ap = gateway.status()["aps"][0]
    assert ap["answers"] > 20
    assert ap["rate_bps"] == 20_000_000
    assert ap["rtt_s"] > 0
    assert not timed or ap["rtt_s"] < 0.005
