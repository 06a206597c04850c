"""Measure round-trip times through a gateway, to a station with downloads and to an idle
station.
"""

import json
import sys
import time

from tc_contenders import Measured, gateway, gateway_status
from tc_network import FAST_BPS, ROUTER, STATIONS, build, sh
from tc_traffic import Bulk, Process, Window, bulk, echoes, pings

RTT_S, AIR_BPS = 0.02, 24_000_000
WARM_UP_S, MEASURED_S = 20.0, 20.0
GROUPS = (Bulk("heavy", 4, download=True), Bulk("light", 1, download=True))
WATCHED = ("heavy", "light", "idle")
HELLO = (
    "import socket, sys; "
    'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", (sys.argv[1], 9))'
)


def main(discipline: str) -> dict[str, object]:
    """Run the downloads and return the round-trip times."""
    build(RTT_S, FAST_BPS)
    for address in STATIONS.values():
        sh(f"ip netns exec {ROUTER} {sys.executable} -ISc '{HELLO}' {address}")
    gateway(Measured(AIR_BPS, AIR_BPS, AIR_BPS), f'discipline = "{discipline}"\n')
    begin_s = time.monotonic() + 3
    window = Window(begin_s, begin_s + WARM_UP_S, begin_s + WARM_UP_S + MEASURED_S, seed=1)
    seen = {
        "bulk": Process(lambda: bulk(GROUPS, window)),
        "echo": Process(lambda: echoes(WATCHED, window)),
        "ping": Process(lambda: pings(WATCHED, window)),
    }
    time.sleep(max(0.0, window.to_s - time.monotonic()))
    status = gateway_status()
    results: dict[str, object] = {name: process.result() for name, process in seen.items()}
    return results | {
        "leaves": status["leaves"],
        "warnings": status["warnings"],
        "drops": {each["name"]: each["dropped_packets"] for each in status["stations"]},
        "c_bps": status["aps"][0]["rate_bps"],
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
