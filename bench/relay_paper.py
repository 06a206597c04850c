"""Paper 001 with the kernel's TCP: users of its topologies send through pairs of relays.

    python bench/relay_paper.py [--jobs N]

Topologies a to d use adaptive CSMA, with TCP ACKs by h-ACK and n-ACK. Topology a runs three times,
and b to d run once. A run takes 500 s, with a warm-up of 100 s. TCP timestamps are on, so a packet
of 1040 bytes has 988 bytes of payload. The initial retransmission timeout is 30 s; topology a also
has runs with the kernel's default of 1 s. For comparison, each user has one connection, with
adaptive CSMA and with the CSMA of 802.11. In another comparison, users open the same number of
connections without relays, and each connection sends separate data. Every run is stored as a line
of out/relay_paper.jsonl, and is not repeated. Runs in which the 99th percentile of the packets'
lateness exceeds 2 ms are excluded.
"""

import argparse
import json
import multiprocessing
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measure import require_release_build

from lasthop.emulated.lateness import LATE_S
from lasthop.emulation import emulate
from lasthop.studies.acsma import network

HERE = Path(__file__).parent
RUNS = HERE / "out" / "relay_paper.jsonl"

TIMESTAMPS = {"net.ipv4.tcp_timestamps": "1"}
FOLLOWED = ("initial_window", "initial_rto")
PATIENT = {"initial_rto": "30 s"}
SEEDS_OF_A = 3
QUANTITIES = ("goodput_bps", "connections", "connections_opened", "connections_closed", "rtt_s")


@dataclass(frozen=True)
class Case:
    """Parameters of one emulated run."""

    topology: str
    scheme: str
    """Channel access and TCP ACKs: a name in `network.SCHEMES`."""
    way: str
    """Transport. "relays": through relays. "one": one connection per user. "own": through relays,
    with the kernel's default initial timeout. "plain": several connections without relays."""
    seed: int

    def tree(self) -> dict[str, Any]:
        """Return the scenario of the run."""
        schemes = network.BESIDE if self.topology == "d" else network.SCHEMES
        settings: dict[str, Any] = dict(schemes[self.scheme])
        if self.way == "one":
            settings["connections"] = "one"
        title = f"topology {self.topology}, {network.WORDS[self.scheme]}"
        return {
            **network.scenario(title, self.topology, tcp=PATIENT, **settings),
            "seed": self.seed,
        }


def plan() -> Iterator[Case]:
    """Yield all runs in the order in which they are run."""
    for seed in range(1, SEEDS_OF_A + 1):
        for scheme in network.CURES:
            yield Case("a", scheme, "relays", seed)
        yield Case("a", "lcsma", "one", seed)
        yield Case("a", "hack", "one", seed)
    for scheme in network.CURES:
        yield Case("a", scheme, "own", 1)
        yield Case("a", scheme, "plain", 1)
    for topology in ("b", "c", "d"):
        for scheme in network.CURES:
            yield Case(topology, scheme, "relays", 1)


def run(case: Case) -> dict[str, Any]:
    """Emulate a case, and return the values to store."""
    answer = emulate(
        case.tree(),
        relays=case.way in ("relays", "own"),
        follow=["initial_window"] if case.way == "own" else FOLLOWED,
        sysctl=TIMESTAMPS,
    )
    summary = answer.summary
    return {
        **asdict(case),
        "lateness_p99_s": answer.lateness_p99_s,
        "flows": {flow["name"]: means(flow, QUANTITIES) for flow in summary["flows"]},
        "links": {
            link["name"]: means(link, ("airtime_fraction", "aggressiveness"))
            for link in summary["links"]
        },
        "queues": {
            each["name"]: means(each, ("occupancy_packets", "sojourn_s"))
            for each in summary["queues"]
        },
    }


def means(item: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    """Return the mean of each quantity of `names` that the item has."""
    return {name: item[name]["mean"] for name in names if name in item}


def known() -> dict[Case, dict[str, Any]]:
    """Return the stored runs by case, without runs that were late."""
    lines = RUNS.read_text().splitlines() if RUNS.exists() else []
    by_case = {}
    for run in map(json.loads, lines):
        if run["lateness_p99_s"] < LATE_S:
            by_case[Case(run["topology"], run["scheme"], run["way"], run["seed"])] = run
    return by_case


def main(jobs: int) -> None:
    """Make the runs that are not stored yet, and store them."""
    RUNS.parent.mkdir(exist_ok=True)
    done = known()
    missing = [case for case in plan() if case not in done]
    processes = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=processes, max_tasks_per_child=1) as pool:
        running = [pool.submit(run, case) for case in missing]
        for each in as_completed(running):
            measured = each.result()
            with RUNS.open("a") as file:
                print(json.dumps(measured), file=file, flush=True)
            rates = [round(flow["goodput_bps"] / 8e3) for flow in measured["flows"].values()]
            print(
                measured["topology"],
                measured["scheme"],
                measured["way"],
                rates,
                measured["lateness_p99_s"],
                flush=True,
            )


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="paper 001 with the kernel's TCP and relays")
    parser.add_argument("--jobs", type=int, default=4, help="runs side by side")
    main(parser.parse_args().jobs)
