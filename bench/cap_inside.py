"""One run of `cap.py` inside user-mode Linux: the maximum rate `wce.max` is far above the capacity
of the WLAN.

    cap_inside.py SETTINGS

`SETTINGS` is JSON: `cap_bps`, `data_rate_bps`, `rtt_s`, `seed`. One station starts twelve downloads
and another station starts one, simultaneously. The gateway between server and stations has had no
traffic before.
"""

import json
import sys
import time
from functools import partial
from typing import Any

from tc_contenders import HEADROOM, Measured, gateway, gateway_status
from tc_inside import HELLO, SETTLE_S
from tc_network import ROUTER, STATIONS, build, sh
from tc_traffic import Bulk, Process, Table, Window, bulk, echoes

GROUPS = (Bulk("heavy", 12, download=True), Bulk("light", 1, download=True))
WATCHED = "idle"
PERIODS = ((0.0, 2.0), (2.0, 5.0), (5.0, 10.0), (10.0, 30.0))
"""Measured periods, from the start of the traffic. [s]"""


def main(settings: dict[str, Any]) -> Table:
    """Set up the network, run the downloads, and return the measurements."""
    build(settings["rtt_s"], settings["data_rate_bps"])
    for address in STATIONS.values():
        sh(f"ip netns exec {ROUTER} {sys.executable} -ISc '{HELLO}' {address}")
    cap_bps = settings["cap_bps"] / HEADROOM
    gateway(Measured(cap_bps, cap_bps, cap_bps))
    begin_s = time.monotonic() + SETTLE_S
    windows = [
        Window(begin_s, begin_s + from_s, begin_s + to_s, settings["seed"])
        for from_s, to_s in PERIODS
    ]
    shares = Process(lambda: bulk(GROUPS, windows[-1]))
    probes = [Process(partial(echoes, [WATCHED], window)) for window in windows]
    rates = []
    for window in windows:
        time.sleep(max(0.0, window.to_s - time.monotonic()))
        rates.append(gateway_status()["aps"][0]["rate_bps"])
    return {
        "bulk": shares.result(),
        "echo": [probe.result()[WATCHED] for probe in probes],
        "c_bps": rates,
    }


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
