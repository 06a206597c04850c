"""Warnings about scenarios that are valid but give surprising results."""

import json
import re
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.channel import WORKS, frame_error, highest_rate, needed_snr_db
from lasthop.warnings.settings import warnings_for, window_notes

EXAMPLE = Path(__file__).parents[2] / "examples" / "vbs.toml"


def warned(stations: object, classes: object = None, **vbs: object) -> list[str]:
    """Return the warnings about a cell with these stations, whose queue has these classes."""
    cell: dict[str, object] = {"phy": "802.11g", "ap_queue": 100}
    if classes is not None:
        cell["ap_queue"] = {"limit": 100, "vbs": {"class": classes, **vbs}}
    scenario = {"duration": "20 s", "replications": 1, "cell": cell, "station": stations}
    return warnings_for(lh.Scenario(scenario).typed)


HALVES = {"a": {"station": "a", "share": 0.5}, "b": {"station": "b", "share": 0.5}}


def test_equal_classes_with_a_sensor_cause_no_warning() -> None:
    assert warnings_for(lh.Scenario(EXAMPLE).typed) == []


def test_bulk_flows_without_a_class_are_named_with_a_remedy() -> None:
    stations = {
        "a": {"download": 2},
        "b": {"download": 2},
        "c": {"upload": 2, "udp_down": "1 Mbps"},
    }
    [line] = warned(stations, HALVES)
    assert line.startswith(
        "`cell.ap_queue.vbs`: 3 of 7 flows are in no class (c/up/1, c/up/2, c/udp"
    )
    assert "60 packets" in line
    assert line.endswith("give every flow a class, except for sensors")


def test_a_fourth_name_is_not_counted_but_named() -> None:
    stations = {"a": {"download": 2}, "b": {"download": 2}, "c": {"upload": 4}}
    [line] = warned(stations, HALVES)
    assert "(c/up/1, c/up/2, c/up/3, c/up/4)" in line
    [line] = warned({**stations, "c": {"upload": 5}}, HALVES)
    assert "(c/up/1, c/up/2, c/up/3 and 2 more)" in line


def test_flows_without_a_class_in_their_own_queue_cause_no_warning() -> None:
    voice = {"upload": {"connections": 1, "category": "voice"}}
    assert warned({"a": {"download": 2}, "b": {"download": 2}, "c": voice}, HALVES) == []


def test_a_class_with_only_sensors_is_named() -> None:
    stations = {"a": {"download": 2}, "b": {"sensor_up": "1 s"}}
    [line] = warned(stations, HALVES)
    assert line.startswith("`cell.ap_queue.vbs.class`: b: only sensors")


def test_shares_below_a_total_of_one_are_reported_with_their_targets() -> None:
    classes = {"a": {"station": "a", "share": 0.3}, "b": {"station": "b", "share": 0.3}}
    [line] = warned({"a": {"download": 1}, "b": {"download": 1}}, classes)
    assert "shares sum to 0.6" in line
    assert "the targets are a 0.5, b 0.5" in line


@pytest.mark.parametrize(
    ("counts", "share", "words"),
    [
        ((5, 5), 0.2, "class a has the target 0.2, with 5 of 10 connections"),
        ((8, 2), 0.5, "class a has the target 0.5, with 8 of 10 connections"),
        ((5, 5), 0.526, None),
        ((5, 5), 0.5, None),
    ],
)
def test_targets_that_algorithm_1_misses_are_named(
    counts: tuple[int, int], share: float, words: str | None
) -> None:
    stations = {"a": {"download": counts[0]}, "b": {"download": counts[1]}}
    shares = {"a": share, "b": 1.0 - share}
    classes = {name: {"station": name, "share": part} for name, part in shares.items()}
    lines = warned(stations, classes)
    assert (words is None) == (not lines)
    assert all(words in line for line in lines if words)
    assert warned(stations, classes, algorithm="regulated") == []


@pytest.mark.parametrize(
    ("share_of", "algorithm", "words"),
    [
        ("queue", "corrected", "are not shares of goodput"),
        ("queue", "regulated", "are not shares of goodput"),
        ("service", "corrected", "gives uploads 1.2 to 1.6 times"),
        ("service", "regulated", None),
    ],
)
def test_uploads_in_addition_to_downloads_are_named(
    share_of: str, algorithm: str, words: str | None
) -> None:
    stations = {"a": {"upload": 5}, "b": {"download": 5}}
    lines = warned(stations, HALVES, share_of=share_of, algorithm=algorithm)
    assert len(lines) == (words is not None)
    assert all(words in line for line in lines if words)


def test_connections_count_while_they_last() -> None:
    stations = {"a": {"download": 4}, "b": {"download": {"connections": 8, "stop": "11 s"}}}
    # The measured time is from 2 s to 20 s, and eight connections end at 11 s.
    # Over the measured time, these are 4 connections on average.
    assert warned(stations, HALVES) == []
    del stations["b"]["download"]
    assert len(warned({**stations, "b": {"download": 8}}, HALVES)) == 1


def test_a_rate_that_noise_destroys_is_named_with_a_rate_that_works() -> None:
    [line] = warned({"far": {"count": 2, "download": 1, "snr": "20 dB"}})
    assert line.startswith(
        "`station.far`: at snr = 20 dB 54 Mb/s loses 100 % of its frames of 1536 B"
    )
    rate = re.search(r'rate = "([0-9.]+ Mbps)" is the highest that works', line)
    assert rate is not None
    assert warned({"far": {"download": 1, "snr": "20 dB", "rate": rate[1]}}) == []
    assert warned({"near": {"download": 1, "snr": "30 dB"}}) == []


@pytest.mark.parametrize("phy", ["802.11n", "802.11ac", "802.11ax"])
def test_an_mcs_that_noise_destroys_is_named_with_an_mcs_that_works(phy: str) -> None:
    base = {"duration": "2 s", "cell": {"phy": phy}}

    def warnings_of(station: dict[str, object]) -> list[str]:
        return warnings_for(lh.Scenario({**base, "station": {"far": station}}).typed)

    [line] = warnings_of({"download": 1, "snr": "12 dB", "mcs": 7})
    assert line.startswith("`station.far`: at snr = 12 dB mcs = 7 loses 100 % of its frames")
    best = re.search(r"mcs = ([0-9]+) is the highest that works", line)
    assert best is not None
    assert warnings_of({"download": 1, "snr": "12 dB", "mcs": int(best[1])}) == []
    assert len(warnings_of({"download": 1, "snr": "12 dB", "mcs": int(best[1]) + 1})) == 1
    assert warnings_of({"download": 1, "snr": "12 dB"}) == []


def test_the_named_rate_carries_data_and_the_next_rate_does_not() -> None:
    def goodput(rate: str) -> float:
        station = {"download": 1, "snr": "20 dB", "rate": rate}
        cell = {"phy": "802.11g", "ap_queue": 100}
        scenario = {"duration": "5 s", "replications": 1, "cell": cell, "station": {"a": station}}
        [station] = lh.simulate(scenario).summary["stations"]
        return float(station["goodput_bps"]["mean"] or 0.0)

    assert highest_rate("802.11g", 1536, 20.0) == 36_000_000
    assert goodput("36 Mbps") > 5e6
    assert goodput("48 Mbps") < 1e6


def test_the_ratio_that_a_rate_needs_is_where_it_begins_to_work() -> None:
    for rate in (1e6, 11e6, 6e6, 54e6):
        needed = needed_snr_db(rate, 1536)
        assert frame_error(rate, 1536, needed) == pytest.approx(WORKS, rel=1e-3)
    assert highest_rate("802.11g", 1536, needed_snr_db(24e6, 1536) + 0.01) == 24_000_000


def test_small_frames_arrive_where_large_frames_are_lost() -> None:
    assert warned({"meter": {"sensor_up": "1 s", "snr": "18 dB", "rate": "36 Mbps"}}) == []
    assert warned({"meter": {"upload": 1, "snr": "16 dB", "rate": "36 Mbps"}}) != []


def test_a_channel_that_will_not_work_is_named_with_its_time() -> None:
    walk = {"download": 1, "rate": "36 Mbps", "channel": {"far": {"at": "12 s", "snr": "10 dB"}}}
    [line] = warned({"a": walk})
    assert "at snr = 10 dB from 12 s on 36 Mb/s loses" in line


def test_with_rate_fallback_the_slowest_rate_is_used() -> None:
    station = {"download": 1, "snr": "0 dB"}
    cell = {"phy": "802.11g", "rate_control": "arf"}
    scenario = {"duration": "20 s", "cell": cell, "station": {"a": station}}
    [line] = warnings_for(lh.Scenario(scenario).typed)
    assert line.endswith("no rate of 802.11g works")
    assert warnings_for(lh.Scenario(scenario, {"station.a.snr": "20 dB"}).typed) == []


def test_results_predictions_and_sweeps_have_the_warnings_too() -> None:
    near = "cell.ap_queue.vbs.class.near.share"
    settings = {near: 0.2, "duration": "5 s", "warmup": "2 s", "replications": 1}
    scenario = lh.Scenario(EXAMPLE, settings)
    lines = warnings_for(lh.Scenario(scenario).typed)
    assert len(lines) == 2  # one on the sum of the shares, one on missed targets
    assert lh.simulate(scenario).warnings == lines
    assert lh.predict(scenario).warnings[:2] == lines
    assert json.loads(lh.predict(scenario).to_json())["warnings"][:2] == lines
    swept = lh.sweep(scenario, {"seed": [1, 2]})
    assert [line.partition(": ")[2] for line in swept.warnings] == 2 * lines


def conflicts(**csma: object) -> list[str]:
    """Return the warnings about a network of two links in series."""
    links = {"1": {}, "2": {}, **csma.pop("links", {})}  # type: ignore[dict-item]
    network = {"link": links, **csma}
    tree = {"duration": "9 s", "csma": network, "flow": {"f": {"route": ["1", "2"]}}}
    return warnings_for(lh.Scenario(tree).typed)


def test_a_route_over_links_that_send_simultaneously_is_named() -> None:
    [line] = conflicts()
    assert line.startswith("`flow.f.route`: links 1 and 2 follow each other without a conflict: ")
    assert line.endswith('add it, csma.link.1.conflicts = ["2"]')
    assert conflicts(links={"1": {"conflicts": ["2"]}}) == []


def test_prices_without_a_bound_or_feedback_cause_a_warning() -> None:
    touching = {"1": {"conflicts": ["2"]}}
    [line] = conflicts(links=touching, aqm=False)
    assert line.startswith("`csma.aqm` = false without r_max: ")
    assert "up to 0.03 at csma.queue = 1000" in line
    assert conflicts(links=touching, aqm=False, r_max=0.01) == []
    given = {"1": {"conflicts": ["2"], "r": 0.01}, "2": {"r": 0.01}}
    assert conflicts(links=given, aqm=False) == []


def test_programs_cause_a_warning_where_they_do_not_run() -> None:
    stations = {"a": {"download": 1}}
    tree = {"duration": "9 s", "cell": {"phy": "802.11g"}, "station": stations}
    scenario = lh.Scenario({**tree, "programs": {"a": "ping server"}}).typed
    [line] = warnings_for(scenario)
    assert line.startswith("`programs`: they run only in emulations;")
    assert warnings_for(scenario, programs_run=True) == []


def test_marking_codel_with_flows_without_ecn_causes_a_warning() -> None:
    def ecn_warnings(queue: object, ecn: bool, **more: object) -> list[str]:
        flows = {"bulk": {"ecn": ecn, "count": 3}, **more}
        tree = {
            "duration": "9 s",
            "dumbbell": {"bottleneck": "20 Mbps"},
            "queue": queue,
            "flow": flows,
        }
        return warnings_for(lh.Scenario(tree).typed)

    marking = {"limit": 100, "codel": {"ecn": True}}
    call = {"udp": {"rate": "64 kbps", "packet": "160 B"}}
    [line] = ecn_warnings(marking, True, call=call)
    assert line.startswith("link bottleneck: CoDel with ecn = true marks packets and drops")
    assert "(call)" in line
    assert "(other)" in ecn_warnings(marking, True, other={"ecn": False})[0]
    assert not ecn_warnings(marking, True)
    assert not ecn_warnings(marking, False, call=call)
    assert not ecn_warnings({"limit": 100, "codel": {}}, True, call=call)
    assert not ecn_warnings({"limit": 100, "fq_codel": {"ecn": True}}, True, call=call)


def test_a_shared_queue_of_less_than_a_packet_is_named() -> None:
    stations = {"a": {"download": 2}, "b": {"download": 2}}
    [line] = warned(stations, HALVES, occupancy=1e-9)
    assert line.startswith(
        "`cell.ap_queue.vbs.occupancy`: 1e-09 of 100 packets is 1e-07, less than one"
    )
    assert warned(stations, HALVES, occupancy=0.01) == []


def test_a_greedy_downlink_that_fills_the_queue_is_named() -> None:
    [line] = warned({"a": {"udp_down": "greedy"}, "b": {"download": 1}, "c": {"udp_up": "1 Mbps"}})
    assert line.startswith("a/udp-down/1: a greedy source fills every free place")
    assert "so that b/down/1 may get nothing" in line
    assert warned({"a": {"udp_down": "greedy"}, "b": {"udp_down": "greedy"}}) == []
    assert warned({"a": {"udp_up": "greedy"}, "b": {"download": 1}}) == []
    voice = {"rate": "100 kbps", "packet": "200 B", "category": "voice"}
    assert warned({"a": {"udp_down": "greedy"}, "b": {"udp_down": voice}}) == []


def test_a_note_names_the_flows_that_a_receive_window_limits() -> None:
    scenario = lh.Scenario(
        {
            "duration": "4 s",
            "warmup": "2 s",
            "replications": 1,
            "cell": {"phy": "802.11b"},
            "wire": {"delay": "100 ms"},
            "tcp": {"window": 8},
            "station": {"laptop": {"count": 3, "download": 1}, "phone": {"udp_up": "64 kbps"}},
        }
    )
    result = lh.simulate(scenario)
    [note] = result.notes
    assert note == (
        "3 flows (laptop-1/down/1, laptop-2/down/1, laptop-3/down/1) are limited by their receive "
        "windows (tcp.window = 8) 100 % of the time on average"
    )
    own = {"flows": [{"name": "laptop-1/down/1", "rwnd_limited_fraction": {"mean": 0.94}}]}
    assert window_notes(scenario.typed, own) == [
        "laptop-1/down/1 is limited by its receive window (tcp.window = 8) 94 % of the time"
    ]
    own["flows"][0]["rwnd_limited_fraction"] = {"mean": 0.5}
    assert window_notes(scenario.typed, own) == []


def test_waits_are_a_table_of_flows_and_queues() -> None:
    scenario = {
        "duration": "2 s",
        "replications": 2,
        "cell": {"phy": "802.11g"},
        "wire": {"rate": "5 Mbps"},
        "station": {"phone": {"udp_up": "64 kbps"}, "laptop": {"download": 1}},
    }
    table = lh.simulate(scenario).table("waits").reset_index()
    assert list(zip(table["flow"], table["queue"], strict=True)) == [
        ("phone/udp-up/1", "phone"),
        ("phone/udp-up/1", "wire/up"),
    ]
