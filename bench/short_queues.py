"""Short queues of paper 004 three ways: simulated, emulated, and enforced under the kernel's TCP.

    python bench/short_queues.py [--jobs N]     runs what has not been run
    python bench/short_queues.py --table        prints what was run

Sixty flows share 100 Mbit/s: a threshold of 15 packets, drop-tail of 100 and RED 50/100, at round
trips of 10 and 200 ms. Emulated, the engine's queue stands between the kernel's sockets; enforced,
the queue is the kernel's own, made by `lasthop queue` at a router of its own behind emulated wires
that only delay (`short_queues_inside.py`). This kernel may have no RED: then it is not enforced.

Every run is kept as a line of out/short-queues.jsonl, and is not run again.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lasthop as lh
from lasthop.emulation import emulate

HERE = Path(__file__).parent
RUNS = HERE / "out" / "short-queues.jsonl"
INSIDE = HERE / "short_queues_inside.py"
FLOWS, RATE = 60, "100 Mbps"
WARMUP_S, LENGTH_S = 20.0, 40.0
PORT = 5001
QUEUES = {
    "threshold 15": {"threshold": 15},
    "drop-tail 100": {"limit": 100},
    "RED 50/100": {"limit": 100, "red": {"min_th": 50, "max_th": 100, "weight": 0.002}},
}
LAWS = ("newreno", "compound")
RTTS_S = (0.01, 0.2)
KERNELS = {"newreno": "reno", "compound": "compound"}
"""What the kernel calls them; its Reno is NewReno."""


@dataclass(frozen=True)
class Case:
    """A queue under flows of one law and round-trip time."""

    queue: str
    law: str
    rtt_s: float

    @property
    def key(self) -> str:
        """What tells it from others."""
        return f"{self.queue}, {self.law}, {self.rtt_s * 1e3:g} ms"

    def tree(self) -> dict[str, Any]:
        """The scenario."""
        return {
            "duration": f"{WARMUP_S + LENGTH_S} s",
            "warmup": f"{WARMUP_S} s",
            "queue": QUEUES[self.queue],
            "dumbbell": {"flows": FLOWS, "bottleneck": RATE, "rtt": f"{self.rtt_s} s"},
            "tcp": {"congestion": self.law, "window": 10_000, "sack": True, "mss": "1448 B"},
        }


def cases() -> Iterator[Case]:
    """All of them."""
    for queue in QUEUES:
        for law in LAWS:
            for rtt_s in RTTS_S:
                yield Case(queue, law, rtt_s)


def of_result(result: Any) -> dict[str, Any]:
    """What is compared, of a simulation or an emulation."""
    link, queue = result.links.loc["bottleneck"], result.queues.loc["bottleneck"]
    goodputs = result.flows["goodput_bps"]
    return {
        "utilisation": float(link["utilisation"]),
        "queue_packets": float(queue["occupancy_packets"]),
        "queue_sd_packets": float(queue["occupancy_sd_packets"]),
        "drop_probability": float(queue["drop_probability"]),
        "jain": float(goodputs.sum() ** 2 / len(goodputs) / (goodputs**2).sum()),
        "goodput_bps": float(goodputs.sum()),
    }


def simulated(case: Case) -> dict[str, Any]:
    """By the engine alone."""
    return of_result(lh.simulate(case.tree(), replications=5))


def emulated(case: Case) -> dict[str, Any]:
    """The engine's queue under the kernel's TCP."""
    answer = emulate(case.tree())
    return {**of_result(answer), "late_s": answer.lateness_p99_s}


def enforced(case: Case) -> dict[str, Any]:
    """The kernel's queue under the kernel's TCP, behind wires that only delay."""
    queue = json.dumps(QUEUES[case.queue])
    interface = {"name": "OUTGOING", "rate": RATE, "queue": json.loads(queue)}
    task = {
        "interface": json.dumps({"interface": interface}),
        "sink": "mine.sink",
        "port": PORT,
        "flows": FLOWS,
        "congestion": KERNELS[case.law],
        "sack": True,
        "warmup_s": WARMUP_S,
        "length_s": LENGTH_S,
        "bytes": 0,
    }
    python = sys.executable
    tree = {
        "duration": "600 s",
        "warmup": "0 s",
        "link": {"wire": {"from": "a", "to": "b", "delay": f"{case.rtt_s / 2} s"}},
        "flow": {"mine": {"from": "a", "to": "b"}},
        "programs": {"mine/sink": f"{python} {INSIDE} sink {PORT}"},
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(tree, file)
        file.flush()
        command = [python, "-c", "from lasthop.cli import main; raise SystemExit(main())"]
        command += ["emulate", file.name, "--at", "mine/source", "--", python, str(INSIDE)]
        done = subprocess.run(
            [*command, "source", json.dumps(task)], capture_output=True, text=True, check=True
        )
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return seen


WAYS = {"simulated": simulated, "emulated": emulated, "enforced": enforced}


def runs() -> dict[tuple[str, str], dict[str, Any]]:
    """What was run, by case and way."""
    if not RUNS.exists():
        return {}
    lines = map(json.loads, RUNS.read_text().splitlines())
    return {(line["case"], line["way"]): line["seen"] for line in lines}


def table(done: Mapping[tuple[str, str], Mapping[str, Any]]) -> Iterator[str]:
    """What was run, a row a case."""
    yield "| queue, law, round trip | way | used | queue | drops | Jain |"
    yield "|---|---|---|---|---|---|"
    for case in cases():
        for way in WAYS:
            if (seen := done.get((case.key, way))) is not None:
                yield (
                    f"| {case.key} | {way} | {100 * seen['utilisation']:.1f} % "
                    f"| {seen['queue_packets']:.1f} | {100 * seen['drop_probability']:.2f} % "
                    f"| {seen['jain']:.3f} |"
                )


def main() -> None:
    """Run what has not been run, or print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print what was run")
    done = runs()
    if not parser.parse_args().table:
        RUNS.parent.mkdir(exist_ok=True)
        for case in cases():
            for way, run in WAYS.items():
                if (case.key, way) in done or (way == "enforced" and "RED" in case.queue):
                    continue
                seen = run(case)
                with RUNS.open("a") as file:
                    file.write(json.dumps({"case": case.key, "way": way, "seen": seen}) + "\n")
                print(f"{case.key}, {way}: {seen}", flush=True)
        done = runs()
    print("\n".join(table(done)))


if __name__ == "__main__":
    main()
