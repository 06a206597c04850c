"""Compare the numbers of connections that relays open if they measure the round-trip time T on
their TCP connections, or by UDP probes.

    .venv/bin/python bench/relay_probe.py [--runs N]     (root; 80 s per case and run)

One download goes through two relays over an emulated link of 10 Mbit/s. The warm-up is 10 s, and 30
s are measured. The rule of the relays computes the number of connections from T. Each link is run
with T from the TCP connections, and then with T from probes. The script prints the means of the
number of connections, of the smoothed round-trip time of the server's connections, of the probes'
round-trip time, and of the goodput. The acceptance criterion was defined before the first run. It
applies to links with a FIFO queue: the mean number of connections with T from TCP and the mean
number with T from probes must differ by at most 10 % or half a connection. Runs in which the 99th
percentile of the packets' lateness exceeds 2 ms are marked.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from threading import Thread
from typing import Any

from measure import require_release_build
from relay_share import LASTHOP, TARGET_PORT, give

from lasthop.emulated.lateness import LATE_S
from lasthop.relay import Client, Server, Terms, new_key

WARMUP_S, MEASURED_S, LOOK_S = 10.0, 30.0, 0.1
RELAY_PORT = 4700


@dataclass(frozen=True)
class Case:
    """A link with its queue, and the parameter k of the relays' rule."""

    name: str
    queue: Any
    """Queue of the link, in the format of scenario files."""
    rtt: str
    k_per_s: float

    def scenario(self) -> dict[str, Any]:
        """Return the scenario of the link. Its only flow starts just before the end and has no
        effect."""
        end_s = WARMUP_S + MEASURED_S + 5.0
        return {
            "name": self.name,
            "warmup": "0 s",
            "duration": f"{end_s} s",
            "queue": self.queue,
            "dumbbell": {"bottleneck": "10 Mbps", "rtt": self.rtt},
            "tcp": {"congestion": "reno", "window": 1000, "sack": True},
            "flow": {"mine": {"start": f"{end_s - 0.001:.3f} s", "start_spread": "0 s"}},
        }


CASES = (
    Case("FIFO of 60 packets, 40 ms", 60, "40 ms", 50.0),
    Case("FIFO of 250 packets, 300 ms", 250, "300 ms", 10.0),
    Case("fq_codel, 40 ms", {"fq_codel": {}}, "40 ms", 50.0),
)


def run(case: Case, probe: str) -> str:
    """Emulate one download through relays, and return its row of the table."""
    with tempfile.TemporaryDirectory() as directory:
        here = Path(directory)
        (here / "key").write_text(new_key())
        (here / "link.json").write_text(json.dumps(case.scenario()))
        itself = f"{sys.executable} {__file__}"
        place, target = give()
        command = [*LASTHOP, "emulate", str(here / "link.json"), "--json", "--at", "mine/sink"]
        command += ["--with", place, target, "--with", place, f"{itself} --inside far {here}"]
        command += ["--", *itself.split(), "--inside", "near", directory]
        command += [str(case.k_per_s), probe]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not (here / "near").exists():
            raise RuntimeError(done.stderr)
        [total] = json.loads(done.stdout)["totals"]
        late_s = total["lateness_p99_s"]["mean"]
        near = json.loads((here / "near").read_text())
        begin_s, end_s = near["span_s"]
        rows = [json.loads(line) for line in (here / "far").read_text().splitlines()]
        rtts_s = [rtt_s for at_s, rtt_s in rows if begin_s <= at_s <= end_s and rtt_s is not None]
    probed = "-" if near["probe_rtt_s"] is None else f"{1e3 * near['probe_rtt_s']:.0f}"
    return (
        f"| {case.name}, k = {case.k_per_s:g} | {probe} | {near['connections']:.2f} "
        f"| {1e3 * fmean(rtts_s):.0f} | {probed} | {near['goodput_bps'] / 1e6:.2f} |"
        + (f" late: {1e3 * late_s:.1f} ms" if late_s > LATE_S else "")
    )


def far(directory: str) -> None:
    """Run the relay near the target, and write the round-trip times of its connections to a
    file."""
    here = Path(directory)
    with (
        Server((here / "key").read_text(), "0.0.0.0", RELAY_PORT) as server,
        (here / "far").open("w", buffering=1) as out,
    ):
        while True:
            print(json.dumps([time.monotonic(), server.metrics()["rtt_s"]]), file=out)
            time.sleep(LOOK_S)


def near(directory: str, k_per_s: str, probe: str) -> None:
    """Run the relay near the program, and a program that downloads through it. Write the
    measurements to a file."""
    here = Path(directory)
    terms = Terms(k_per_s=float(k_per_s), connections=(1, 64))
    server = ("mine.source", RELAY_PORT)
    key = (here / "key").read_text()
    with (
        Client(server, key, terms, probe=probe == "probes") as client,
        client.connect("127.0.0.1", TARGET_PORT, None) as stream,
    ):
        taken = 0
        is_over = False

        def take() -> None:
            nonlocal taken
            while not is_over and (piece := stream.recv(1 << 20)):
                taken += len(piece)

        reader = Thread(target=take)
        reader.start()
        time.sleep(WARMUP_S)
        begin_s, before, looks = time.monotonic(), taken, []
        while time.monotonic() - begin_s < MEASURED_S:
            time.sleep(LOOK_S)
            looks.append(client.metrics())
        end_s, got = time.monotonic(), taken - before
        is_over = True
        reader.join()
    known_s = [look["probe_rtt_s"] for look in looks if look.get("probe_rtt_s") is not None]
    seen = {
        "span_s": [begin_s, end_s],
        "connections": fmean(look["connections"] for look in looks),
        "probe_rtt_s": fmean(known_s) if known_s else None,
        "goodput_bps": 8 * got / (end_s - begin_s),
    }
    (here / "near").write_text(json.dumps(seen))


def main(runs: int) -> None:
    """Emulate all cases, and print a table."""
    print("| link | T by | connections | T of TCP [ms] | T of probes [ms] | goodput [Mbit/s] |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        for _ in range(runs):
            for probe in ("TCP", "probes"):
                print(run(case, probe), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1, help="runs of each case and variant")
    parser.add_argument("--inside", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        todo: dict[str, Callable[..., None]] = {"far": far, "near": near}
        todo[options.inside[0]](*options.inside[1:])
    else:
        require_release_build()
        main(options.runs)
