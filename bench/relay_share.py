"""Share of a bottleneck that two relays with n connections get against one other download.

    python bench/relay_share.py [--jobs N]     runs the missing runs; prints the table

The link has a rate of 10 Mbit/s, a round-trip time of 40 ms, and a drop-tail queue of one
bandwidth-delay product (33 packets). The other download is one Reno connection. The measured
download of a program uses two relays with n connections, or MPTCP with n subflows that each use
Reno, or plain TCP. The simulation has n + 1 connections. Every run is stored as a line of
out/relay_share.jsonl. Runs in which the 99th percentile of the packets' lateness exceeds 2 ms are
excluded.
"""

import argparse
import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from measure import require_release_build

import lasthop as lh
from lasthop.emulated.lateness import LATE_S

HERE = Path(__file__).parent
RUNS = HERE / "out" / "relay_share.jsonl"
INSIDE = HERE / "relay_share_inside.py"
LASTHOP = [str(Path(sys.executable).with_name("lasthop"))]

NUMBERS = (1, 2, 4, 8)
SEEDS, MPTCP_SEEDS, REPLICATIONS = 5, 3, 20
WARMUP_S, MEASURED_S = 20, 100
RELAY_PORT, TARGET_PORT, FORWARD_PORT = 4700, 9000, 9001

Run = dict[str, Any]


def scenario(name: str, **flows: Any) -> dict[str, Any]:
    """Return the scenario of the bottleneck with these flows and the other download."""
    return {
        "name": name,
        "warmup": f"{WARMUP_S} s",
        "duration": f"{WARMUP_S + MEASURED_S} s",
        "queue": 33,
        "dumbbell": {"bottleneck": "10 Mbps", "rtt": "40 ms", "start_spread": "5 s"},
        "tcp": {"congestion": "reno", "window": 1000, "sack": True},
        "flow": {"other": {}, **flows},
    }


def simulated(number: int) -> list[float]:
    """Simulate one user with this many connections, and return the user's share in each
    replication.

    Sources have a jitter of one packet time, since real hosts have some jitter. Without jitter, two
    flows can remain synchronised for a whole run, so that only one of them loses packets. The share
    of a flow then ranges from 0.28 to 0.73.
    """
    tree = scenario(f"{number} beside one", mine={"count": number})
    tree["dumbbell"]["jitter"] = "packet"
    result = lh.simulate({**tree, "replications": REPLICATIONS})
    classes = result.sample_tree["classes"]
    rates = (classes[name]["goodput_bps"] for name in ("mine", "other"))
    return [mine / (mine + other) for mine, other in zip(*rates, strict=True)]


def emulated(way: str, number: int, seed: int) -> Run:
    """Emulate one run in real time. `way` is the transport of the measured download: relays, MPTCP,
    or plain TCP."""
    late = {"start": f"{WARMUP_S + MEASURED_S - 0.001:.3f} s", "start_spread": "0 s"}
    tree = scenario(f"{way}, {number}", mine=late)
    with tempfile.TemporaryDirectory() as directory:
        here = Path(directory)
        (here / "share.json").write_text(json.dumps({**tree, "seed": seed}))
        command = [*LASTHOP, "emulate", str(here / "share.json"), "--json", "--at", "mine/sink"]
        for place, program in BESIDE[way](number, here):
            command += ["--with", place, program]
        command += ["--", sys.executable, str(INSIDE), "wait", str(MEASURED_S), str(here / "span")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        result = json.loads(done.stdout)
        begin_s, end_s = json.loads((here / "span").read_text())
        mine_bps = rate_bps((here / "taken").read_text(), begin_s, end_s)
    [other] = [flow for flow in result["flows"] if flow["name"] == "other"]
    [run] = result["totals"]
    return {
        "way": way,
        "number": number,
        "seed": seed,
        "mine_bps": mine_bps,
        "other_bps": other["goodput_bps"]["mean"],
        "lateness_p99_s": run["lateness_p99_s"]["mean"],
    }


Beside = Iterator[tuple[str, str]]
"""Nodes of the emulation (named FLOW/source or FLOW/sink), each with a command that runs on it."""


def give(protocol: int = 0) -> tuple[str, str]:
    """Return the node and the command of the target, which sends data."""
    return "mine/source", f"{sys.executable} {INSIDE} give {TARGET_PORT} {protocol}"


def take(host: str, port: int, here: Path, protocol: int = 0) -> tuple[str, str]:
    """Return the node and the command of the program that downloads."""
    return "mine/sink", f"{sys.executable} {INSIDE} take {host} {port} {here}/taken {protocol}"


def as_it_is(_number: int, here: Path) -> Beside:
    """Yield the nodes and commands of a download over plain TCP."""
    yield give()
    yield take("mine.source", TARGET_PORT, here)


def through_relays(number: int, here: Path) -> Beside:
    """Yield the nodes and commands of a download through two relays."""
    key, relay = new_key(here), " ".join([*LASTHOP, "relay"])
    yield give()
    yield "mine/source", f"{relay} serve --listen 0.0.0.0:{RELAY_PORT} --key {key}"
    connect = f"{relay} connect mine.source:{RELAY_PORT} --key {key} --connections {number}"
    yield "mine/sink", f"{connect} --forward {FORWARD_PORT}:127.0.0.1:{TARGET_PORT}"
    yield take("127.0.0.1", FORWARD_PORT, here)


def over_mptcp(number: int, here: Path) -> Beside:
    """Yield the nodes and commands of a download over MPTCP. The target announces further ports for
    subflows."""
    limits = f"ip mptcp limits set subflow {number - 1} add_addr_accepted {number - 1}"
    address = "$(getent hosts mine.source | cut -d' ' -f1)"
    more = (
        f"ip mptcp endpoint add {address} port {TARGET_PORT + 100 + k} signal"
        for k in range(1, number)
    )
    yield "mine/source", "; ".join([limits, *more])
    yield "mine/sink", limits
    yield give(socket.IPPROTO_MPTCP)
    place, program = take("mine.source", TARGET_PORT, here, socket.IPPROTO_MPTCP)
    yield place, f"sleep 1; exec {program}"


BESIDE: Mapping[str, Callable[[int, Path], Beside]] = {
    "program": as_it_is,
    "relay": through_relays,
    "mptcp": over_mptcp,
}


def new_key(directory: Path) -> Path:
    """Create the key file of two relays."""
    subprocess.run([*LASTHOP, "relay", "key", directory / "key"], check=True, capture_output=True)
    return directory / "key"


def rate_bps(taken: str, begin_s: float, end_s: float) -> float:
    """Return the mean rate between two times. Each line of `taken` has a time and the number of
    bytes received until then. [bit/s]"""
    rows = [tuple(map(float, line.split())) for line in taken.splitlines()]
    within = [row for row in rows if begin_s <= row[0] <= end_s]
    return 8 * (within[-1][1] - within[0][1]) / (within[-1][0] - within[0][0])


def plan() -> Iterator[tuple[str, int, int]]:
    """Yield transport, number of connections and seed of all emulated runs."""
    for seed in range(1, SEEDS + 1):
        yield "program", 1, seed
        for number in NUMBERS:
            yield "relay", number, seed
    for seed in range(1, MPTCP_SEEDS + 1):
        for number in NUMBERS:
            yield "mptcp", number, seed


def known() -> list[Run]:
    """Return the stored runs, without runs that were late."""
    lines = RUNS.read_text().splitlines() if RUNS.exists() else []
    return [run for run in map(json.loads, lines) if run["lateness_p99_s"] < LATE_S]


def main(jobs: int) -> None:
    """Make the runs that are not stored yet, and store them."""
    RUNS.parent.mkdir(exist_ok=True)
    done = {(run["way"], run["number"], run["seed"]) for run in known()}
    missing = [each for each in plan() if each not in done]
    with ThreadPoolExecutor(jobs) as pool, RUNS.open("a") as file:
        for run in pool.map(lambda each: emulated(*each), missing):
            print(json.dumps(run), file=file, flush=True)
            print(
                run["way"], run["number"], round(share(run), 3), run["lateness_p99_s"], flush=True
            )


def share(run: Run) -> float:
    """Return the goodput of the measured download divided by the goodput of both downloads."""
    return float(run["mine_bps"] / (run["mine_bps"] + run["other_bps"]))


def shares(runs: Sequence[Run], way: str, number: int) -> list[float]:
    """Return the shares in all runs with this transport and number of connections."""
    return [share(run) for run in runs if (run["way"], run["number"]) == (way, number)]


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="what a pair of relays takes of a shared queue")
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side")
    main(parser.parse_args().jobs)
