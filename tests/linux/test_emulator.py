"""Real TCP over the emulated cell, in network namespaces.

One test compares an emulation in real time with a simulation. The other tests are in simulated
time, or check nothing that depends on time.
"""

import json
import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from clock import FRAME_S, WINDOW_S, in_time
from emulating import COMMAND, emulated, moves_packets, skip_without_rights
from lab import wait_until
from lasthop import _core
from lasthop.emulation import Emulation, emulate

CELL = """\
name = "one against the other"
duration = "16 s"
warmup = "6 s"
stagger = "50 ms"
cell = { phy = "802.11b", ap_queue = 75 }
tcp = { congestion = "reno", window = 42 }
"""

DOWNLOADS = "[station.first]\ndownload = 4\n[station.other]\ndownload = 1\n"
UPLOADS = "[station.first]\nupload = 4\n[station.other]\ndownload = 1\ncount = 4\n"
"""A station with four uploads, and four stations with one download each. With a single downloading
station, as in figure 5 of the paper, the fairness level would be only 2.
"""


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


def run(path: Path, text: str) -> Emulation:
    path.write_text(text)
    return emulate(path)


def eta(answer: Emulation) -> float:
    goodputs = answer.stations["goodput_bps"]
    return float(goodputs["first"] / goodputs.drop("first").mean())


@pytest.mark.simulated
@pytest.mark.parametrize(
    "stations",
    [DOWNLOADS, pytest.param(UPLOADS, marks=pytest.mark.slow)],
    ids=["downloads", "uploads"],
)
def test_the_bottleneck_makes_real_tcp_fair(tmp_path, stations):
    free = run(tmp_path / "free.toml", CELL + stations)
    shared = run(tmp_path / "shared.toml", f"{CELL}{stations}[vsb]\n")
    print(f"eta {eta(free):.2f} -> {eta(shared):.3f}")
    assert (shared.lateness_p99_s or 0) < 1e-5
    assert eta(free) > 2
    assert 0.9 < eta(shared) < 1.1
    total = [answer.cells["goodput_bps"].iloc[0] for answer in (free, shared)]
    assert abs(total[1] / total[0] - 1) < 0.1, total
    if stations == UPLOADS:
        # The window of 42 segments is always full.
        # Without this limit of the window, the kernel has 44.9 segments in flight.
        assert in_flight(free, "first/up") == pytest.approx(42, rel=0.03)


def in_flight(answer: Emulation, prefix: str) -> float:
    """Return the mean number of segments in flight, by Little's law."""
    flows = answer.flows[answer.flows.index.str.startswith(prefix)]
    return float((flows["goodput_bps"] * flows["rtt_s"]).mean() / (8 * 1460))


@pytest.mark.simulated
def test_a_window_above_the_default_limit_of_receive_buffers_is_followed(tmp_path):
    """With a window of 300 packets, 300 segments are in flight. The kernel's default limit of
    receive buffers would permit 153.
    """
    text = """\
duration = "6 s"
warmup = "3 s"
queue = 400
dumbbell = { flows = 1, bottleneck = "20 Mbps", rtt = "50 ms" }
tcp = { congestion = "reno", window = 300, initial_window = 10 }
"""
    answer = run(tmp_path / "x.toml", text)
    assert in_flight(answer, "") == pytest.approx(300, rel=0.03)
    assert [each for each in answer.warnings if "tcp.window" in each] == []


@pytest.mark.measured
def test_every_segment_is_acknowledged_where_acks_are_not_delayed(tmp_path):
    """Without delayed ACKs, the goodput of an emulation in real time is that of a simulation."""
    path = tmp_path / "x.toml"
    path.write_text(CELL.replace("42", "42, delayed_ack = false") + DOWNLOADS)
    emulated = in_time(lambda: emulate(path), FRAME_S, lambda done: done.lateness_p99_s, WINDOW_S)
    answers = [emulated, lh.simulate(path, replications=3)]
    seen, simulated = (answer.cells["goodput_bps"].iloc[0] for answer in answers)
    assert abs(seen / simulated - 1) < 0.05  # with delayed ACKs the difference would be 13 %


@pytest.mark.slow
@pytest.mark.simulated
def test_the_estimator_settles_under_the_capacity_of_the_engine(tmp_path):
    path = tmp_path / "x.toml"
    # This run is longer than the runs of other tests.
    # In only ten seconds, the 95th percentile of the round-trip times may reach the bound.
    longer = CELL.replace('warmup = "6 s"', 'warmup = "10 s"').replace("16 s", "40 s")
    shared = run(path, f"{longer}{DOWNLOADS}[vsb]\n")
    simulated = lh.simulate(path, replications=5)
    (seen, expected) = (answer.links.loc["vsb", "capacity_bps"] for answer in (shared, simulated))
    assert abs(seen / expected - 1) < 0.05, (seen, expected)
    assert shared.links.loc["vsb", "ping_rtt_p95_s"] < 0.08


@pytest.mark.slow
@pytest.mark.simulated
def test_the_estimator_follows_a_slow_station(tmp_path):
    """Check claim hotspot-10: with a station at 2 Mb/s, C is half of its value without the
    station.
    """
    path = tmp_path / "x.toml"
    longer = CELL.replace('warmup = "6 s"', 'warmup = "18 s"').replace("16 s", "38 s")
    slow = 'rate = "2 Mbps"\ndownload = { connections = 1, start = "8 s" }\n'
    shared = run(path, f"{longer}[vsb]\n[station.first]\ndownload = 1\n[station.slow]\n{slow}")
    simulated = lh.simulate(path, replications=5)
    (seen, expected) = (answer.links.loc["vsb", "capacity_bps"] for answer in (shared, simulated))
    assert expected == pytest.approx(2.4e6, rel=0.02)
    assert abs(seen / expected - 1) < 0.05, (seen, expected)
    # The percentile is 0.052 to 0.174 s in forty simulated runs, and 0.3 s with a full queue.
    assert shared.links.loc["vsb", "ping_rtt_p95_s"] < 0.2


TRACED = """\
duration = "6 s"
warmup = "2 s"
[link.lte]
from = "server"
to = "phone"
rate.trace_file = "down.trace"
back_rate = { trace = [3, 3, 10] }
delay = "10 ms"
queue = 50
[flow.down]
from = "server"
to = "phone"
udp = { rate = "12 Mbps", packet = "1472 B" }
[flow.up]
from = "phone"
to = "server"
udp = { rate = "5 Mbps", packet = "1472 B" }
"""
"""Scenario of a link that follows a trace. UDP flows fill both directions, and each opportunity of
the trace sends one datagram.
"""


@pytest.mark.simulated
def test_a_trace_delivers_one_full_packet_a_line(tmp_path):
    times = [7 * k + (k * k) % 5 for k in range(1, 140)] + [980, 980, 980, 1000]
    (tmp_path / "down.trace").write_text("".join(f"{ms}\n" for ms in times))
    emulated = run(tmp_path / "x.toml", TRACED)
    simulated = lh.simulate(tmp_path / "x.toml", replications=1)
    for flow, opportunities in (("down", len(times)), ("up", 300)):
        expected = opportunities * 8 * 1472
        seen = emulated.flows.loc[flow, "goodput_bps"]
        print(f"{flow} {seen / 1e6:.4f} Mb/s, of the trace {expected / 1e6:.4f}")
        assert simulated.flows.loc[flow, "goodput_bps"] == pytest.approx(expected, rel=1e-9)
        assert seen == pytest.approx(
            expected, rel=0.004
        )  # one datagram may be in flight at the end


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_however_it_ends(tmp_path, how):
    path = tmp_path / "x.toml"
    path.write_text(CELL.replace("16 s", "100 s") + DOWNLOADS)
    interfaces = sorted(os.listdir("/sys/class/net"))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, str(path)], **pipes) as process:
        wait_until(lambda: moves_packets(process.pid), "traffic")
        process.send_signal(how)
        # without the interrupt, the run would take a hundred seconds
        _, printed = process.communicate(timeout=30)
    assert process.returncode != 0
    assert b"Traceback" not in printed
    assert sorted(os.listdir("/sys/class/net")) == interfaces
    assert not Path(f"/proc/{process.pid}").exists()


def test_ctrl_c_as_the_medium_begins_ends_it(monkeypatch, tmp_path):
    """The signal may arrive when the new thread already runs, but the main thread does not know it
    yet.
    """
    begun = threading.Event()

    def medium(*arguments):
        begun.set()
        return own(*arguments)

    def interrupted(pool, work, *arguments):
        submit(pool, work, *arguments)
        if work.__name__ == "medium":
            assert begun.wait(10)
            raise KeyboardInterrupt

    own, submit = _core.emulate, ThreadPoolExecutor.submit
    monkeypatch.setattr(_core, "emulate", medium)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    path = tmp_path / "x.toml"
    path.write_text(CELL.replace("16 s", "100 s") + DOWNLOADS)
    before_s, threads = time.monotonic(), threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        lh.emulate(path)
    # without the interrupt, the run would take a hundred seconds
    assert time.monotonic() - before_s < 30
    assert threading.active_count() == threads


UDP = """\
[station.phone]
udp_up = { rate = "64 kbps", packet = "160 B" }
udp_down = { rate = "64 kbps", packet = "160 B", arrivals = "poisson" }
[station.flood]
queue = 20
udp_up = "greedy"
"""


def test_the_command_prints_a_result_with_calls_and_floods(tmp_path, timed):
    """In real time, packets may be late because the machine is busy."""
    path = tmp_path / "x.toml"
    shorter = CELL.replace('warmup = "6 s"', 'warmup = "2 s"').replace("16 s", "6 s")
    path.write_text(shorter + DOWNLOADS + UDP)

    done = emulated(path, "--json")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["kind"] == "emulation"
    assert "late" in done.stderr
    assert len(result["flows"]) == 8
    assert all(flow["goodput_bps"]["mean"] > 0 for flow in result["flows"])
    if not timed:
        return
    flows = {flow["name"]: flow for flow in result["flows"]}
    # 200 datagrams are expected per direction, with a tolerance of five standard deviations
    up, down, flood = (
        flows[f"{name}/1"] for name in ("phone/udp-up", "phone/udp-down", "flood/udp-up")
    )
    assert up["goodput_bps"]["mean"] == pytest.approx(64_000, rel=0.02)
    assert down["goodput_bps"]["mean"] == pytest.approx(64_000, rel=0.35)
    assert up["loss_probability"]["mean"] == 0
    assert up["one_way_delay_s"]["mean"] < down["one_way_delay_s"]["mean"] < 1
    # Packets of a greedy source that the full queue refuses are not counted as loss.
    assert 1e6 < flood["goodput_bps"]["mean"] < 6e6
    assert flood["loss_probability"]["mean"] == 0


def test_a_comparison_lays_all_three_side_by_side(tmp_path):
    path = tmp_path / "x.toml"
    shorter = CELL.replace('warmup = "6 s"', 'warmup = "3 s"').replace("16 s", "9 s")
    path.write_text(shorter + DOWNLOADS)
    comparison = lh.compare(path, replications=2, emulate=True)
    rows = {(row.name, row.quantity): row for row in comparison.rows if row.list == "stations"}
    level = rows["other", "fairness_level"]
    assert level.predicted == pytest.approx(4.0, rel=0.01)
    assert 2 < level.simulated < 8
    # There is no upper bound: in a run of six seconds, a download may wait for a timeout.
    assert level.emulated > 2
    assert comparison.to_dict()["emulation"]["kind"] == "emulation"
    assert "emulated" in comparison.table


WIRED = """\
name = "a bottleneck of wires"
duration = "6 s"
warmup = "2 s"
queue = 40
dumbbell = { bottleneck = "12 Mbps", delay = "5 ms", rtt = "30 ms" }
tcp = { congestion = "reno", window = 200 }
[flow.lasting]
count = 2
[flow.short]
start = "3 s"
segments = 50
[flow.call]
udp = { rate = "64 kbps", packet = "160 B" }
"""


def test_a_dumbbell_has_real_tcp_too(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(WIRED)
    answer = emulate(path)
    goodput_bps = answer.flows["goodput_bps"]
    assert 6e6 < goodput_bps.sum() < 12e6
    # 50 segments take a handshake and three windows, and more time if other flows fill the queue
    assert 0.09 < answer.flows.loc["short", "completion_s"] < 3
    assert answer.flows.loc["short", "unfinished"] == 0
    assert goodput_bps["call"] == pytest.approx(64_000, rel=0.3)
    call = answer.flows.loc["call"]
    assert 0.017 < call["one_way_delay_s"] < min(0.1, call["one_way_delay_p99_s"])
    assert answer.classes.loc["call", "one_way_delay_p99_s"] == call["one_way_delay_p99_s"]
    assert answer.links.loc["bottleneck", "utilisation"] > 0.5
    assert 1 < answer.queues.loc["bottleneck", "occupancy_packets"] < 40
    assert set(answer.classes.index) == {"lasting", "short", "call"}


SHARED = """\
name = "classes, sensors, rain"
duration = "6 s"
warmup = "2 s"
tcp = { congestion = "reno", window = 45 }
[cell]
phy = "802.11g"
[cell.ap_queue]
limit = 100
vbs.class.near = { station = "near", share = 0.5 }
vbs.class.far = { station = "far", share = 0.5 }
[station.near]
download = 2
[station.far]
download = 1
channel.rain = { at = "2 s", error = 0.6 }
[station.meter]
sensor_up = { every = "50 ms", arrivals = "constant", deadline = "500 ms" }
sensor_down = { every = "50 ms", arrivals = "constant", deadline = "500 ms", transport = "tcp" }
"""


def test_classes_sensors_and_channels_that_change_are_the_engines(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(SHARED)
    answer = emulate(path)
    assert answer.stations.loc["far", "downlink_failure_rate"] > 0.4
    assert answer.stations.loc["near", "downlink_failure_rate"] < 0.4
    shares = answer.classes["queue_share"]
    assert shares.sum() == pytest.approx(1, abs=0.01)
    for way in ("up", "down"):
        seen = answer.flows.loc[f"meter/sensor-{way}/1"]
        # A sensor sends one report per 50 ms. The reports of 3.5 s are counted, about 70.
        assert 60 <= seen["reports"] <= 80
        assert seen["report_delivery"] > 0.9
        assert 0 < seen["report_delay_s"] < 0.5
