"""Measure how long the gateway's changes to the kernel take, in a separate network namespace.

The set-up includes all changes that `lasthop gateway up` makes in the kernel, and the undo log on
the disk. Each station has an IPv4 and an IPv6 address.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from pathlib import Path

from measure import require_release_build

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.config import KnownStation
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.linux import rights
from lasthop.linux.syscalls import call
from lasthop.linux.undo import UndoLog

FILE = '[gateway]\nwan = "wan0"\nlan = "lan0"\nrate = "500 Mbps"\nmetrics = "off"\n'
CHANGES, JOINS = 200, 50
AIMS = {1_000: (1.0, 0.010), 5_000: (None, None)}
"""Largest accepted times to set up the gateway and to change its rate C, by number of stations.
None: the time is printed but not checked. [s]"""


@dataclass(frozen=True)
class Times:
    """Measured times, for a number of stations. [s]"""

    stations: int
    set_up_s: float
    set_up_cpu_s: float
    """CPU time of the set-up, including the kernel. On an idle machine, the wall-clock time of the
    set-up is equal to this time.
    """
    change_c_s: float
    longest_change_c_s: float
    join_s: float
    join_cpu_s: float
    """CPU time for adding a station. When a class is added, the kernel visits all other classes
    (tc_bind_tclass).
    """
    counters_s: float
    take_back_s: float


def main() -> list[str]:
    """Measure, print the table and write out/gateway.json. Return a message per missed aim."""
    reason = rights.missing()
    if reason is not None:
        print(f"gateway: left out: {reason}")
        return []
    print("\nGateway: changes to the kernel, IPv4 and IPv6")
    print(
        f"{'':16}{'set up':>10}{'CPU':>11}{'change C':>12}{'longest':>11}{'join':>11}{'CPU':>11}"
        f"{'counters':>12}{'down':>11}"
    )
    measured, missed = [], []
    for stations, (set_up_aim_s, change_aim_s) in AIMS.items():
        times = in_a_namespace(stations)
        measured.append(times)
        print(
            f"{stations:>6} stations {times.set_up_s:9.3f} s{times.set_up_cpu_s:9.3f} s"
            f"{times.change_c_s * 1e3:8.3f} ms{times.longest_change_c_s * 1e3:8.3f} ms"
            f"{times.join_s * 1e3:8.3f} ms{times.join_cpu_s * 1e3:8.3f} ms"
            f"{times.counters_s * 1e3:9.2f} ms"
            f"{times.take_back_s:9.3f} s",
            flush=True,
        )
        if set_up_aim_s is not None and times.set_up_s > set_up_aim_s:
            missed.append(f"{stations} stations take {times.set_up_s:.2f} s to set up")
        if change_aim_s is not None and times.longest_change_c_s > change_aim_s:
            missed.append(f"a change of C takes {times.longest_change_c_s * 1e3:.1f} ms")
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    out.joinpath("gateway.json").write_text(json.dumps([asdict(t) for t in measured], indent=2))
    return missed


def in_a_namespace(stations: int) -> Times:
    """Measure in a process with its own network namespace, which is removed with the process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            call("unshare", rights.CLONE_NEWNET)
            os.write(writer, json.dumps(asdict(measure(stations))).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        printed = answer.read()
    os.waitpid(child, 0)
    return Times(**json.loads(printed))


def measure(stations: int) -> Times:
    """Measure the set-up, a change of the rate C, the arrival of a station, a reading of counters,
    and the removal.
    """
    for name in ("wan0", "lan0"):
        peer = f"ip link add {name} type veth peer name {name}p; ip link set {name} up"
        subprocess.run(["sh", "-ec", peer], check=True)
    members = [station(k) for k in range(stations)]
    with tempfile.TemporaryDirectory() as directory:
        shaper = Shaper(config.read(FILE), UndoLog(Path(directory, "undo.log")))
        busy_s = time.process_time()
        set_up_s = timed(lambda: shaper.up(members))
        busy_s = time.process_time() - busy_s
        changes = [
            timed(lambda: shaper.set_rate("wlan", 400_000_000 + k))  # noqa: B023
            for k in range(CHANGES)
        ]
        busy_join_s = time.process_time()
        joins = [
            timed(lambda: shaper.join(station(stations + k)))  # noqa: B023
            for k in range(JOINS)
        ]
        busy_join_s = (time.process_time() - busy_join_s) / JOINS
        counters_s = min(timed(shaper.counters) for _ in range(5))
        take_back_s = timed(shaper.down)
        shaper.close()
    return Times(
        stations,
        set_up_s,
        busy_s,
        statistics.median(changes),
        max(changes),
        statistics.median(joins),
        busy_join_s,
        counters_s,
        take_back_s,
    )


def station(k: int) -> KnownStation:
    """Return a station with an IPv4 and an IPv6 address."""
    v4 = ip_address(f"10.{k >> 16}.{k >> 8 & 0xFF}.{k & 0xFF}")
    return KnownStation(f"s{k}", "wlan", (v4, ip_address(f"2001:db8::{k:x}")))


def timed(act: Callable[[], object]) -> float:
    """Return the duration of a call. [s]"""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    require_release_build()
    raise SystemExit("\n".join(main()) or 0)
