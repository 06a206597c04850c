"""Closed forms for the performance anomaly, for airtime and for drop-tail queues, compared with
numbers computed by hand and small simulations.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lasthop.models.dcf import airtime, anomaly, drop_tail, freezing
from lasthop.models.dcf.predict import contending, senders_of
from lasthop.models.dcf.saturation import Contender
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import read

SCENARIO = Scenario(
    {"duration": "1 s", "cell": {"phy": "802.11b"}, "station": {"a": {"udp_up": "greedy"}}}
).to_dict()
CELL_B = replace(
    read(SCENARIO).cell,
    phy="802.11b",
    slot_s=20e-6,
    sifs_s=10e-6,
    preamble_s=192e-6,
    eifs_rate_bps=1e6,
    mac_header_bytes=30,
    llc_bytes=8,
    rts_threshold_bytes=None,
)
CELL_G = replace(CELL_B, phy="802.11g", slot_s=9e-6, preamble_s=20e-6, eifs_rate_bps=6e6)
CELL_G_LONG = replace(CELL_B, phy="802.11g-long", eifs_rate_bps=2e6)


def test_airtimes_are_paper_003s():
    # Table 2 is interpreted with a preamble of 192 us per frame: 1538 and 78 bytes at 11 Mb/s, and
    # 14 bytes at 2 Mb/s.
    assert airtime.frame_s(CELL_B, 1538, 11e6) == pytest.approx(1310.545e-6, abs=1e-9)
    assert airtime.frame_s(CELL_B, 78, 11e6) == pytest.approx(248.727e-6, abs=1e-9)
    assert airtime.frame_s(CELL_B, 14, 2e6) == pytest.approx(248e-6)
    assert airtime.data_bytes(CELL_B, 1500) == 1538


@pytest.mark.parametrize(
    ("cell", "eifs_us"),
    [(CELL_B, 10 + 304 + 50), (CELL_G, 10 + 50 + 28), (CELL_G_LONG, 308)],
)
def test_eifs_of_the_presets(cell, eifs_us):
    assert airtime.eifs_s(cell, 2) == pytest.approx(eifs_us * 1e-6)


def test_ofdm_frame_is_a_whole_number_of_symbols():
    # 22 + 8 * 14 = 134 bits are 2 symbols of 96 bits at 24 Mb/s, and 6 symbols of 24 bits at 6
    # Mb/s.
    assert airtime.frame_s(CELL_G, 14, 24e6) == pytest.approx(34e-6)
    assert airtime.frame_s(CELL_G, 14, 6e6) == pytest.approx(50e-6)
    # 1538 bytes are 12326 bits in 57.06 symbols of 216 bits.
    assert airtime.frame_s(CELL_G, 1538, 54e6) == pytest.approx(258e-6)


def test_rts_exchange_adds_its_frames_and_spoils_only_the_rts():
    cell = replace(CELL_B, rts_threshold_bytes=500)
    rts, cts, ack = 192e-6 + 80e-6, 248e-6, 248e-6
    data = 1310.545454e-6
    assert airtime.first_frame_s(cell, 1500, 11e6, 2e6) == pytest.approx(rts)
    assert airtime.exchange_s(cell, 1500, 11e6, 2e6, 2e6) == pytest.approx(
        rts + cts + data + ack + 3 * 10e-6
    )
    assert airtime.first_frame_s(cell, 40, 11e6, 2e6) == pytest.approx(248.727e-6, abs=1e-9)


def b_node(rate_bps: float) -> Contender:
    frame = airtime.frame_s(CELL_B, 1538, rate_bps)
    return Contender(31, 1023, 7, frame, frame + 10e-6 + 248e-6 + 50e-6, 1472)


@pytest.mark.parametrize("rates", [(11e6, 2e6), (11e6, 11e6, 1e6), (11e6, 11e6, 11e6, 2e6)])
def test_anomaly_closed_form_is_within_one_per_cent_of_the_fixed_point(rates):
    nodes = [b_node(rate) for rate in rates]
    closed = anomaly.goodput_bps(nodes, 20e-6, 364e-6)
    solved = freezing.solve(nodes, 20e-6, 364e-6).goodput_bps
    assert closed == pytest.approx(solved, rel=0.01)
    assert len(set(closed)) == 1


def test_anomaly_of_one_slow_station_halves_the_fast_one():
    both_fast = anomaly.goodput_bps([b_node(11e6)] * 2, 20e-6, 364e-6)
    mixed = anomaly.goodput_bps([b_node(11e6), b_node(2e6)], 20e-6, 364e-6)
    assert mixed[0] < 0.5 * both_fast[0]


def test_md1k_with_one_place_is_erlang_loss():
    # With room for one packet, the loss is rho / (1 + rho) for any distribution of the service
    # time.
    state = drop_tail.md1k(arrival_rate=30.0, service_s=0.02, limit=1)
    assert state.loss_prob == pytest.approx(0.6 / 1.6)
    assert state.sojourn_s == pytest.approx(0.02)


def test_md1k_with_two_places_worked_by_hand():
    # A departure leaves an empty queue (probability pi_0) if and only if no packet arrived during
    # its service (probability a_0). Therefore pi_0 = a_0 = exp(-rho).
    rho = 0.8
    state = drop_tail.md1k(rho, 1.0, 2)
    assert state.loss_prob == pytest.approx(1 - 1 / (math.exp(-rho) + rho))


def test_md1k_with_many_places_is_md1():
    state = drop_tail.md1k(700.0, 1e-3, 200)
    assert state.loss_prob == pytest.approx(0.0, abs=1e-12)
    assert state.sojourn_s == pytest.approx(drop_tail.md1_sojourn_s(700.0, 1e-3), rel=1e-9)


def test_overloaded_md1k_loses_the_excess_and_stays_full():
    state = drop_tail.md1k(2000.0, 1e-3, 50)
    assert state.loss_prob == pytest.approx(0.5, abs=1e-6)
    assert state.occupancy_packets == pytest.approx(50, abs=1.5)


def test_md1_refuses_overload():
    with pytest.raises(ValueError, match="not below 1"):
        drop_tail.md1_sojourn_s(1000.0, 1e-3)


def test_md1k_against_a_small_simulation():
    rng = np.random.default_rng(7)
    load, limit, packets = 0.95, 5, 400_000
    departures: list[float] = []
    dropped, waited, now = 0, 0.0, 0.0
    for gap in rng.exponential(1 / load, packets):
        now += gap
        departures = [d for d in departures if d > now]
        if len(departures) == limit:
            dropped += 1
            continue
        departures.append(max(now, departures[-1] if departures else now) + 1.0)
        waited += departures[-1] - now
    state = drop_tail.md1k(load, 1.0, limit)
    # For these simulation lengths, the half width of the 95 % interval is 0.5 % for the sojourn
    # time. The half width is 0.0015 for the loss probability, because drops occur in bursts.
    assert dropped / packets == pytest.approx(state.loss_prob, abs=0.002)
    assert waited / (packets - dropped) == pytest.approx(state.sojourn_s, rel=0.005)


def greedy(name, station, direction="up"):
    udp = {"arrivals": "greedy", "rate_bps": 0, "payload_bytes": 1472, "header_bytes": 28}
    [flow] = SCENARIO["flows"]
    return flow | {"name": name, "station": station, "direction": direction, "udp": udp}


def scenario(flows, **station):
    node = {"aifsn": 2, "cwmin": 31, "cwmax": 1023, "attempts_short": 7}
    changes = {
        "rate_bps": 11e6,
        "downlink_rate_bps": 5.5e6,
        "uplink_rts_rate_bps": 2e6,
        "uplink_response_rate_bps": 2e6,
        "downlink_rts_rate_bps": 2e6,
        "downlink_response_rate_bps": 2e6,
        "error_up": 0.0,
        "error_down": 0.1,
    }
    [known] = SCENARIO["stations"]
    stations = [known | node | changes | station | {"name": name} for name in ("a", "b")]
    scenario_ = read(SCENARIO | {"stations": stations, "flows": flows})
    ap = replace(scenario_.cell.ap, **node | {"cwmin": 15})
    return replace(scenario_, cell=replace(CELL_B, ap=ap))


def test_contenders_are_the_sending_stations_and_then_the_ap():
    flows = [greedy("b/up", "b"), greedy("a/up", "a"), greedy("a/down", "a", "down")]
    known = scenario(flows)
    nodes, _, eifs_s = contending(known, [sender.category for sender in senders_of(known)])
    assert eifs_s == pytest.approx(airtime.eifs_s(CELL_B, 2))
    assert [node.cwmin for node in nodes] == [31, 31, 15]
    assert replace(nodes[0], success_s=0.0) == replace(b_node(11e6), success_s=0.0)
    assert nodes[0].success_s == pytest.approx(b_node(11e6).success_s)
    assert nodes[2].error_prob == 0.1
    assert nodes[2].first_frame_s == pytest.approx(airtime.frame_s(CELL_B, 1538, 5.5e6))
