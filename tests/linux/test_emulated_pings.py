"""Pings of the kernel through the network of the engine, in simulated time."""

from collections import deque
from math import ceil
from random import Random
from statistics import fmean

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
DURATION_S, WARMUP_S, DEADLINE_S, EVERY_S = 42.0, 2.0, 2.0, 0.05
PING_BYTES, DATAGRAM_BYTES, PAYLOAD_BYTES = 84, 1500, 1472


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


def loaded(load: float) -> tuple[str, float]:
    """Return a scenario in which datagrams and pings offer a fraction of the rate of a link, and
    the rate of the datagrams' payload. [bit/s]
    """
    datagrams_bps = load * RATE_BPS - 8 * PING_BYTES / EVERY_S
    rate_bps = round(datagrams_bps * PAYLOAD_BYTES / DATAGRAM_BYTES)
    text = f"""\
name = "pings at a load of {load}"
duration = "{DURATION_S} s"
warmup = "{WARMUP_S} s"
[link.l]
from = "a"
to = "b"
rate = "{RATE_BPS:.0f} bps"
delay = "{DELAY_S} s"
queue = {LIMIT if load == 1 else 100_000}
[flow.probe]
from = "a"
to = "b"
ping = {{ every = "{EVERY_S} s", deadline = "{DEADLINE_S} s" }}
[flow.load]
from = "a"
to = "b"
udp = {{ rate = "{rate_bps} bps", arrivals = "poisson" }}
"""
    return text, rate_bps


def arrivals(rate_bps: float, seed: int) -> list[tuple[float, int, bool]]:
    """Return the times at which emulated flows send, with the size of each packet, and whether it
    is a ping. [s], [bytes]
    """
    gaps, pings = Random(f"{seed} load"), Random(f"{seed} probe")
    mean_s = 8 * PAYLOAD_BYTES / rate_bps
    sent = []
    now_s = gaps.expovariate(1 / mean_s)
    while now_s < DURATION_S:
        sent.append((now_s, DATAGRAM_BYTES, False))
        now_s += gaps.expovariate(1 / mean_s)
    now_s = pings.uniform(0, EVERY_S)
    while now_s < DURATION_S:
        sent.append((now_s, PING_BYTES, True))
        now_s += EVERY_S
    return sorted(sent)


def fifo(sent: list[tuple[float, int, bool]], limit: int) -> dict[str, float]:
    """Return the quantities of pings through a FIFO, from Lindley's recursion.

    The packet on the line counts as one of the `limit` packets of the queue.
    """
    ends_s: deque[float] = deque()
    rtts_s, count = [], 0
    for now_s, size_bytes, is_ping in sent:
        while ends_s and ends_s[0] <= now_s:
            ends_s.popleft()
        is_counted = is_ping and WARMUP_S <= now_s <= DURATION_S - DEADLINE_S
        count += is_counted
        if len(ends_s) >= limit:
            continue
        ends_s.append(max(now_s, ends_s[-1] if ends_s else 0.0) + 8 * size_bytes / RATE_BPS)
        if is_counted:
            rtts_s.append(ends_s[-1] - now_s + 2 * DELAY_S + 8 * PING_BYTES / RATE_BPS)
    rtts_s.sort()
    percentiles = {
        f"rtt_p{percent}_s": rtts_s[ceil(percent / 100 * len(rtts_s)) - 1]
        for percent in (50, 95, 99)
    }
    lost = 1 - len(rtts_s) / count
    return {"rtt_s": fmean(rtts_s), "loss_probability": lost, **percentiles}


@pytest.mark.parametrize("load", [0.5, 0.9, 1.0])
def test_real_pings_take_as_long_as_the_same_packets_in_a_fifo(load: float):
    text, rate_bps = loaded(load)
    real = emulate(text).flows.loc["probe"]
    ours = fifo(arrivals(rate_bps, 1), LIMIT if load == 1 else 100_000)
    for quantity, value in ours.items():
        # the kernels of both hosts take a few microseconds of about 20 ms
        assert real[quantity] == pytest.approx(value, rel=5e-4, abs=1e-9), quantity
    assert load < 1 or ours["loss_probability"] > 0
