"""The routers of paper 004 (sections V and VI), and functions that read the quantities of its
figures.

Sixty hosts with access links of 2 Mb/s share a link of 100 Mb/s, whose buffer stores 2084 packets
of 1500 bytes. The queue of the link is RED with the defaults of ns-2, or the threshold policy. Runs
last 500 s, of which the last 25 s are measured. The access rates differ by up to 1 %. With equal
rates, packets of all flows would arrive in lock step, and the order of arrival would decide which
packets are lost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.study import Quantity, Reading, Run, mean_of, reading


@dataclass(frozen=True)
class Budget:
    """Lengths and numbers of replications of the simulations.

    Parameters
    ----------
    rtts : tuple of int
        Round-trip propagation times of the sweeps. [ms]
    duration_s : int
        Length of a run of flows without end. [s]
    megabytes_long, megabytes : int
        Volume of each flow in runs that measure completion times: at one router with Compound
        flows, and in all other runs. [MB]
    replications, close, least : int
        Numbers of replications: `replications` for most points, and `least` for points whose
        minimum utilisation is compared with the paper. `close` is for points for which five
        replications do not suffice, because curves are close together or extremes vary.
    words : str
        Text for titles.
    """

    rtts: tuple[int, ...]
    duration_s: int
    megabytes_long: int
    megabytes: int
    replications: int
    close: int
    least: int
    words: str = ""


FULL = Budget(
    (10, 25, 50, 75, 100, 150, 200),
    duration_s=500,
    megabytes_long=500,
    megabytes=50,
    replications=5,
    close=20,
    least=40,
)
"""Budget of the paper. Only transfers in mixed traffic and in the parking lot are shorter than in
the paper.
"""

QUICK = Budget(
    (10, 25, 50, 100, 200),
    duration_s=125,
    megabytes_long=50,
    megabytes=20,
    replications=4,
    close=4,
    least=4,
    words=" (quick: 4 runs of 125 s, smaller transfers)",
)
"""Budget of a quick run: five round-trip times, a quarter of the simulated time, and less data."""


BUFFER = 2084
"""Limit of the bottleneck's queue. [packets]"""

FLOWS = 60

READ_S = 25
"""Length of the measured interval at the end of a run. [s]"""

PACKET = "1500 B"
"""Mean packet length for RED, which sets the automatic weight to 1.2e-4. The default of ns-2 is 500
B, with a weight of 4e-5.
"""

BOTTLENECK_MBPS = 100
"""Rate of the shared links. [Mb/s]"""

BOTTLENECK = "bottleneck"
"""Name of the shared link and of its queue."""

HOST: Mapping[str, Any] = {"access": "2 Mbps", "access_spread": 0.01, "start_spread": "10 s"}
"""Access link of a source. Each source starts at a random time within the first 10 s."""

RATE_SPREAD = 0.003
"""Range of the rates of the parking lot's links, as a fraction of their mean. [-]

With exactly equal rates, the queue of the second link favours packets from the first link. Flows
that enter at the second link then lose a third more packets.
"""

TCP: Mapping[str, Any] = {
    "congestion": "compound",
    "window": 10_000,
    "delayed_ack": False,
    "handshake": False,
}
"""Compound TCP with its published parameters, and a receive window that never limits the sender.
ACKs are immediate, as in ns-2's sinks. There is no handshake, as in ns-2's one-way agents.
"""

Tree = Mapping[str, Any]


def red(
    low: float,
    high: float,
    *,
    averaging: bool = True,
    gentle: bool = True,
    packet: str = PACKET,
    buffer: int = BUFFER,
) -> dict[str, Any]:
    """Return the settings of RED with ns-2's defaults and these thresholds. [packets]

    The options switch off averaging or `gentle`, or set the mean packet length or the buffer
    [packets]. Without `gentle`, all packets are dropped above the upper threshold.
    """
    setting: dict[str, Any] = {"min_th": low, "max_th": high, "mean_packet": packet}
    if not averaging:
        setting["weight"] = 1
    if not gentle:
        setting["gentle"] = False
    return {"limit": buffer, "red": setting}


def threshold(packets: int) -> dict[str, Any]:
    """Return the settings of the threshold policy, which drops a packet that finds this many
    packets in the queue.
    """
    return {"threshold": packets}


POLICIES: Mapping[str, Mapping[str, Any]] = {"red": red(8, 15), "threshold": threshold(15)}
"""Queue settings of both policies that sections VI-B and VI-C compare."""


def dumbbell(
    rtt_ms: float | Sequence[float],
    queue: Tree,
    *,
    effort: Budget = FULL,
    mixed: bool = False,
    megabytes: int | None = None,
    replications: int | None = None,
    bin_s: float = 0.1,
    spread: float = 0.01,
    flow_count: int = FLOWS,
) -> dict[str, Any]:
    """Return the scenario of a single bottleneck.

    Parameters
    ----------
    rtt_ms : float or two floats
        Round-trip propagation time; with two values, each is for half of the flows. [ms]
    queue : mapping
        Queue of the bottleneck.
    effort : Budget
        Lengths and replications.
    mixed : bool
        Whether the traffic is that of section V-B: 27 Compound and 28 CUBIC flows, 8 UDP flows of 1
        Mb/s, and 50 web connections a second on Tahoe.
    megabytes : int, optional
        Size of the transfer of each bulk flow; the run is long enough for the last transfer. By
        default, bulk flows never end. [MB]
    replications : int, optional
        Number of replications; by default that of most points.
    bin_s : float
        Width of the bins of the minimum utilisation. [s]
    spread : float
        Range of the access rates, as a fraction of their mean. [-]
    flow_count : int
        Number of Compound flows, if the traffic is not mixed. The capacity per flow is fixed.
    """
    rtts = [rtt_ms] if isinstance(rtt_ms, int | float) else list(rtt_ms)
    flows: dict[str, Any] = {}
    for group, rtt in enumerate(rtts):
        suffix = "" if len(rtts) == 1 else f"-{rtt:g}ms"
        own = {"rtt": f"{rtt:g} ms"}
        for name, table in _traffic(mixed, group, len(rtts), megabytes, flow_count).items():
            flows[name + suffix] = {**table, **own}
    rate = f"{BOTTLENECK_MBPS * flow_count / FLOWS:g} Mbps"
    shape = {"dumbbell": {"bottleneck": rate, **HOST, "access_spread": spread}}
    words = f"RTT {' and '.join(f'{rtt:g}' for rtt in rtts)} ms, {_words(queue)}"
    length = _length(effort, megabytes, replications)
    return _scenario(words, length, shape, queue, flows, bin_s)


def parking_lot(
    rtt_ms: float,
    queue: Tree,
    *,
    effort: Budget = FULL,
    mixed: bool = False,
    megabytes: int | None = None,
    replications: int | None = None,
    rate_spread: float = RATE_SPREAD,
) -> dict[str, Any]:
    """Return the scenario of two successive bottlenecks (figure 16).

    Half of the sources of the first bottleneck continue through the second, where an equal number
    of other sources join. `rate_spread` is the range of the bottlenecks' rates, as a fraction of
    their mean.
    """
    own = {"rtt": f"{rtt_ms:g} ms"}
    flows: dict[str, Any] = {}
    for name, ends in {
        "through": ("r0", "r2"),
        "first": ("r0", "r1"),
        "second": ("r1", "r2"),
    }.items():
        place = {"from": ends[0], "to": ends[1], **own}
        if not mixed:
            flows[name] = {"count": FLOWS // 2, **_finite(megabytes), **place}
            continue
        through = name == "through"
        compound = {"count": 13 if through else 14, **_finite(megabytes)}
        flows[f"{name}-compound"] = {**compound, **place}
        flows[f"{name}-cubic"] = {**CUBIC, "count": 14, **_finite(megabytes), **place}
        if through:
            flows["through-udp"] = {"count": 8, "udp": "1 Mbps", **place}
            flows["through-web"] = {**WEB, **place}
    lot = {"hops": 2, "bottleneck": f"{BOTTLENECK_MBPS} Mbps", **HOST}
    shape = {"parking_lot": lot | ({"rate_spread": rate_spread} if rate_spread else {})}
    name = f"parking lot, RTT {rtt_ms:g} ms, {_words(queue)}"
    return _scenario(name, _length(effort, megabytes, replications), shape, queue, flows, 0.1)


CUBIC: Mapping[str, Any] = {"congestion": "cubic"}
WEB: Mapping[str, Any] = {"web": 50, "congestion": "tahoe"}
"""Web traffic of fifty PackMime connections per second. The offered load is 3.2 Mb/s, although the
paper states 2 Mb/s.
"""


def _traffic(
    mixed: bool, group: int, groups: int, megabytes: int | None, flow_count: int
) -> dict[str, dict[str, Any]]:
    """Return the classes of the flows in the group with index `group`. The flows are divided into
    `groups` groups of equal size. If this is not possible, the first groups have one flow more.
    """

    def part(flows: int) -> int:
        return flows // groups + (group < flows % groups)

    if not mixed:
        return {"flow": {"count": part(flow_count), **_finite(megabytes)}}
    return {
        "compound": {"count": part(27), **_finite(megabytes)},
        "cubic": {**CUBIC, "count": part(28), **_finite(megabytes)},
        "udp": {"count": part(8), "udp": "1 Mbps"},
        "web": {**WEB, "web": 50 / groups},
    }


def _finite(megabytes: int | None) -> dict[str, Any]:
    return {} if megabytes is None else {"segments": megabytes * 1_000_000 // 1460 + 1}


def _length(effort: Budget, megabytes: int | None, replications: int | None) -> dict[str, Any]:
    """Return the settings for the duration, the warm-up and the number of replications of a run."""
    duration_s, warmup_s = effort.duration_s, effort.duration_s - READ_S
    if megabytes is not None:
        duration_s, warmup_s = LONGEST_S_PER_MB * megabytes, 0
    return {
        "duration": f"{duration_s:g} s",
        "warmup": f"{warmup_s:g} s",
        "replications": replications or effort.replications,
    }


LONGEST_S_PER_MB = 12
"""Length of a run per megabyte of a flow. At full utilisation sixty transfers take 5 s per
megabyte, so that the last transfer ends before the end of the run. [s/MB]
"""


def _scenario(
    name: str, length: Tree, shape: Tree, queue: Tree, flows: Tree, bin_s: float
) -> dict[str, Any]:
    return {
        "name": name,
        **length,
        "record": {"utilisation_bin": f"{bin_s:g} s"},
        "tcp": dict(TCP),
        "queue": dict(queue),
        **shape,
        "flow": flows,
    }


def _words(queue: Tree) -> str:
    if "threshold" in queue:
        return f"threshold {queue['threshold']}"
    setting = queue["red"]
    words = f"RED {setting['min_th']:g}/{setting['max_th']:g}"
    words += " without averaging" if "weight" in setting else ""
    return words + ("" if setting.get("gentle", True) else ", not gentle")


def utilisation(run: Run, link: str = BOTTLENECK) -> Quantity:
    """Return the fraction of time in which a link sends. [-]"""
    return run.quantity("links", link, "utilisation")


def queue_mean(run: Run, link: str = BOTTLENECK) -> Quantity:
    """Return the mean queue of a link. [packets]"""
    return run.quantity("queues", link, "occupancy_packets")


def queue_max(run: Run, link: str = BOTTLENECK) -> Quantity:
    """Return the longest queue of a link. [packets]"""
    return run.quantity("queues", link, "occupancy_max_packets")


least_utilisation = reading("links", BOTTLENECK, "utilisation_min")
"""Minimum utilisation of the bottleneck in any bin. [-]"""

oscillation = reading("queues", BOTTLENECK, "occupancy_sd_packets")
"""Standard deviation of the bottleneck's queue over time. [packets]"""

relative_oscillation = oscillation / Reading(queue_mean)
"""Standard deviation of the bottleneck's queue divided by its mean. [-]"""


def delay_ms(run: Run, links: Sequence[str] = (BOTTLENECK,)) -> Quantity:
    """Return the mean sojourn time in the queues, summed over the links. [ms]"""
    each = [run.quantity("queues", link, "sojourn_s") for link in links]
    return mean_of(each) * (1e3 * len(links))


def loss(run: Run, links: Sequence[str] = (BOTTLENECK,)) -> Quantity:
    """Return the probability that a packet is dropped at one of the links' queues. [-]"""
    passes = Quantity(np.ones(1), None)
    for link in links:
        drops = run.quantity("queues", link, "drop_probability")
        passes = passes * (drops * -1.0 + 1.0)
    return passes * -1.0 + 1.0


def class_loss(run: Run, name: str) -> Quantity:
    """Return the fraction of a class's packets that are lost. [-]"""
    return run.quantity("classes", name, "loss_probability")


def bulk(run: Run) -> list[str]:
    """Return the names of the classes of long-lived TCP flows."""
    others = ("udp", "web")
    return [name for name in run.items("classes") if not any(part in name for part in others)]


def throughput(run: Run, links: Sequence[str] = (BOTTLENECK,)) -> Quantity:
    """Return the sum of the throughputs of the links. [Mb/s]"""
    return mean_of([utilisation(run, link) for link in links]) * (BOTTLENECK_MBPS * len(links))


def goodput(run: Run) -> Quantity:
    """Return the sum of the goodputs of all classes. [Mb/s]"""
    each = [run.quantity("classes", name, "goodput_bps") for name in run.items("classes")]
    return mean_of(each) * (len(each) / 1e6)


def likeness(runs: Sequence[Run], from_s: float) -> Quantity:
    """Return the periodicity of the queue for each run. [-]

    The periodicity is the maximum of the sampled queue's autocorrelation beyond its first zero. The
    periodicity is near 1 for a queue that oscillates, and near 0 for a queue that varies randomly.
    """
    from lasthop.comparison.oscillation import likeness as correlation

    tops = []
    for run in runs:
        times, packets = map(np.asarray, run.track("queues", BOTTLENECK, "occupancy_packets"))
        like = correlation(packets[times > from_s])
        tops.append(0.0 if like is None else _beyond_first_zero(like))
    return Quantity(np.asarray(tops))


def _beyond_first_zero(values: NDArray[np.float64]) -> float:
    below = np.flatnonzero(values < 0.0)
    return float(values[below[0] :].max()) if len(below) else 0.0


def over_bulk(quantity: str) -> Reading:
    """Return a function that reads the mean of a quantity over the classes of long-lived TCP
    flows.
    """
    return Reading(
        lambda run: mean_of([run.quantity("classes", name, quantity) for name in bulk(run)])
    )


window = over_bulk("cwnd_packets")
"""Mean window of the long-lived TCP flows. Each class has the same weight. [packets]"""

synchrony = over_bulk("synchronisation")
"""Correlation of the windows within a class, averaged over classes. [-]"""

fairness = over_bulk("jain")
"""Jain's index of the goodputs within a class, averaged over classes. [-]"""


def completion(run: Run, start: str = "") -> Quantity:
    """Return the mean completion time of the finite flows in classes whose names begin with
    `start`. [s]
    """
    finite = [name for name in run.items("flows") if run.has("flows", name, "completion_s")]
    flows = [name for name in finite if name.startswith(start)]
    return mean_of([run.quantity("flows", name, "completion_s") for name in flows])


def starved(run: Run) -> Quantity:
    """Return the number of starved long-lived TCP flows. [flows]"""
    each = [run.quantity("classes", name, "starved_flows") for name in bulk(run)]
    return mean_of(each) * float(len(each))
