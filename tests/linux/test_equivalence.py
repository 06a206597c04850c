"""`plan` is exactly equivalent to `up`: both cause the same kernel state."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import GATEWAY, Child, clean_up, gateway_text, log_in, sh
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.layout import ifb_name
from lasthop.enforce.gateway.shaper import Shaper, plan
from lasthop.linux.syscalls import call
from shown import in_shell, state

CLONE_NEWNS = 0x20000


KINDS = {
    "station": "",
    "rate": 'fairness = "rate"\nstation.fast = { address = "10.77.1.99", rate = "54 Mbps" }\n'
    'station.slow = { address = "10.77.1.98", rate = "6 Mbps" }',
    "flow": 'fairness = "flow"\nflow_leaves = 7',
    "direction": 'fairness = "direction"',
    "udp": 'udp = "down"',
    "subnets": 'station.routed.address = "10.78.0.0/22, 2001:db8:7::/50, 10.77.1.96"',
    "groups": 'group.a = { stations = "s0, s1", share = 2 }\ngroup.unlisted.max = "3 Mbps"',
    "20-Mbps": 'ap.a = { rate = "20 Mbps" }',
    "40-Gbps": 'ap.a = { rate = "40 Gbps" }',
}


@pytest.mark.parametrize("kind", KINDS)
def test_plan_and_up_leave_the_same_where_filters_classify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(Shaper, "has_programs", lambda _: False)
    gateway = config.read(gateway_text(3, KINDS[kind]))

    def by_up() -> str:
        with Shaper(gateway, log_in(tmp_path)) as shaper:
            shaper.up(gateway.stations)
            return state()

    def by_plan() -> str:
        in_shell(plan(gateway, by_mac=False))
        return state()

    answers = [in_a_new_gateway(way) for way in (by_up, by_plan)]
    assert answers[0] == answers[1]
    assert ifb_name(gateway) in answers[0]
    assert answers[0].count("match ") > 12


@pytest.mark.skipif(shutil.which("bpftool") is None, reason="needs bpftool")
@pytest.mark.parametrize("kind", ["station", "subnets", "flow", "groups"])
def test_plan_and_up_leave_the_same_programs_and_maps(tmp_path: Path, kind: str) -> None:
    more = f"{KINDS[kind]}\nstation.m = {{ mac = '02:00:5e:10:00:01', address = '10.77.1.97' }}"
    gateway = config.read(gateway_text(3, more))
    maps = ("aps", "groups", "interfaces", "macs", "prefixes", "setup")

    def shown(which: dict[str, str]) -> str:
        # The entries of a hash table have a random order. They are sorted for the comparison.
        entries = (json.loads(sh(f"bpftool -j map dump {which[name]}")) for name in maps)
        dumps = [json.dumps(sorted(each, key=lambda entry: entry["key"])) for each in entries]
        return re.sub(r"(filter .* bpf .*) \S+ not_in_hw .*", r"\1", state()) + "\n".join(dumps)

    def by_up() -> str:
        with Shaper(gateway, log_in(tmp_path)) as shaper:
            shaper.up(gateway.stations)
            assert shaper.programs is not None
            made = shaper.programs.maps
            return shown({name: f"id {map_number(made[name])}" for name in maps})

    def by_plan() -> str:
        sh("mount -t bpf bpf /sys/fs/bpf")
        in_shell(plan(gateway))
        return shown({name: f"pinned /sys/fs/bpf/lh-lan/maps/{name}" for name in maps})

    answers = [in_a_new_gateway(way, mounts=True) for way in (by_up, by_plan)]
    assert answers[0] == answers[1]


def map_number(descriptor: int) -> int:
    """Return the kernel's ID of a BPF map."""
    information = Path(f"/proc/self/fdinfo/{descriptor}").read_text()
    return int(re.findall(r"map_id:\s+(\d+)", information)[0])


def in_a_new_gateway(function: Callable[[], str], *, mounts: bool = False) -> str:
    """Call a function in a new namespace with two interfaces, and return its result."""
    clean_up()
    sh(f"ip netns add {GATEWAY}")
    try:
        sh(
            f"""
            ip -n {GATEWAY} -batch - <<'end'
            link add wan type veth peer name wan1
            link add lan type veth peer name lan1
            link set wan up
            link set wan1 up
            link set lan up
            link set lan1 up
            end
            """.replace(" " * 12, "")
        )
        answer: str = Child(GATEWAY, with_own_mounts(function) if mounts else function).result()
        return answer
    finally:
        clean_up()


def with_own_mounts(function: Callable[[], str]) -> Callable[[], str]:
    """Return the function with a private mount namespace, so that its pins end with its process."""

    def apart() -> str:
        call("unshare", CLONE_NEWNS)
        sh("mount --make-rprivate /")
        return function()

    return apart
