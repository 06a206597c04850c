"""Measure the throughput of the gateway with real TCP downloads, and the CPU time per segment.

The same run also measures the network without a gateway, with receive offload (GRO) off and on.
Sender, ISP and stations share the processors with the gateway (`carries_network.py`). The CPU time
per segment is therefore that of the whole path. The CPU time of shaping is the difference between
runs with and without the gateway.

CPU time is that of the sending and receiving processes, of the gateway's process, and of the
machine's soft interrupts, which forward packets. Other programs are not included, but they slow
down the traffic.
"""

import argparse
import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import carries_network as net
from measure import BenchError, require_release_build
from tc_network import entered

from lasthop.daemon.service_kind import ServiceContext
from lasthop.daemon.state import State
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.service import GatewayService
from lasthop.linux import offload, rights

STATIONS = (10, 100, 1_000)
FIXED_BPS, BEYOND_BPS = 1_000_000_000, 100_000_000_000
WARM_UP_S, MEASURED_S = 3.0, 8.0
MSS_BYTES, FRAME_BYTES = 1448, 1514
ENOUGH = 0.97
"""Minimum throughput as a fraction of the gateway's rate. Below this fraction, the aim is missed.
[-]
"""
SHARES = ("user", "system", "softirq", "stolen", "service")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Way:
    """A path between server and stations: without a gateway, or with a gateway at some rate."""

    name: str
    rate_bps: int | None
    """Rate of the gateway; None for a path without a gateway."""
    merges: bool
    """Whether received segments are merged (GRO)."""


WAYS = (
    Way("no gateway", None, merges=False),
    Way("no gateway, GRO", None, merges=True),
    Way("gateway, 1 Gbit/s", FIXED_BPS, merges=False),
    Way("gateway, no limit", BEYOND_BPS, merges=False),
    Way("gateway, 1 Gbit/s, GRO", FIXED_BPS, merges=True),
    Way("gateway, no limit, GRO", BEYOND_BPS, merges=True),
)
"""Measured paths. The gateway normally turns GRO off; on the last two paths GRO is turned on again.
"""


@dataclass(frozen=True)
class Carried:
    """Throughput and CPU time of a measurement."""

    stations: int
    way: str
    goodput_bps: float
    user: float
    """Time of all programs, as a fraction of one processor. [-]"""
    system: float
    """Time of the kernel in system calls of all programs, as a fraction of one processor. [-]"""
    softirq: float
    """Time of soft interrupts, as a fraction of one processor. [-]"""
    stolen: float
    """Time given to other virtual machines, as a fraction of one processor. [-]"""
    service: float
    """CPU time of the gateway's process, as a fraction of one processor. [-]"""
    segment_s: float
    """CPU time of the whole path per segment. [s]"""


def main(stations: Sequence[int] = STATIONS, *, quick: bool = False) -> list[str]:
    """Measure, print the table and write out/carries.json. Return a message per missed aim."""
    reason = rights.missing()
    if reason is not None:
        print(f"carries: left out: {reason}")
        return []
    print("\nGateway: what it carries, TCP downloads, frames of 1514 bytes, one to each station")
    print(f"  {os.cpu_count()} processors, which server, ISP and stations share with it")
    print(f"{'':40}{'processors of the machine':>34}{'':>10}{'the path':>24}")
    print(
        f"{'':28}{'Mbit/s':>10}{'user':>10}{'system':>9}{'softirq':>9}{'service':>9}"
        f"{'us/segment':>14}{'ratio':>7}"
    )
    measured: list[Carried] = []
    missed = []
    for count in stations:
        with net.Network(count):
            every = {way.name: carried(count, way, quick=quick) for way in WAYS}
        measured += every.values()
        for each in every.values():
            show(each, every[WAYS[0].name])
        missed += judged(every)
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    out.joinpath("carries.json").write_text(
        json.dumps([asdict(each) for each in measured], indent=2)
    )
    return missed


def show(measured: Carried, plain: Carried) -> None:
    """Print a row of the table. The last column is the CPU time divided by the CPU time without a
    gateway.
    """
    shares = "".join(
        f"{100 * share:8.0f} %" for share in (measured.user, measured.system, measured.softirq)
    )
    print(
        f"{measured.stations:>5} {measured.way:22}{measured.goodput_bps / 1e6:10.0f} {shares[1:]}"
        f"{100 * measured.service:7.1f} %{1e6 * measured.segment_s:14.2f}"
        f"{measured.segment_s / plain.segment_s:7.2f}",
        flush=True,
    )


def judged(every: dict[str, Carried]) -> list[str]:
    """Print the CPU time of shaping. Return a message if the gateway does not reach 1 Gbit/s."""
    plain, fixed, free = (every[WAYS[k].name] for k in (0, 2, 3))
    shaping_s = max(free.segment_s - plain.segment_s, 1e-9)
    print(
        f"{'':6}shaping takes {1e6 * shaping_s:.2f} us a segment: a processor with nothing else "
        f"to do shapes {8e-9 * MSS_BYTES / shaping_s:.1f} Gbit/s"
    )
    wanted_bps = FIXED_BPS * MSS_BYTES / FRAME_BYTES
    if fixed.goodput_bps >= ENOUGH * wanted_bps:
        return []
    return [
        f"{fixed.stations} stations: {fixed.goodput_bps / 1e6:.0f} of {wanted_bps / 1e6:.0f} Mbit/s"
        " at a rate of 1 Gbit/s"
    ]


def carried(stations: int, way: Way, *, quick: bool = False) -> Carried:
    """Measure throughput and CPU time on a path."""
    with gateway(stations, way) as own, net.Downloads(range(stations)) as downloads:
        time.sleep(1.0 if quick else WARM_UP_S)
        before, began_s = seen(downloads, own), time.monotonic()
        time.sleep(3.0 if quick else MEASURED_S)
        after, elapsed_s = seen(downloads, own), time.monotonic() - began_s
    got = {key: after[key] - before[key] for key in before}
    busy_s = (got["own"] + got["service"] + got["softirq"]) / TICKS
    return Carried(
        stations,
        way.name,
        8 * got["bytes"] / elapsed_s,
        segment_s=busy_s / max(got["bytes"] / MSS_BYTES, 1),
        **{name: got[name] / TICKS / elapsed_s for name in SHARES},
    )


def seen(downloads: net.Downloads, own: int | None) -> dict[str, int]:
    """Return the bytes received so far, and the CPU times so far in ticks. `own` is the process ID
    of the gateway; None without a gateway."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = map(int, words)
    return {
        "bytes": downloads.received_bytes(),
        "user": user + nice,
        "system": system,
        "softirq": irq + softirq,
        "stolen": steal,
        "own": sum(map(ticks_of, downloads.children)),
        "service": 0 if own is None else ticks_of(own),
    }


def ticks_of(process: int) -> int:
    """Return the CPU time of a process so far. [ticks]"""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@contextmanager
def gateway(stations: int, way: Way) -> Iterator[int | None]:
    """Run the gateway in a separate process, and yield the ID of this process; None if the path has
    no gateway.
    """
    merging(way.merges)
    if way.rate_bps is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as directory:
        state = State(Path(directory))
        child = os.fork()
        if child == 0:
            live(file(stations, way.rate_bps), state)
        try:
            while state.ask({"do": "status"}) is None:
                if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    raise BenchError(f"the gateway has ended, with {stations} stations")
                time.sleep(0.05)
            if way.merges:
                # a running gateway would turn GRO off again immediately
                os.kill(child, signal.SIGSTOP)
                merging(True)
            yield child
        finally:
            os.kill(child, signal.SIGCONT)
            state.ask({"do": "stop"})
            os.waitpid(child, 0)


def merging(on: bool) -> None:
    """Turn receive offload (GRO) of the gateway's interfaces on or off."""
    with entered(net.GATEWAY):
        for device in ("wan", "lan"):
            offload.set_merging(device, on)


def file(stations: int, rate_bps: int) -> str:
    """Return the text of the gateway's configuration file."""
    head = f'[gateway]\nwan = "wan"\nlan = "lan"\nrate = "{rate_bps} bps"\nmetrics = "off"\n'
    return head + "".join(
        f'station.s{k} = {{ address = "{net.station_v4(k)}" }}\n' for k in range(stations)
    )


def live(text: str, state: State) -> None:
    """Run the gateway with this configuration in the current process."""
    code = 1
    try:
        with entered(net.GATEWAY):
            settings = config.read(text)
            service = GatewayService(
                ServiceContext(settings, state, lambda: settings, lambda _: None)
            )
            service.up()
            service.run()
            code = len(service.down())
    finally:
        os._exit(code)


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="how much the gateway carries")
    parser.add_argument("--quick", action="store_true", help="shorter, rougher")
    parser.add_argument("--stations", type=int, nargs="+", default=STATIONS, help="how many")
    options = parser.parse_args()
    raise SystemExit("\n".join(main(options.stations, quick=options.quick)) or 0)
