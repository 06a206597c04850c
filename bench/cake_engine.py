"""Runs the cases of `cake_points.py` with datagrams through the engine's queue.

    python bench/cake_engine.py                      makes the missing runs
    python bench/cake_engine.py --queue fq_codel     with FQ-CoDel in place of CAKE, to test this
                                                     program
    python bench/cake_engine.py --only flows         only cases whose names match
    python bench/cake_engine.py --variant NAME       a variant (`VARIANTS`), in another file

The program `packet_list` of the engine gets the same list of packets as the kernel, and prints when
the link sends or drops each packet. Runs are stored in out/cake-engine.jsonl, and are not repeated
with the same code of the engine.
"""

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cake_points import (
    CASES,
    HEADER_BYTES,
    LENGTH_S,
    NS_PER_S,
    PACKET_BYTES,
    SEEDS,
    WARMUP_S,
    Cake,
    Case,
    Flow,
    flows,
    packets,
    path_delay_ms,
    tcp_starts_s,
)
from cake_results import of_datagrams
from kernel_tcp_points import NEAREST
from measure import require_release_build
from runs import OUT, Runs

from lasthop import _core

ROOT = Path(__file__).parent.parent
PROGRAM = "packet_list"
SIDE = "engine"
LINK_BPS = 100_000_000_000
"""Rate of the link after CAKE, which takes almost no time for a packet. [bit/s]"""
ACK_FILTERS = {
    "no-ack-filter": "off",
    "ack-filter": "conservative",
    "ack-filter-aggressive": "aggressive",
}
FRAMINGS = {"noatm": "none", "atm": "atm", "ptm": "ptm"}
DSCPS = {
    **{8 * number: f"CS{number}" for number in range(8)},
    34: "AF41",
    46: "EF",
}
"""Words of DSCPs in scenarios."""
CONGESTION = {"cubic": "cubic_linux", "reno": "newreno"}
"""Names of the congestion controls in scenarios, by their names in the kernel."""
DEFAULT_MEMORY_BYTES = 4 << 20
LINUX_BYTES = 2304
"""Memory of a packet of 1,500 bytes in Linux (`truesize`), to which the memory limit applies.
[bytes]"""
OTHER_DRAWS = "other-draws"
PACKET_BYTES_COUNTED = "packet-bytes"
VARIANTS = (OTHER_DRAWS, PACKET_BYTES_COUNTED)
"""Variants of the engine's runs, which isolate causes of differences. The first has other random
numbers in the queue, with the same packets. The second has a memory limit for as many packets of
1,500 bytes as if the limit counted the bytes of packets."""
OTHER_SEEDS = 1000
"""Number that is added to the seed of the queue in `OTHER_DRAWS`."""
MEASURED_NS = round(NS_PER_S * WARMUP_S), round(NS_PER_S * LENGTH_S)


# -- scenarios ----------------------------------------------------------------------------------


def link(cake: Cake, queue: str) -> dict[str, Any]:
    """Return rate and queue of a link with CAKE. With another queue, the link has the rate of the
    shaper."""
    if queue != "cake":
        return {"rate": f"{cake.rate_bps} bps", "queue": {queue: {}}}
    settings: dict[str, Any] = {
        "bandwidth": f"{cake.rate_bps} bps",
        "rtt": f"{cake.rtt_ms} ms",
        "isolation": cake.flow_mode,
        "diffserv": cake.diffserv,
        "ack_filter": ACK_FILTERS[cake.ack_filter],
        "overhead": f"{cake.overhead_bytes} B",
        "mpu": f"{cake.mpu_bytes} B",
        "link_layer": FRAMINGS[cake.framing],
    }
    if cake.memory_bytes is not None:
        settings["memory_limit"] = f"{cake.memory_bytes} B"
    return {"rate": f"{LINK_BPS} bps", "queue": {"cake": settings}}


def counting_packet_bytes(case: Case) -> Case:
    """Return the case with a memory limit for as many packets of 1,500 bytes as if the limit
    counted the bytes of packets."""
    limit = case.cake.memory_bytes or DEFAULT_MEMORY_BYTES
    cake = replace(case.cake, memory_bytes=limit // PACKET_BYTES * LINUX_BYTES)
    return replace(case, cake=cake)


def scenario(case: Case, seed: int, some: Sequence[Flow], queue: str) -> dict[str, Any]:
    """Return the scenario of a case with its UDP flows."""
    ends = {"from": "near", "to": "far"}
    return {
        "duration": f"{LENGTH_S} s",
        "seed": seed,
        "link": {"compared": {**ends, **link(case.cake, queue)}},
        "flow": {
            flow.name: {
                **ends,
                "udp": {
                    "rate": f"{payload_bps(flow):.0f} bps",
                    "packet": f"{flow.group.packet_bytes - HEADER_BYTES} B",
                    "header": f"{HEADER_BYTES} B",
                },
                **hosts_and_dscp(flow.group.source, flow.group.sink, flow.group.dscp, queue),
            }
            for flow in some
        },
    }


def payload_bps(flow: Flow) -> float:
    """Return the rate of a flow's payload. [bit/s]"""
    return flow.rate_bps * (flow.group.packet_bytes - HEADER_BYTES) / flow.group.packet_bytes


def tcp_scenario(case: Case, seed: int, queue: str) -> dict[str, Any]:
    """Return the scenario of a case with its TCP connections, and its UDP flows if it has any."""
    tree = scenario(case, seed, flows(case, seed), queue)
    for flow in tree["flow"].values():
        flow["rtt"] = "0 ms"
    link_settings = tree["link"]["compared"]
    link_settings["back_rate"] = "unlimited"
    if case.down is not None:
        down = link(case.down, queue)
        link_settings |= {"back_rate": down["rate"], "back_queue": down["queue"]}
    starts_s = tcp_starts_s(case, seed)
    for group in case.tcp:
        ends = ("far", "near") if group.is_down else ("near", "far")
        hosts = {"from_host": f"near-{group.source}", "to_host": f"far-{group.sink}"}
        if group.is_down:
            hosts = {"from_host": f"far-{group.sink}", "to_host": f"near-{group.source}"}
        for number in range(1, group.count + 1):
            name = f"{group.name}-{number}"
            tree["flow"][name] = {
                "from": ends[0],
                "to": ends[1],
                "rtt": f"{path_delay_ms(case)} ms",
                "start": f"{starts_s[name]} s",
                "start_spread": "0 s",
                "congestion": CONGESTION[group.congestion],
                **({**hosts, "dscp": DSCPS[group.dscp]} if queue == "cake" else {}),
            }
    return {
        **tree,
        "warmup": f"{WARMUP_S} s",
        "tcp": {**NEAREST, **({"ecn": True} if case.has_ecn else {})},
    }


def hosts_and_dscp(source: int, sink: int, dscp: int, queue: str) -> dict[str, Any]:
    """Return the keys of a flow that only CAKE uses."""
    if queue != "cake":
        return {}
    return {"from_host": f"near-{source}", "to_host": f"far-{sink}", "dscp": DSCPS[dscp]}


# -- runs ---------------------------------------------------------------------------------------


def built() -> Path:
    """Build the program, and return its path."""
    command = ["cargo", "build", "--release", "--package", "lasthop-engine", "--example", PROGRAM]
    told = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for line in map(json.loads, told.splitlines()):
        if line.get("executable") and line["target"]["name"] == PROGRAM:
            return Path(line["executable"])
    raise SystemExit(f"cargo did not build {PROGRAM}")


def run(
    program: Path, case: Case, seed: int, queue: str, variant: str | None = None
) -> dict[str, Any]:
    """Make one run, and return its results."""
    some = flows(case, seed)
    listed = packets(some)
    used = counting_packet_bytes(case) if variant == PACKET_BYTES_COUNTED else case
    queue_seed = seed + OTHER_SEEDS if variant == OTHER_DRAWS else seed
    lines = "".join(
        f"{at_ns} {index} {some[index].group.packet_bytes}\n" for at_ns, index in listed
    )
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(scenario(used, queue_seed, some, queue), file)
        file.flush()
        told = subprocess.run(
            [str(program), file.name], input=lines, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    service_bps = LINK_BPS if queue == "cake" else case.cake.rate_bps
    sent, dropped = [], [0] * len(some)
    from_ns, until_ns = MEASURED_NS
    for line in told.splitlines():
        fate, number, at_ns = line.split()
        _, index = listed[int(number)]
        if fate == "sent":
            service_ns = 8 * some[index].group.packet_bytes * NS_PER_S // service_bps
            sent.append((int(number), int(at_ns) - service_ns))
        elif from_ns <= int(at_ns) < until_ns:
            dropped[index] += 1
    by_flow = of_datagrams(some, listed, sent, MEASURED_NS)
    return {
        "flows": {
            name: {**each, "dropped": drops}
            for (name, each), drops in zip(by_flow.items(), dropped, strict=True)
        },
        "engine": _core.ENGINE,
    }


def stored(queue: str, variant: str | None = None) -> Runs:
    """Return the file of the runs through this queue of the engine."""
    kind = "" if queue == "cake" else f"-{queue}"
    return Runs(OUT / f"cake-engine{kind}{'' if variant is None else f'-{variant}'}.jsonl")


def main() -> None:
    """Run the parts that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="PATTERN", help="only cases that match")
    parser.add_argument("--queue", default="cake", choices=("cake", "fq_codel"))
    parser.add_argument("--variant", choices=VARIANTS, help="isolate the cause of a difference")
    asked = parser.parse_args()
    runs, program = stored(asked.queue, asked.variant), built()
    done = runs.known()
    chosen = [case for name, case in CASES.items() if re.search(asked.only, name) and not case.tcp]
    for seed in SEEDS:
        for case in chosen:
            key = case.key(SIDE, seed)
            if key not in done or done[key]["engine"] != _core.ENGINE:
                runs.add(key, run(program, case, seed, asked.queue, asked.variant))
        print(f"seed {seed}", flush=True)


if __name__ == "__main__":
    require_release_build()
    main()
