"""Cells of 802.11n, ac and ax with the kernel's TCP; measurements are in simulated time."""

import hashlib
import json
import random
import signal
import subprocess
import sys

import pytest

import lasthop as lh
from emulating import COMMAND, emulated, moves_packets, skip_without_rights
from lab import wait_until
from lasthop.emulation import Emulation, emulate

CELL = """\
name = "aggregates and real TCP"
duration = "4 s"
warmup = "1 s"
[cell]
phy = "802.11ax"
width = "80 MHz"
streams = 2
ap_queue = 1000
[wire]
delay = "5 ms"
[tcp]
congestion = "cubic"
window = 100
initial_window = 2
sack = true
"""
CUBIC = '"cubic_linux"'
STATIONS = """\
[station.near]
download = 4
[station.far]
snr = "20 dB"
download = 2
[station.old]
phy = "802.11n"
streams = 1
download = 1
upload = 1
[station.phone]
udp_up = { rate = "64 kbps", packet = "160 B" }
udp_down = { rate = "64 kbps", packet = "160 B" }
"""


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


def goodputs(answer: lh.Result | Emulation) -> dict[str, float]:
    """Return the goodput of each station. [bit/s]"""
    by_station = answer.stations["goodput_bps"]
    return {str(name): float(by_station[name]) for name in by_station.index}


def test_a_cell_of_aggregates_carries_real_tcp(tmp_path):
    """Check results that do not depend on lateness: each flow has goodput, the numbers of packets
    are consistent, and no packet is lost if the queue has room for every window.
    """
    path = tmp_path / "x.toml"
    path.write_text(CELL + STATIONS)
    answer = emulate(path, settings={"duration": "2 s", "cell.width": "20 MHz"})
    assert all(goodput > 0 for goodput in goodputs(answer).values())
    assert answer.aps.loc["ap", "mpdus_per_ppdu"] > 1
    assert (answer.total("packets_at_once") or 0) > 4
    assert answer.flows["loss_probability"].max() == 0


@pytest.mark.slow
@pytest.mark.simulated
@pytest.mark.parametrize(
    ("gro", "phy"), [(False, "802.11ac"), (True, "802.11ax")], ids=["-802.11ac", "gro-802.11ax"]
)
def test_stations_share_the_air_as_in_a_simulation(tmp_path, phy, gro):
    """The windows never overflow the queue, so that a run's shares do not depend on the order in
    which TCP flows lose packets. The test compares the effects of queue, air and wire. The page
    of measurements shows the shares of flows with losses.
    """
    path = tmp_path / "x.toml"
    path.write_text(CELL.replace("802.11ax", phy) + STATIONS)
    times = {"duration": "10 s", "warmup": "2 s"}
    simulated = lh.simulate(path, settings=times, replications=4)
    emulated = emulate(path, settings=times, gro=gro)
    both = {name: (own, goodputs(simulated)[name]) for name, own in goodputs(emulated).items()}
    shown = {name: f"{own / 1e6:.1f} ({sim / 1e6:.1f})" for name, (own, sim) in both.items()}
    print(f"{phy} gro={gro}: {shown}")
    for own, sim in both.values():
        assert own == pytest.approx(sim, rel=0.1)
    assert sum(goodputs(emulated).values()) > 150e6


@pytest.mark.slow
@pytest.mark.simulated
def test_the_queue_of_linux_is_that_of_the_simulation(tmp_path):
    """Compare goodputs and the delay of a call with a simulation of the queue of mac80211. The
    goodputs depend on air time fairness, not on the order of TCP's losses. The packets of the call
    wait for transmissions of other stations.

    The tolerance for the delay of the call is 4 ms, the air time of two segments of 802.11b at 11
    Mb/s.
    """
    path = tmp_path / "x.toml"
    text = CELL.replace("ap_queue = 1000", "ap_queue.mac80211 = {}").replace('"cubic"', CUBIC)
    path.write_text(text + STATIONS)
    times = {"duration": "12 s", "warmup": "4 s"}
    simulated = lh.simulate(path, settings=times, replications=4)
    emulated = emulate(path, settings=times)
    both = {name: (own, goodputs(simulated)[name]) for name, own in goodputs(emulated).items()}
    shown = {name: f"{own / 1e6:.1f} ({sim / 1e6:.1f})" for name, (own, sim) in both.items()}
    call = "phone/udp-down/1", "one_way_delay_s"
    own_s, sim_s = (float(answer.flows.loc[call]) for answer in (emulated, simulated))
    print(f"{shown}, the call takes {1e3 * own_s:.1f} ({1e3 * sim_s:.1f}) ms")
    for own, sim in both.values():
        assert own == pytest.approx(sim, rel=0.1)
    assert own_s == pytest.approx(sim_s, abs=4e-3)


SERVES = """
import hashlib, http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(2 * len(body)))
        self.end_headers()
        self.wfile.write(body + body)
http.server.HTTPServer(("", 80), Handler).serve_forever()
"""
ASKS = """
import hashlib, random, socket, sys, time, urllib.request
body = random.Random(7).randbytes(300_000)
answer = urllib.request.urlopen("http://server/", data=body).read()
print(hashlib.sha256(answer).hexdigest())
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as pings:
    pings.settimeout(30)
    for number in range(3):
        pings.sendto(bytes([8, 0, 0, 0, 0, 0, 0, number]) + bytes(56), ("server", 0))
        print(len(pings.recv(1000)))
"""


@pytest.mark.parametrize("words", [(), ("--gro",)], ids=["", "gro"])
def test_programs_talk_through_aggregates(tmp_path, words):
    """A program at a station sends data to a web server, whose response contains the data twice.
    The program then sends three pings. Meanwhile another station uploads.
    """
    path, serves, asks = (tmp_path / name for name in ("x.toml", "serves.py", "asks.py"))
    text = CELL.replace("80 MHz", "20 MHz").replace('warmup = "1 s"', 'warmup = "200 ms"')
    path.write_text(f"{text}[station.laptop]\n[station.other]\nupload = 1\n")
    serves.write_text(SERVES)
    asks.write_text(ASKS)
    command = [path, "--json", *words, "--at", "laptop"]
    command += ["--with", "server", f"{sys.executable} {serves}", "--", sys.executable, str(asks)]
    done = emulated(*command)
    assert done.returncode == 0, done.stderr
    body = random.Random(7).randbytes(300_000)
    lines = done.stderr.splitlines()
    assert hashlib.sha256(body + body).hexdigest() in lines
    assert lines.count("64") == 3
    result = json.loads(done.stdout)
    flows = {flow.get("traffic"): flow for flow in result["flows"]}
    assert {"tcp 80 out", "tcp 80 in", "icmp out", "icmp in"} <= flows.keys()
    length_s = result["duration_s"] - result["warmup_s"]
    for traffic, bytes_ in (("tcp 80 out", 300_000), ("tcp 80 in", 600_000), ("icmp in", 3 * 64)):
        carried = flows[traffic]["goodput_bps"]["mean"] * length_s / 8
        # the carried bytes include headers and retransmissions
        assert 0.999 * bytes_ <= carried < 1.3 * bytes_ + 1000


def test_ctrl_c_ends_a_cell_of_aggregates(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(CELL.replace('"4 s"', '"100 s"') + STATIONS)
    with subprocess.Popen(
        [*COMMAND, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_until(lambda: moves_packets(process.pid), "traffic")
        process.send_signal(signal.SIGINT)
        # without the interrupt, the run would take a hundred seconds
        _, printed = process.communicate(timeout=30)
    assert process.returncode not in (0, -signal.SIGKILL)
    assert b"Traceback" not in printed


def test_merged_segments_are_refused_where_each_is_to_be_acknowledged(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(CELL + "delayed_ack = false\n" + STATIONS)
    with pytest.raises(lh.UserError, match=r"near/down/1: `tcp.delayed_ack` is false"):
        emulate(path, gro=True)
