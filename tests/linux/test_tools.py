"""Common programs in an emulated cell: their output, and their flows."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from emulating import emulated, skip_without_rights

CELL = """\
name = "tools"
duration = "5 s"
warmup = "0.5 s"
cell = { phy = "802.11g" }
tcp.congestion = "reno"
[station.laptop]
[station.other]
upload = 1
"""
SENT_BYTES = 2 << 20
Programs = Callable[[str, str], str]

HOARDS = """
import socket, time
with socket.create_connection(("server", 80)) as one:
    time.sleep(1)
"""
POURS = """
import socket
with socket.create_server(("", 80)) as one:
    there, _ = one.accept()
    while True:
        there.sendall(bytes(65536))
"""


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


def at_laptop(
    folder: Path, server: str, *command: str
) -> tuple[Mapping[str, Any], str, list[Mapping[str, Any]]]:
    """Run `command` at the laptop and the program `server` at the server. Return the result of the
    emulation, the output of `command`, and the flows of `command`.
    """
    path = folder / "x.toml"
    path.write_text(CELL)
    done = emulated(path, "--json", "--at", "laptop", "--with", "server", server, "--", *command)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    flows = [flow for flow in result["flows"] if flow["name"].startswith("laptop/program/")]
    return result, done.stderr, flows


def carried_bytes(result: Mapping[str, Any], flow: Mapping[str, Any]) -> float:
    """Return the payload of a flow. [bytes]"""
    length_s = result["duration_s"] - result["warmup_s"]
    return float(flow["goodput_bps"]["mean"]) * length_s / 8


def test_results_of_iperf3_are_those_of_the_medium(
    tmp_path: Path, debian_program: Programs
) -> None:
    debian_program("iperf3", "iperf3")
    report_file = tmp_path / "told"
    # the server of iperf3 may not have started yet
    asks = f"until iperf3 -c server -n {SENT_BYTES} -J > {report_file}; do sleep 0.1; done"
    result, _, flows = at_laptop(tmp_path, "iperf3 -s -1", "sh", "-c", asks)
    report = json.loads(report_file.read_text())
    received = report["end"]["sum_received"]["bytes"]
    # a control connection and at least one data connection have two flows each
    assert len(flows) >= 4
    most = max(carried_bytes(result, flow) for flow in flows)
    # When iperf3 ends, its last data may still be in flight. Retransmissions are included.
    assert 0.98 * received <= most <= 2 * SENT_BYTES


def test_curl_takes_a_page(tmp_path: Path, debian_program: Programs) -> None:
    debian_program("curl", "curl")
    (tmp_path / "page").write_bytes(bytes(300_000))
    serves = f"cd {shlex.quote(str(tmp_path))} && {sys.executable} -m http.server 80"
    again = "curl -s --retry 20 --retry-connrefused --retry-delay 1"
    asks = f"{again} -o /dev/null -w '%{{http_code}} %{{size_download}}' http://server/page"
    result, printed, flows = at_laptop(tmp_path, serves, "sh", "-c", asks)
    assert "200 300000" in printed
    assert max(carried_bytes(result, flow) for flow in flows) >= 300_000


def test_ping_is_answered_over_the_air(tmp_path: Path, debian_program: Programs) -> None:
    debian_program("ping", "iputils-ping")
    asks = ("ping", "-c", "20", "-i", "0.02", "-q", "server")
    _, printed, flows = at_laptop(tmp_path, "true", *asks)
    assert "20 packets transmitted, 20 received" in printed
    assert {flow["connection"].split()[0] for flow in flows} == {"icmp"}
    least_ms = float(printed.split("min/avg/max/mdev = ")[1].split("/")[0])
    # the round-trip time is at least that of two frames of 802.11g with their ACKs
    assert least_ms > 0.2


def test_a_program_that_never_reads_hinders_no_other(tmp_path: Path) -> None:
    (tmp_path / "pours").write_text(POURS)
    (tmp_path / "hoards").write_text(HOARDS)
    python = sys.executable
    serves = f"{python} {shlex.quote(str(tmp_path / 'pours'))}"
    wait = f"until {python} {shlex.quote(str(tmp_path / 'hoards'))}; do sleep 0.1; done"
    result, _, flows = at_laptop(tmp_path, serves, "sh", "-c", wait)
    [other] = [station for station in result["stations"] if station["name"] == "other"]
    assert other["goodput_bps"]["mean"] > 0
    # the program does not read, so that the kernel accepts at most the size of the receive buffer
    assert 10_000 < max(carried_bytes(result, flow) for flow in flows) < 20e6


def test_pings_of_one_place_do_not_take_each_other_s_answers(
    tmp_path: Path, debian_program: Programs
) -> None:
    debian_program("ping", "iputils-ping")
    asks = "ping -c 9 -i 0.1 -q server > other & ping -c 9 -i 0.1 -q server; wait; cat other"
    _, printed, _ = at_laptop(
        tmp_path, "true", "sh", "-c", f"cd {shlex.quote(str(tmp_path))}; {asks}"
    )
    assert printed.count("9 packets transmitted, 9 received, 0% packet loss") == 2


def test_programs_use_the_scenario_s_congestion_control(tmp_path: Path) -> None:
    _, printed, _ = at_laptop(tmp_path, "true", "cat", "/proc/sys/net/ipv4/tcp_congestion_control")
    assert printed.splitlines()[0] == "reno"


@pytest.mark.slow
def test_ssh_runs_a_command(tmp_path: Path, debian_program: Programs) -> None:
    debian_program("ssh", "openssh-client")
    sshd = debian_program("/usr/sbin/sshd", "openssh-server")
    for name in ("host", "user"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name]
        subprocess.run(make, check=True)
    (tmp_path / "known").write_text((tmp_path / "user.pub").read_text())
    Path("/run/sshd").mkdir(exist_ok=True)
    options = f"-o AuthorizedKeysFile={tmp_path}/known -o StrictModes=no -o UsePAM=no"
    serves = f"{sshd} -D -e -f /dev/null -h {tmp_path}/host {options} -o PermitRootLogin=yes"
    trusts = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    asks = f"until ssh -i {tmp_path}/user {trusts} server 'echo there'; do sleep 0.1; done"
    _, printed, flows = at_laptop(tmp_path, serves, "sh", "-c", asks)
    assert "there" in printed.splitlines()
    assert len(flows) >= 2
