"""The studies of paper 003 run with the setup of the paper."""

import re
from functools import cache

import pytest

from lasthop.studies.edca import (
    STUDIES,
)

from .edca_points import (
    AP_TXOPS,
    COUNTS,
    CWMINS,
    DELAYS_MS,
    DELAYS_US,
    LOSSES,
    NEAR,
    PIFS_AP_TXOPS,
    PIFS_STATION_TXOPS,
    RECEIVE_WINDOWS,
    STATION_TXOPS,
    WAYS,
)
from .made_up import every, normalised, only

NAMES = [study.name for study in STUDIES]


@cache
def scenarios(name: str) -> dict[str, dict]:
    [study] = [candidate for candidate in STUDIES if candidate.name == name]
    return normalised(study)


ACCESS = ("aifsn", "cwmin", "cwmax", "txop_packets")
PIFS = {"aifsn": 1, "cwmin": 0, "cwmax": 0}
"""PIFS access of the access point: "AIFSN[AC] = 1, CWmin[AC] = 0, and CWmax[AC] = 0" (line 353)."""


@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_is_of_table_2(name):
    for point, tree in scenarios(name).items():
        cell = only(tree["cell"], "phy", "slot_s", "sifs_s", "preamble_s", "mac_header_bytes")
        assert cell == {
            "phy": "802.11b",  # line 380 of the paper
            "slot_s": 20e-6,  # line 387 of the paper
            "sifs_s": 10e-6,  # line 388 of the paper
            "preamble_s": 192e-6,  # line 392 of the paper: "PHY Overhead"
            "mac_header_bytes": 30,  # line 394 of the paper
        }
        assert tree["cell"]["llc_bytes"] == 8  # SNAP header (line 396)
        assert tree["cell"]["ap"]["control_rate_bps"] == 2e6  # rate of MAC ACKs (line 391)
        assert every(tree["stations"], "rate_bps") == {11e6}
        assert every(tree["stations"], "control_rate_bps") == {2e6}
        # Assumption A1: "large enough to avoid buffer overflow" (line 90).
        # 28 stations have 4 packets each.
        assert tree["cell"]["ap"]["queue_packets"] == 1000
        assert every(tree["stations"], "queue_packets") == {1000}
        assert (tree["duration_s"], tree["replications"], tree["seed"]) == (200, 30, 1), point


@pytest.mark.parametrize("name", NAMES)
def test_every_connection_is_of_new_reno_with_immediate_acks(name):
    for point, tree in scenarios(name).items():
        ways = every(tree["flows"], "direction")
        assert ways == {"up" if point.startswith("up") else "down"}, point
        assert [station["station"] for station in tree["flows"]] == [
            flow["name"] for flow in tree["stations"]
        ]
        settings = [flow["tcp"] for flow in tree["flows"]]
        assert every(settings, "congestion") == {"newreno"}  # line 380 of the paper
        assert every(settings, "delayed_ack") == {False}  # assumption A2 (line 91)
        assert every(settings, "handshake") == {False}
        assert every(settings, "mss_bytes") == {1460}  # line 395 of the paper
        assert every(settings, "header_bytes") == {40}
        match = re.search(r"\bw(\d+)-", point)
        assert every(settings, "window_packets") == {int(match[1]) if match else 4}, (
            point
        )  # line 380 of the paper
        count = int(point.partition("-")[2]) if name == "stations" else 7
        assert len(tree["stations"]) == count  # line 380: "seven stations"


@pytest.mark.parametrize("name", NAMES)
def test_timeouts_are_a_second_unless_a_cause_is_isolated(name):
    for point, tree in scenarios(name).items():
        [tcp] = {(flow["tcp"]["min_rto_s"], flow["tcp"]["initial_rto_s"]) for flow in tree["flows"]}
        hasty = point.endswith("-short-rto") or point.startswith("hasty")
        fixed = point.endswith("-fixed")
        assert tcp == ((20, 20) if fixed else (0.2, 1) if hasty else (1, 1)), point


def access(tree) -> tuple[dict, dict]:
    """Return access parameters of the access point and of the equal stations."""
    mine, *others = [only(station, *ACCESS) for station in tree["stations"]]
    assert all(other == mine for other in others)
    return only(tree["cell"]["ap"], *ACCESS), mine


def edca(cwmin: int, txop: int = 1, cwmax: int = 1023) -> dict:
    """Return access parameters with AIFS 50 us, which is SIFS and two slots (line 388), and CWmax
    1023 (line 389).
    """
    return {"aifsn": 2, "cwmin": cwmin, "cwmax": cwmax, "txop_packets": txop}


def test_figure_5_has_the_same_window_at_all_stations():
    trees = scenarios("fig05")
    swept = {f"{way}-{cwmin}": cwmin for way in WAYS for cwmin in CWMINS}
    small = {f"{way}-{cwmin}": cwmin for way in WAYS for cwmin in (3, 7, 15)}
    for point, cwmin in swept.items():
        assert access(trees[point]) == (edca(cwmin), edca(cwmin))
    for point, cwmin in small.items():
        assert access(trees[f"{point}-short-rto"]) == (edca(cwmin), edca(cwmin))
        fixed = trees[f"{point}-fixed"]
        assert access(fixed) == (edca(cwmin, cwmax=cwmin), edca(cwmin, cwmax=cwmin))
        assert fixed["cell"]["ap"]["attempts_short"] == 255
        assert every(fixed["stations"], "attempts_short") == {255}
    for way in WAYS:
        assert access(trees[f"{way}-63-fixed"]) == (edca(63, cwmax=63), edca(63, cwmax=63))
    assert len(trees) == len(swept) + 2 * len(small) + 2


@pytest.mark.parametrize(("name", "lead"), [("fig06", ""), ("fig06_up", "up-")])
def test_figure_6_has_every_pair_of_windows(name, lead):
    trees = scenarios(name)
    for ap in CWMINS:
        for station in CWMINS:
            assert access(trees[f"{lead}{ap}-{station}"]) == (edca(ap), edca(station))
    for station in CWMINS:
        wanted = edca(3, cwmax=3), edca(station, cwmax=station)
        assert access(trees[f"{lead}3-{station}-fixed"]) == wanted
    extra = {"down-15-7"} & set(trees)  # Runs with uploads also have downloads for comparison.
    assert len(trees) == 49 + 7 + len(extra)
    assert all(access(trees[point]) == (edca(15), edca(7)) for point in extra)


def test_figure_7_has_limits_at_window_31_and_both_orders_of_the_queue():
    """Paper, line 447: "CWmin is set to 31 for both the AP and stations"."""
    trees = scenarios("fig07")
    for order in ("fifo", "mixed"):
        for ap in AP_TXOPS:
            for station in STATION_TXOPS:
                tree = trees[f"{order}-{ap}-{station}"]
                assert access(tree) == (edca(31, ap), edca(31, station))
                assert tree["cell"]["ap"]["queue_order"] == order
    assert len(trees) == 36


def test_figure_8_has_pifs_access_and_windows_around_the_optimum():
    trees = scenarios("fig08")
    for way in WAYS:
        for cwmin in {*CWMINS, *NEAR}:
            ap, station = access(trees[f"{way}-{cwmin}"])
            assert ap == {**PIFS, "txop_packets": 1}
            assert station == edca(cwmin)
    assert len(trees) == 26


def test_figure_9_has_pifs_access_with_limits():
    """Paper, line 462: "the AP uses PIFS Access, stations use CWmin = 31"."""
    trees = scenarios("fig09")
    for way in WAYS:
        for ap in PIFS_AP_TXOPS:
            for station in PIFS_STATION_TXOPS:
                settings = access(trees[f"{way}-{ap}-{station}"])
                assert settings == ({**PIFS, "txop_packets": ap}, edca(31, station))
    for ap in (1, 4, 8):
        assert access(trees[f"hasty-pifs-{ap}"]) == ({**PIFS, "txop_packets": ap}, edca(31, 4))
    contended = {"contended": 8, **{f"hasty-contended-{ap}": ap for ap in (4, 8, 16, 28)}}
    for point, ap in contended.items():
        assert access(trees[point]) == (edca(31, ap), edca(31, 4))
        assert trees[point]["cell"]["ap"]["queue_order"] == "fifo"
    assert len(trees) == 40 + 3 + 5


def test_other_windows_have_the_access_of_the_figures():
    """Paper, line 413: "the 12-packet ... window ... other receive window sizes"."""
    trees = scenarios("windows")
    for w in RECEIVE_WINDOWS:
        for cwmin in CWMINS:
            for way in WAYS:
                assert access(trees[f"{way}-w{w}-{cwmin}"]) == (edca(cwmin), edca(cwmin))
            pifs = {**PIFS, "txop_packets": 1}
            assert access(trees[f"down-w{w}-pifs-{cwmin}"]) == (pifs, edca(cwmin))
            for ap in (3, 7, 15):
                assert access(trees[f"down-w{w}-{ap}-{cwmin}"]) == (edca(ap), edca(cwmin))
        for ap in (31, 63, 127, 255):
            assert access(trees[f"down-w{w}-{ap}-7"]) == (edca(ap), edca(7))
        for limit in (1, 2):
            own = edca(31, limit)
            assert access(trees[f"down-w{w}-txop-{limit}"]) == (own, own)
            limited = access(trees[f"down-w{w}-pifs-limit-{limit}"])
            assert limited == ({**PIFS, "txop_packets": 1}, own)
        for cwmin in (3, 7, 127, 255):
            wanted = edca(3, cwmax=3), edca(cwmin, cwmax=cwmin)
            assert access(trees[f"down-w{w}-3-{cwmin}-fixed"]) == wanted
    assert len(trees) == 3 * (14 + 21 + 4 + 7 + 2 + 2 + 4)


def test_figure_10_has_delays_up_to_a_millisecond():
    trees = scenarios("fig10")
    assert list(trees) == [f"{delay}us" for delay in DELAYS_US]
    for delay in DELAYS_US:
        [ack_s] = {flow["tcp"]["ack_processing_s"] for flow in trees[f"{delay}us"]["flows"]}
        assert ack_s == pytest.approx(delay * 1e-6)
        assert access(trees[f"{delay}us"]) == (edca(31), edca(31))


def test_figure_12_has_half_of_the_round_trip_in_each_direction_and_the_loss_of_the_wire():
    """Paper, line 495: "wireline delay (from 0 to 200 ms) and ... loss rate (from 0.1% to 5%)"."""
    trees = scenarios("fig12")
    for window in (4, 12):
        for loss in LOSSES:
            for delay in DELAYS_MS:
                for ending in ("", "-short-rto"):
                    tree = trees[f"w{window}-loss{loss}-{delay}ms{ending}"]
                    assert tree["wire"]["delay_s"] == pytest.approx(delay / 2000)
                    assert tree["wire"]["loss"] == pytest.approx(loss / 1000)
                    assert access(tree) == (edca(31), edca(31))
    assert only(trees["analysis"]["wire"], "delay_s", "loss") == {"delay_s": 0, "loss": 0}
    assert len(trees) == 1 + 2 * 3 * 12 * 2


@pytest.mark.parametrize("name", [name for name in NAMES if name != "fig12"])
def test_the_wire_has_no_effect_in_other_figures(name):
    """Paper, line 382: "no packet loss, and no wireline delay"."""
    for tree in scenarios(name).values():
        assert only(tree["wire"], "rate_bps", "delay_s", "loss") == {
            "rate_bps": None,
            "delay_s": 0,
            "loss": 0,
        }


def test_numbers_of_stations_are_1_to_28_with_the_access_of_the_paper():
    trees = scenarios("stations")
    assert set(trees) == {f"{way}-{count}" for way in WAYS for count in COUNTS}
    for tree in trees.values():
        assert access(tree) == (edca(31), edca(31))
