"""The studies of paper 002 run with the setup of the paper."""

import pytest

from lasthop.studies.hotspot import (
    beta,
    fig02,
    fig04,
    fig05,
    fig06,
    fig09,
    fig12,
    fig13,
    footnote_9,
    multirate,
    shared,
    two_stations,
    udp,
    windows,
)

from .hotspot_points import CONNECTIONS, WINDOWS
from .made_up import every, normalised, only

TESTBED = (
    two_stations.STUDY,
    fig02.STUDY,
    fig05.STUDY,
    fig06.STUDY,
    multirate.FIG07,
    windows.FIG08,
    footnote_9.STUDY,
    fig09.STUDY,
    multirate.FIG10,
    windows.FIG11,
    shared.STUDY,
    fig04.STUDY,
    fig12.STUDY,
    fig13.STUDY,
    udp.STUDY,
    beta.STUDY,
)
"""All studies of paper 002."""

BUFFERS = {
    "lossless": 600,
    "short-without": 5,
    "short-with": 5,
    **{f"random-{window}": 600 for window in (6, 12, 16, 20)},
}
"""Buffer of the access point in the runs that differ from the paper's 75 packets. [packets]"""
PROMPT = {"prompt": 7}
"""CWmin of the stations other than station 1 in the runs that differ from the paper. [slots]"""


@pytest.mark.parametrize("study", TESTBED, ids=lambda study: study.name)
def test_every_scenario_has_the_test_bed_of_the_paper(study):
    for point, tree in normalised(study).items():
        # "The 802.11 transmission mode is 802.11b" (line 164 of the text)
        assert tree["cell"]["phy"] == "802.11b"
        # Paper, line 164: "a Cisco Aironet 1200 Access Point (having 75 packets of buffer space)"
        assert tree["cell"]["ap"]["queue_packets"] == BUFFERS.get(point, 75), point
        # The AP's CWmin of 34 and the stations' CWmin of 29 give the paper's beta of 1.2.
        assert tree["cell"]["ap"]["cwmin"] == 34
        # Paper, line 164: "Wired links are realized by means of 100 Mbit/s Ethernet cables".
        # The wired links have no rate limit in the simulation.
        loss = 0.004 if point.startswith("random-") else 0.0
        assert only(tree["wire"], "rate_bps", "loss") == {"rate_bps": None, "loss": loss}
        # assumption a3 (line 321)
        assert {settings["congestion"] for settings in tcp(tree)} <= {"reno"}
        assert {settings["handshake"] for settings in tcp(tree)} <= {False}


def tcp(tree) -> list[dict]:
    return [flow["tcp"] for flow in tree["flows"] if "tcp" in flow]


@pytest.mark.parametrize("study", TESTBED, ids=lambda study: study.name)
def test_every_connection_has_the_window_and_the_delayed_acks_of_the_paper(study):
    for point, tree in normalised(study).items():
        for flow in tree["flows"]:
            if "tcp" not in flow:
                continue
            # Paper, lines 180, 198, 208: "the TCP receiver window ... is equal to 42 packets"
            own = flow["station"] == "first" and window_of_station_1(study.name, point)
            # Paper, footnote 9, line 225: "on STA n 2,3,4,5 with a receiver window of 6 packets".
            usual = 6 if study is footnote_9.STUDY else 42
            assert flow["tcp"]["window_packets"] == (own or usual), point
            # Paper, assumption a3, line 321: "The TCP version is Reno with delayed ACK".
            # Line 174: packets of 1500 bytes.
            each = flow["station"] == "first" and point == "still-each"
            each = each or point.startswith("each-")
            assert flow["tcp"]["delayed_ack"] is not each, point
            assert flow["tcp"]["mss_bytes"] + flow["tcp"]["header_bytes"] == 1500


def window_of_station_1(study: str, point: str) -> int | None:
    """Return the receive window of station 1, or None if it equals the window of other stations.
    Figures 8 and 11 vary the window of station 1 from 6 to 42 packets (line 208). [packets]
    """
    if point.startswith("still-"):
        return 6
    if point in ("still", "prompt", "agreed", "lossless", "patient"):
        return 42
    if point.startswith("window "):
        return int(point.removeprefix("window "))
    swept = study in ("fig08", "fig11", "footnote_9") or any(
        figure in point for figure in ("fig08", "fig11")
    )
    return int(point.rpartition("-")[2]) if swept else None


def counts(tree) -> dict[tuple[str, str], int]:
    """Return the number of connections, by group of stations and direction."""
    numbers: dict[tuple[str, str], int] = {}
    for flow in tree["flows"]:
        key = flow["class"], flow["direction"]
        numbers[key] = numbers.get(key, 0) + 1
    return numbers


@pytest.mark.parametrize(
    ("study", "prefix", "first", "others"),
    [
        (fig05.STUDY, "", "up", "down"),  # line 180 of the paper
        (fig06.STUDY, "", "down", "down"),  # line 198 of the paper
        (multirate.FIG07, "slow-", "down", "down"),  # line 204 of the paper
        (multirate.FIG07, "fast-", "down", "down"),
        (fig09.STUDY, "", "up", "up"),  # line 364 of the paper
        (multirate.FIG10, "slow-", "up", "up"),  # line 367 of the paper
        (multirate.FIG10, "fast-", "up", "up"),
        (shared.STUDY, "with-fig05-", "up", "down"),
        (shared.STUDY, "with-fig06-", "down", "down"),
        (shared.STUDY, "with-fig07-", "down", "down"),
        (shared.STUDY, "with-fig09-", "up", "up"),
        (shared.STUDY, "with-fig10-", "up", "up"),
        (shared.STUDY, "without-fig05-", "up", "down"),
        (shared.STUDY, "without-fig06-", "down", "down"),
        (shared.STUDY, "without-fig07-", "down", "down"),
        (shared.STUDY, "without-fig09-", "up", "up"),
    ],
)
def test_station_1_has_1_to_6_connections_and_each_other_station_has_one(
    study, prefix, first, others
):
    """Paper, line 180: "varying from 1 to 6; the other stations have only one"."""
    trees = normalised(study)
    for x in CONNECTIONS:
        tree = trees[f"{prefix}{x}"]
        assert counts(tree) == {("first", first): x, ("others", others): 4}
        assert [station["name"] for station in tree["stations"]] == [
            "first",
            *(f"others-{k}" for k in (1, 2, 3, 4)),
        ]
        slow = prefix.startswith("slow") or prefix[-6:-1] in ("fig07", "fig10")
        # Paper, line 204: "STA 1 has a physical transmission rate of 2 Mbit/sec; the other four 11"
        assert tree["stations"][0]["rate_bps"] == (2e6 if slow else 11e6)
        assert every(tree["stations"][1:], "rate_bps") == {11e6}
        assert every(tree["stations"], "cwmin") == {29}
        assert (tree["vsb"] is not None) == prefix.startswith("with-")
    assert f"{prefix}0" not in trees
    assert f"{prefix}7" not in trees


@pytest.mark.parametrize(
    ("study", "prefix", "direction"),
    [
        (windows.FIG08, "", "down"),
        (footnote_9.STUDY, "", "down"),
        (footnote_9.STUDY, "with-", "down"),
        (windows.FIG11, "", "up"),
        (shared.STUDY, "with-fig08-", "down"),
        (shared.STUDY, "with-fig11-", "up"),
        (shared.STUDY, "without-fig08-", "down"),
    ],
)
def test_windows_are_swept_with_one_connection_per_station(study, prefix, direction):
    trees = normalised(study)
    for window in WINDOWS:
        tree = trees[f"{prefix}{window}"]
        assert counts(tree) == {("first", direction): 1, ("others", direction): 4}
        assert every(tree["stations"], "rate_bps") == {11e6}  # line 208 of the paper


LENGTHS = {"fig04": None, "fig12": None}


@pytest.mark.parametrize("study", TESTBED, ids=lambda study: study.name)
def test_runs_take_three_minutes_and_are_ten_times_as_many_as_in_the_paper(study):
    """Paper, line 174: "Each measurement lasts three minutes and is repeated ten times"."""
    few = {"vsb": 20, "footnote_9": 20, "fig13": 20, "udp": 20, "fig04": 20, "fig12": 20}
    for point, tree in normalised(study).items():
        if study.name not in LENGTHS:
            assert tree["duration_s"] == 180, point
        agreed = study.name not in ("vsb", "footnote_9") or point.startswith("agreed")
        is_few = study.name in few and agreed
        assert tree["replications"] == (20 if is_few else 100), point


def test_starts_are_a_second_apart_unless_the_paper_gives_times():
    tree = normalised(fig09.STUDY)
    assert sorted(flow["start_s"] for flow in tree["6"]["flows"]) == list(range(10))
    assert every(tree["at once"]["flows"], "start_s") == {0.0}
    assert every(tree["prompt"]["stations"][1:], "cwmin") == {7}
    assert tree["prompt"]["stations"][0]["cwmin"] == 29


def test_figure_2_has_the_four_cases():
    trees = normalised(fig02.STUDY)
    cases = {
        "up_down": {("first", "up"): 1, ("others", "down"): 4},
        "down_down": {("first", "down"): 6, ("others", "down"): 4},
        "up_up": {("first", "up"): 6, ("others", "up"): 4},
        "multirate": {("first", "down"): 6, ("others", "down"): 4},
    }
    prompt = trees.pop("prompt")
    assert counts(prompt) == cases["up_up"]
    assert prompt["stations"][1]["cwmin"] == 7
    assert {name: counts(tree) for name, tree in trees.items()} == cases
    rates = {name: tree["stations"][0]["rate_bps"] for name, tree in trees.items()}
    assert rates == {"up_down": 11e6, "down_down": 11e6, "up_up": 11e6, "multirate": 2e6}


def test_the_introduction_has_two_stations_with_one_and_two_downloads():
    [tree] = normalised(two_stations.STUDY).values()
    assert counts(tree) == {("first", "down"): 2, ("others", "down"): 1}
    assert len(tree["stations"]) == 2  # line 19: "two stations both operating at 11 Mbit/sec"
    assert every(tree["stations"], "rate_bps") == {11e6}


def test_the_bottleneck_is_that_of_section_4():
    for study in (
        shared.STUDY,
        footnote_9.STUDY,
        fig04.STUDY,
        fig12.STUDY,
        fig13.STUDY,
        udp.STUDY,
    ):
        for point, tree in normalised(study).items():
            if tree["vsb"] is None or tree["vsb"]["rate_bps"] is not None:
                continue
            # Paper, line 146: "a FIFO queue of size 200 packets for each station"
            assert tree["vsb"]["queue_packets"] == 200
            # Paper, line 160: "its maximum possible value (set equal to 6 Mbit/sec)"
            assert tree["vsb"]["wce"]["max_bps"] == 6e6
            rule = "agreement" if point.startswith("agreed") else "paper"
            assert tree["vsb"]["wce"]["rule"] == rule, point
            # Paper, line 611: "uplink UDP packets must not be sent to the VSB"
            assert tree["vsb"]["udp"] == "down"


def test_figure_4_begins_at_25_and_57_seconds():
    trees = normalised(fig04.STUDY)
    for prefix in ("", "agreed-"):
        for phase, (begin, end) in {
            "idle": (5, 25),
            "one": (35, 57),
            "two": (67, 95),
            "after": (107, 140),
        }.items():
            tree = trees[f"{prefix}{phase}"]
            assert (tree["warmup_s"], round(tree["duration_s"])) == (begin, end)
            fast, *slow = tree["flows"]
            # Paper, line 160: "At the 25 seconds time instant, a station ... of 11 Mbit/sec"
            assert only(fast, "station", "direction", "start_s", "stop_s") == {
                "station": "first",
                "direction": "down",
                "start_s": 25,
                "stop_s": None,
            }
            # Paper, line 160: "At time instant 57 s, another station ... 2 Mbit/sec"
            starts = [
                (station["station"], station["start_s"], station["stop_s"]) for station in slow
            ]
            ends = {"two": None, "after": 95}
            assert starts == ([("others", 57, ends[phase])] if phase in ends else [])
            assert [station["rate_bps"] for station in tree["stations"]] == [11e6, 2e6]
    assert trees["alone"]["vsb"] is None
    assert [flow["rate_bps"] for flow in trees["alone"]["stations"]] == [11e6]
    assert trees["alone"]["duration_s"] == 60


def test_figure_12_has_four_connections_from_60_s_on_and_a_bottleneck_from_165_s_on():
    trees = normalised(fig12.STUDY)
    assert set(trees) == {"before", "after", "agreed-after"}
    for point, tree in trees.items():
        # Paper, line 237: "The STA without the accelerator starts the download at time 0s, with ...
        # 60s"
        starts = [(flow["station"], flow["direction"], flow["start_s"]) for flow in tree["flows"]]
        assert sorted(starts) == [*[("first", "down", 60)] * 4, ("others-1", "down", 0)]
        assert every(tree["stations"], "rate_bps") == {11e6}  # caption of the figure (line 373)
        assert tree["wire"]["delay_s"] == 0.02
        period = (75, 165) if point == "before" else (175, 285)
        assert (tree["warmup_s"], tree["duration_s"]) == period
        # Paper, line 237: "after 165 seconds the VSB becomes active"
        begins = None if tree["vsb"] is None else tree["vsb"]["start_s"]
        assert begins == (None if point == "before" else 165)


def test_other_kinds_of_fairness_have_suitable_cells():
    trees = normalised(fig13.STUDY)
    wanted = {
        "airtime": ({("first", "down"): 1, ("others", "down"): 4}, 2e6),
        "rate": ({("first", "down"): 1, ("others", "down"): 4}, 2e6),
        "flow": ({("first", "down"): 4, ("others", "up"): 4}, 11e6),
        "direction": ({("first", "up"): 4, ("others", "down"): 4}, 11e6),
    }
    for prefix in ("", "agreed-"):
        for kind, (connections, rate) in wanted.items():
            tree = trees[f"{prefix}{kind}"]
            assert tree["vsb"]["fairness"] == kind
            assert counts(tree) == connections
            assert tree["stations"][0]["rate_bps"] == rate
    assert set(trees) == {f"{prefix}{kind}" for prefix in ("", "agreed-") for kind in wanted}


def test_three_stations_send_datagrams_next_to_stations_with_four_downloads_and_one():
    trees = normalised(udp.STUDY)
    for kind, tree in trees.items():
        assert [station["group"] for station in tree["stations"]] == [
            "first",
            "others",
            *["senders"] * 3,
        ]
        assert counts(tree) == {("first", "down"): 4, ("others", "down"): 1, ("senders", "up"): 3}
        assert every([flow["udp"] for flow in tree["flows"] if "udp" in flow], "rate_bps") == {4e6}
        aware = {"estimated": True, "plain": False, "none": None}[kind]
        assert (tree["vsb"] and tree["vsb"]["udp_aware"]) is aware
    assert trees["plain"]["vsb"]["wce"]["timeout_s"] == 20
    assert trees["estimated"]["vsb"]["wce"]["timeout_s"] == 3


def test_beta_is_measured_with_greedy_datagrams_in_both_directions():
    """Paper, line 174: "a greedy downstream UDP connection and a greedy upstream UDP
    connection".
    """
    trees = normalised(beta.STUDY)
    assert list(trees) == [str(cwmin) for cwmin in range(24, 36)]
    for point, tree in trees.items():
        [station] = tree["stations"]
        assert station["cwmin"] == int(point)
        assert counts(tree) == {("first", "up"): 1, ("first", "down"): 1}


@pytest.mark.parametrize("study", [multirate.FIG07, multirate.FIG10], ids=lambda study: study.name)
def test_delayed_ack_timers_are_100_ms_unless_the_point_names_another(study):
    for point, tree in normalised(study).items():
        ms = int(point.split("-")[1]) if point.startswith("timer-") else 100
        assert every(tcp(tree), "ack_delay_s") == {ms / 1000}, point


def test_points_that_isolate_a_cause_differ_only_in_it():
    trees = normalised(shared.STUDY)
    for way, name in (("down", "download"), ("up", "upload")):
        assert counts(trees[f"still-{name}"]) == {("first", way): 1, ("others", way): 4}
    assert counts(trees["still-each"]) == {("first", "up"): 1, ("others", "up"): 4}
    still = {trees[f"still-{name}"]["vsb"]["rate_bps"] for name in ("download", "upload", "each")}
    assert still == {4.5e6}
    for point in ("lossless", "short-without", "short-with"):
        assert counts(trees[point]) == {("first", "down"): 6, ("others", "down"): 4}
        assert (trees[point]["vsb"] is not None) == (point == "short-with")
    # Figure 11 has three additional runs, each with one change.
    # The changes are no lost ACKs, a small CWmin of the stations, and no discarded frames.
    trees = normalised(windows.FIG11)
    for point in ("lossless", "prompt", "patient"):
        assert counts(trees[point]) == {("first", "up"): 1, ("others", "up"): 4}
        cwmin = 7 if point == "prompt" else 29
        attempts = 255 if point == "patient" else 7
        nodes = [trees[point]["cell"]["ap"], *trees[point]["stations"]]
        assert every(nodes[1:], "cwmin") == {cwmin}
        assert every(nodes, "attempts_short") == {attempts}
    # The study of footnote 9 has additional runs.
    # One run has a fixed rate at which the access point has no queue.
    # Two runs have a lower threshold of the estimator, and the default threshold.
    trees = normalised(footnote_9.STUDY)
    assert trees["still"]["vsb"]["rate_bps"] == 4.5e6
    assert trees["prompt"]["vsb"]["wce"]["threshold_s"] == 0.01
    assert trees["with-42"]["vsb"]["wce"]["threshold_s"] == 0.04
    for study, first, others, rate in (
        (fig05.STUDY, "up", "down", 11e6),
        (multirate.FIG07, "down", "down", 2e6),
        (multirate.FIG10, "up", "up", 2e6),
    ):
        tree = normalised(study)["lossless"]
        assert counts(tree) == {("first", first): 1, ("others", others): 4}
        assert tree["stations"][0]["rate_bps"] == rate
