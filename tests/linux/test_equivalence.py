"""`plan` is the exact equivalent of `up`: both leave the kernel in the same state."""

import re
from pathlib import Path

import pytest

from lab import GATEWAY, Child, Lab, gateway_text, log_in, sh
from lasthop.gateway import config
from lasthop.gateway.layout import ifb_name
from lasthop.gateway.shaper import Shaper, plan

SHOWN = """
ip -d link show lh-lan | grep -v '^ *[0-9]*:'
tc -d class show dev lh-lan | sort
tc filter show dev lh-lan; tc filter show dev lh-lan parent 6c68:1
tc filter show dev lan egress; tc filter show dev lan ingress
tc qdisc show | sort
"""


def state() -> str:
    """What the kernel shows, without the numbers that it gives by itself."""
    shown = re.sub(r"(pfifo|codel|sfq) \w+:", r"\1 LEAF:", sh(SHOWN))
    shown = re.sub(r"leaf \w+:", "leaf LEAF:", shown)
    shown = re.sub(r"direct_packets_stat \d+", "", shown)
    shown = re.sub(r"\tindex \d+ ref 1 bind 1.*", "", shown)
    return "\n".join(sorted(line for line in shown.splitlines() if line.strip()))


@pytest.mark.parametrize(
    "more",
    [
        "",
        'fairness = "rate"\nstation.fast = { address = "10.77.1.99", rate = "54 Mbps" }\n'
        'station.slow = { address = "10.77.1.98", rate = "6 Mbps" }',
        'fairness = "flow"\nflow_leaves = 7',
        'fairness = "direction"',
        'udp = "down"',
        'ap.a = { rate = "20 Mbps" }',
        'ap.a = { rate = "40 Gbps" }',
    ],
    ids=["station", "rate", "flow", "direction", "udp", "20-Mbps", "40-Gbps"],
)
def test_plan_and_up_leave_the_same(tmp_path: Path, more: str) -> None:
    gateway = config.read(gateway_text(3, more))

    def by_up() -> str:
        with Shaper(gateway, log_in(tmp_path)) as shaper:
            shaper.up(gateway.stations)
            return state()

    def by_plan() -> str:
        for command in plan(gateway):
            if not command.startswith("ethtool"):  # these interfaces merge nothing
                sh(command)
        return state()

    answers = []
    for way in (by_up, by_plan):
        with Lab(stations=1, rate_bps=None):
            answers.append(Child(GATEWAY, way).result())
    assert answers[0] == answers[1]
    assert ifb_name(gateway) in answers[0]
    assert answers[0].count("match ") > 12
