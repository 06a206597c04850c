"""Scenarios (points) and variants of `kernel_tcp.py`. A variant changes one rule of Linux or of the
engine.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Tree = Mapping[str, Any]

RATE_BPS = 20_000_000
RTTS_MS = (10, 50, 200)
FLOWS = (1, 12)
PACKET_BYTES = 1500
LAWS = {"newreno": "Reno", "cubic": "CUBIC", "bbr": "BBR"}
"""Titles of the congestion controls of the grid, by their names in stored runs. Reno in Linux is
NewReno with SACK.
"""

SYSCTLS = {
    "net.ipv4.tcp_wmem": "4096 1048576 33554432",
    "net.ipv4.tcp_rmem": "4096 131072 33554432",
}
"""Kernel settings for socket buffers that never limit Reno and CUBIC, because the engine's TCP has
no socket buffers. BBR with twelve flows is limited (variant `large-buffer`). From the start,
the send buffer can store data for half a second. With the default of 16 kB the buffer becomes empty
whenever the sending program is late, and full windows are then sent back to back.
"""
WINDOW_PACKETS = 2500
"""Receive window, larger than the bandwidth-delay product plus the queue in all scenarios. The
first slow start reaches this window only with an RTT of 200 ms and a queue of four bandwidth-delay
products.
"""

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
"""Settings of the engine that are most similar to Linux. They select SACK, loss detection by time
(RACK), proportional rate reduction, undo of spurious recoveries, and growth by segments. They also
set the initial window, the minimum RTO, and the delayed-ACK timer, which is 40 ms in Linux for a
steady stream.
"""
OWN: Mapping[str, Tree] = {"bbr": {"tso": True}}
"""Further settings of the engine that are most similar to Linux, by congestion control."""
ENGINE_LAWS = {"cubic": "cubic_linux"}
"""Congestion control of the engine that corresponds to Linux's, if the names differ."""


@dataclass(frozen=True)
class Point:
    """A scenario that runs with the engine's TCP and with the kernel's TCP."""

    suite: str
    name: str
    tree: Tree
    row: tuple[str, ...]
    """First cells of the scenario's row in a table."""
    title: str
    """Name of the scenario on pages. `name` is the key in stored runs."""
    congestion: str | None = None
    """Congestion control of the kernel that scenario files do not support; None if the scenario
    file sets it.
    """
    warmup_s: float = 10.0
    duration_s: float = 60.0
    load: float = 1.0
    """CPU load of a run, relative to a run at 20 Mbit/s. [-]"""

    def timed(self, seconds: float | None) -> "Tree":
        """Return the scenario with its default times, or with a duration of this many seconds. A
        sixth of this duration is the warm-up.
        """
        if seconds is None:
            return {
                **self.tree,
                "warmup": f"{self.warmup_s:g} s",
                "duration": f"{self.duration_s:g} s",
            }
        return {**self.tree, "warmup": f"{seconds / 6:.3f} s", "duration": f"{seconds:g} s"}

    def lasts_s(self, seconds: float | None) -> float:
        """Return the duration of a run. [s]"""
        return self.duration_s if seconds is None else seconds

    @property
    def is_simulated(self) -> bool:
        """Whether the engine supports the congestion control of the scenario."""
        return self.congestion is None


# -- the grid -----------------------------------------------------------------------------------


def bdp_packets(rtt_ms: float) -> float:
    """Return the bandwidth-delay product. [packets]"""
    return RATE_BPS * rtt_ms / 1e3 / (8 * PACKET_BYTES)


def drop_tail(products: float) -> Callable[[float], Tree]:
    """Return a drop-tail queue of this many bandwidth-delay products."""
    return lambda bdp: {"queue": max(1, round(products * bdp))}


def red(bdp: float) -> Tree:
    """Return RED with thresholds at 1/4 and 3/4 of a bandwidth-delay product."""
    least = max(5.0, bdp / 4)
    limits = {"min_th": round(least), "max_th": round(3 * least), "mean_packet": "1500 B"}
    return {"queue": {"limit": round(max(8 * least, 2 * bdp)), "red": limits}}


def codel(_bdp: float) -> Tree:
    """Return CoDel as in RFC 8289, with the queue limit that Linux uses by default."""
    return {"queue": {"limit": 1000, "codel": {}}}


def lossy(probability: float) -> Callable[[float], Tree]:
    """Return a drop-tail queue of one bandwidth-delay product, followed by a link that loses
    segments at random.
    """
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
"""Names of queue disciplines on pages, by their names in stored runs."""
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
    """Return the name on pages of a scenario of the grid."""
    many = f"{flows} flow{'s' if flows > 1 else ''}"
    return f"{LAWS[law]}, {many}, RTT {rtt_ms:g} ms, {QUEUE_TITLES[queue]}"


def grid() -> Iterator[Point]:
    """Yield the grid: a bottleneck of 20 Mbit/s, with all combinations of congestion control,
    number of flows, RTT and queue.
    """
    for law in LAWS:
        for flows in FLOWS:
            for rtt_ms in RTTS_MS:
                for queue, keys in QUEUES.items():
                    yield Point(
                        "grid",
                        f"{law}, {flows} of {rtt_ms} ms, {queue}",
                        one_queue(law, flows, rtt_ms, keys(bdp_packets(rtt_ms))),
                        (str(flows), str(rtt_ms), QUEUE_TITLES[queue]),
                        grid_title(law, flows, rtt_ms, queue),
                    )


def one_queue(law: str, flows: int, rtt_ms: float, link: Tree) -> Tree:
    """Return a scenario with one bottleneck and downloads through it."""
    ends = {"from": "left", "to": "right"}
    return {
        "link": {"bottleneck": {**ends, "rate": f"{RATE_BPS} bps", **link}},
        "flow": {"flow": {**ends, "count": flows, "rtt": f"{rtt_ms} ms", "start_spread": "1 s"}},
        "tcp": {**NEAREST, **OWN.get(law, {}), "congestion": ENGINE_LAWS.get(law, law)},
    }


# -- a router with sixty flows ------------------------------------------------------------------


def router() -> Iterator[Point]:
    """Yield the scenarios with sixty flows from docs/validation.md, with an RTT of 200 ms and a
    drop-tail queue of 15 packets at 100 Mbit/s.
    """
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
"""Settings of the 802.11 cell that table II of paper 000 describes, with ns-2's attempt limits."""


def cells() -> Iterator[Point]:
    """Yield 802.11 cells in which the access point's drop-tail queue overflows."""
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
    """Yield the scenarios of all suites."""
    for suite in SUITES.values():
        yield from suite()


def in_long_part(point: Point) -> bool:
    """Return whether `make test-long` runs the scenario. Scenarios with BBR are not run, because
    their 126 emulations would take too long. In the suite `router`, only scenarios with an ACK per
    segment are run. In the suite `cell`, only the hot-spot is run.
    """
    match point.suite:
        case "grid":
            return not point.name.startswith("bbr, ")
        case "router":
            return point.row[1] == "each segment"
    return "hot-spot" in point.name


# -- variants -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """A change of Linux's settings, or of the engine's settings that are most similar to Linux."""

    name: str = ""
    words: str = "none"
    sysctls: Mapping[str, str] = field(default_factory=dict)
    """Sysctl settings of the kernel, in every network namespace."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameters of kernel modules, as `module.name`. During a run they apply to the whole
    machine.
    """
    settings: Mapping[str, str] = field(default_factory=dict)
    """Keys of the scenario that the variant sets, for the engine and the kernel. Most keys of `tcp`
    have no effect on the kernel.
    """
    quick_acks: bool = True
    memory_mb: int = 512
    """Memory of user-mode Linux, which limits the sum of all socket buffers. [MB]"""

    @property
    def changes_kernel(self) -> bool:
        """Whether the variant changes settings of Linux."""
        return bool(self.sysctls or self.parameters or not self.quick_acks)


def ipv4(**values: object) -> dict[str, str]:
    """Return sysctl settings of TCP."""
    return {f"net.ipv4.tcp_{name}": str(value) for name, value in values.items()}


def of_cubic(**values: object) -> dict[str, str]:
    """Return parameters of the kernel module for CUBIC."""
    return {f"tcp_cubic.{name}": str(value) for name, value in values.items()}


BY_COUNTING = {"tcp.rack": "false", "tcp.undo": "false"}
"""Settings of the engine that replace loss detection by time with three duplicate ACKs."""
BY_ACKS = {"tcp.byte_counting": "false"}
RFC_CUBIC = {"tcp.congestion": "cubic", "tcp.hystart": "true"}
"""Settings of the engine for CUBIC and HyStart++ as in the RFCs, instead of Linux's algorithms."""
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
        Variant("no-tso", "engine without `tso`", settings={"tcp.tso": "false"}),
        Variant("long-rto", 'engine with `min_rto = "1 s"`', settings={"tcp.min_rto": '"1 s"'}),
        Variant(
            "short-tick",
            "engine with timer ticks of 1 ms instead of 10 ms",
            settings={"tcp.cubic_linux.hz": "1000"},
        ),
        Variant(
            "wide",
            "engine with a receive window of 5000 instead of 2500 packets",
            settings={"tcp.window": "5000"},
        ),
        Variant(
            "large-buffer",
            "Linux with a send buffer of 6 MB",
            {"net.ipv4.tcp_wmem": "4096 6291456 67108864"},
            memory_mb=2048,
        ),
        Variant(
            "long-warmup",
            "warm-up of 20 s instead of 10 s",
            settings={"warmup": '"20 s"', "duration": '"70 s"'},
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
"""Variants by name. If a variant sets keys of the scenario, these keys change only the engine. The
exceptions are `tcp.delayed_ack`, `warmup` and `duration`, which also change the runs of the kernel.
"""
AS_THEY_ARE = Variant()
