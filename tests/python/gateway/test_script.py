"""The shell script of a gateway: the quoted commands of `plan`, and error messages."""

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.script import script, words
from lasthop.enforce.gateway.shaper import plan
from lasthop.errors import UserError

LEAST = '[gateway]\nwan = "eth0"\nlan = "eth1"\n'
KINDS = {
    "least": LEAST,
    "listed": LEAST + 'station.till.address = "10.0.0.5, 2001:db8::5"\n',
    "fixed": LEAST + 'rate = "5 Mbps"\nstation.till.address = "10.0.0.5"\n',
    "flow": LEAST + 'fairness = "flow"\nflow_leaves = 7\nstation.till.address = "10.0.0.5"\n',
    "direction": LEAST + 'fairness = "direction"\nstation.till.address = "10.0.0.5"\n',
    "found": LEAST + 'discover.neighbours = true\ndiscover.ignore = "10.0.0.9"\n'
    'station.till.mac = "02:00:00:00:00:07"\n',
    "aps": LEAST + 'discover.neighbours = true\nap.a.interface = "eth1"\n'
    'ap.b = { interface = "eth2", rate = "9 Mbps" }\n',
    "odd": LEAST.replace("eth0", "a'b$(x);`y`").replace("eth1", "*&|<>#~"),
}
SHELLS = [["busybox", "sh", "-n"], ["dash", "-n"], ["shellcheck", "-s", "sh", "-S", "warning"]]
PACKAGES = {"busybox": "busybox-static", "dash": "dash", "shellcheck": "shellcheck"}


def made(text: str) -> str:
    return script(config.read(text))


def set_up(text: str) -> list[list[str]]:
    """Return the commands in the function `set_up` of the script, split into words by shell
    rules.
    """
    body = text.split("set_up() {\n")[1].split("\n}\n")[0]
    return [shlex.split(line) for line in body.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
def test_the_script_runs_the_commands_of_plan(kind: str) -> None:
    commands = set_up(made(KINDS[kind]))
    planned = plan(config.read(KINDS[kind]), by_mac=False)
    expected = [words(line) for line in planned if line[0] != "#" and "gso_max_segs" not in line]
    plain = [
        each[1:] if each[0] == "try" else ["ethtool", "-K", each[1], "gro", "off"]
        for each in commands
    ]
    assert plain == expected
    assert {each[0] for each in commands} == {"try", "no_gro"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_shells_accept_the_script(
    tmp_path: Path, shell: list[str], kind: str, debian_program: Callable[[str, str], str]
) -> None:
    debian_program(shell[0], PACKAGES[shell[0]])
    path = tmp_path / "gateway.sh"
    path.write_text(made(KINDS[kind]))
    done = subprocess.run([*shell, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("kind", KINDS)
def test_the_script_is_reproducible_and_has_no_placeholder(kind: str) -> None:
    text = made(KINDS[kind])
    assert text == made(KINDS[kind])
    assert text.isascii()
    assert "#@" not in text
    assert "@" not in text.split("set -u")[0]


def test_unusual_names_are_quoted() -> None:
    text = made(KINDS["odd"])
    assert ["try", "tc", "qdisc", "add", "dev", "*&|<>#~"] in [c[:6] for c in set_up(text)]
    for line in text.splitlines():
        if "$(x)" in line:
            assert "a'b$(x);`y`" in shlex.split(line)


def test_the_script_does_not_contain_names_of_stations_or_the_gateway() -> None:
    text = made('name = "$(reboot)\';`x`"\n' + KINDS["listed"].replace("till", "zebra"))
    assert "reboot" not in text
    assert "zebra" not in text


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('discover.leases = "/tmp/dhcp.leases"', "`gateway.discover.leases`: a script finds"),
        (
            'ap.a.snmp = { agent = "10.0.0.2", community = "public" }',
            "`gateway.ap.a.snmp`: a script cannot ask an access point",
        ),
        (
            'ap.a = { fairness = "rate", station_rates = "iw:wlan0" }',
            "`gateway.ap.a.station_rates`: a script cannot read rates of stations",
        ),
        (
            'ap.a = { udp = "down", interface = "eth1" }\nap.b.interface = "eth2"',
            "`gateway.ap.NAME.udp`: a script treats UDP equally",
        ),
        ('wce.rule = "paper"', '`gateway.wce.rule`: a script has no "paper"'),
        (
            'discover.neighbours = true\nap.a.subnets = "10.0.1.0/24"\n'
            'ap.b.subnets = "10.0.2.0/24"',
            "interface eth1: a script cannot determine the access point",
        ),
    ],
    ids=["leases", "snmp", "rates", "udp", "paper", "two-aps"],
)
def test_settings_that_a_script_does_not_support_are_refused(more: str, message: str) -> None:
    with pytest.raises(UserError) as refused:
        made(LEAST + more + "\n")
    assert str(refused.value).startswith(message)


def test_the_script_needs_only_the_packages_of_the_file() -> None:
    assert "kmod-sched-bpf" not in made(KINDS["least"])
    assert "kmod-sched-bpf" in made(KINDS["flow"])
    assert "kmod-sched-bpf" not in made(LEAST + 'fairness = "flow"\ndiscipline = "fq_codel"\n')


def test_a_station_that_is_found_is_added_and_removed_by_its_mac_address() -> None:
    text = made(KINDS["found"])
    add = text.split("add_mac() {\n")[1].split("\n}\n")[0]
    assert add.count("tc filter add dev lh-eth1 parent 6c68: protocol all pref 3") == 2
    for filter_match in (
        'u32 ht "7:$2:" match u32 "$5" 0x0000ffff at -16 match u32 "$6" 0xffffffff at -12',
        'u32 ht "8:$2:" match u32 "$3" 0xffffffff at -8 match u32 "$4" 0xffff0000 at -4',
        'handle "7:$2:$7"',
        'flowid "$8"',
        'flowid "$9"',
    ):
        assert filter_match in add
    remove = text.split("remove_mac() {\n")[1].split("\n}\n")[0]
    assert remove.count("tc filter del dev lh-eth1 parent 6c68: protocol all pref 3 handle") == 2
    assert '"7:$1:$2"' in remove
    assert '"8:$1:$2"' in remove
