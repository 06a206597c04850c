"""What `kernel_tcp.py` runs: points, each a scenario, and variants, each something taken away."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Tree = Mapping[str, Any]

RATE_BPS = 20_000_000
RTTS_MS = (10, 50, 200)
FLOWS = (1, 12)
PACKET_BYTES = 1500
LAWS = {"newreno": "Reno", "cubic": "CUBIC", "bbr": "BBR"}
"""Congestion controls of the grid, by their names in records; Linux's Reno is NewReno with SACK."""

SYSCTLS = {
    "net.ipv4.tcp_wmem": "4096 1048576 33554432",
    "net.ipv4.tcp_rmem": "4096 131072 33554432",
}
"""Buffers of the kernel that limit nothing, as the engine's TCP has none. The sender's holds half a
second from the beginning: with the default of 16 kB it is empty whenever the program that
fills it comes late, and then full windows leave at once."""
WINDOW_PACKETS = 2500
"""Receive window: more than any pipe of the grid with its queue holds. The first slow start reaches
it at 200 ms with four products."""

NEAREST: Tree = {
    "window": WINDOW_PACKETS,
    "sack": True,
    "rack": True,
    "prr": True,
    "undo": True,
    "byte_counting": True,
    "initial_window": 10,
    "min_rto": "200 ms",
    "ack_delay": "40 ms",
}
"""The engine's settings that are nearest to Linux: SACK, losses found by time, proportional rate
reduction, needless recoveries undone, growth by segments, initial window, least timeout, and the
delayed-ACK timer, which is 40 ms there for a steady stream."""
ENGINE_LAWS = {"cubic": "cubic_linux"}
"""The engine's law where Linux's is not its law of that name."""


@dataclass(frozen=True)
class Point:
    """A scenario, run by the engine's TCP and by the kernel's."""

    suite: str
    name: str
    tree: Tree
    row: tuple[str, ...]
    """How a table's line begins."""
    title: str
    """The point as pages name it; `name` is the key of records."""
    congestion: str | None = None
    """The kernel's law for which scenarios have no word; None: the scenario's."""
    warmup_s: float = 10.0
    duration_s: float = 60.0
    load: float = 1.0
    """Work beside that of 20 Mbit/s. [-]"""

    def timed(self, seconds: float | None) -> "Tree":
        """The scenario with its times, or so many seconds of which a sixth is cut."""
        if seconds is None:
            return {
                **self.tree,
                "warmup": f"{self.warmup_s:g} s",
                "duration": f"{self.duration_s:g} s",
            }
        return {**self.tree, "warmup": f"{seconds / 6:.3f} s", "duration": f"{seconds:g} s"}

    def lasts_s(self, seconds: float | None) -> float:
        """How long a run takes. [s]"""
        return self.duration_s if seconds is None else seconds

    @property
    def is_simulated(self) -> bool:
        """Whether the engine has its law."""
        return self.congestion is None


# -- the grid -----------------------------------------------------------------------------------


def bdp_packets(rtt_ms: float) -> float:
    """Packets that the pipe holds."""
    return RATE_BPS * rtt_ms / 1e3 / (8 * PACKET_BYTES)


def drop_tail(products: float) -> Callable[[float], Tree]:
    """A queue of so many bandwidth-delay products."""
    return lambda bdp: {"queue": max(1, round(products * bdp))}


def red(bdp: float) -> Tree:
    """RED whose thresholds are a quarter and three quarters of a bandwidth-delay product."""
    least = max(5.0, bdp / 4)
    limits = {"min_th": round(least), "max_th": round(3 * least), "mean_packet": "1500 B"}
    return {"queue": {"limit": round(max(8 * least, 2 * bdp)), "red": limits}}


def codel(_bdp: float) -> Tree:
    """CoDel as RFC 8289 has it, with the limit that Linux has."""
    return {"queue": {"limit": 1000, "codel": {}}}


def lossy(probability: float) -> Callable[[float], Tree]:
    """Drop-tail of a bandwidth-delay product in front of a link that loses segments."""
    return lambda bdp: {**drop_tail(1)(bdp), "loss": probability}


QUEUE_TITLES = {
    "drop-tail 1/4 BDP": "drop-tail queue of 1/4 BDP",
    "drop-tail 1 BDP": "drop-tail queue of 1 BDP",
    "drop-tail 4 BDP": "drop-tail queue of 4 BDP",
    "RED": "RED queue",
    "CoDel": "CoDel queue",
    "1 BDP, 0.1 % lost": "drop-tail queue of 1 BDP, link loses 0.1 % of the packets",
    "1 BDP, 1 % lost": "drop-tail queue of 1 BDP, link loses 1 % of the packets",
}
"""Queues as pages name them, by their names in records."""
QUEUES: Mapping[str, Callable[[float], Tree]] = {
    "drop-tail 1/4 BDP": drop_tail(0.25),
    "drop-tail 1 BDP": drop_tail(1),
    "drop-tail 4 BDP": drop_tail(4),
    "RED": red,
    "CoDel": codel,
    "1 BDP, 0.1 % lost": lossy(0.001),
    "1 BDP, 1 % lost": lossy(0.01),
}


def grid_title(law: str, flows: int, rtt_ms: float, queue: str) -> str:
    """The name of a point of the grid on pages."""
    many = f"{flows} flow{'s' if flows > 1 else ''}"
    return f"{LAWS[law]}, {many}, RTT {rtt_ms:g} ms, {QUEUE_TITLES[queue]}"


def grid() -> Iterator[Point]:
    """One queue of 20 Mbit/s: laws, flows, round trips, queues."""
    for law in LAWS:
        known = law if law != "bbr" else "newreno"
        for flows in FLOWS:
            for rtt_ms in RTTS_MS:
                for queue, keys in QUEUES.items():
                    yield Point(
                        "grid",
                        f"{law}, {flows} of {rtt_ms} ms, {queue}",
                        one_queue(known, flows, rtt_ms, keys(bdp_packets(rtt_ms))),
                        (str(flows), str(rtt_ms), QUEUE_TITLES[queue]),
                        grid_title(law, flows, rtt_ms, queue),
                        None if known == law else law,
                    )


def one_queue(law: str, flows: int, rtt_ms: float, link: Tree) -> Tree:
    """A bottleneck and downloads through it."""
    ends = {"from": "left", "to": "right"}
    return {
        "link": {"bottleneck": {**ends, "rate": f"{RATE_BPS} bps", **link}},
        "flow": {"flow": {**ends, "count": flows, "rtt": f"{rtt_ms} ms", "start_spread": "1 s"}},
        "tcp": {**NEAREST, "congestion": ENGINE_LAWS.get(law, law)},
    }


# -- a router with sixty flows ------------------------------------------------------------------


def router() -> Iterator[Point]:
    """Validation's sixty flows of 200 ms through 15 packets of drop-tail at 100 Mbit/s."""
    for law, word in (("newreno", "Reno"), ("compound", "Compound")):
        for is_delayed in (False, True):
            acks = "every second" if is_delayed else "each"
            acknowledged = f"{acks} segment"
            yield Point(
                "router",
                f"sixty flows, {law}, {acks} acknowledged",
                {
                    "queue": 15,
                    "dumbbell": {
                        "flows": 60,
                        "access": "2 Mbps",
                        "access_spread": 0.01,
                        "bottleneck": "100 Mbps",
                        "rtt": "200 ms",
                    },
                    "tcp": {**NEAREST, "congestion": law, "delayed_ack": is_delayed},
                },
                (word, acknowledged),
                f"router, 60 {word} flows, an ACK for {acknowledged}",
                warmup_s=25.0,
                duration_s=65.0,
                load=4.5,
            )


# -- cells --------------------------------------------------------------------------------------


PAPER_000 = {"phy": "802.11g-long", "llc": "0 B", "ap_queue": 100} | dict.fromkeys(
    ("attempts_short", "attempts_long"), 4
)
"""Table II of paper 000, with ns-2's limit for long frames."""


def cells() -> Iterator[Point]:
    """802.11 cells whose access point has a drop-tail queue that overflows."""
    for law, word in (("newreno", "Reno"), ("cubic", "CUBIC"), ("compound", "Compound")):
        tcp = {**NEAREST, "congestion": ENGINE_LAWS.get(law, law)}
        for error in (0.0, 0.3):
            name = f"two classes, p_w {error:g}"
            tree = {
                "cell": PAPER_000,
                "tcp": {**tcp, "window": 45, "delayed_ack": False},
                "station": {
                    "high": {"count": 5, "download": 1},
                    "low": {"count": 5, "download": 1, "error_down": error},
                },
            }
            kind = f"two classes, channel error probability p_w = {error:g}"
            title = f"cell with {kind}, {word}"
            yield Point("cell", f"{name}, {law}", tree, (kind, word), title, load=0.5)
        yield Point(
            "cell",
            f"hot-spot, {law}",
            {
                "cell": {"phy": "802.11b", "ap_queue": 75},
                "tcp": {**tcp, "window": 42},
                "station": {"uploader": {"upload": 1}, "others": {"count": 4, "download": 1}},
                "stagger": "1 s",
            },
            ("one upload, four downloads", word),
            f"cell with one upload and four downloads, {word}",
            load=0.5,
        )


SUITES: Mapping[str, Callable[[], Iterator[Point]]] = {
    "grid": grid,
    "router": router,
    "cell": cells,
}


def points() -> Iterator[Point]:
    """All of them."""
    for suite in SUITES.values():
        yield from suite()


def in_long_part(point: Point) -> bool:
    """Whether `make test-long` runs it: what the engine has, too, of the router with ACKs for each
    segment, of cells the hot-spot.
    """
    match point.suite:
        case "grid":
            return point.is_simulated
        case "router":
            return point.row[1] == "each segment"
    return "hot-spot" in point.name


# -- variants -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """What is otherwise than in Linux and in the engine's nearest settings."""

    name: str = ""
    words: str = "none"
    sysctls: Mapping[str, str] = field(default_factory=dict)
    """Settings of the kernel in every namespace."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the kernel's modules, `module.name`: the whole machine's while it runs."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Keys of the scenario, both ways; the kernel follows few of `tcp`."""
    quick_acks: bool = True

    @property
    def changes_kernel(self) -> bool:
        """Whether Linux runs with other settings."""
        return bool(self.sysctls or self.parameters or not self.quick_acks)


def ipv4(**values: object) -> dict[str, str]:
    """Settings of TCP in a namespace."""
    return {f"net.ipv4.tcp_{name}": str(value) for name, value in values.items()}


def of_cubic(**values: object) -> dict[str, str]:
    """Parameters of the kernel's CUBIC."""
    return {f"tcp_cubic.{name}": str(value) for name, value in values.items()}


BY_COUNTING = {"tcp.rack": "false", "tcp.undo": "false"}
"""Losses by three duplicate ACKs."""
BY_ACKS = {"tcp.byte_counting": "false"}
RFC_CUBIC = {"tcp.congestion": "cubic", "tcp.hystart": "true"}
"""Of points with CUBIC."""
BARE = {**BY_COUNTING, **BY_ACKS}
SACK_ALONE = {**BARE, "tcp.prr": "false", "tcp.initial_window": "2"}

VARIANTS = {
    each.name: each
    for each in (
        Variant(
            "no-rack", "no RACK in Linux and in the engine", ipv4(recovery=0), settings=BY_COUNTING
        ),
        Variant("no-tlp", "Linux without tail loss probes", ipv4(early_retrans=0)),
        Variant(
            "no-rack-tlp",
            "Linux without RACK and tail loss probes",
            ipv4(recovery=0, early_retrans=0),
        ),
        Variant("no-frto", "Linux without F-RTO", ipv4(frto=0)),
        Variant(
            "no-undo",
            "engine without `undo`, Linux without D-SACK",
            ipv4(dsack=0),
            settings={"tcp.undo": "false"},
        ),
        Variant("by-acks", "engine without `byte_counting`", settings=BY_ACKS),
        Variant(
            "sack-alone",
            "engine without `prr`, `rack`, `undo` and `byte_counting`, initial window of 2 packets",
            settings=SACK_ALONE,
        ),
        Variant(
            "sack-prr",
            "engine without `rack`, `undo` and `byte_counting`, initial window of 2 packets",
            settings={**SACK_ALONE, "tcp.prr": "true"},
        ),
        Variant(
            "rfc-cubic",
            "engine with CUBIC and HyStart++ of the RFCs instead of `cubic_linux`",
            settings=RFC_CUBIC,
        ),
        Variant("bare", "engine without `rack`, `undo` and `byte_counting`", settings=BARE),
        Variant(
            "timestamps",
            "timestamps, 12 bytes per packet",
            ipv4(timestamps=1),
            settings={"tcp.mss": '"1448 B"', "tcp.header": '"52 B"'},
        ),
        Variant("no-metrics", "Linux without saved route metrics", ipv4(no_metrics_save=1)),
        Variant("each-sack", "Linux without SACK compression", ipv4(comp_sack_nr=0)),
        Variant(
            "no-reordering",
            "Linux with a fixed threshold of three duplicate ACKs",
            ipv4(max_reordering=3),
        ),
        Variant("no-deferral", "Linux without TSO deferral", ipv4(tso_win_divisor=255)),
        Variant(
            "prompt",
            "Linux without TSO deferral and without quick ACKs",
            ipv4(tso_win_divisor=255),
            quick_acks=False,
        ),
        Variant(
            "plain",
            "Linux without TSO deferral, quick ACKs and SACK compression",
            ipv4(tso_win_divisor=255, comp_sack_nr=0),
            quick_acks=False,
        ),
        Variant("long-rto", 'engine with `min_rto = "1 s"`', settings={"tcp.min_rto": '"1 s"'}),
        Variant(
            "wide",
            "receive window of 5000 instead of 2500 packets",
            settings={"tcp.window": "5000"},
        ),
        Variant(
            "small-queue",
            "Linux with at most 128 kB per connection below TCP",
            ipv4(limit_output_bytes=131072),
        ),
        Variant("each-ack", "an ACK for each segment", settings={"tcp.delayed_ack": "false"}),
        Variant("no-quick-acks", "Linux without quick ACKs", quick_acks=False),
        Variant(
            "no-sack",
            "no SACK in Linux and in the engine",
            ipv4(sack=0),
            settings={**BY_COUNTING, "tcp.sack": "false", "tcp.prr": "false"},
        ),
        Variant("no-prr", "engine without `prr`", settings={"tcp.prr": "false"}),
        Variant(
            "no-hystart",
            "no HyStart in Linux and in the engine",
            parameters=of_cubic(hystart=0),
            settings={"tcp.cubic_linux.hystart": "false"},
        ),
        Variant(
            "hystart-delay",
            "Linux with HyStart by delay only",
            parameters=of_cubic(hystart_detect=2),
        ),
        Variant(
            "hystart-train",
            "Linux with HyStart by ACK trains only",
            parameters=of_cubic(hystart_detect=1),
        ),
        Variant(
            "no-friendliness",
            "Linux with CUBIC without its Reno-friendly region",
            parameters=of_cubic(tcp_friendliness=0),
        ),
        Variant(
            "no-convergence",
            "Linux with CUBIC without fast convergence",
            parameters=of_cubic(fast_convergence=0),
        ),
    )
}
"""Known by name. What is of the scenario alone changes the engine and leaves the kernel as it is,
but for `tcp.delayed_ack`, which the kernel follows."""
AS_THEY_ARE = Variant()
