"""Commands of `lasthop gateway` that need no privileges."""

import json
from pathlib import Path

import pytest

from ..conftest import Lasthop

PROGRAMS = {"ip", "tc", "ethtool", "bpftool"}
PIPED = "i=$(ip"
LEAST = '[gateway]\nwan = "eth0"\nlan = "eth1"\nstation.till.address = "10.0.0.5"\n'


@pytest.fixture
def cafe(tmp_path: Path) -> Path:
    path = tmp_path / "cafe.toml"
    path.write_text(LEAST)
    return path


def test_plan_prints_commands_and_needs_nothing(lasthop: Lasthop, cafe: Path) -> None:
    done = lasthop("gateway", "plan", cafe)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "# leaves: fq_codel, if the kernel has it; see `check`"
    assert lines[1].startswith("ip link add lh-eth1 address 02:6c:68:")
    words = {line.split()[0] for line in lines[1:]}
    assert words - {PIPED} == PROGRAMS
    assert json.loads(lasthop("gateway", "plan", cafe, "--json").stdout) == lines


def test_plan_writes_a_script(lasthop: Lasthop, cafe: Path) -> None:
    done = lasthop("gateway", "plan", cafe, "--sh")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("#!/bin/sh\n")
    for line in lasthop("gateway", "plan", cafe).stdout.splitlines()[1:]:
        is_of_classes = line.startswith(("ip link add", "tc class", "tc qdisc"))
        is_shared = "6c68:fff" in line or "htb default" in line  # classes for unclassified packets
        assert not is_of_classes or is_shared or f"    try {line}\n" in done.stdout
    # Under `lasthop gateway run`, some ARP, DNS and DHCP bypasses the leaves; not with the script.
    assert "ARP, DNS and DHCP have no allowance" in done.stdout


def test_an_impossible_script_is_refused_in_one_line(lasthop: Lasthop, cafe: Path) -> None:
    done = lasthop("gateway", "plan", cafe, "--sh", "--set", "gateway.wce.rule=paper")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f'error: {cafe}: `gateway.wce.rule`: a script has no "paper"; possible is "agreement"\n'
    )
    assert lasthop("gateway", "plan", cafe, "--sh", "--json").returncode == 2


def test_settings_replace_values(lasthop: Lasthop, cafe: Path) -> None:
    done = lasthop("gateway", "plan", cafe, "--set", "gateway.rate=9 Mbps")
    assert "htb rate 9000000bit ceil 9000000bit" in done.stdout


@pytest.mark.parametrize("verb", ["check", "plan", "up", "status", "down", "run"])
def test_a_bad_file_is_refused_by_every_command(lasthop: Lasthop, cafe: Path, verb: str) -> None:
    cafe.write_text(LEAST.replace("10.0.0.5", "10.0.0"))
    done = lasthop("gateway", verb, cafe)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f'error: {cafe}:4: `gateway.station.till.address`: "10.0.0" is no IP address; expected '
        "IP addresses and subnets such as 192.168.4.0/24, separated by commas\n"
    )


def test_a_scenario_without_a_gateway_is_refused(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("gateway", "plan", small)
    assert done.returncode == 2
    assert "`gateway`: missing; expected a table [gateway]" in done.stderr


def test_a_gateway_does_not_change_the_simulation_of_a_scenario(
    lasthop: Lasthop, small: Path
) -> None:
    before = lasthop("simulate", small, "--json").stdout
    small.write_text(small.read_text() + LEAST)
    assert lasthop("simulate", small, "--json").stdout == before


def test_status_of_a_stopped_gateway_is_refused(
    lasthop: Lasthop, cafe: Path, tmp_path: Path
) -> None:
    assert (
        lasthop("gateway", "status", cafe, "--state", tmp_path / "s").stdout
        == "the gateway is not up\n"
    )
    assert lasthop("gateway", "down", cafe, "--state", tmp_path / "s").stdout == "nothing is up\n"
    done = lasthop("gateway", "status", cafe, "--json", "--state", tmp_path / "s")
    assert done.stdout == "null\n"


def test_missing_interfaces_are_named(lasthop: Lasthop, cafe: Path) -> None:
    cafe.write_text(LEAST.replace("eth0", "no-such-if0"))
    done = lasthop("gateway", "check", cafe)
    rootless = "warning: this machine was not tested: this needs CAP_"
    if not done.stderr.startswith(rootless) and "this machine has no" not in done.stderr:
        assert done.returncode == 2
        assert done.stderr.startswith("error: interface no-such-if0: no interface has this name\n")
