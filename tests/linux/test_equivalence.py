"""`plan` is the exact equivalent of `up`: both leave the kernel in the same state."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab import GATEWAY, Child, clean_up, gateway_text, log_in, sh
from lasthop.gateway import config
from lasthop.gateway.layout import ifb_name
from lasthop.gateway.shaper import Shaper, plan
from shown import in_shell, state


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
        in_shell(plan(gateway))
        return state()

    answers = [in_a_new_gateway(way) for way in (by_up, by_plan)]
    assert answers[0] == answers[1]
    assert ifb_name(gateway) in answers[0]
    assert answers[0].count("match ") > 12


def in_a_new_gateway(function: Callable[[], str]) -> str:
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
        answer: str = Child(GATEWAY, function).result()
        return answer
    finally:
        clean_up()
