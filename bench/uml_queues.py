"""The kernel's RED and CoDel compared with the engine's, at 10 Mbit/s: under TCP, and under
datagrams.

    python bench/uml_queues.py                          runs the missing runs
    python bench/uml_queues.py --only 'CoDel' --way uml     only points and ways that match
    python bench/uml_queues.py --page                   a section of kernel-tcp-measured.md

Each point is run in four ways. `simulated`: the engine's TCP through the engine's queue.
`emulated`: the TCP of this machine's kernel through the engine's queue, in real time. `uml`: the
TCP of user-mode Linux through the kernel's own queue, which `lasthop queue` sets up, after a delay
by netem. `uml-emulated`: the TCP of user-mode Linux through the engine's queue. Thus `uml` and
`uml-emulated` differ only by the queue.

`uml` and `uml-emulated` run in simulated time. In a further way, `datagrams`, UDP datagrams pass
the engine's and the kernel's queue. Every run is stored as a line of out/uml-queues.jsonl, and is
not repeated. The page excludes late runs.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import uml
from kernel_tcp import (
    SEEDS,
    Manner,
    Run,
    check_room,
    emulate_all,
    in_turn,
    simulated,
    simulated_key,
)
from kernel_tcp_points import (
    AS_THEY_ARE,
    LAWS,
    PACKET_BYTES,
    RTTS_MS,
    SYSCTLS,
    Point,
    Tree,
    Variant,
    codel,
    grid_title,
    one_queue,
    red,
)
from measure import require_release_build
from runs import OUT, Runs
from short_queues import INSIDE, PORT
from uml_queues_datagrams import LOADS, Load, by_engine

from lasthop.linux.tc import PACKET_BYTES as FRAME_BYTES

RATE_BPS = 10_000_000
RUNS = Runs(OUT / "uml-queues.jsonl")
OWN = Path(__file__).with_name("uml_queues_inside.py")
FLOWS = (1, 6)
WARMUP_S, DURATION_S = 10.0, 40.0
JOBS = 9
WEIGHT = 2.0**-9
"""Weight of a new sample in RED's average queue length: a power of two, as the kernel requires.
[-]"""
NAMES = {LAWS["newreno"]: "reno", LAWS["cubic"]: "cubic"}
"""Names of the congestion controls in the kernel, by their names in the engine."""
WAYS = ("simulated", "emulated", "uml", "uml-emulated", "datagrams")
VARIANTS: Mapping[str, Variant] = {
    each.name: each
    for each in (
        Variant(
            "no-idle",
            "the engine's RED, whose average does not fall while the link is idle",
            settings={"link.bottleneck.queue.red.mean_packet": '"65535 B"'},
        ),
    )
}
"""Variants in which the queue of a point is changed. They are simulated, but not emulated."""


# -- points -------------------------------------------------------------------------------------


def linux_red(bdp: float) -> Tree:
    """Return RED with the features of Linux's RED: all packets above the upper threshold are
    dropped, and the number of packets between two drops is uniform from 1 to 1/p, where p is the
    drop probability.
    """
    queue = red(bdp)["queue"]
    more = {"weight": WEIGHT, "gentle": False, "wait": False}
    return {"queue": {**queue, "red": {**queue["red"], **more}}}


QUEUES: Mapping[str, Callable[[float], Tree]] = {"RED": linux_red, "CoDel": codel}


def points() -> Iterator[Point]:
    """Yield all points of the comparison."""
    for law in ("newreno", "cubic"):
        for queue, keys in QUEUES.items():
            for flows in FLOWS:
                for rtt_ms in RTTS_MS:
                    bdp = RATE_BPS * rtt_ms / 1e3 / (8 * PACKET_BYTES)
                    link = {"rate": f"{RATE_BPS} bps", **keys(bdp)}
                    yield Point(
                        "queues",
                        f"{law}, {flows} of {rtt_ms} ms, {queue}",
                        one_queue(law, flows, rtt_ms, link),
                        (LAWS[law], str(flows), str(rtt_ms), queue),
                        grid_title(law, flows, rtt_ms, queue),
                        warmup_s=WARMUP_S,
                        duration_s=DURATION_S,
                        load=0.5,
                    )


def variants_of(point: Point) -> Iterator[Variant]:
    """Return the variants of a point: the unchanged point, and for RED those with a changed
    queue."""
    yield AS_THEY_ARE
    if "red" in queue_of(point):
        yield from VARIANTS.values()


def queue_of(point: Point) -> Mapping[str, Any]:
    """Return the queue settings of the point's bottleneck."""
    queue: Mapping[str, Any] = point.tree["link"]["bottleneck"]["queue"]
    return queue


# -- user-mode Linux ----------------------------------------------------------------------------


def key_of(run: Run, way: str) -> str:
    """Return the key under which a run in user-mode Linux is stored."""
    return f"{run.key}, {way}"


def frame_rate_bps() -> int:
    """Return the rate of a shaper at which IP packets have the rate `RATE_BPS`. The shaper also
    counts Ethernet headers. [bit/s]"""
    return round(RATE_BPS * FRAME_BYTES / PACKET_BYTES)


def task_of_queue(queue: Mapping[str, Any], rtt_s: float) -> dict[str, Any]:
    """Return the part of the argument TASK of `short_queues_inside.py` that describes the queue and
    the path.

    HTB releases a packet at the beginning of its transmission. The delay of the wire after HTB is
    therefore longer by the transmission time of one packet.
    """
    interface = {"name": "OUTGOING", "rate": f"{frame_rate_bps()} bps", "queue": queue}
    sysctls = " ".join(f"'{name}={value}'" for name, value in SYSCTLS.items())
    return {
        "interface": json.dumps({"interface": interface}),
        "port": PORT,
        "sack": True,
        "sysctls": sysctls,
        "quickack": False,
        "rtt_s": rtt_s + 8 * PACKET_BYTES / RATE_BPS,
        "bucket_s": None,
    }


def task_of(run: Run) -> dict[str, Any]:
    """Return the argument TASK of `short_queues_inside.py`: the queue, the path and the flows."""
    draw, flows = Random(run.seed), run.point.tree["flow"]["flow"]["count"]
    return {
        **task_of_queue(queue_of(run.point), int(run.point.row[2]) / 1e3),
        "flows": flows,
        "congestion": NAMES[run.point.row[0]],
        "pacing_bps": None,
        "starts_s": sorted(draw.uniform(0.0, 1.0) for _ in range(flows)),
        "warmup_s": WARMUP_S,
        "length_s": DURATION_S - WARMUP_S,
        "bytes": 0,
        "patience_s": 0.0,
    }


def in_uml(run: Run) -> dict[str, Any]:
    """Run a point in user-mode Linux through the kernel's queue. The reported queue length includes
    the packet in service."""
    seen = uml.answer(INSIDE, "alone", json.dumps(task_of(run)))
    figures = {
        "goodput_bps": seen["goodput_bps"],
        "drops": seen["drop_probability"],
        "queue_packets": seen["waiting_packets"] + seen["utilisation"],
        "jain": seen["jain"],
    }
    return {"figures": figures, "seen": seen}


def emulated_in_uml(run: Run) -> dict[str, Any]:
    """Run a point in user-mode Linux through the engine's queue."""
    task = {
        "point": asdict(run.point),
        "variant": asdict(run.variant),
        "seed": run.seed,
    }
    seen: dict[str, Any] = uml.answer(OWN, "emulated", json.dumps(task))
    return seen


def datagrams_in_uml(load: Load, seed: int) -> dict[str, Any]:
    """Send datagrams in user-mode Linux through the kernel's queue."""
    task = {
        **task_of_queue(load.queue, 0.0),
        **load.task(seed),
    }
    seen: dict[str, Any] = uml.answer(OWN, "datagrams", json.dumps(task))
    return seen


# -- runs ---------------------------------------------------------------------------------------


def simulate_all(chosen: Sequence[Point]) -> None:
    """Make the simulations that are not stored yet, and store them."""
    done = RUNS.known()
    for point in chosen:
        for variant in variants_of(point):
            if (key := simulated_key(point, variant)) not in done:
                RUNS.add(key, simulated(point, variant, None))
                print(key, flush=True)


def emulate_here(chosen: Sequence[Point], budget_s: float) -> None:
    """Make the emulations that are not stored yet, in real time. The threads of the sockets have a
    high priority."""
    check_room()
    done = RUNS.known()
    plan = [run for run in in_turn(chosen, [AS_THEY_ARE]) if run.key not in done]
    emulate_all(RUNS, plan, Manner(JOBS, budget_s, None, is_first=True))


def run_in_uml(chosen: Sequence[Point], way: str) -> None:
    """Run the points in user-mode Linux that are not stored yet. `way` selects the kernel's queue
    or the engine's queue."""
    make = in_uml if way == "uml" else emulated_in_uml
    done = RUNS.known()
    for point in chosen:
        for seed in range(1, SEEDS + 1):
            run = Run(point, AS_THEY_ARE, seed)
            if (key := key_of(run, way)) not in done:
                RUNS.add(key, result := make(run))
                print(f"{key}: {result['figures']}", flush=True)


def run_datagrams() -> None:
    """Make the runs with datagrams that are not stored yet, through the kernel's queue and through
    the engine's queue."""
    done = RUNS.known()
    for load in LOADS:
        for seed in range(1, SEEDS + 1):
            for way, make in (("engine", by_engine), ("uml", datagrams_in_uml)):
                if (key := load.key(way, seed)) not in done:
                    RUNS.add(key, result := make(load, seed))
                    print(f"{key}: {result}", flush=True)


def main() -> None:
    """Make the runs that are not stored yet, or write the section of the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="PATTERN", default="", help="points whose names match")
    parser.add_argument("--way", action="append", choices=WAYS, help="all")
    parser.add_argument("--budget-minutes", type=float, default=float("inf"), metavar="N")
    parser.add_argument("--page", action="store_true", help="write the section")
    asked = parser.parse_args()
    if asked.page:
        import uml_queues_page

        uml_queues_page.write(RUNS)
        return
    chosen = [point for point in points() if re.search(asked.only, point.name)]
    ways = asked.way or WAYS
    if any("uml" in way or way == "datagrams" for way in ways) and (lacks := uml.missing()):
        raise SystemExit(lacks)
    for way in ways:
        match way:
            case "simulated":
                simulate_all(chosen)
            case "emulated":
                emulate_here(chosen, 60 * asked.budget_minutes)
            case "datagrams":
                run_datagrams()
            case _:
                run_in_uml(chosen, way)


if __name__ == "__main__":
    require_release_build()
    main()
