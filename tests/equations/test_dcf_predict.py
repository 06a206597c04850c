"""Saturated UDP in cells of 802.11a, b and g: predictions for scenarios, and messages about
scenarios that are not supported.
"""

import time
from dataclasses import replace
from typing import Any

import pytest

from lasthop import Scenario
from lasthop.models import ModelError, choose, predict
from lasthop.models.dcf import bianchi, freezing, zones
from lasthop.models.dcf.saturation import Contender, discards, visits
from lasthop.models.dcf.zones import Category

NODE = Contender(31, 1023, 7, first_frame_s=1.3e-3, success_s=1.6e-3, payload_bytes=1472)
RTS = replace(NODE, first_frame_s=3e-4, error_prob=0.3, attempts_long=2, lost_s=1.1e-3)
SLOT_S, AIFS_S, EIFS_S = 20e-6, 50e-6, 364e-6
UP = {"udp_up": "greedy"}


def scenario(stations: dict[str, Any], **cell: Any) -> Scenario:
    cell = {"phy": "802.11b", **cell}
    return Scenario({"name": "saturated", "duration": "5 s", "cell": cell, "station": stations})


def answer(stations: dict[str, Any], **cell: Any) -> dict[str, Any]:
    known = scenario(stations, **cell).typed
    assert choose(known) == "dcf"
    return predict(known, "dcf")


def means(items: list[dict[str, Any]], quantity: str) -> list[float]:
    return [item[quantity]["mean"] for item in items]


# -- theory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.05, 0.3, 0.6])
@pytest.mark.parametrize("doublings", [3, 5])
def test_attempt_probability_is_bianchis_closed_form(p: float, doublings: int) -> None:
    """The closed form is Eq. (7) of Bianchi's paper for W = 32 slots, without an attempt limit."""
    window = 32
    node = replace(NODE, cwmin=window - 1, cwmax=window * 2**doublings - 1, attempts=255)
    closed = 2 * (1 - 2 * p)
    closed /= (1 - 2 * p) * (window + 1) + p * window * (1 - (2 * p) ** doublings)
    assert bianchi.attempt_prob(node, p) == pytest.approx(closed, rel=1e-9)


def test_losses_after_rts_are_counted_apart() -> None:
    """A packet is discarded after two channel losses or after seven collisions, in any order."""
    collides, loses = 0.2, 0.3 * 0.8
    passes = 1 - collides - loses
    # A packet is delivered after at most one loss and six collisions, in any order.
    delivered = sum(
        (1 + lost * collided) * collides**collided * loses**lost * passes
        for lost in range(2)
        for collided in range(7)
    )
    assert discards(RTS, collides + loses) == pytest.approx(1 - delivered, rel=1e-12)
    assert visits(RTS, collides + loses)[:2] == pytest.approx([1.0, collides + loses])


def test_one_station_with_rts_by_hand() -> None:
    """A single station has no collisions. An attempt is lost with probability 0.3 and is followed
    by EIFS. Two losses discard a packet.
    """
    backoff_s = SLOT_S * (15.5 + 0.3 * 31.5)
    lost_s = RTS.first_frame_s + RTS.lost_s + EIFS_S
    packet_s = backoff_s + (0.3 + 0.3 * 0.3) * lost_s + 0.91 * RTS.success_s
    without_aifs = replace(RTS, success_s=RTS.success_s - AIFS_S)
    for solution in (
        freezing.solve([RTS], SLOT_S, EIFS_S),
        bianchi.solve([RTS], SLOT_S, EIFS_S),
        zones.solve([Category(without_aifs, 2, 1, "a", 1)], SLOT_S, 10e-6, EIFS_S - AIFS_S),
    ):
        assert solution.discard_prob[0] == pytest.approx(0.09, rel=1e-9)
        assert solution.collision_prob[0] == pytest.approx(0.0, abs=1e-12)
        assert solution.packet_rate[0] == pytest.approx(0.91 / packet_s, rel=1e-9)


@pytest.mark.parametrize("solve", [freezing.solve, bianchi.solve])
def test_nodes_that_are_alike_are_solved_once(solve: Any) -> None:
    """The rates of equal nodes are compared with the rates in a cell whose nodes all differ by a
    negligible amount.
    """
    nodes = [NODE] * 3 + [replace(NODE, cwmin=15)] * 2
    apart = [replace(node, error_prob=1e-13 * number) for number, node in enumerate(nodes)]
    solution = solve(nodes, SLOT_S, EIFS_S)
    assert solution.goodput_bps == pytest.approx(solve(apart, SLOT_S, EIFS_S).goodput_bps, rel=1e-9)


def test_many_stations_are_solved_as_fast_as_one() -> None:
    begun = time.process_time()
    solution = freezing.solve([NODE] * 10_000, SLOT_S, EIFS_S)
    assert time.process_time() - begun < 1.0
    assert len(set(solution.goodput_bps)) == 1


# -- scenarios -----------------------------------------------------------------------------------


def test_uploads_and_downloads_share_by_accesses() -> None:
    predicted = answer({"s": {"count": 4, "udp_up": "greedy", "udp_down": "greedy"}})
    assert means(predicted["stations"], "goodput_share") == pytest.approx([0.25] * 4)
    flows = {flow["name"]: flow["goodput_bps"]["mean"] for flow in predicted["flows"]}
    assert flows["s-1/udp-up/1"] == pytest.approx(4 * flows["s-1/udp-down/1"], rel=1e-9)
    [cell] = predicted["cells"]
    assert cell["updown_ratio"]["mean"] == pytest.approx(4.0)
    assert cell["goodput_bps"]["mean"] == pytest.approx(sum(flows.values()))


@pytest.mark.parametrize("countdown", ["dcf", "edca"])
def test_an_access_of_several_packets(countdown: str) -> None:
    single = answer({"s": {"count": 5, **UP}}, countdown=countdown)
    three = answer({"s": {"count": 5, **UP}}, countdown=countdown, txop_packets=3)
    collided = single["stations"][0]["collision_rate"]["mean"]
    per_frame = collided / (collided + 3 * (1 - collided))
    assert three["stations"][0]["collision_rate"]["mean"] == pytest.approx(per_frame)
    assert three["cells"][0]["goodput_bps"]["mean"] > single["cells"][0]["goodput_bps"]["mean"]


@pytest.mark.parametrize(
    ("stations", "cell", "message"),
    [
        ({"s": {"upload": 1, **UP}}, {}, "`station.s.upload` is TCP"),
        (
            {"f": {"udp_down": "greedy"}, "s": {"udp_down": "greedy", "rate": "1 Mbps"}},
            {},
            "the access point sends packets of several sizes, rates",
        ),
        ({"s": {"count": 2, **UP}}, {"ack_timeout": "1 ms"}, "longer than EIFS less AIFS, 314 us"),
        ({"s": UP, "t": {**UP, "aifsn": 4}}, {}, "senders with several AIFSN, 2, 4"),
        ({"s": {**UP, "cwmin": 0}}, {}, "`cwmin` = 0 never releases"),
        ({"s": {**UP, "snr": "20 dB"}}, {}, "`station.s.snr` loses frames by their length"),
        ({"s": UP}, {"rate_control": "arf"}, '`cell.rate_control` = "arf"'),
        ({"s": {"udp_up": "1 Mbps"}}, {}, "offers 1 Mb/s where 6.1"),
        (
            {"s": {"count": 2, **UP}},
            {"txop_packets": 2, "rts_threshold": "0 B"},
            "RTS before the 2 packets of an access",
        ),
        (
            {"s": {**UP, "error": 0.1}},
            {"txop_packets": 2},
            "packets of `station.s.udp_up` are lost, and 2 make an access",
        ),
    ],
)
def test_scenarios_outside_the_model_are_refused(stations: Any, cell: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        predict(scenario(stations, **cell).typed, "dcf")
    assert message in str(caught.value)


def test_a_small_window_and_a_timeout_are_warned_of() -> None:
    predicted = answer({"s": {"count": 2, **UP}}, cwmin=3, ack_timeout="100 us")
    warnings = "\n".join(predicted["warnings"])
    assert "not for `cell.ack_timeout`; goodput was off by up to 1.7 %" in warnings
    assert "with `cwmin` = 3 senders that collided" in warnings
    assert "up to 4 %" in warnings
