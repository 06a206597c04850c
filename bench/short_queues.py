"""Short queues of paper 004 three ways: simulated, emulated, and enforced under the kernel's TCP.

    python bench/short_queues.py [SERIES ...]     runs the missing runs
    python bench/short_queues.py --page           writes docs/reference/queue-measured.md

Sixty flows share 100 Mbit/s, at round-trip times of 10 and 200 ms. The queue has a threshold of 15
packets, or drop-tail with 100 packets, or RED with thresholds of 50 and 100 packets. In emulations,
the kernel's sockets send through the engine's queue. In enforced runs, `lasthop queue` sets up the
kernel's queue at a separate router. Emulated wires delay the packets before this router
(`short_queues_inside.py`). If this kernel has no RED, six flows share 10 Mbit/s in user-mode Linux,
which has RED and netem.

Series: `queues` is the basic series. In `sack` the flows run without SACK, to show its effect. In
`access` each flow has an access link with a rate, and the sum of these rates is a fifth above the
rate of the shared link. In `transfers` each flow sends 5 MB. `uml` runs in user-mode Linux. `why`
removes the possible causes of differences in `uml` one by one. In `bucket` the shaper sends one
packet at a time. Every run is stored as a line of out/short-queues.jsonl, and is not repeated.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uml
from measure import require_release_build

import lasthop as lh
from lasthop.emulation import emulate

HERE = Path(__file__).parent
RUNS = HERE / "out" / "short-queues.jsonl"
INSIDE = HERE / "short_queues_inside.py"
WARMUP_S, LENGTH_S = 20.0, 40.0
LONGEST_TRANSFER_S = {0.01: 60.0, 0.2: 100.0}
"""Longest measured time of a transfer, by round-trip time. If the link
were always busy, all transfers would be complete after 25 s. [s]"""
REPLICATIONS = 5
PORT = 5001
MSS_BYTES = 1448
QUEUES: dict[str, dict[str, Any]] = {
    "threshold 15": {"threshold": 15},
    "drop-tail 100": {"limit": 100},
    "RED 50/100": {
        "limit": 100,
        "red": {"min_th": 50, "max_th": 100, "weight": 0.002, "gentle": False, "wait": False},
    },
}
RTTS_S = (0.01, 0.2)
KERNELS = {"newreno": "reno", "compound": "compound"}
"""Congestion controls of the engine, and the names of the corresponding controls in the kernel. The
kernel's Reno is NewReno."""
TRANSFER_BYTES = 5_000_000
SMALL: dict[str, Any] = {"flows": 6, "rate_bps": 10_000_000}
"""Number of flows and rate for which user-mode Linux is fast enough."""
WITHOUT_RACK = "net.ipv4.tcp_recovery=0 net.ipv4.tcp_early_retrans=0"
"""Settings of the kernel that turn off RACK and tail loss probes (RFC 8985), which these
simulations do not use."""


@dataclass(frozen=True)
class Case:
    """A queue with flows of one congestion control and one round-trip time."""

    series: str
    queue: str
    rtt_s: float
    law: str = "newreno"
    sack: bool = True
    access_bps: int | None = None
    """Rate of the access link of each flow; None if it is not limited. [bit/s]"""
    transfer_bytes: int = 0
    """Size of each flow's transfer; 0 for flows without end. [bytes]"""
    flows: int = 60
    rate_bps: int = 100_000_000
    delayed_ack: bool = True
    sysctls: str = ""
    """Sysctl settings of the kernel of the senders, in addition to those for SACK."""
    bucket_s: float | None = None
    """Size of the shaper's token bucket, as the time to send it at the shaper's rate; None for the
    size that `lasthop queue` uses. [s]"""

    @property
    def key(self) -> str:
        """Return the key under which the runs of the case are stored."""
        more = "" if self.delayed_ack else ", no delayed ACKs"
        more += f", {self.sysctls}" if self.sysctls else ""
        more += "" if self.bucket_s is None else f", bucket of {1e3 * self.bucket_s:g} ms"
        return f"{self.series}, {self.queue}, {self.law}, {self.rtt_s * 1e3:g} ms{more}"

    def tree(self) -> dict[str, Any]:
        """Return the scenario of the case."""
        host: dict[str, Any] = {"rtt": f"{self.rtt_s} s"}
        if self.access_bps is not None:
            host["access"] = f"{self.access_bps} bps"
        length_s = LONGEST_TRANSFER_S[self.rtt_s] if self.transfer_bytes else WARMUP_S + LENGTH_S
        tree = {
            "duration": f"{length_s} s",
            "warmup": f"{0 if self.transfer_bytes else WARMUP_S} s",
            "queue": QUEUES[self.queue],
            "dumbbell": {"flows": self.flows, "bottleneck": f"{self.rate_bps} bps", **host},
            "tcp": {
                "congestion": self.law,
                "window": 10_000,
                "sack": self.sack,
                "delayed_ack": self.delayed_ack,
                "mss": f"{MSS_BYTES} B",
            },
        }
        if self.transfer_bytes:
            segments = round(self.transfer_bytes / MSS_BYTES)
            tree["dumbbell"] = {"bottleneck": f"{self.rate_bps} bps"}
            tree["flow"] = {
                "one": {
                    "from": "left",
                    "to": "right",
                    "count": self.flows,
                    "segments": segments,
                    "start_spread": "0 s",
                    **host,
                }
            }
        return tree

    def ways(self) -> list[str]:
        """Return the kinds of runs for the case: simulated, emulated, enforced, in user-mode
        Linux."""
        match self.series:
            case "uml":
                return ["simulated", "emulated", "in uml"]
            case "why":
                return ["simulated", "in uml"]
            case "bucket":
                return ["enforced"]
        return ["simulated", "emulated", *([] if "RED" in self.queue else ["enforced"])]


def cases() -> Iterator[Case]:
    """Yield the cases of all series."""
    for queue in QUEUES:
        for rtt_s in RTTS_S:
            for law in KERNELS:
                yield Case("queues", queue, rtt_s, law)
            yield Case("transfers", queue, rtt_s, transfer_bytes=TRANSFER_BYTES)
    for queue in ("threshold 15", "drop-tail 100"):
        for rtt_s in RTTS_S:
            yield Case("access", queue, rtt_s, access_bps=2_000_000)
            yield Case("sack", queue, rtt_s, sack=False)
    for queue in ("threshold 15", "RED 50/100"):
        for rtt_s in RTTS_S:
            yield Case("uml", queue, rtt_s, **SMALL)
    for bucket_s in (None, 1e-4):
        yield Case("bucket", "threshold 15", 0.2, bucket_s=bucket_s)
    for rtt_s in RTTS_S:
        for delayed_ack in (True, False):
            for sysctls in ("", WITHOUT_RACK):
                yield Case(
                    "why",
                    "threshold 15",
                    rtt_s,
                    delayed_ack=delayed_ack,
                    sysctls=sysctls,
                    **SMALL,
                )


def of_result(result: Any) -> dict[str, Any]:
    """Return the compared quantities from the result of a simulation or an emulation."""
    link, queue = result.links.loc["bottleneck"], result.queues.loc["bottleneck"]
    goodputs = result.flows["goodput_bps"]
    figures = {
        "utilisation": float(link["utilisation"]),
        "queue_packets": float(queue["occupancy_packets"]),
        "drop_probability": float(queue["drop_probability"]),
        "jain": float(goodputs.sum() ** 2 / len(goodputs) / (goodputs**2).sum()),
        "least_share": float(goodputs.min() / goodputs.mean()),
    }
    if "completion_s" in result.flows:
        figures["completions_s"] = result.flows["completion_s"].tolist()
    return figures


def simulated(case: Case) -> dict[str, Any]:
    """Simulate the case. The initial window is ten packets, as in the kernel."""
    tree = case.tree()
    tree["tcp"]["initial_window"] = 10
    runs = [of_result(lh.simulate(tree, seed=seed)) for seed in range(1, REPLICATIONS + 1)]
    return {"runs": runs}


def emulated(case: Case) -> dict[str, Any]:
    """Emulate the case: the kernel's TCP sends through the engine's queue."""
    answer = emulate(case.tree(), sysctl={"net.ipv4.tcp_sack": str(int(case.sack))})
    return {"runs": [of_result(answer)], "late_s": answer.lateness_p99_s}


def task(case: Case) -> dict[str, Any]:
    """Return the argument TASK of `short_queues_inside.py`."""
    interface = {"name": "OUTGOING", "rate": f"{case.rate_bps} bps", "queue": QUEUES[case.queue]}
    return {
        "interface": json.dumps({"interface": interface}),
        "sink": "mine.sink",
        "port": PORT,
        "flows": case.flows,
        "congestion": KERNELS[case.law],
        "sack": case.sack,
        "sysctls": case.sysctls,
        "quickack": not case.delayed_ack,
        "rtt_s": case.rtt_s,
        "pacing_bps": case.access_bps,
        "bucket_s": case.bucket_s,
        "warmup_s": WARMUP_S,
        "length_s": LENGTH_S,
        "bytes": case.transfer_bytes,
        "patience_s": LONGEST_TRANSFER_S[case.rtt_s],
    }


def enforced(case: Case) -> dict[str, Any]:
    """Measure the kernel's TCP through the kernel's queue. Emulated wires only delay the
    packets."""
    python = sys.executable
    tree = {
        "duration": "3600 s",
        "warmup": "0 s",
        "link": {"wire": {"from": "a", "to": "b", "delay": f"{case.rtt_s / 2} s"}},
        # the scenario must have a flow, but this flow sends nothing
        "flow": {"mine": {"from": "a", "to": "b", "start": "3599 s"}},
        "programs": {"mine/sink": f"{python} {INSIDE} sink {PORT}"},
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(tree, file)
        file.flush()
        command = [python, "-c", "from lasthop.cli import main; raise SystemExit(main())"]
        command += ["emulate", file.name, "--at", "mine/source", "--", python, str(INSIDE)]
        done = subprocess.run(
            [*command, "source", json.dumps(task(case))],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return {"runs": [json.loads(done.stdout.splitlines()[0])]}


def in_uml(case: Case) -> dict[str, Any]:
    """Measure the case in user-mode Linux, where netem delays the packets."""
    if (lacks := uml.missing()) is not None:
        raise SystemExit(lacks)
    return {"runs": [uml.answer(INSIDE, "alone", json.dumps(task(case)))]}


WAYS = {"simulated": simulated, "emulated": emulated, "enforced": enforced, "in uml": in_uml}


def known() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the stored runs, by case and kind of run."""
    if not RUNS.exists():
        return {}
    lines = map(json.loads, RUNS.read_text().splitlines())
    return {(line["case"], line["way"]): line["seen"] for line in lines}


def main() -> None:
    """Make the runs that are not stored yet, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("series", nargs="*", help="what to run; all")
    parser.add_argument("--page", action="store_true", help="write the page")
    asked = parser.parse_args()
    if asked.page:
        from short_queues_page import write

        write(known())
        return
    RUNS.parent.mkdir(exist_ok=True)
    for case in cases():
        if asked.series and case.series not in asked.series:
            continue
        for way in case.ways():
            if (case.key, way) in known():
                continue
            seen = WAYS[way](case)
            with RUNS.open("a") as file:
                file.write(json.dumps({"case": case.key, "way": way, "seen": seen}) + "\n")
            print(f"{case.key}, {way}: {seen}", flush=True)


if __name__ == "__main__":
    require_release_build()
    main()
