"""Connections of a pair of relays by T of the TCP connections, and by T of UDP probes.

    .venv/bin/python bench/relay_probe.py [--runs N]     (root; 90 s per run of both variants)

One download goes through two relays over a link of 10 Mbit/s in the kernel: HTB, whose leaf is the
queue of the case, and netem for the delay of the way back. The first 10 s are cut, 30 s count.
Printed are the means of the connections' smoothed round-trip time, of the probes' and of the
number of connections, and the goodput. Rule, set before the first run: behind a FIFO both variants
agree if their mean numbers are within 10 % or half a connection of each other.
"""

import argparse
import os
import socket
import subprocess
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from threading import Thread

from measure import require_release_build
from relay_share_inside import fill

from lasthop.linux.netns import Namespace
from lasthop.relay import Client, Server, Terms, new_key

WARMUP_S, MEASURED_S, LOOK_S = 10.0, 30.0, 0.1
FAR, NEAR = "10.99.0.1", "10.99.0.2"
RATE = "10mbit"
TARGET_PORT = 9000


@dataclass(frozen=True)
class Case:
    """A link and the rule of the relays."""

    name: str
    queue: str
    """The queue, as `tc` has it."""
    delay: str
    k_per_s: float


CASES = (
    Case("FIFO of 60 packets, 40 ms", "pfifo limit 60", "40ms", 50.0),
    Case("FIFO of 250 packets, 300 ms", "pfifo limit 250", "300ms", 10.0),
    Case("queue per flow (sfq), 40 ms", "sfq limit 127 perturb 0", "40ms", 50.0),
    Case("fq_codel, 40 ms", "fq_codel", "40ms", 50.0),
)


@dataclass(frozen=True)
class Seen:
    """Means of a run."""

    connections: float
    tcp_rtt_s: float
    probe_rtt_s: float | None
    goodput_bps: float


def sh(command: str) -> None:
    """Run commands."""
    subprocess.run(["sh", "-ec", command], check=True)


def run(case: Case, *, probe: bool) -> Seen:
    """One download."""
    with ExitStack() as stack:
        far, near = Namespace(), Namespace()
        stack.callback(far.close)
        stack.callback(near.close)
        lay(case, far, near)
        key = new_key()
        server = stack.enter_context(far.run(partial(Server, key, FAR)))
        target = far.run(partial(socket.create_server, ("127.0.0.1", TARGET_PORT)))
        stack.enter_context(target)
        Thread(target=give, args=(target,), daemon=True).start()
        terms = Terms(k_per_s=case.k_per_s, connections=(1, 64))
        made = partial(Client, server.address, key, terms, probe=probe)
        client = stack.enter_context(near.run(made))
        stream = stack.enter_context(
            near.run(partial(client.connect, "127.0.0.1", TARGET_PORT, None))
        )
        taken = 0
        is_over = False

        def take() -> None:
            nonlocal taken
            while not is_over and (piece := stream.recv(1 << 20)):
                taken += len(piece)

        reader = Thread(target=take)
        reader.start()
        time.sleep(WARMUP_S)
        begun_s, before, looks = time.monotonic(), taken, []
        while time.monotonic() - begun_s < MEASURED_S:
            time.sleep(LOOK_S)
            looks.append((client.metrics(), server.metrics()))
        elapsed_s, got = time.monotonic() - begun_s, taken - before
        is_over = True
        reader.join()
        probes_s = [here.get("probe_rtt_s") for here, _ in looks]
        known_s = [each for each in probes_s if each is not None]
        return Seen(
            fmean(here["connections"] for here, _ in looks),
            # the server sends the data, so that its kernel measures
            fmean(there["rtt_s"] for _, there in looks),
            fmean(known_s) if known_s else None,
            8 * got / elapsed_s,
        )


def lay(case: Case, far: Namespace, near: Namespace) -> None:
    """Connect two namespaces by the link of a case."""
    there = f"/proc/{os.getpid()}/fd/{near.descriptor}"
    far.run(
        partial(
            sh,
            f"ip link set lo up; ip link add far type veth peer name near netns {there};"
            f"ip addr add {FAR}/24 dev far; ip link set far gso_max_segs 1 up;"
            f"ethtool -K far tso off gso off gro off >/dev/null 2>&1 || true;"
            f"tc qdisc add dev far root handle 1: htb default 1;"
            f"tc class add dev far parent 1: classid 1:1 htb rate {RATE} burst 1600;"
            f"tc qdisc add dev far parent 1:1 {case.queue}",
        )
    )
    near.run(
        partial(
            sh,
            f"ip link set lo up; ip addr add {NEAR}/24 dev near;"
            f"ip link set near gso_max_segs 1 up;"
            f"tc qdisc add dev near root netem delay {case.delay} limit 10000",
        )
    )


def give(listener: socket.socket) -> None:
    """Send to each client without end."""
    with suppress(OSError):
        while True:
            Thread(target=fill, args=(listener.accept()[0],), daemon=True).start()


def main(runs: int) -> None:
    """Run all cases, and print a table."""
    print("| link | T by | connections | T of TCP [ms] | T of probes [ms] | goodput [Mbit/s] |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        for _ in range(runs):
            for probe in (False, True):
                seen = run(case, probe=probe)
                probed = "-" if seen.probe_rtt_s is None else f"{1e3 * seen.probe_rtt_s:.0f}"
                print(
                    f"| {case.name}, k = {case.k_per_s:g} | {'probes' if probe else 'TCP'} "
                    f"| {seen.connections:.2f} | {1e3 * seen.tcp_rtt_s:.0f} | {probed} "
                    f"| {seen.goodput_bps / 1e6:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1, help="runs of each case and variant")
    main(parser.parse_args().runs)
