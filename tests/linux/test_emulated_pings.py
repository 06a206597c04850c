"""Pings of the kernel through the network of the engine, in simulated time."""

import pytest

import lasthop as lh
from emulating import skip_without_rights
from lasthop.emulation import emulate

pytestmark = pytest.mark.simulated

RATE_BPS, DELAY_S, LIMIT = 5e6, 0.01, 40
SERVICE_S = 8 * 1500 / RATE_BPS
CELL = f"""\
name = "pings under load"
duration = "22 s"
warmup = "2 s"
replications = 4
cell = {{ phy = "802.11g" }}
[wire]
rate = "{RATE_BPS:.0f} bps"
delay = "{DELAY_S} s"
queue = {LIMIT}
[station.laptop]
ping = {{ every = "50 ms", size = "56 B" }}
udp_down = {{ rate = "15 Mbps", arrivals = "poisson" }}
[station.phone]
ping = {{ every = "50 ms", size = "1000 B", deadline = "1 s" }}
"""
WIRED = f"""\
name = "pings at half load"
duration = "22 s"
warmup = "2 s"
replications = 4
link.l = {{ from = "a", to = "b", rate = "{RATE_BPS:.0f} bps", delay = "{DELAY_S} s" }}
[flow.probe]
from = "a"
to = "b"
count = 3
ping = "20 ms"
[flow.load]
from = "a"
to = "b"
udp = {{ rate = "2.4 Mbps", arrivals = "poisson" }}
"""


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


def test_real_pings_through_a_full_queue_take_as_long_as_simulated_pings():
    answer, simulation = emulate(CELL), lh.simulate(CELL)
    for name in ("laptop/ping/1", "phone/ping/1"):
        real, ours = answer.flows.loc[name], simulation.flows.loc[name]
        for quantity in ("rtt_s", "rtt_p50_s", "rtt_p95_s"):
            assert real[quantity] == pytest.approx(ours[quantity], rel=0.02), (name, quantity)
        # of about 400 and 360 pings; the interval of 4 standard deviations
        assert real["loss_probability"] == pytest.approx(ours["loss_probability"], abs=0.1)
        assert "goodput_bps" not in real or real["goodput_bps"] != real["goodput_bps"]
    # the time in a full queue, the propagation, and a few frames on the air
    least_s = (LIMIT - 1) * SERVICE_S + 2 * DELAY_S
    assert answer.flows.loc["laptop/ping/1", "rtt_p50_s"] == pytest.approx(least_s, rel=0.03)
    assert answer.cells.loc["cell", "goodput_bps"] > 4.5e6


def test_real_pings_between_wired_nodes_are_a_class():
    answer, simulation = emulate(WIRED), lh.simulate(WIRED)
    real, ours = answer.classes.loc["probe"], simulation.classes.loc["probe"]
    for quantity in ("rtt_s", "rtt_p50_s", "rtt_p95_s"):
        assert real[quantity] == pytest.approx(ours[quantity], rel=0.02), quantity
    assert real["loss_probability"] == 0
    # without losses, each of three flows sends a request every 20 ms
    assert set(answer.flows.index) == {"probe-1", "probe-2", "probe-3", "load"}
