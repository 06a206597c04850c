"""Scenario files of the repository with short durations, and scenarios that the random draws rarely
produce.
"""

from collections.abc import Iterator
from pathlib import Path

from blocks import Block

ROOT = Path(__file__).parents[5]


#: Setting that shortens the run of each file of the repository.
SHORT = "replications=2"


FILES: dict[str, list[str]] = {
    "examples/csma-hidden.toml": ["duration=6 s", "warmup=1 s"],
    "examples/csma-hops.toml": ["duration=12 s", "warmup=2 s"],
    "examples/csma-positions.toml": ["duration=4 s", "warmup=1 s"],
    "examples/csma-wires.toml": ["duration=12 s", "warmup=2 s"],
    "examples/csma.toml": ["duration=12 s", "warmup=2 s"],
    "examples/dumbbell.toml": ["duration=3 s", "warmup=1 s"],
    "examples/hotspot.json": ["duration=6 s"],
    "examples/hotspot.toml": ["duration=6 s"],
    "examples/pifs.toml": ["duration=4 s"],
    "examples/rain.toml": [
        "duration=6 s",
        "station.far.channel.rain.at=2 s",
        "station.far.channel.sun.at=4 s",
        "station.guest.download.start=3 s",
        "station.guest.download.stop=5 s",
    ],
    "examples/seven-downloads.toml": ["duration=4 s"],
    "examples/snr-classes.toml": ["duration=4 s", "warmup=1 s"],
    "examples/two-rates.toml": ["duration=4 s"],
    "examples/udp-beta.toml": ["duration=4 s"],
    "examples/vbs.toml": ["duration=4 s"],
    "bench/cases/dumbbell.toml": ["duration=3 s", "warmup=1 s"],
    "bench/cases/edca.toml": ["duration=4 s", "warmup=1 s"],
    "bench/cases/mixed.toml": ["duration=2 s", "warmup=0.5 s"],
    "bench/cases/seven.toml": ["duration=4 s", "warmup=1 s"],
    "bench/cases/ten_thousand_flows.toml": ["duration=0.4 s", "warmup=0.1 s"],
    "bench/cases/thousand_stations.toml": ["duration=0.4 s", "warmup=0.1 s"],
}


#: Repository files with changed settings that the examples and guides suggest.
VARIED: list[tuple[str, list[str]]] = [
    ("examples/csma.toml", ["duration=8 s", "warmup=1 s", "csma.access=legacy"]),
    ("examples/csma.toml", ["duration=8 s", "warmup=1 s", "csma.connections=one"]),
    ("examples/csma.toml", ["duration=8 s", "warmup=1 s", "csma.access=dcf"]),
    ("examples/csma-wires.toml", ["duration=9 s", "warmup=1 s", "csma.acks=contend"]),
    ("examples/hotspot.toml", ["duration=6 s", "cell.ap_queue.fq_codel=5 ms"]),
    ("examples/hotspot.toml", ["duration=6 s", "vsb.fairness=flow"]),
    ("examples/vbs.toml", ["duration=4 s", "cell.ap_queue.vbs.algorithm=printed"]),
    ("bench/cases/dumbbell.toml", ["duration=2 s", "warmup=1 s", "queue=red", "tcp.sack=true"]),
    ("bench/cases/edca.toml", ["duration=2 s", "warmup=1 s", "cell.countdown=edca"]),
    ("bench/cases/edca.toml", ["duration=2 s", "warmup=1 s", "cell.ack_timeout=222 us"]),
    (
        "bench/cases/edca.toml",
        ["duration=2 s", "warmup=1 s", "cell.txop_limit=10 ms", "cell.cf_end=true"],
    ),
]


RED = "queue={ limit = 1000, red = { min_th = 50, max_th = 100 } }"


#: Scenarios that the random draws rarely produce, written by hand.
BY_HAND = {
    "gateway-rate": """
[gateway]
wan = "eth0"
lan = "eth1"
discipline = "fq_codel"
fairness = "rate"
wce = { increase = "20 kbps", interval = "50 ms", threshold = "50 ms" }
""",
    "gateway-station": """
[gateway]
wan = "eth0"
lan = "eth1"
discipline = "pfifo"
fairness = "station"
wce = { threshold = "30 ms", increase = "30 kbps", decrease = "90 kbps", timeout = "2 s" }
""",
    "gateway-flow": """
[gateway]
wan = "eth0"
lan = "eth1"
discipline = "fq_codel"
fairness = "flow"
ap.a = { interface = "wlan0", wce = { threshold = "60 ms", interval = "20 ms" } }
ap.b = { interface = "wlan1", wce = { max = "9 Mbps" }, fairness = "direction" }
""",
    "parking-lot-spread": """
duration = "1 s"
seed = 5
flow.udp = { from = "r0", to = "r1", udp = { rate = "400 kbps", arrivals = "constant" } }

[parking_lot]
hops = 2
cross = 3
flows = 2
bottleneck = "4 Mbps"
access = "2 Mbps"
access_spread = 0.1
""",
    "flow-spread": """
duration = "1 s"
dumbbell = { bottleneck = "4 Mbps", delay = "3 ms" }
flow.a = { count = 3, access = "3 Mbps", access_spread = 0.2, segments = 90 }
flow.b = { count = 2, udp = { rate = "400 kbps", arrivals = "constant" } }
""",
    "parking-lot-spread-2": """
duration = "1 s"
queue = { limit = 20, red = { min_th = 2, max_th = 9, bytes = true } }

[parking_lot]
hops = 3
cross = 2
bottleneck = "3 Mbps"
access = "1 Mbps"
access_spread = 0.2
rtt = "30 ms"
""",
}


def of_repository() -> Iterator[Block]:
    """Yield the examples and benchmark cases of the repository without their comments."""
    cases = [(file, [*settings, SHORT]) for file, settings in FILES.items()]
    cases += [(file, [*settings, SHORT]) for file, settings in VARIED]
    for number, (file, settings) in enumerate(cases):
        path = ROOT / file
        text = "\n".join(
            line for line in path.read_text().splitlines() if line.strip() and line[0] != "#"
        )
        name = f"file-{number:02}-{path.stem}"
        settings = [RED if setting == "queue=red" else setting for setting in settings]
        yield Block(name, text, settings, "json" if path.suffix == ".json" else "")
