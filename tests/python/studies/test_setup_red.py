"""The studies of paper 004 run with the setup of the paper."""

from collections import Counter
from functools import cache

import pytest

from .made_up import every, normalised, only
from .red_points import LOT, NAMES, ONE, RTTS, STUDY


@cache
def scenarios(name: str) -> dict[str, dict]:
    return normalised(STUDY[name])


def is_lot(name: str) -> bool:
    return name.startswith(("fig17", "fig19"))


def users_of(name: str, point: str) -> int:
    """Return the number of Compound flows, for points in which a single router has only these."""
    return int(point.removeprefix("held-").partition("-")[0]) if name == "users" else 60


def is_mixed(name: str) -> bool:
    return name in ("fig10", "fig11", "fig12", "fig13", "fig17", "fig18_mixed", "fig19_mixed")


def bottlenecks(tree) -> list[dict]:
    return [link for link in tree["links"] if link["name"] in (*ONE, *LOT)]


@pytest.mark.parametrize("name", NAMES)
def test_every_router_has_100_mbps_and_sources_with_2_mbps(name):
    for point, tree in scenarios(name).items():
        names = [link["name"] for link in bottlenecks(tree)]
        assert names == list(LOT if is_lot(name) else ONE)
        # Line 485 of the paper states equal rates.
        # In a parking lot, rates differ by 0.3 % unless the name of the point begins with "equal".
        equal = not is_lot(name) or point.startswith("equal")
        rates_bps = {100e6 * users_of(name, point) / 60} if equal else {99.85e6, 100.15e6}
        assert every(bottlenecks(tree), "rate_bps") == rates_bps, point
        access = [link["rate_bps"] for link in tree["links"] if link["name"].endswith("/access")]
        rates = [rate for rate in access if rate is not None]  # web flows have no access rate
        # Access rates differ by up to 1 %, unless the name of the point begins with "equal".
        locked = point.startswith("equal") and not is_lot(name)
        ends = (2e6, 2e6) if locked else (1.99e6, 2.01e6)
        assert (min(rates), max(rates)) == ends, point
        # Paper, line 501: "started at a random time instant within the first 10 seconds"
        assert every(tree["flows"], "start_spread_s") == {10}


@pytest.mark.parametrize("name", NAMES)
def test_flows_are_those_of_sections_5_and_6(name):
    for point, tree in scenarios(name).items():
        counts = Counter(
            flow["class"].partition("ms")[0].rstrip("0123456789-") for flow in tree["flows"]
        )
        if is_lot(name) and is_mixed(name):
            wanted = {
                # Paper, line 678: "13 Compound TCP and 14 CUBIC ..., 8 UDP and ... HTTP", "14 ...
                # and 14"
                "through-compound": 13,
                "through-cubic": 14,
                "through-udp": 8,
                "through-web": 1,
                "first-compound": 14,
                "first-cubic": 14,
                "second-compound": 14,
                "second-cubic": 14,
            }
            if point.endswith("without-web"):
                del wanted["through-web"]
        elif is_lot(name):
            wanted = {"through": 30, "first": 30, "second": 30}  # line 671 of the paper
        elif name == "fig11":
            wanted = {"compound": 27, "cubic": 28, "udp": 8, "web": 2}  # 14 + 13 Compound flows
        elif is_mixed(name):
            wanted = {"compound": 27, "cubic": 28, "udp": 8, "web": 1}  # line 542 of the paper
        else:
            wanted = {"flow": users_of(name, point)}  # line 501 of the paper
        assert counts == wanted, point
        web = [flow["web"]["connections_per_s"] for flow in tree["flows"] if "web" in flow]
        assert sum(web) == (50 if web else 0)  # line 678 of the paper
        assert every([flow["udp"] for flow in tree["flows"] if "udp" in flow], "rate_bps") <= {1e6}


@pytest.mark.parametrize("name", NAMES)
def test_connections_are_compound_unless_their_class_is_cubic_or_tahoe(name):
    for point, tree in scenarios(name).items():
        for flow in tree["flows"]:
            if "tcp" not in flow:
                continue
            kind = "newreno" if point.startswith("newreno") else "compound"
            kind = "cubic" if "cubic" in flow["class"] else kind
            kind = "tahoe" if "web" in flow["class"] else kind
            assert flow["tcp"]["congestion"] == kind
            assert flow["tcp"]["sack"] is point.startswith("sack")
            assert only(flow["tcp"], "window_packets", "delayed_ack", "handshake") == {
                "window_packets": 10_000,
                "delayed_ack": False,
                "handshake": False,
            }
            # Paper, line 676: "packet size is 1500 bytes"
            assert flow["tcp"]["mss_bytes"] + flow["tcp"]["header_bytes"] == 1500
            finite = "finite" in point and "web" not in flow["class"]
            # The numbers of segments of flows of 500 MB and of 50 MB, with 1460 B per segment.
            segments = 342466 if name == "fig18" else 34247
            assert flow["tcp"]["segments"] == (segments if finite else None)


def round_trips_ms(tree) -> set[float]:
    delay = {entry["name"]: entry["delay_s"] for entry in tree["links"]}
    return {
        round(1e3 * sum(delay[link] for link in (*flow["forward"], *flow["back"])), 3)
        for flow in tree["flows"]
    }


def stated_rtts(name: str, point: str) -> set[float]:
    if name in ("fig07", "fig11"):
        return {"small": {5.0, 15.0}, "large": {100.0, 300.0}}[point]
    if name in ("fig09", "fig13"):
        return {100.0}  # line 540 of the paper
    if "bin" in point:
        return {200.0} if name == "fig15" else {100.0}
    if name == "users":
        return {float(point.rpartition("-")[2])}
    if name == "average":
        return {float(point.partition("-")[0])}
    [rtt] = [part for part in point.removesuffix("-without-web").split("-") if part.isdigit()]
    return {float(rtt)}


@pytest.mark.parametrize("name", NAMES)
def test_round_trips_are_those_of_the_points(name):
    for point, tree in scenarios(name).items():
        assert round_trips_ms(tree) == stated_rtts(name, point), point


def stated_queue(name: str, point: str) -> dict:
    """Return the queue settings that the paper states for a figure and one of its points.

    Section V uses RED with the thresholds 50 and 100 packets (line 508 of the paper). Section VI
    uses RED with the thresholds 8 and 15 packets, or a single threshold of 15 packets (line 653).
    """
    red = {"discipline": "red", "weight": "auto", "gentle": True, "max_p": 0.1}
    red |= {"mean_packet_bytes": 500 if "red500" in point else 1500, "ecn": False, "bytes": False}
    if "threshold" in point:
        return {"discipline": "threshold", "threshold_packets": 15}
    low, high = (8, 15) if name[:5] in ("fig15", "fig17", "fig18", "fig19") else (50, 100)
    if name in ("fig09", "fig13"):
        low, high = map(int, point.partition("-")[0].split("_"))
    part = 1 if point.startswith("held") else users_of(name, point) / 60
    red |= {"min_th_packets": low * part, "max_th_packets": high * part}
    if point.startswith(("plain", "abrupt")):
        red["weight"] = 1
    return red | {"gentle": not point.startswith("abrupt")}


@pytest.mark.parametrize("name", NAMES)
def test_queues_have_the_policy_and_the_thresholds_of_the_paper(name):
    for point, tree in scenarios(name).items():
        wanted = stated_queue(name, point)
        for link in bottlenecks(tree):
            assert only(link["queue"], *wanted) == wanted, point
            part = 1 if point.startswith("held") else users_of(name, point) / 60
            room = 15 if "threshold" in point else 2084 * part  # line 508 of the paper
            assert link["queue_packets"] == room


CLOSE = {"fig12": {50, 100}, "fig10": {50, 100}, "fig15": {10}, "fig18": {10}}
"""Round-trip times at which two curves are so close that there are 20 replications."""
EXTREME = {"fig15": {200}, "fig18": {200}}
"""Round-trip times at which the lowest utilisation is compared with the paper, in 40
replications.
"""


def replications(name: str, point: str) -> int:
    point = point.removeprefix("equal-") if is_lot(name) else point
    if name == "users":
        return 20 if point.endswith("-200") and not point.startswith("held") else 5
    if name == "fig18" and point.startswith("plain"):
        return 5
    if point.startswith(("finite", "equal", "newreno", "sack")) or point.endswith("without-web"):
        return 5
    if "bin" in point:
        return 20 if name == "fig15" else 5
    if "seed" in point:
        return 1
    if name == "fig11":
        return 20
    if not any(part.isdigit() for part in point.split("-")):
        return 5
    [rtt] = stated_rtts(name, point)
    if name in ("fig17", "fig19_mixed"):
        return 20 if point.startswith("red") and rtt in (10, 200) else 5
    return 20 if rtt in CLOSE.get(name, ()) else 40 if rtt in EXTREME.get(name, ()) else 5


@pytest.mark.parametrize("name", NAMES)
def test_runs_take_500_s_and_the_last_25_s_are_read(name):
    """Paper, line 660: "the last 25 seconds of each simulation"."""
    for point, tree in scenarios(name).items():
        length = tree["warmup_s"], tree["duration_s"]
        if "seed" in point and name != "average":
            assert length == (25, 125), point  # the queue is sampled for 100 s
        elif name == "users":
            assert length == (100, 500), point
        elif "finite" in point:
            assert length == (0, 6000 if name == "fig18" else 600), point
        else:
            assert length == (475, 500), point
        bin_s = float(point.rpartition("-")[2].replace("_", ".")) if "bin" in point else 0.1
        assert tree["record"]["utilisation_bin_s"] == bin_s, point
        assert tree["replications"] == replications(name, point), point


def test_sweeps_are_over_these_round_trips():
    for name, prefixes in {
        "fig06": [""],
        "fig10": [""],
        "fig08": ["averaged-", "plain-"],
        "fig12": ["averaged-", "plain-"],
        "fig15": ["red-", "threshold-"],
        "fig17": ["red-", "threshold-"],
        "fig18": ["red-", "threshold-", "finite-red-", "finite-threshold-"],
        "fig19": ["red-", "threshold-", "finite-red-", "finite-threshold-"],
    }.items():
        wanted = [f"{prefix}{rtt}" for prefix in prefixes for rtt in RTTS]
        assert list(scenarios(name))[: len(wanted)] == wanted


@pytest.mark.parametrize("name", ["fig09", "fig13"])
def test_queues_of_both_thresholds_are_sampled_every_100_ms_in_five_separate_runs(name):
    trees = dict(scenarios(name))
    for pair in ("8_15", "100_200"):
        assert trees.pop(pair)["record"]["series_interval_s"] is None
        for seed in (1, 2, 3, 4, 5):
            tree = trees.pop(f"{pair}-seed-{seed}")
            assert tree["seed"] == seed
            assert tree["record"]["series_interval_s"] == 0.1
    assert not trees


def test_queues_with_averages_are_sampled_every_10_ms_from_25_s_before_the_measurement():
    trees = scenarios("average")
    assert list(trees) == [f"{rtt}-seed-{seed}" for rtt in (10, 200) for seed in (1, 2, 3, 4, 5)]
    for point, tree in trees.items():
        assert tree["seed"] == int(point[-1])
        assert only(tree["record"], "series_interval_s", "from_s") == {
            "series_interval_s": 0.01,
            "from_s": 450,
        }


def test_users_are_30_60_and_120():
    names = [f"{users}-{rtt}" for users in (30, 60, 120) for rtt in (10, 200)]
    names += [f"held-{users}-{rtt}" for users in (30, 120) for rtt in (10, 200)]
    assert list(scenarios("users")) == names
