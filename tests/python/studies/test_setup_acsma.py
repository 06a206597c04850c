"""The studies of paper 001 run with the setup of the paper."""

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from math import sqrt

import pytest

from lasthop.studies.acsma import network

from .acsma_runs import CURES, SETS, SIMULATED, STUDY, TOPOLOGIES, USERS, VARIANTS
from .made_up import every, normalised, only


@cache
def scenarios(name: str) -> dict[str, Mapping]:
    return normalised(STUDY[name])


CHAPTER_4 = ("fig4_2", "fig4_3", "figb_1")
KS = {"44_7": 44.7, "28_3": 28.3, "20": 20, "14": 14, "10": 10, "5": 5}
BETAS = {"44_7": 10, "28_3": 25, "20": 50, "14": 102, "10": 200, "5": 800}
"""Values of beta in figure 6.10, by k. The paper has beta 10 for k = 44.7 and 800 for k = 5 (line
770), and constant k^2 beta = 20000 (line 768).
"""


PAYLOAD = {"tcp": "mss_bytes", "udp": "payload_bytes"}
"""Key of the payload by protocol. A UDP payload is 40 bytes longer, by the length of the TCP
header.
"""


def is_legacy(name: str, point: str) -> bool:
    """Return whether the links of a point use L-CSMA."""
    return point.startswith(("lcsma", "plain", "room", "legacy")) and name != "fig6_9"


def variant_of(point: str) -> str | None:
    return next((variant for variant in VARIANTS if variant in point.split("-")), None)


def one_connection(name: str, point: str) -> bool:
    """Return whether users have a single connection, which holds for L-CSMA and in chapter 4."""
    return name in CHAPTER_4 or is_legacy(name, point)


@pytest.mark.parametrize("name", SIMULATED)
def test_packets_are_of_1000_bytes_over_links_without_errors(name):
    for point, tree in scenarios(name).items():
        flows, links = tree["csma"]["flows"], tree["csma"]["links"]
        # Paper, lines 296, 319, 857: "packet payload is 1000 bytes"
        kind, wanted = ("udp", 1040) if name == "capacity" else ("tcp", 1000)
        sizes = every([flow[kind] for flow in flows], PAYLOAD[kind])
        assert sizes == {wanted}, point
        assert every([flow[kind] for flow in flows], "header_bytes") == {40}
        # Paper, line 690: "zero channel losses"
        assert every(links, "error") == {0}
        assert every(links, "r") == {None}
        # Paper: "All topologies consist of four links, with each link carrying a single ... flow".
        if name not in ("fig6_14", "fig6_15"):
            assert [flow["route"] for flow in flows] == [["1"], ["2"], ["3"], ["4"]]


@pytest.mark.parametrize("name", [name for name in SIMULATED if name != "capacity"])
def test_connections_are_of_reno(name):
    """Paper, line 3: "TCP Reno over Adaptive CSMA"."""
    for point, tree in STUDY[name].points.items():
        kind = variant_of(point)
        assert tree["tcp"] == {
            "congestion": "reno",
            "window": 1000,
            "delayed_ack": kind == "delayed",
            "handshake": kind == "opened",
            "initial_rto": "30 s" if kind == "patient" else "3 s",
            "mss": "1000 B",
        }, point


@pytest.mark.parametrize("name", [name for name in SIMULATED if name != "capacity"])
def test_k_is_10_unless_it_is_swept(name):
    for point, tree in scenarios(name).items():
        csma = tree["csma"]
        if one_connection(name, point):
            # Paper, line 319: "Each link carries a single TCP Reno session"
            assert only(csma, "connections", "k_per_s") == {"connections": "one", "k_per_s": None}
            continue
        # Paper, line 690: "By default, 1) k ... is 10". Line 813: "k = 10, k = 15, and k = 20".
        wanted = KS[point] if name == "fig6_10" else 10
        if name == "fig6_12":
            wanted = float(point.partition("-")[0])
        if point.startswith("larger"):
            # The model assumes a mean window of sqrt(2 / p), but Reno has 1.31 / sqrt(p).
            # A larger k compensates for this difference.
            wanted = 10 * sqrt(2) / 1.31
        assert csma["k_per_s"] == pytest.approx(wanted), point
        # Paper, line 690: "we update the connection number every 5 seconds"
        assert csma["connections"] == "rtt"
        assert csma["connections_interval_s"] == 5
        # The number of connections n_s is not smoothed, except in runs that examine smoothing.
        if "smooth" not in point:
            assert csma["smoothing"] == 0, point
        nearest = name == "fig6_2" and point == "nack-smooth"
        assert csma["rounding"] == ("nearest" if nearest else "down")


SMOOTHED = {
    "fig6_2": {"nack-smooth": 0.9, **{f"smooth-{cure}-{t}": 0.5 for cure in CURES for t in "abc"}},
    "fig6_3": {"smooth": 0.5},
    "fig6_4": {"smooth": 0.5},
    "fig6_11": {f"{beta}-smooth": 0.5 for beta in (200, 1000, 1800)},
    "fig6_12": {f"{k}-smooth": 0.5 for k in (10, 15, 20)},
    # The weight is 0.9 with h-ACK and n-ACK, and 0.5 in a variant.
    "fig6_14": {"hack-smoother": 0.9, "nack-smoother": 0.9, "nack-smooth": 0.5},
    "fig6_15": {"hack-smoother": 0.9, "nack-smoother": 0.9, "nack-smooth": 0.5},
}
"""Weight of the previous value in smoothed numbers of connections. The paper has "the average of
the current and last value" (line 712), which is 0.5.
"""


@pytest.mark.parametrize("name", SMOOTHED)
def test_numbers_of_connections_are_smoothed_by_these_weights(name):
    weights = {point: tree["csma"]["smoothing"] for point, tree in scenarios(name).items()}
    assert {point: weight for point, weight in weights.items() if weight} == SMOOTHED[name]


def stated_beta(name: str, point: str) -> float:
    if name in ("fig4_2", "fig4_3"):
        return 800  # line 319 of the paper
    if name == "fig6_11":
        return (
            1800 if point.startswith("silence-") else float(point.partition("-")[0])
        )  # line 794 of the paper
    if name == "fig6_10":
        return BETAS[point]
    if name == "figb_1":
        # Paper, line 945: "The simulation topology and setup are the same as that in Fig. 4.1"
        return float(point) if point.isdigit() else 800
    return 200  # lines 690 and 804 of the paper


@pytest.mark.parametrize("name", SIMULATED)
def test_beta_is_200_and_800_in_chapter_4_unless_it_is_swept(name):
    for point, tree in scenarios(name).items():
        if not is_legacy(name, point):
            # The stated values of beta are whole numbers.
            # In runs of figure 6.10, k^2 beta is exactly 20000, so that beta differs slightly.
            assert tree["csma"]["beta"] == pytest.approx(stated_beta(name, point), rel=2e-3), point
    if name == "fig6_10":
        for tree in scenarios(name).values():
            assert tree["csma"]["k_per_s"] ** 2 * tree["csma"]["beta"] == pytest.approx(20000)


@pytest.mark.parametrize("name", SIMULATED)
def test_r_is_read_every_second_and_every_two_in_chapter_4(name):
    """In chapter 4, r is updated every 2 s with a step of 0.05 (line 319). In other chapters it is
    updated every second with a step of 0.1 (line 690). Both products are 0.1, so that r per packet
    is the same.
    """
    for point, tree in scenarios(name).items():
        csma = tree["csma"]
        if is_legacy(name, point):
            continue
        assert csma["access"] == "adaptive", point
        assert csma["r_interval_s"] == (2 if name in CHAPTER_4 else 1), point
        assert csma["r_per_packet"] == (6e-5 if point == "double" else 3e-5), point
        # Paper, line 321: "we set the upper bound for r to be r_max = 0.01"
        assert csma["r_max"] == (0.01 if name in ("fig4_2", "fig4_3") else None), point
        # "Discards tail packet with probability min(r, 1)" (line 521) applies from chapter 5 on.
        assert csma["aqm"] is (name not in ("fig4_2", "fig4_3", "capacity")), point
        # Paper, line 596: "the first queue length measurement methods", with queues in packets.
        assert csma["queue_unit"] == ("bytes" if point.startswith("bytes") else "packets"), point
        dummy = point.endswith(("dummy", "True"))
        assert csma["dummy"] is dummy, point
        assert csma["queue_packets"] == (1_000_000 if name == "capacity" else 1000)


@pytest.mark.parametrize("name", SIMULATED)
def test_legacy_links_are_of_802_11_or_of_idealised_backoff(name):
    for point, tree in scenarios(name).items():
        if not is_legacy(name, point):
            continue
        csma = tree["csma"]
        # Idealised access by Eq. (4.1) has rho = 2.24 (line 309) where the paper states no value.
        ideal = point == "legacy" or name == "capacity"
        assert csma["access"] == ("legacy" if ideal else "dcf"), point
        assert only(csma, "aqm", "dummy") == {"aqm": False, "dummy": False}
        room = 1_000_000 if name == "capacity" else 1000 if point.startswith("room") else 50
        assert csma["queue_packets"] == room, point
        if ideal:
            continue
        # A link that decodes the frames of its neighbours does not wait for EIFS.
        reads = point.startswith("plain") or name in ("fig6_14", "fig6_15")
        assert csma["dcf"] == {
            "slot_s": 20e-6,
            "difs_s": 50e-6,
            "eifs_s": 50e-6 if reads else 364e-6,
            "cwmin": 31,
            "cwmax": 1023,
        }, point


def is_hack(name: str, point: str) -> bool:
    """Return whether TCP ACKs are delivered immediately, without contention. This is so in chapter
    4, for theorem 1, and at points whose name contains "hack" or begins with "larger".
    """
    if name in CHAPTER_4:
        return point not in ("lcsma", "plain")
    return name == "capacity" or "hack" in point or point.startswith("larger")


@pytest.mark.parametrize("name", SIMULATED)
def test_acks_return_immediately_or_contend_in_exchanges_of_these_lengths(name):
    for point, tree in scenarios(name).items():
        csma = tree["csma"]
        now = only(csma, "acks", "service_rate_pps", "overhead_s")
        if is_hack(name, point):
            # The paper has "TCP ACK is sent back instantaneously" (line 592) and "fixed maximum ...
            # r_max" (line 321).
            continuous = name == "capacity" or variant_of(point) == "theory" or point == "legacy"
            rate, overhead = 600 if continuous else 559, 0
        else:
            light = "light" in point
            rate, overhead = (650, 0) if light else (811, 0.476e-3)
        assert now == {
            "acks": "priority" if is_hack(name, point) else "contend",
            "service_rate_pps": rate,
            "overhead_s": pytest.approx(overhead),
        }, point


def test_rates_of_exchanges_are_those_of_1000_bytes_at_11_mbps():
    """The paper's "data rate is 11Mbps" (line 690) and packets of 1000 bytes lead to exchanges of
    the durations below [us]. The rates of the study are the inverse of these durations.
    """
    data, ack, difs = 476 + 8 * 1040 / 11, 476 + 8 * 40 / 11, 50
    assert 1e6 / data == pytest.approx(811, abs=1)
    assert 1e6 / (data + difs + ack) == pytest.approx(559, abs=1)
    assert 1e6 / (difs + data + difs + ack) == pytest.approx(network.C_PPS, abs=1)


@pytest.mark.parametrize("name", SIMULATED)
def test_links_wait_as_in_the_802_11_module(name):
    for point, tree in scenarios(name).items():
        if is_legacy(name, point):
            continue
        kind = variant_of(point)
        near = name in ("fig6_14", "fig6_15")  # topologies whose links share nodes
        slot, difs, eifs = 20e-6, 50e-6, 50e-6 if near else 364e-6
        if kind == "theory" or name == "capacity":
            slot, difs, eifs = None, 0.0, 0.0
        elif kind == "slots":
            difs, eifs = 0.0, 0.0
        elif kind == "silences":
            slot = None
        assert tree["csma"]["pace"] == {"slot_s": slot, "difs_s": difs, "eifs_s": eifs}, point


def conflicts_of(tree) -> set[frozenset[str]]:
    return {
        frozenset((link["name"], other))
        for link in tree["csma"]["links"]
        for other in link["conflicts"]
    }


@pytest.mark.parametrize("name", [name for name in SIMULATED if name not in ("fig6_14", "fig6_15")])
def test_links_that_can_send_simultaneously_are_those_of_the_topology(name):
    for point, tree in scenarios(name).items():
        topology = point[-1] if name == "fig6_2" and point[-2:-1] == "-" else "a"
        unlike = conflicts_of(tree)
        sets = [
            "".join(some)
            for count in range(5)
            for some in combinations("1234", count)
            if not any(frozenset(pair) in unlike for pair in combinations(some, 2))
        ]
        assert sets == list(SETS[topology]), point


def test_topology_d_has_six_links_and_three_flows_of_two_hops():
    """Paper, line 866: "a nine-node wireless network with six links", "three user flows"."""
    for tree in scenarios("fig6_14").values():
        assert [flow["name"] for flow in tree["csma"]["links"]] == ["1", "2", "3", "4", "5", "6"]
        routes = {link["name"]: link["route"] for link in tree["csma"]["flows"]}
        assert routes == {"upper": ["1", "2"], "middle": ["3", "4"], "lower": ["5", "6"]}
        # The links of the middle flow conflict with all other links.
        # The outer links conflict only with the middle flow.
        unlike = conflicts_of(tree)
        assert all(frozenset((mine, outer)) in unlike for mine in "34" for outer in "1256")
        assert not any(frozenset((first, other)) in unlike for first in "12" for other in "56")
        assert {frozenset("12"), frozenset("34"), frozenset("56")} <= unlike


def test_topology_e_has_two_access_points_and_a_wire_of_2_mbps():
    for tree in scenarios("fig6_15").values():
        # Paper, line 878: "paths are from node a to node g, node b to node c and node i to g"
        ends = [
            (route[0].partition("-")[0], route[-1].partition("-")[2])
            for route in (link["route"] for link in tree["csma"]["flows"])
        ]
        assert ends == [("a", "g"), ("b", "c"), ("i", "g")]
        # Paper, line 878: "a, b and c are associated with AP d while ... i is associated with AP h"
        assert [link["name"] for link in tree["csma"]["links"]] == ["a-d", "b-d", "d-c", "i-h"]
        assert conflicts_of(tree) == {
            frozenset(pair) for pair in combinations(("a-d", "b-d", "d-c"), 2)
        }
        # Paper, line 878: "f-to-g has the link capacity of 2Mb and other wired links ... 20 Mb"
        wires = {
            flow["name"]: flow["rate_bps"] for flow in tree["links"] if "/" not in flow["name"]
        }
        assert wires == {"d-e": 20e6, "h-e": 20e6, "e-f": 20e6, "f-g": 2e6}
        assert every(tree["links"], "loss") == {0}


SECONDS = {
    "capacity": {"1": (2000, 3000), "2": (4000, 5000)},
    "fig6_3": {"1": (250, 375), "2": (375, 500)},
}


@pytest.mark.parametrize("name", SIMULATED)
def test_runs_take_500_s_and_the_first_100_s_are_left_out(name):
    for point, tree in scenarios(name).items():
        length = SECONDS.get(name, {}).get(point.rpartition("-")[2], (100, 500))
        if name == "fig4_3":
            begin, end = map(int, point.split("-"))
            length = begin, end
        assert (tree["warmup_s"], tree["duration_s"]) == length, point
        recorded = point.startswith("silence-")
        repeated = 10 if name == "capacity" else 1 if recorded else 30
        assert tree["replications"] == repeated, point
        # Intervals without throughput are measured in bins of half a second, in ten runs.
        assert tree["record"]["series_interval_s"] == (0.5 if recorded else None)
        assert tree["seed"] == (int(point.rpartition("-")[2]) if recorded else 1)


def test_arrivals_are_these_parts_of_the_time():
    """The schedules are link 2, links 1 and 3, and links 1 and 4. The capacity is 600 packets/s."""
    vectors = {
        "even": (0.6, 0.4, 0.3, 0.3),
        "alone": (0.3, 0.7, 0.15, 0.15),
        "paired": (0.9, 0.1, 0.45, 0.45),
        "unequal": (0.7, 0.3, 0.6, 0.1),
    }
    points = STUDY["capacity"].points
    wanted = [f"acsma-{vector}-0_95" for vector in vectors]
    wanted += ["lcsma-even-0_95", "lcsma-even-0_3"]
    assert list(points) == [f"{stem}-{part}" for stem in wanted for part in (1, 2)]
    for point, tree in points.items():
        _, vector, load, _ = point.split("-")
        for user, part in zip(USERS, vectors[vector], strict=True):
            udp = tree["flow"][f"user-{user}"]["udp"]
            rate = float(load.replace("_", ".")) * part * 600 * 8000
            assert float(udp["rate"].removesuffix(" bps")) == pytest.approx(rate)
            assert only(udp, "packet", "header", "arrivals") == {
                "packet": "1040 B",
                "header": "40 B",
                "arrivals": "poisson",
            }


def test_points_of_every_study_are_these():
    schemes = ("lcsma", *CURES)
    suffixes = ("", *(f"-{variant}" for variant in VARIANTS))
    wanted = {
        "fig4_2": ["lcsma", "acsma", "legacy", "plain"],
        "fig4_3": ["0-20", "20-50", "50-100", "100-200", "400-500"],
        "fig6_2": [
            *(f"{kind}-{t}" for kind in schemes for t in TOPOLOGIES),
            *(f"{kind}-{t}" for kind in ("plain", "room", "light", "larger") for t in TOPOLOGIES),
            *(f"{v}-{kind}-{t}" for v in VARIANTS for kind in CURES for t in TOPOLOGIES),
            "nack-smooth",
        ],
        "fig6_3": [
            *(f"{kind}-{part}" for kind in CURES for part in ("whole", "1", "2")),
            *VARIANTS,
            "light",
        ],
        "fig6_4": ["nack", *VARIANTS],
        "fig6_5": [
            *("packets", "packets-light", "bytes", "bytes-light"),
            *(f"{unit}-{kind}" for kind in ("dummy", *VARIANTS) for unit in ("packets", "bytes")),
        ],
        "fig6_10": ["44_7", "28_3", "20", "14", "10", "5"],
        "fig6_11": [
            *(f"{beta}{kind}" for beta in (200, 1000, 1800) for kind in suffixes),
            *(f"silence-{seed}" for seed in range(1, 11)),
        ],
        "fig6_12": [f"{k}{kind}" for k in (10, 15, 20) for kind in suffixes],
        "table6_5": ["nack", "light"],
        "figb_1": ["100", "200", "400", "800", "double", "theory"],
    }
    for name, points in wanted.items():
        assert list(scenarios(name)) == points, name
