"""Runs one case of `tc.py` inside user-mode Linux, and prints the measurements as a line of JSON.

    tc_inside.py SETTINGS

`SETTINGS` is JSON: `rtt_s`, `traffic`, `contender`, `seed`, `warm_up_s`, `measured_s`, and `air`,
the result of the speed test.
"""

import json
import re
import sys
import time
from collections.abc import Mapping

from tc_contenders import CONTENDERS, Measured, gateway_status
from tc_network import AP, FAST_BPS, ROUTER, SLOW_BPS, STATIONS, build, sh
from tc_traffic import (
    Bulk,
    Process,
    Table,
    Window,
    bulk,
    call,
    echoes,
    pages,
    pings,
)

SPEED_TEST = "speed test"
DOWNLOADS = (Bulk("heavy", 12, download=True), Bulk("light", 1, download=True))
UPLOADS = (Bulk("heavy", 12, download=False), Bulk("light", 1, download=True))
TRAFFIC: Mapping[str, tuple[tuple[Bulk, ...], int]] = {
    SPEED_TEST: ((Bulk("light", 1, download=True),), FAST_BPS),
    "12 downloads": (DOWNLOADS, FAST_BPS),
    "12 uploads": (UPLOADS, FAST_BPS),
    "12 downloads, slower air": (DOWNLOADS, SLOW_BPS),
}
"""For each kind of traffic, the stations with endless downloads and uploads, and the data rate of
the air. [bit/s]

Other stations make calls and load web pages, except in the speed test.
"""
SETTLE_S = 3.0
"""Time until the router, its neighbours and the contender are ready, before traffic begins. [s]"""


def main(settings: Table) -> Table:
    """Build the hot-spot, run the traffic, and return the observations."""
    groups, data_rate_bps = TRAFFIC[settings["traffic"]]
    build(settings["rtt_s"], data_rate_bps)
    for address in STATIONS.values():
        sh(f"ip netns exec {ROUTER} {sys.executable} -ISc '{HELLO}' {address}")
    CONTENDERS[settings["contender"]](Measured(**settings["air"]))
    begin_s = time.monotonic() + SETTLE_S
    from_s = begin_s + settings["warm_up_s"]
    window = Window(begin_s, from_s, from_s + settings["measured_s"], settings["seed"])
    seen = {"bulk": Process(lambda: bulk(groups, window))}
    if settings["traffic"] != SPEED_TEST:
        watched = ("idle", "light", "heavy")
        seen |= {
            "call": Process(lambda: call("phone", window)),
            "echo": Process(lambda: echoes(watched, window)),
            "ping": Process(lambda: pings(watched, window)),
            "page": Process(lambda: pages("reader", window)),
        }
    time.sleep(max(0.0, window.from_s - time.monotonic()))
    before = carried_bytes()
    time.sleep(max(0.0, window.to_s - time.monotonic()))
    after = carried_bytes()
    is_ours = settings["contender"].startswith("lasthop")
    gateway = gateway_status() if is_ours else None
    results = {name: process.result() for name, process in seen.items()}
    for way in ("all", "down"):
        results[f"air_{way}"] = {"bps": 8 * (after[way] - before[way]) / settings["measured_s"]}
    queues = sh(f"tc -n {ROUTER} -s qdisc show").splitlines()
    return results | {"router": {"queues": queues, "gateway": gateway}}


HELLO = (
    "import socket, sys; "
    'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", (sys.argv[1], 9))'
)
"""Program whose packets make the router and a station resolve each other's addresses, as any
traffic would."""


def carried_bytes() -> dict[str, int]:
    """Return the number of bytes of frames that the air has transmitted so far: in total, and
    downlink."""
    text = sh(f"tc -n {AP} -s class show dev air")
    sent = {
        name: int(count)
        for name, count in re.findall(r"class htb (\S+).*\n Sent (\d+) bytes", text)
    }
    return {"all": sent["1:1"], "down": sent["1:10"]}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
