"""Page and pictures of the relay's measurements: docs/reference/relay-measured.md.

    python bench/relay_page.py

The measurements are in out/relay_share.jsonl, out/relay_paper.jsonl and out/relay_cost.json. The
simulations of the page run when the page is written. Only the tables of the page are rewritten.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import relay_cost
import relay_paper
import relay_share
from matplotlib.axes import Axes
from measure import require_release_build
from pages import rewrite, table
from relay_paper import Case

import lasthop as lh
from lasthop.plot.figure import EMULATION, MODEL, QUIET, SIMULATION, Figure, house_style, title
from lasthop.studies.acsma import network

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference/relay-measured.md"
SHARES, PAPER = DOCS / "images/relay-share.png", DOCS / "images/relay-paper.png"
REPLICATIONS = 10
PAYLOAD_BYTES = 988
"""Payload of a packet of the kernel's TCP with timestamps. [bytes]"""
KERNEL = {"handshake": True, "sack": True}
"""TCP settings for features of the kernel's TCP that the paper's TCP does not have."""


def main() -> None:
    """Write the page and both pictures."""
    cost = json.loads(relay_cost.OUT.read_text())
    paper = Paper()
    tables = {
        "A share of a queue": share_rows(),
        "CPU time": cost_rows(cost),
        "Connections": connection_rows(cost),
        "Paper 001 with Linux's TCP": paper.rows(),
        "Efficiency": efficiency_rows(cost, paper),
    }
    rewrite(PAGE, tables)
    share_picture().savefig(SHARES)
    paper.picture().savefig(PAPER)


# -- shares -----------------------------------------------------------------------------------


def share_rows() -> Iterator[str]:
    """Yield the rows of the table of shares, one row per number of connections."""
    runs = relay_share.known()
    head = ["n", "fair share n/(n+1)", "share of n connections, simulated"]
    head += ["share of two relays with n connections"]
    head += ["share of MPTCP with n subflows", "share of one plain connection"]
    ways = ("relay", "mptcp", "program")
    rows = (
        [str(number), f"{number / (number + 1):.3f}", spread(relay_share.simulated(number))]
        + [spread(relay_share.shares(runs, way, number)) for way in ways]
        for number in relay_share.NUMBERS
    )
    yield from table(head, rows)


def spread(shares: Sequence[float]) -> str:
    """Return the mean as text, with the smallest and the largest value if there are several."""
    if not shares:
        return "-"
    return f"{fmean(shares):.3f} ({min(shares):.3f} to {max(shares):.3f})"


def share_picture() -> Figure:
    """Draw the shares over the number of connections."""
    runs = relay_share.known()
    with house_style(60.0) as drawn:
        axes = drawn.subplots()
        numbers = relay_share.NUMBERS
        steps = [1 + k / 20 for k in range(160)]
        axes.plot(steps, [100 * n / (n + 1) for n in steps], color=QUIET, label="n / (n + 1)")
        series: Mapping[str, tuple[str, str, list[list[float]]]] = {
            "simulated": (SIMULATION, "o", [relay_share.simulated(n) for n in numbers]),
            "two relays": (EMULATION, "x", [relay_share.shares(runs, "relay", n) for n in numbers]),
            "MPTCP": (MODEL, "+", [relay_share.shares(runs, "mptcp", n) for n in numbers]),
        }
        for name, (colour, marker, values) in series.items():
            means = [100 * fmean(each) for each in values]
            around = [
                [mean - 100 * min(each) for mean, each in zip(means, values, strict=True)],
                [100 * max(each) - mean for mean, each in zip(means, values, strict=True)],
            ]
            axes.errorbar(numbers, means, around, fmt=marker, color=colour, label=name, capsize=3)
        axes.set_xticks(numbers)
        axes.set_ylim(0, 100)
        axes.set_xlabel("connections of one user, beside one of another")
        axes.set_ylabel("share of the user [%]")
        axes.legend(loc="lower right")
        return drawn


# -- costs ------------------------------------------------------------------------------------


def cost_rows(cost: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows of the table of CPU times, one row per compared transport."""
    head = ["transfer of 1 GB", "CPU time of all processes [s]", "CPU time of each process [s]"]
    head += ["total CPU time / total CPU time of the direct transfer"]
    totals: dict[str, list[float]] = {name: [] for name in relay_cost.CONTENDERS}
    for run in cost["runs"]:
        totals[run["contender"]].append(sum(run["cpu_s"].values()) / run["bytes"] * 1e9)
    rows = []
    for name, each in totals.items():
        mine = [run for run in cost["runs"] if run["contender"] == name]
        costs = relay_cost.costs_per_gb(mine)
        ratio = median(cost_s / bare for cost_s, bare in zip(each, totals["directly"], strict=True))
        words = ", ".join(f"{process(who)} {value:.2f}" for who, value in costs.items())
        way = "direct" if name == "directly" else name
        rows.append([way, f"{median(each):.2f}", words, f"{ratio:.2f}"])
    yield from table(head, iter(rows))


def process(name: str) -> str:
    """Return the text that tables print for a process: "sender's socat" for ``socat there``."""
    kind, _, side = name.partition(" ")
    return f"{'sender' if side == 'there' else 'receiver'}'s {kind}" if side else name


def connection_rows(cost: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows of the table of costs per connection."""
    memory, cpu = cost["memory_bytes"], cost["cpu_s"]
    head = ["cost", "relay near the targets", "relay near the programs", "paper 001"]
    sides = ("relay there", "relay here")

    def micro(what: str) -> list[str]:
        return [f"{1e6 * value:.0f} us" for value in cpu[what]]

    own = [f"{memory[side] * 100 / 1e6:.2f} MB" for side in sides]
    rows = [
        ["memory of the relay for 100 connections", *own, "2.4 MB, with threads"],
        [
            "memory of the kernel for 100 connections, both ends together",
            f"{memory['kernel'] * 100 / 1e6:.2f} MB",
            "",
            "0.05 MB per end",
        ],
        ["CPU time to open a connection", *micro("open"), "418 us"],
        ["CPU time to close a connection", *micro("close"), "12 us"],
        ["CPU time of an idle connection per second", *micro("have"), "-"],
        [
            "CPU time to send one packet of 1000 bytes as a separate message",
            *micro("packet"),
            "14 us",
        ],
    ]
    yield from table(head, iter(rows))


def efficiency_rows(cost: Mapping[str, Any], paper: "Paper") -> Iterator[str]:
    """Yield the efficiency of each user, equation (5.50) of the paper, in topology a with n-ACK."""
    cpu = cost["cpu_s"]
    near = 1
    runs = paper.of("a", "nack", "relays")
    head = ["user", "connections opened", "connections closed", "efficiency [%]"]
    head += ["efficiency in paper 001 [%]"]
    length_s = network.DURATION_S - network.WARMUP_S
    rows = []
    for user, stated in zip(network.LINKS, (98.8, 94.0, 97.5, 97.8), strict=True):
        flows = [run["flows"][f"user-{user}"] for run in runs]
        opened, closed = (
            fmean(f[f"connections_{what}"] for f in flows) for what in ("opened", "closed")
        )
        packets = fmean(f["goodput_bps"] for f in flows) / network.PACKET_BITS * length_s
        sending = packets * cpu["packet"][near]
        managing = opened * cpu["open"][near] + closed * cpu["close"][near]
        part = sending / (sending + managing)
        rows.append([str(user), f"{opened:.0f}", f"{closed:.0f}", f"{100 * part:.1f}", f"{stated}"])
    yield from table(head, iter(rows))


# -- the paper --------------------------------------------------------------------------------

WAYS = {
    "one": "one connection",
    "plain": "connections without relays",
    "relays": "relays",
    "own": "relays, first timeout of 1 s",
}


class Paper:
    """Emulated runs of paper 001, the simulations of the same cases, and the optimum."""

    def __init__(self) -> None:
        self.runs = relay_paper.known()
        cases = {(case.topology, case.scheme, case.way) for case in self.runs}
        self.simulated = {
            (topology, scheme, way): simulated(Case(topology, scheme, way, 1))
            for topology, scheme, way in cases
            if way not in ("own", "plain")
        }

    def of(self, topology: str, scheme: str, way: str) -> list[dict[str, Any]]:
        """Return the emulated runs of a case."""
        wanted = (topology, scheme, way)
        every = self.runs.items()
        return [run for case, run in every if (case.topology, case.scheme, case.way) == wanted]

    def rates(self, topology: str, scheme: str, way: str) -> dict[str, float]:
        """Return the mean rate of each flow over the emulated runs. [packets/s]"""
        runs = self.of(topology, scheme, way)
        names = runs[0]["flows"]
        return {
            name: fmean(run["flows"][name]["goodput_bps"] for run in runs) / 8e3 for name in names
        }

    def connections(self, topology: str, scheme: str, way: str) -> list[float]:
        """Return the mean number of connections of each flow over the emulated runs."""
        runs = self.of(topology, scheme, way)
        names = runs[0]["flows"]
        return [fmean(run["flows"][name].get("connections", 1.0) for run in runs) for name in names]

    def rows(self) -> Iterator[str]:
        """Yield the lines of the table, with one row per case."""
        head = ["topology: scheme", "runs", "rates [packets/s]", "rates, simulated", "connections"]
        head += ["connections, simulated", "utility gap [-]", "utility gap, simulated"]
        head += ["received part [%]"]
        yield from table(head, iter(self.lines()))

    def lines(self) -> Iterator[list[str]]:
        """Yield the cells of each row of the table."""
        for topology in ("a", "b", "c", "d"):
            best = network.best(topology)
            yield [f"{topology}: the optimum", "", listed(best), "", "", "", "0", "", ""]
            for scheme in ("lcsma", "hack", "nack"):
                for way, words in WAYS.items():
                    if not self.of(topology, scheme, way):
                        continue
                    emulated = list(self.rates(topology, scheme, way).values())
                    run = self.simulated.get((topology, scheme, way))
                    numbers = listed(self.connections(topology, scheme, way))
                    yield [
                        f"{topology}: {network.WORDS[scheme]}, {words}",
                        str(len(self.of(topology, scheme, way))),
                        listed(emulated),
                        listed(run["rates"]) if run else "",
                        numbers if way != "one" else "",
                        listed(run["connections"]) if run and way != "one" else "",
                        f"{gap(emulated, best):.1f}",
                        f"{gap(run['rates'], best):.1f}" if run else "",
                        listed(self.arrived(topology, scheme, way)),
                    ]

    def arrived(self, topology: str, scheme: str, way: str) -> list[float]:
        """Return the fraction of transmitted packets whose data the programs received. The list is
        empty for topology d and for L-CSMA. [%]"""
        if topology == "d" or scheme == "lcsma":
            return []
        alone_pps = network.SERVICE_PPS if scheme == "nack" else network.HACK_PPS
        runs = self.of(topology, scheme, way)
        rates = self.rates(topology, scheme, way).values()
        sent = [
            fmean(run["links"][str(link)]["airtime_fraction"] for run in runs) * alone_pps
            for link in network.LINKS
        ]
        return [
            100 * rate * (network.PACKET_BITS / 8 / PAYLOAD_BYTES) / each
            for rate, each in zip(rates, sent, strict=True)
        ]

    def picture(self) -> Figure:
        """Draw Figure 6.2 of the paper: the rates of users compared with the optimum."""
        with house_style(60.0, columns=2) as drawn:
            every = drawn.subplots(1, 4, sharey=True)
            for axes, topology in zip(every, (*network.TOPOLOGIES, "d"), strict=True):
                self.bars(axes, topology)
            every[0].set_ylabel("rate [packets/s]")
            every[3].legend(loc="upper right")
            return drawn

    def bars(self, axes: Axes, topology: str) -> None:
        """Draw the rates of the users of one topology."""
        best = network.best(topology)
        series = [
            ("optimum", QUIET, list(best)),
            *self.both(topology, "hack", SIMULATION),
            *self.both(topology, "nack", EMULATION),
        ]
        width = 0.16
        for number, (name, colour, values) in enumerate(series):
            places = [user + (number - 2) * width for user in range(1, len(values) + 1)]
            hatch = "" if name.endswith("relays") or number == 0 else "/////"
            axes.bar(
                places, values, width, color=colour, label=name, hatch=hatch, edgecolor="white"
            )
        axes.set_xticks(range(1, len(best) + 1))
        axes.set_xlabel("user")
        title(axes, f"topology {topology}")

    def both(self, topology: str, scheme: str, colour: str) -> list[tuple[str, str, list[float]]]:
        """Return the rates of a scheme as two series of bars: simulated, and emulated through
        relays."""
        words = network.WORDS[scheme]
        through = list(self.rates(topology, scheme, "relays").values())
        return [
            (f"{words} simulated", colour, self.simulated[topology, scheme, "relays"]["rates"]),
            (f"{words} relays", colour, through),
        ]


def simulated(case: Case) -> dict[str, list[float]]:
    """Simulate a case. Return the mean rate and the number of connections of each flow."""
    tree = case.tree()
    tree = {**tree, "tcp": {**tree["tcp"], **KERNEL}, "replications": REPLICATIONS}
    flows = lh.simulate(tree).flows
    numbers = flows["connections"] if "connections" in flows else flows["goodput_bps"] * 0 + 1
    return {"rates": list(flows["goodput_bps"] / network.PACKET_BITS), "connections": list(numbers)}


def gap(rates: Sequence[float], best: Sequence[float]) -> float:
    """Return the utility gap: the difference of the utility of `rates` from the optimum, the
    utility of `best`. Rates are in units of the capacity C, as in the study. [-]"""
    pairs = zip(rates, best, strict=True)
    return sum(network.C_PPS / wanted - network.C_PPS / max(rate, 1e-9) for rate, wanted in pairs)


def listed(values: Sequence[float]) -> str:
    """Return numbers as text, separated by commas."""
    return ", ".join(f"{value:.0f}" for value in values)


if __name__ == "__main__":
    require_release_build()
    main()
