"""Cells of 802.11n, ac and ax with the kernel's TCP; what is measured is measured in time."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lasthop as lh
from clock import FRAME_S, WINDOW_S, in_time
from emulating import COMMAND, skip_without_rights
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
sack = true
"""
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
def rights(request: pytest.FixtureRequest) -> None:
    skip_without_rights(request)


def goodputs(answer: lh.Result | Emulation) -> dict[str, float]:
    """Goodput of each station. [bit/s]"""
    found = answer.stations["goodput_bps"]
    return {str(name): float(found[name]) for name in found.index}


@pytest.mark.parametrize(
    "phy", ["802.11ac", pytest.param("802.11ax", marks=pytest.mark.measured)]
)
@pytest.mark.parametrize("gro", [False, True], ids=["", "gro"])
def test_stations_share_the_air_as_in_a_simulation(tmp_path, phy, gro, timed):
    """Windows that never overflow the queue, so that a run's shares do not depend on which TCP
    loses when: what is compared is the way through queue, air and wire.
    """
    path = tmp_path / "x.toml"
    path.write_text(CELL.replace("802.11ax", phy) + STATIONS)
    if not timed:
        answer = emulate(path, gro=gro)
        assert all(goodput > 0 for goodput in goodputs(answer).values())
        ap = answer.aps.loc["ap"]
        assert ap["mpdus_per_ppdu"] > 1
        assert answer.total("packets_at_once") > 4
        # conservation is checked by the engine; nothing is lost where there is room for everything
        assert answer.flows["loss_probability"].max() == 0
        return
    times = {"duration": "10 s", "warmup": "2 s"}
    simulated = lh.simulate(path, settings=times, replications=4)
    emulated = in_time(
        lambda: emulate(path, settings=times, gro=gro),
        FRAME_S,
        lambda done: done.lateness_p99_s,
        WINDOW_S,
    )
    both = {name: (own, goodputs(simulated)[name]) for name, own in goodputs(emulated).items()}
    said = {name: f"{own / 1e6:.1f} ({sim / 1e6:.1f})" for name, (own, sim) in both.items()}
    print(f"{phy} gro={gro}: {said}, late {1e3 * (emulated.lateness_p99_s or 0):.2f} ms")
    for own, sim in both.values():
        assert own == pytest.approx(sim, rel=0.1)
    assert sum(goodputs(emulated).values()) > 150e6
