"""Writes scenarios.txt and wrong.txt: what the engine is frozen on.

    python crates/engine/tests/frozen/generate.py

Every run gives the same files as long as the grammar stays (lasthop must be installed: what it
refuses is no scenario, but a wrong file). They were written once; README.md says why they stay.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeAlias, TypeVar

from lasthop import _core
from lasthop.errors import ScenarioError

HERE = Path(__file__).parent
ROOT = HERE.parents[3]

T = TypeVar("T")
Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value]"
Table: TypeAlias = dict[str, Value]


@dataclass(frozen=True)
class Block:
    """A scenario, or a file with a gateway."""

    name: str
    text: str
    settings: Sequence[str] = ()
    words: str = ""
    #: Lines about the text, in the place of a text of its own.
    edits: Sequence[str] = ()

    def __str__(self) -> str:
        head = f"=== {self.name} {self.words}".rstrip()
        settings = [f"--- set {setting}" for setting in self.settings]
        edits = [f"--- {edit}" for edit in self.edits]
        return "\n".join([head, *settings, *edits, *([self.text] if self.text else []), ""])


#: Repository files, with settings that make them short.
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
#: The same with other settings: what examples and guides tell people to try.
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


class Dice:
    """Draws; everything follows from one seed."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)

    def whole(self, low: int, high: int) -> int:
        """From low to high."""
        return low + int(self.random.random() * (high + 1 - low))

    def number(self, low: float, high: float) -> float:
        """From low to high, with few digits."""
        return round(low + self.random.random() * (high - low), 4)

    def one(self, values: Sequence[T]) -> T:
        """One of some."""
        return values[self.whole(0, len(values) - 1)]

    def chance(self, part: float) -> bool:
        """True so often."""
        return self.random.random() < part

    def flag(self) -> bool:
        """True half of the time."""
        return self.chance(0.5)

    def some(self, part: float, makers: dict[str, Callable[[], Value]]) -> Table:
        """Each key with a probability."""
        return {key: make() for key, make in makers.items() if self.chance(part)}


CONGESTION = ("tahoe", "reno", "newreno", "compound", "cubic", "illinois", "africa")
CATEGORIES = ("best-effort", "background", "video", "voice")
PHYS = {
    "802.11b": ("1 Mbps", "2 Mbps", "5.5 Mbps", "11 Mbps"),
    "802.11g": ("6 Mbps", "12 Mbps", "24 Mbps", "36 Mbps", "54 Mbps"),
    "802.11g-long": ("9 Mbps", "18 Mbps", "36 Mbps", "48 Mbps"),
}
BASIC = {
    "802.11b": ("1 Mbps", "2 Mbps", "11 Mbps"),
    "802.11g": ("6 Mbps", "12 Mbps", "24 Mbps"),
    "802.11g-long": ("1 Mbps", "5.5 Mbps", "24 Mbps"),
}


def ms(dice: Dice, low: float, high: float) -> str:
    """A time."""
    return f"{dice.number(low, high):g} ms"


def compound(d: Dice) -> Table:
    """Parameters of Compound TCP."""
    return d.some(
        0.6,
        {
            "alpha": lambda: d.number(0, 2),
            "beta": lambda: d.number(0, 0.9),
            "k": lambda: d.number(0, 1),
            "gamma": lambda: d.number(0, 40),
            "zeta": lambda: d.number(0, 2),
        },
    ) or {"gamma": 10}


def tcp(d: Dice, part: float = 0.3) -> Table:
    """Settings of connections."""
    table = d.some(
        part,
        {
            "hystart": d.flag,
            "ecn": d.flag,
            "window": lambda: d.whole(1, 80),
            "initial_window": lambda: d.whole(1, 10),
            "delayed_ack": d.flag,
            "ack_delay": lambda: ms(d, 1, 200),
            "ack_processing": lambda: ms(d, 0, 3),
            "mss": lambda: f"{d.whole(200, 2304)} B",
            "header": lambda: f"{d.whole(20, 60)} B",
            "min_rto": lambda: ms(d, 20, 400),
            "initial_rto": lambda: ms(d, 300, 1500),
        },
    )
    if d.chance(0.7):
        table["congestion"] = d.one(CONGESTION)
    if table.get("congestion") == "compound" and d.flag():
        table["compound"] = compound(d)
    if d.chance(0.4) and table.get("congestion", "newreno") != "tahoe":
        table["sack"] = True
        if d.flag():
            table["prr"] = True
    return table


def delay_queue(d: Dice, *, flows: bool) -> Table | str:
    """CoDel, alone or for each flow."""
    if d.chance(0.2):
        return ms(d, 1, 8)
    table = d.some(
        0.6,
        {
            "target": lambda: ms(d, 1, 8),
            "interval": lambda: ms(d, 20, 100),
            "ecn": d.flag,
        },
    )
    if flows:
        table |= d.some(
            0.6,
            {"quantum": lambda: f"{d.whole(100, 2000)} B", "queues": lambda: d.whole(1, 64)},
        )
    return table


def red(d: Dice) -> Table:
    """RED with low thresholds."""
    least = d.number(0, 5)
    table = d.some(
        0.5,
        {
            "form": lambda: d.one(("ns-2", "published")),
            "max_p": lambda: d.number(0.01, 0.5),
            "weight": lambda: d.one(("auto", 0, 1, 0.01, d.number(0.001, 1))),
            "gentle": d.flag,
            "wait": d.flag,
            "bytes": d.flag,
            "mean_packet": lambda: f"{d.whole(100, 1500)} B",
            "ecn": d.flag,
        },
    )
    return {"min_th": least, "max_th": round(least + d.number(1, 8), 4), **table}


def queue(d: Dice) -> Value:
    """A queue: mostly with a discipline, and so short that it acts."""
    if d.chance(0.15):
        return d.whole(1, 60)
    table: Table = {"limit": d.whole(2, 80)} if d.chance(0.7) else {}
    kind = d.one(("threshold", "red", "proportional", "codel", "pie", "fq_codel", ""))
    match kind:
        case "threshold":
            table = {"threshold": d.whole(1, 20)}
        case "red":
            table["red"] = red(d)
        case "proportional":
            table["proportional"] = {"slope": d.number(0.01, 0.2)} | d.some(0.5, {"ecn": d.flag})
        case "codel":
            table["codel"] = delay_queue(d, flows=False)
        case "fq_codel":
            table["fq_codel"] = delay_queue(d, flows=True)
        case "pie":
            table["pie"] = (
                d.some(
                    0.6,
                    {
                        "target": lambda: ms(d, 1, 15),
                        "update": lambda: ms(d, 2, 15),
                        "alpha": lambda: d.number(0.05, 0.5),
                        "beta": lambda: d.number(0.5, 2),
                        "max_burst": lambda: ms(d, 0, 50),
                        "ecn": d.flag,
                    },
                )
                if d.chance(0.8)
                else ms(d, 2, 15)
            )
    return table or {"limit": 20}


def window(d: Dice) -> Table:
    """Contention windows that fit each other."""
    least = d.one((0, 1, 3, 7, 15, 31, d.whole(2, 63)))
    return {"cwmin": least, "cwmax": least + d.one((0, 100, 1023 - least))}


def access(d: Dice, part: float, *, ap: bool = False) -> Table:
    """Access parameters of best effort."""
    table = d.some(
        part,
        {
            "aifsn": lambda: d.whole(1 if ap else 2, 7),
            "txop_packets": lambda: d.whole(1, 8),
            "txop_limit": lambda: d.one(("none", ms(d, 1, 30))),
        },
    )
    return table | (window(d) if d.chance(part) else {})


def categories(d: Dice, part: float, *, ap: bool = False) -> Table:
    """Tables of the access categories."""
    names = ("voice", "video", "background")
    return {name: access(d, 0.5, ap=ap) or {"aifsn": 3} for name in names if d.chance(part)}


def node(d: Dice, phy: str, part: float, *, ap: bool = False) -> Table:
    """What cell, access point and stations can say of a node."""
    table = access(d, part, ap=ap) | categories(d, part, ap=ap)
    return table | d.some(
        part,
        {
            "control_rate": lambda: d.one(BASIC[phy]),
            "attempts_short": lambda: d.whole(1, 8),
            "attempts_long": lambda: d.whole(1, 8),
        },
    )


def channel(d: Dice, part: float) -> Table:
    """Channel errors."""
    if d.chance(part / 2):
        return {"snr": f"{d.number(4, 25):g} dB"}
    error = lambda: d.number(0, 0.5)  # noqa: E731
    keys = "error error_up error_down ack_error ack_error_up ack_error_down".split()
    return d.some(part / 2, dict.fromkeys(keys, error))


def when(d: Dice) -> Table:
    """Start and stop of a flow."""
    start = d.whole(0, 300)
    table: Table = {"start": f"{start} ms"} if d.chance(0.3) else {}
    if d.chance(0.2):
        table["stop"] = f"{start + d.whole(100, 800)} ms"
    if d.chance(0.3):
        table["category"] = d.one(CATEGORIES)
    return table


def connections(d: Dice) -> Value:
    """TCP of a station, one way."""
    if d.chance(0.4):
        return d.whole(1, 3)
    table = {"connections": d.whole(1, 3), **when(d), **tcp(d, 0.15)}
    if d.chance(0.25):
        table["segments"] = d.whole(1, 60)
    return table


def datagrams(d: Dice) -> Value:
    """UDP of a station."""
    rate = f"{d.whole(100, 4000)} kbps"
    if d.chance(0.3):
        return d.one((rate, "greedy"))
    table = d.some(
        0.4,
        {
            "packet": lambda: f"{d.whole(20, 1472)} B",
            "header": lambda: f"{d.whole(0, 40)} B",
        },
    )
    match d.one(("constant", "poisson", "greedy", "greedy rate", "")):
        case "greedy":
            table["arrivals"] = "greedy"
        case "greedy rate":
            table["rate"] = "greedy"
        case "":
            table["rate"] = rate
        case arrivals:
            table |= {"rate": rate, "arrivals": arrivals}
    return table | when(d)


def sensor(d: Dice) -> Value:
    """Small reports."""
    every = ms(d, 20, 400)
    if d.chance(0.3):
        return every
    table = d.some(
        0.5,
        {
            "transport": lambda: d.one(("udp", "tcp")),
            "size": lambda: f"{d.whole(1, 400)} B",
            "arrivals": lambda: d.one(("poisson", "constant")),
            "deadline": lambda: ms(d, 1, 100),
        },
    )
    return {"every": every, **table, **when(d)}


def station(d: Dice, phy: str) -> Table:
    """A station with flows."""
    table = d.some(
        0.25,
        {
            "count": lambda: d.whole(1, 3),
            "rate": lambda: d.one(PHYS[phy]),
            "downlink_rate": lambda: d.one(PHYS[phy]),
            "queue": lambda: queue(d),
            "tcp": lambda: tcp(d) or {"window": 20},
        },
    )
    table |= node(d, phy, 0.1) | channel(d, 0.4)
    if d.chance(0.25):
        table["channel"] = {
            f"change-{at}": {"at": f"{at} ms", **channel(d, 0.8)}
            for at in sorted({d.whole(1, 480), d.whole(1, 480)})
        }
    flows = d.some(
        0.3,
        {
            "upload": lambda: connections(d),
            "download": lambda: connections(d),
            "udp_up": lambda: datagrams(d),
            "udp_down": lambda: datagrams(d),
            "sensor_up": lambda: sensor(d),
            "sensor_down": lambda: sensor(d),
        },
    )
    return table | (flows or {"download": connections(d)})


def cell(d: Dice, phy: str, part: float) -> Table:
    """The cell."""
    table = node(d, phy, part / 2) | d.some(
        part,
        {
            "rate": lambda: d.one(PHYS[phy]),
            "rate_control": lambda: d.one(("fixed", "arf")),
            "slot": lambda: f"{d.whole(5, 30)} us",
            "sifs": lambda: f"{d.whole(5, 20)} us",
            "preamble": lambda: f"{d.whole(16, 192)} us",
            "eifs_rate": lambda: d.one(("1 Mbps", "6 Mbps")),
            "mac_header": lambda: f"{d.whole(20, 40)} B",
            "llc": lambda: f"{d.whole(0, 8)} B",
            "rts_threshold": lambda: d.one(("never", "0 B", f"{d.whole(60, 1500)} B")),
            "ack_timeout": lambda: d.one(("eifs", f"{d.whole(20, 500)} us")),
            "countdown": lambda: d.one(("dcf", "edca")),
            "cf_end": d.flag,
            "queue": lambda: queue(d),
        },
    )
    ap = d.some(
        part,
        {
            "rate": lambda: d.one(PHYS[phy]),
            "queue_order": lambda: d.one(("fifo", "mixed")),
        },
    ) | node(d, phy, part / 2, ap=True)
    if d.chance(0.7):
        at = d.one(("ap_queue", "ap.queue"))
        if at == "ap_queue":
            table["ap_queue"] = queue(d)
        else:
            ap["queue"] = queue(d)
    if ap:
        table["ap"] = ap
    return {"phy": phy, **table}


def record(d: Dice) -> Table:
    """What is recorded."""
    return d.some(
        0.5,
        {
            "series_interval": lambda: d.one((ms(d, 10, 60), "never")),
            "utilisation_bin": lambda: ms(d, 20, 200),
            "frames": lambda: d.whole(0, 300),
        },
    )


def wire(d: Dice) -> Table:
    """The wire of a cell."""
    table = d.some(
        0.6,
        {
            "rate": lambda: d.one(("unlimited", "500 kbps", "5 Mbps", "100 Mbps")),
            "delay": lambda: ms(d, 0, 20),
            "queue": lambda: queue(d),
            "loss": lambda: d.number(0, 0.1),
        },
    )
    if table.get("rate", "unlimited") == "unlimited":
        table.pop("queue", None)
    return table or {"delay": "5 ms"}


def head(d: Dice, low_ms: int = 500, high_ms: int = 1200) -> Table:
    """Durations and the seed."""
    duration = d.whole(low_ms, high_ms)
    table: Table = {
        "duration": f"{duration} ms",
        "replications": d.one((1, 2, 2, 3)),
        "seed": d.whole(0, 10**9),
    }
    table |= d.some(
        0.3,
        {
            "name": lambda: "any name",
            "warmup": lambda: f"{duration // 5} ms",
            "stagger": lambda: ms(d, 0, 20),
        },
    )
    if d.chance(0.35) and (recorded := record(d)):
        table["record"] = recorded
    return table


def hot_spot(d: Dice, part: float = 0.25) -> Table:
    """A cell with its stations."""
    phy = d.one(tuple(PHYS))
    table = head(d) | {"cell": cell(d, phy, part)}
    if d.chance(0.4):
        table["wire"] = wire(d)
    if d.chance(0.5):
        table["tcp"] = tcp(d) or {"window": 30}
    if d.chance(0.15):
        table["udp"] = {"packet": f"{d.whole(100, 1400)} B", "header": "28 B"}
    names = ("laptop", "phone", "tablet-1", "x")
    table["station"] = {name: station(d, phy) for name in names[: d.whole(1, 4)]}
    return table


def in_cell(table: Table) -> Table:
    """The table of the cell."""
    inner = table["cell"]
    assert isinstance(inner, dict)
    return inner


def stations(table: Table) -> list[str]:
    """Names of the tables of stations."""
    inner = table["station"]
    assert isinstance(inner, dict)
    return list(inner)


def without_categories(table: Table) -> None:
    """Takes the categories of flows away."""
    table.pop("category", None)
    for inner in table.values():
        if isinstance(inner, dict):
            without_categories(inner)


def sharing(d: Dice) -> Table:
    """Virtual buffer sharing in a cell."""
    table = hot_spot(d, 0.12)
    if d.chance(0.9):
        without_categories(table)
    vbs = d.some(
        0.5,
        {
            "occupancy": lambda: d.number(0.1, 0.9),
            "share_of": lambda: d.one(("queue", "service")),
            "algorithm": lambda: d.one(("corrected", "printed", "regulated")),
            "tol": lambda: d.number(0, 10),
            "update": lambda: d.one(("packet", ms(d, 1, 20))),
        },
    )
    if d.chance(0.4):
        vbs["by"] = d.one(("station", "group", "direction"))
    else:
        classes: Table = {}
        for number in range(d.whole(1, 3)):
            classes[f"class-{number}"] = {"share": d.number(0.05, 0.33)} | d.some(
                0.4,
                {
                    "station": lambda: d.one(stations(table)),
                    "direction": lambda: d.one(("up", "down")),
                    "error_from": lambda: d.number(0, 0.2),
                    "error_below": lambda: d.number(0.2, 1),
                },
            )
        vbs["class"] = classes
    at: Table = {"limit": d.whole(5, 60), "vbs": vbs}
    inner = in_cell(table)
    if "ap_queue" not in inner and d.flag():
        ap = inner.setdefault("ap", {})
        assert isinstance(ap, dict)
        ap["queue"] = at
    else:
        inner["ap_queue"] = at
        if isinstance(ap := inner.get("ap"), dict):
            ap.pop("queue", None)
            if not ap:
                del inner["ap"]
    return table


def estimator(d: Dice, part: float) -> Table:
    """Settings of the capacity estimator."""
    return d.some(
        part,
        {
            "max": lambda: f"{d.number(4, 30):g} Mbps",
            "min": lambda: f"{d.whole(50, 900)} kbps",
            "interval": lambda: ms(d, 10, 100),
            "low": lambda: ms(d, 1, 9),
            "threshold": lambda: ms(d, 10, 60),
            "high": lambda: ms(d, 80, 300),
            "increase": lambda: f"{d.whole(1, 30)} kbps",
            "decrease": lambda: f"{d.whole(40, 200)} kbps",
            "speed_up": lambda: d.number(1.01, 1.5),
            "back_off": lambda: d.number(0.3, 0.95),
            "timeout": lambda: ms(d, 400, 3000),
        },
    )


def bottleneck(d: Dice) -> Table:
    """A virtual shared bottleneck in front of a cell."""
    table = hot_spot(d, 0.12)
    vsb = d.some(
        0.4,
        {
            "queue": lambda: d.whole(1, 60),
            "rate": lambda: d.one(("estimated", f"{d.number(0.5, 10):g} Mbps")),
            "start": lambda: ms(d, 0, 400),
            "ping": lambda: f"{d.whole(28, 1500)} B",
            "udp_aware": d.flag,
        },
    )
    vsb["fairness"] = d.one(("station", "airtime", "rate", "flow", "direction"))
    if vsb.get("rate", "estimated") == "estimated" and d.chance(0.7) and (wce := estimator(d, 0.4)):
        vsb["wce"] = wce
    return table | {"vsb": vsb}


def hosts(d: Dice, part: float) -> Table:
    """What flows between wired nodes can say."""
    table = d.some(
        part,
        {
            "access": lambda: d.one(("unlimited", "2 Mbps", "10 Mbps")),
            "access_spread": lambda: d.number(0, 0.3),
            "jitter": lambda: d.one(("packet", ms(d, 0, 2))),
            "rtt": lambda: ms(d, 60, 120),
            "rtt_spread": lambda: ms(d, 0, 30),
            "start_spread": lambda: ms(d, 0, 300),
        },
    )
    if table.get("access", "unlimited") == "unlimited":
        table.pop("access_spread", None)
    return table


def web(d: Dice) -> Value:
    """Web traffic."""
    if d.chance(0.25):
        return d.whole(2, 40)
    return {"connections": d.whole(2, 60)} | d.some(
        0.6,
        {
            "arrivals": lambda: d.one(("packmime", "poisson", "constant")),
            "request": lambda: d.one(("packmime", f"{d.whole(1, 3000)} B")),
            "response": lambda: d.one(("packmime", f"{d.whole(1, 60000)} B")),
            "server_delay": lambda: d.one(("packmime", ms(d, 0, 50))),
        },
    )


def wired_flow(d: Dice, ends: Table, web_part: float) -> Table:
    """A class of flows between wired nodes."""
    table: Table = dict(ends) | hosts(d, 0.35)
    start = d.whole(0, 300)
    table |= d.some(0.2, {"start": lambda: f"{start} ms", "stop": lambda: f"{start + 700} ms"})
    if d.chance(web_part):
        table |= {"web": web(d)} | tcp(d, 0.1)
        for key in ("rtt_spread", "access_spread", "start_spread"):
            table.pop(key, None)
    elif d.chance(0.25):
        udp: Value = f"{d.whole(100, 3000)} kbps"
        if d.flag():
            udp = {"rate": udp} | d.some(
                0.5,
                {
                    "arrivals": lambda: d.one(("constant", "poisson")),
                    "packet": lambda: f"{d.whole(20, 1472)} B",
                    "header": lambda: f"{d.whole(0, 40)} B",
                },
            )
        table["udp"] = udp
        table |= d.some(0.3, {"count": lambda: d.whole(1, 4)})
    else:
        table |= tcp(d, 0.2)
        table |= d.some(0.4, {"count": lambda: d.whole(2, 6), "segments": lambda: d.whole(1, 300)})
    if table.get("count", 1) == 1:
        table.pop("rtt_spread", None)
        table.pop("access_spread", None)
    return table


def wired(d: Dice, web_part: float = 0.15) -> Table:
    """A wired network."""
    table = head(d, 600, 1500)
    if d.chance(0.6):
        table["tcp"] = tcp(d) or {"window": 60}
    rate = f"{d.number(2, 12):g} Mbps"
    shape: Table = {"bottleneck": rate, **hosts(d, 0.4)}
    if d.chance(0.5):
        shape["delay"] = ms(d, 0, 8)
    classes: Table = {}
    kind = d.one(("dumbbell", "parking_lot", "links"))
    match kind:
        case "dumbbell":
            table["dumbbell"] = shape | {"flows": d.whole(1, 12)}
            if d.flag():
                classes = {"more": wired_flow(d, {}, web_part)}
                if d.flag():
                    classes["back"] = wired_flow(d, {"from": "right", "to": "left"}, web_part)
            if d.chance(0.8):
                table["queue"] = queue(d)
        case "parking_lot":
            hops = d.whole(1, 4)
            table["parking_lot"] = shape | {
                "hops": hops,
                "flows": d.whole(0, 5),
                "cross": d.whole(1, 4),
            }
            if d.flag():
                ends: Table = {"from": f"r{hops - 1}", "to": f"r{hops}"}
                classes = {"some": wired_flow(d, ends, web_part)}
            if d.chance(0.8):
                table["queue"] = queue(d)
        case _:
            table["link"] = links(d, ("a", "b", "c", "d"))
            classes = {
                "one": wired_flow(d, {"from": "a", "to": "d"}, web_part),
                "two": wired_flow(d, {"from": "d", "to": "b"}, web_part),
            }
    if classes:
        table["flow"] = classes
    return table


def links(d: Dice, nodes: Sequence[str]) -> Table:
    """Wired links in a row."""
    made: Table = {}
    for source, sink in zip(nodes, nodes[1:], strict=False):
        made[f"{source}-{sink}"] = link = {"from": source, "to": sink} | d.some(
            0.6,
            {
                "rate": lambda: d.one(("unlimited", "2 Mbps", "6 Mbps", "20 Mbps")),
                "delay": lambda: ms(d, 0, 10),
                "queue": lambda: queue(d),
                "back_queue": lambda: queue(d),
                "loss": lambda: d.number(0, 0.05),
            },
        )
        if link.get("rate", "unlimited") == "unlimited":
            link.pop("queue", None)
            link.pop("back_queue", None)
    return made


def attached(d: Dice) -> Table:
    """A cell whose wire ends at a node of a wired network."""
    table = hot_spot(d, 0.1)
    in_cell(table)["node"] = "b"
    table["link"] = links(d, ("b", "c", "d"))
    if d.chance(0.7):
        table["flow"] = {"beside": wired_flow(d, {"from": "d", "to": "b"}, 0.2)}
    inner = table["station"]
    assert isinstance(inner, dict)
    for flows in inner.values():
        assert isinstance(flows, dict)
        for key, flow in flows.items():
            if key in FLOWS and isinstance(flow, dict) and d.chance(0.7):
                flow["server"] = d.one(("c", "d"))
    if d.chance(0.3):
        table["vsb"] = {"fairness": d.one(("flow", "station"))}
    return table


FLOWS = ("upload", "download", "udp_up", "udp_down", "sensor_up", "sensor_down")


def conflict_graph(d: Dice) -> Table:
    """Wireless links by their conflicts."""
    kind = d.one(("adaptive", "adaptive", "legacy", "dcf"))
    csma = d.some(
        0.3,
        {
            "service_rate": lambda: d.number(200, 1000),
            "overhead": lambda: f"{d.whole(0, 400)} us",
            "transmission": lambda: d.one(("exponential", "uniform", "constant")),
            "attempts": lambda: d.whole(1, 7),
            "queue": lambda: d.whole(5, 200),
        },
    )
    if kind != "adaptive" or d.flag():
        csma["access"] = kind
    if kind != "dcf" and d.chance(0.4):
        csma["backoff"] = d.one(("exponential", "uniform", "constant"))
    if kind == "dcf":
        csma |= d.some(
            0.5,
            {
                "slot": lambda: f"{d.whole(9, 30)} us",
                "difs": lambda: f"{d.whole(20, 60)} us",
                "eifs": lambda: f"{d.whole(60, 400)} us",
                "cwmin": lambda: d.one((7, 15, 31)),
                "cwmax": lambda: d.one((63, 1023)),
            },
        )
    if kind == "legacy" and d.flag():
        csma["access_intensity"] = d.number(0.5, 10)
    udp_only = d.chance(0.25)
    if kind == "adaptive":
        csma |= d.some(
            0.35,
            {
                "beta": lambda: d.number(50, 400),
                "r_per_packet": lambda: d.one((3e-05, 1e-4, 0.001)),
                "queue_unit": lambda: d.one(("packets", "bytes")),
                "r_interval": lambda: ms(d, 20, 400),
                "r_max": lambda: d.one((0.01, 0.5, "unlimited")),
                "dummy": d.flag,
            },
        )
        if d.chance(0.2):
            csma["aqm"] = d.flag()
            if csma["aqm"] is False:
                csma["r_max"] = 0.02
        if not udp_only:
            connect = d.one(("rtt", "utility", "one"))
            if connect != "rtt" or d.flag():
                csma["connections"] = connect
            if connect != "one":
                csma |= d.some(
                    0.4,
                    {
                        "connections_interval": lambda: ms(d, 100, 500),
                        "rounding": lambda: d.one(("down", "nearest")),
                        "smoothing": lambda: d.number(0, 0.8),
                    },
                )
            if connect == "rtt" and d.flag():
                csma["k"] = d.number(5, 40)
            if connect == "utility" and d.flag():
                if d.flag():
                    csma["fairness"] = d.number(0.5, 3)
                else:
                    csma["marginal_utility"] = [[10, 1], [100, d.number(0.001, 0.1)]]
    if not udp_only and d.chance(0.4):
        csma["acks"] = d.one(("priority", "contend"))
    if d.chance(0.25):
        csma["connected"] = False
    names = [f"l{number}" for number in range(d.whole(2, 5))]
    routes: list[list[str]] = [[name] for name in names]
    if d.chance(0.4):
        spots = [f"n{number}" for number in range(len(names) + 1)]
        csma["node"] = {
            spot: {"x": f"{200 * index + d.whole(0, 40)} m"}
            | d.some(0.5, {"y": lambda: f"{d.whole(0, 100)} m"})
            for index, spot in enumerate(spots)
        }
        csma["link"] = {
            name: {"from": spots[index], "to": spots[index + 1]}
            | d.some(0.2, {"error": lambda: d.number(0, 0.3)})
            for index, name in enumerate(names)
        }
        csma |= d.some(
            0.6,
            {
                "transmission_range": lambda: f"{d.whole(250, 300)} m",
                "sensing_range": lambda: f"{d.whole(300, 700)} m",
                "interference_range": lambda: f"{d.whole(200, 500)} m",
            },
        )
    else:
        made: Table = {}
        for index, name in enumerate(names):
            rest: list[Value] = [other for other in names[index + 1 :] if d.chance(0.6)]
            link: Table = {"conflicts": rest} if rest else {}
            hidden: list[Value] = [o for o in names[index + 1 :] if o not in rest and d.flag()]
            if hidden and d.flag():
                link["disturbs"] = hidden
            if kind == "adaptive" and d.chance(0.15):
                link["r"] = d.number(0.001, 0.03)
            if d.chance(0.2):
                link["error"] = d.number(0, 0.3)
            made[name] = link
        csma["link"] = made
    if len(names) > 2 and d.flag():
        routes = [routes[0] + routes[1], *routes[2:]]
    flows: Table = {}
    for index, route in enumerate(routes):
        flow: Table = {"route": list(route)} | d.some(
            0.15,
            {
                "start": lambda: ms(d, 0, 300),
                "stop": lambda: ms(d, 900, 1400),
                "start_spread": lambda: ms(d, 0, 300),
            },
        )
        if udp_only or d.chance(0.2):
            flow["udp"] = d.one(
                (
                    f"{d.whole(100, 2000)} kbps",
                    "greedy",
                    {"rate": f"{d.whole(100, 2000)} kbps", "arrivals": "poisson"},
                )
            )
        else:
            flow |= tcp(d, 0.1)
            if csma.get("connections") == "utility":
                flow |= d.some(
                    0.3,
                    {
                        "weight": lambda: d.number(0.5, 3),
                        "marginal_utility": lambda: [[5, 2], [300, 0.01]],
                    },
                )
        flows[f"user-{index}"] = flow
    table = head(d, 1500, 4000)
    if isinstance(recorded := table.get("record"), dict):
        recorded.pop("frames", None)
        if not recorded:
            del table["record"]
    if d.chance(0.6):
        table["tcp"] = {"congestion": "reno", "window": 1000, "delayed_ack": False}
        table["tcp"] |= d.some(
            0.5, {"initial_rto": lambda: "3 s", "mss": lambda: f"{d.whole(400, 1460)} B"}
        )
    if d.chance(0.25):
        table["link"] = {"wire": {"from": "away", "to": "home", "rate": "5 Mbps", "queue": 30}}
    return table | {"csma": csma, "flow": flows}


def gateway(d: Dice) -> Table:
    """A gateway, half of them with a scenario."""
    table = hot_spot(d, 0.05) if d.flag() else {}
    own: Table = {"wan": "eth0", "lan": "eth1"} | d.some(
        0.3,
        {
            "queue": lambda: d.whole(2, 1000),
            "discipline": lambda: d.one(("pfifo", "fq_codel", "sfq")),
            "flow_leaves": lambda: d.whole(2, 512),
            "udp_uplink": lambda: f"{d.whole(10, 900)} kbps",
            "metrics": lambda: d.one(("off", "127.0.0.1:9464", "[::1]:80")),
            "fairness": lambda: d.one(("station", "rate", "flow", "direction")),
            "rate": lambda: d.one(("estimated", f"{d.whole(1, 50)} Mbps")),
            "wce": lambda: estimator(d, 0.3) or {"max": "20 Mbps"},
            "discover": lambda: (
                {"neighbours": True}
                | d.some(
                    0.5,
                    {
                        "leases": lambda: "/var/lib/misc/dnsmasq.leases",
                        "ignore": lambda: "10.0.0.1, fd00::1",
                        "interval": lambda: f"{d.whole(1, 60)} s",
                        "absence": lambda: f"{d.whole(60, 900)} s",
                    },
                )
            ),
        },
    )
    if d.chance(0.6):
        own["ap"] = {
            f"ap{number}": {"subnets": f"10.{number}.0.0/16, fd0{number}::/64"}
            | d.some(
                0.4,
                {
                    "interface": lambda number=number: f"wlan{number}",
                    "wce": lambda: estimator(d, 0.3) or {"max": "8 Mbps"},
                    "fairness": lambda: d.one(("station", "rate", "flow", "direction")),
                    "rate": lambda: d.one(("estimated", f"{d.whole(1, 50)} Mbps")),
                    "snmp": lambda: (
                        {"agent": "192.168.4.2"}
                        | d.some(
                            0.5,
                            {
                                "community": lambda: "monitor",
                                "table": lambda: "1.3.6.1.4.1.9.9.273.1.2.1.1.17",
                            },
                        )
                    ),
                },
            )
            for number in range(d.whole(1, 3))
        }
    if d.chance(0.6):
        own["station"] = {
            f"s{number}": {"address": f"10.0.1.{number}"}
            | d.some(
                0.5,
                {
                    "mac": lambda number=number: f"02:00:5e:10:00:0{number}",
                    "ap": lambda: "ap0" if "ap" in own else "wlan",
                    "rate": lambda: d.one(("11 Mbps", "54 Mbps")),
                },
            )
            for number in range(d.whole(1, 3))
        }
    return table | {"gateway": own}


#: What draws hardly ever give.
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
wce = { threshold = "30 ms", increase = "30 kbps", decrease = "90 kbps", timeout = "2 s", low = "4 ms" }
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
parking_lot = { hops = 2, cross = 3, flows = 2, bottleneck = "4 Mbps", access = "2 Mbps", access_spread = 0.1 }
flow.udp = { from = "r0", to = "r1", udp = { rate = "400 kbps", arrivals = "constant" } }
""",
    "flow-spread": """
duration = "1 s"
dumbbell = { bottleneck = "4 Mbps", delay = "3 ms" }
flow.a = { count = 3, access = "3 Mbps", access_spread = 0.2, segments = 90 }
flow.b = { count = 2, udp = { rate = "400 kbps", arrivals = "constant" } }
""",
    "parking-lot-spread-2": """
duration = "1 s"
parking_lot = { hops = 3, cross = 2, bottleneck = "3 Mbps", access = "1 Mbps", access_spread = 0.2, rtt = "30 ms" }
queue = { limit = 20, red = { min_th = 2, max_th = 9, bytes = true } }
""",
}

KINDS: dict[str, tuple[Callable[[Dice], Table], int]] = {
    "cell": (hot_spot, 52),
    "sharing": (sharing, 20),
    "bottleneck": (bottleneck, 18),
    "wired": (wired, 38),
    "web": (lambda d: wired(d, 0.8), 8),
    "attached": (attached, 10),
    "csma": (conflict_graph, 36),
    "gateway": (gateway, 22),
}


def toml(value: Value) -> str:
    """A value as TOML has it."""
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            inner = ", ".join(f"{key} = {toml(each)}" for key, each in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case _:
            return json.dumps(value)


def sections(table: Table, path: str = "") -> Iterator[str]:
    """The lines of a file: a key a line, a section a table."""
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    plain = [f"{key} = {toml(value)}" for key, value in table.items() if key not in tables]
    if path and (plain or not tables):
        yield f"[{path}]"
    yield from plain
    for key, value in tables.items():
        yield from sections(value, f"{path}.{key}" if path else key)


def refused(block: Block) -> bool:
    """Whether a block is no scenario or no gateway."""
    settings = [tuple(setting.split("=", 1)) for setting in block.settings]
    content, form = block.text.encode(), "json" if "json" in block.words else "toml"
    check = _core.check_gateway if "gateway" in block.words else _core.check
    try:
        check(content, form, f"{block.name}.{form}", settings)
    except ScenarioError:
        return True
    return False


def random_blocks() -> tuple[list[Block], list[Block]]:
    """Scenarios of every kind, and what was refused on the way."""
    good: list[Block] = []
    bad: list[Block] = []
    for kind, (make, wanted) in KINDS.items():
        words = "gateway" if kind == "gateway" else ""
        allowed: list[str] = []
        for tried in range(CANDIDATES * wanted):
            text = "\n".join(sections(make(Dice(f"{kind} {tried}"))))
            block = Block(f"refused-{kind}-{tried:02}", text, words=words)
            if not refused(block):
                allowed.append(text)
            elif tried < wanted // 2:
                bad.append(block)
        chosen = various(allowed, wanted)
        good += [Block(f"{kind}-{n:02}", text, words=words) for n, text in enumerate(chosen)]
    return good, bad


#: So many are drawn for each that is taken.
CANDIDATES = 15


def various(texts: list[str], wanted: int) -> list[str]:
    """Those first that say what is said rarely so far."""
    counts: Counter[str] = Counter()
    left = [(text, said(text)) for text in texts]
    chosen: list[str] = []
    while len(chosen) < wanted:
        best = max(left, key=lambda pair: worth(*pair, counts))
        left.remove(best)
        chosen.append(best[0])
        counts.update(best[1])
    return chosen


def worth(text: str, words: set[str], counts: Mapping[str, int]) -> float:
    """What is new in a text, less its length."""
    new = sum(1 / (1 + counts[word]) for word in words if counts[word] < ENOUGH)
    return new - len(text) / LENGTH


#: A word that stands in so many is not new; so many bytes are as bad as a new word is good.
ENOUGH, LENGTH = 4, 800.0


def said(text: str) -> set[str]:
    """Keys and words of a file, each with its section."""
    section, words = "", set[str]()
    for line in text.splitlines():
        if line.startswith("["):
            section = re.sub(r"(station|flow|link|class|ap|node|channel)\.[^.\]]+", r"\1.N", line)
        elif found := LINE.match(line):
            _, key, value = found.groups()
            words |= {f"{section} {key}"}
            if re.fullmatch(r'"[a-z]\D*"|true|false', value):
                words |= {f"{section} {key} {value}"}
    return words


def of_repository() -> Iterator[Block]:
    """Examples and benchmark cases without their comments."""
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


def main() -> None:
    """Writes both files."""
    good, bad = random_blocks()
    hand = [
        Block(k, text.strip(), words="gateway" * k.startswith("g")) for k, text in BY_HAND.items()
    ]
    blocks = [*of_repository(), *hand, *good]
    for block in blocks:
        if refused(block):
            print(f"refused: {block.name}")
    note = "# Written by generate.py; see README.md.\n"
    (HERE / "scenarios.txt").write_text(note + "".join(map(str, blocks)))
    wrong = [str(block) for block in bad]
    wrong += [str(block) for block in mutants(blocks)]
    (HERE / "wrong.txt").write_text(note + "".join(wrong))
    print(f"{len(blocks)} scenarios, {len(wrong)} wrong files")


LINE = re.compile(r"^(\s*)([\w.-]+)\s*=\s*(.*?)\s*$")
#: How many mutants; a third of them with several faults at once.
MUTANTS = 560
TYPES = ("true", '"words"', "[1, 2]", "{ a = 1 }", "3.5", "-1", "1e30", "0", '""', "1979-05-27")
QUANTITIES = ('"-5 s"', '"5 parsecs"', '"5"', '"1e30 s"', '"0 s"', '"7 bps"', '"5 MB"', "5")
STRAY = (
    "colour = 1",
    'codel = "5 ms"',
    "limit = 0",
    "sack = true",
    "prr = true",
    'congestion = "tahoe"',
    "cwmax = 1",
    "aifsn = 1",
    "upload = 1",
    "queue = { red = { min_th = 5, max_th = 2 } }",
    "vbs = {}",
    'from = "nowhere"',
    'route = ["nowhere"]',
    'server = "nowhere"',
    "conflicts = 3",
    'wce.low = "2 s"',
    "error = 1",
    'snr = "20"',
    'rate = "11"',
    'start = "2 h"',
)
SETTINGS = (
    "durtion=5 s",
    "duration=5",
    "duration=",
    "cell.ap.cwmin=x",
    "cell.ap.cwmim=3",
    "cell.ap=3",
    "cell.phy=802.11n",
    "tcp.congestion=vegas",
    "tcp.sack=maybe",
    "station.nobody.rate=1 Mbps",
    "station.laptop.upload.window=0",
    "queue.red={ min_th = 5 }",
    "queue.codel=5",
    "cell.ap_queue.codel=5 ms",
    "cell.ap_queue.pie.target=1 year",
    "csma.access=aloha",
    'csma.link.l0.conflicts=["l9"]',
    "flow.user-0.route=[]",
    "flow.more.udp=fast",
    "vsb.wce.low=1 s",
    "vsb.rate=guessed",
    "gateway.wan=eth1",
    "gateway.ap.ap0.subnets=10.0.0.0/99",
    "a.b.c=1",
    "=1",
    "seed=-1",
    "seed=1e3",
    "record.frames=many",
    "wire.loss=1",
    "dumbbell.flows=x",
)


def mutants(blocks: Sequence[Block]) -> Iterator[Block]:
    """Scenarios with faults."""
    for number in range(MUTANTS):
        d = Dice(f"mutant {number}")
        base = d.one([block for block in blocks if len(block.text) < 2500])
        lines, settings = base.text.splitlines(), list[str]()
        whole = list(lines)
        for _ in range(d.one((1, 1, 1, 1, 2, 3))):
            if d.chance(0.12):
                settings.append(d.one(SETTINGS))
            else:
                fault(d, lines)
        edits = [f"of {base.name}"]
        for at, (before, after) in enumerate(zip(whole, lines, strict=True), 1):
            if after != before:
                first, *more = after.split("\n")
                edits += [f"{at} {first}", *(f"+ {line}" for line in more)]
        yield Block(f"wrong-{number:03}", "", settings, base.words, edits)


def misspelt(d: Dice, word: str) -> str:
    """A letter dropped, doubled or swapped with the next."""
    at = d.whole(0, max(0, len(word) - 2))
    return d.one(
        (
            word[:at] + word[at + 1 :],
            word[: at + 1] + word[at:],
            word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
        )
    )


def fault(d: Dice, lines: list[str]) -> None:
    """One fault somewhere."""
    at = d.whole(0, len(lines) - 1)
    found = LINE.match(lines[at])
    if not found:
        lines[at] = d.one((misspelt(d, lines[at]), lines[at][:-1], f"{lines[at]}\n{d.one(STRAY)}"))
        return
    indent, key, value = found.groups()
    match d.one(
        ("key", "key", "type", "type", "range", "word", "drop", "twice", "stray", "broken")
    ):
        case "key":
            lines[at] = f"{indent}{misspelt(d, key)} = {value}"
        case "type":
            lines[at] = f"{indent}{key} = {d.one(TYPES)}"
        case "range":
            lines[at] = f"{indent}{key} = {d.one(QUANTITIES)}"
        case "word":
            lines[at] = f"{indent}{key} = {misspelt(d, value[:-1]) + value[-1:]}"
        case "drop":
            lines[at] = ""
        case "twice":
            lines[at] = f"{lines[at]}\n{lines[at]}"
        case "stray":
            lines[at] = f"{lines[at]}\n{d.one(STRAY)}"
        case _:
            lines[at] = f"{indent}{key} = {value[:-1]}"


if __name__ == "__main__":
    main()
