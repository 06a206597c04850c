"""Cost per delivered segment: lasthop compared with ns-2 and ns-3, in one run on one machine.

    make bench                                  everything, about an hour
    .venv/bin/python bench/run.py --quick       shorter runs, rougher figures
    .venv/bin/python bench/run.py --only edca   only access parameters of 802.11e and ns-3

The option `--only` runs one of these parts:

- `csma`: links of which only some hear each other;
- `dumbbell`: a router with sixty flows, compared with ns-2, ns-3 and, where LASTHOP_HTSIM names the
  folder of its source, htsim;
- `memory`: twenty million packets through a router;
- `gateway`: the time that changes of the gateway take in this kernel, and the traffic that the
  gateway forwards (requires root);
- `instructions`: instructions per segment, compared with stored counts.

These parts run only if `--only` names them:

- `large`, six minutes: the memory of long runs and of large networks, compared with computed
  bounds, and the resources that a million flows need;
- `growth`, 90 minutes: the cost of a segment as a function of the numbers of flows and stations,
  and of the round-trip time;
- `tc`, hours: the gateway compared with queues of plain tc, in user-mode Linux.

Writes results.json, goodput.json, router.json, gateway.json, carries.json and tc.json in bench/out.
If an aim is missed, the script prints by how much, shows the functions that take the time, and
exits with 1.
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import carries
import cores
import csma
import dumbbell
import edca
import gateway
import growth
import hot_spots
import instructions
import large
import lean
import ours
import report
import tc
from dumbbell import TRANSMISSIONS
from measure import BenchError, Cost, Paired, in_turn, require_release_build, slope, typical
from peers import Peer, peers
from report import CELL_TRANSMISSIONS

HERE = Path(__file__).parent
CASES = HERE / "cases"
SEVEN = CASES / "seven.toml"
HOTSPOT = HERE.parent / "examples" / "hotspot.toml"
MIXED = CASES / "mixed.toml"
MEMORY_AIM_MB = 20.0
ROUTER_MEMORY_AIM_MB, ROUTER_GROWTH_AIM_MB = 100.0, 1.0
"""Aims for the simulation of a router over LONG_ROUTER_S: its largest memory, and the largest
growth of its memory after the first tenth of this time. [MB]"""
SAME_THROUGHPUT = 0.02
"""Largest relative difference of throughputs at which two simulators are considered to simulate the
same cell."""


@dataclass(frozen=True)
class Record:
    """Entry of results.json. The values of the other simulator (the peer) are null if there is
    none."""

    case: str
    peer: str | None
    ours_us_per_packet: float
    peer_us_per_packet: float | None
    ratio: float | None
    peak_rss_mb: float
    ours_transmissions_per_s: float | None = None
    """Packets transmitted over links or the air per second of CPU time on one core; null if ACKs
    are delayed."""
    peer_transmissions_per_s: float | None = None


#: Cells that only lasthop simulates, each with its name, its title and its file.
ALONE = (
    ("cell hot-spot", "hot-spot, queue of 75 packets", HOTSPOT),
    ("cell thousand stations", "1,000 stations, 2,000 flows", CASES / "thousand_stations.toml"),
    ("cell ten thousand flows", "50 stations, 10,000 flows", CASES / "ten_thousand_flows.toml"),
)
CROWD = "200 stations, 2,000 downloads, HE80"
"""Cell of 802.11ax with many connections: title, simulated time, number of runs, and required speed
relative to real time."""
CROWD_S, CROWD_RUNS, CROWD_AIM = 11.0, 5, 20.0
PARTS = ("cost", "csma", "edca", "dumbbell", "memory", "gateway", "instructions")
#: Parts that run only if the option `--only` names them.
BY_THEMSELVES = ("tc", "growth", "large")
SHORT_S, LONG_S = 200.0, 2000.0
#: Lower limit of the cost per segment: a simulation that is written by hand for one cell.
MINIMAL = Peer("minimal program", "written by hand", lean.Cell(), SHORT_S, LONG_S, 5, None)
LONG_ROUTER_S = 3000.0


def main() -> int:
    """Measure all cases, print the tables, write the results, and check the aims."""
    parser = argparse.ArgumentParser(description="cost per delivered segment beside ns-2 and ns-3")
    parser.add_argument("--quick", action="store_true", help="shorter runs, fewer repetitions")
    parser.add_argument(
        "--only",
        choices=(*PARTS, *BY_THEMSELVES),
        help="a part of it",
    )
    options = parser.parse_args()
    quick: bool = options.quick
    records: list[Record] = []
    missed: list[str] = []
    missed_by_router: list[str] = []
    try:
        if options.only in (None, "cost"):
            against_peers(records, missed, quick=quick)
            by_ourselves(records, missed, repeats=1 if quick else 3)
            crowd(records, missed)
            cold_start(missed)
            two_cores(missed)
        if options.only in (None, "csma"):
            conflict_graphs(records, missed, repeats=1 if quick else 3)
        if options.only in (None, "edca"):
            access_parameters(records, missed, quick=quick)
        if options.only in (None, "dumbbell"):
            routers(records, missed_by_router, quick=quick)
        if options.only in (None, "memory"):
            memory(records, missed)
        if options.only in (None, "gateway"):
            missed.extend(gateway.main())
            missed.extend(carries.main((10,) if quick else carries.STATIONS, quick=quick))
        if options.only == "tc":
            missed.extend(tc.main(quick=quick))
        if options.only == "growth":
            growth.main(quick=quick)
            return 0
        if options.only == "large":
            return large.run_and_check(quick=quick)
        if options.only in (None, "instructions"):
            missed.extend(instructions.main("full"))
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    write("results.json", [asdict(record) for record in records])
    if not missed and not missed_by_router:
        print("all aims met")
        return 0
    for line in (*missed, *missed_by_router):
        print(f"missed: {line}")
    for lines, command in ((missed, hot_spots.CELL), (missed_by_router, hot_spots.ROUTER)):
        if lines:
            print(f"\n{hot_spots.table(command)}")
    return 1


def write(name: str, content: object) -> None:
    """Write measurements to a file in bench/out, as JSON."""
    file = HERE / "out" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content, indent=2) + "\n")
    print(f"\nrecords: {file.relative_to(HERE.parent)}")


def access_parameters(records: list[Record], missed: list[str], *, quick: bool) -> None:
    """Compare the seven-station cell with EDCA parameters of 802.11e in lasthop and in ns-3."""
    compared = edca.compare(quick=quick)
    report.edca(compared)
    for compared_case in compared:
        missed.extend(compared_case.missed())
        records.append(
            Record(
                case=f"cell 802.11e, {compared_case.case.name}, ns-3",
                peer="ns-3",
                ours_us_per_packet=compared_case.our_cost.us_per_segment,
                peer_us_per_packet=compared_case.peer_cost.us_per_segment,
                ratio=compared_case.ratio,
                peak_rss_mb=compared_case.our_cost.peak_rss_mb,
                ours_transmissions_per_s=compared_case.our_cost.transmissions_per_s(
                    CELL_TRANSMISSIONS
                ),
                peer_transmissions_per_s=compared_case.peer_cost.transmissions_per_s(
                    CELL_TRANSMISSIONS
                ),
            )
        )
    write("goodput.json", [compared_case.record() for compared_case in compared])


def routers(records: list[Record], missed: list[str], *, quick: bool) -> None:
    """Compare sixty flows through one router in lasthop and in other simulators."""
    report.dumbbells_head()
    compared = []
    for router in dumbbell.compare(quick=quick):
        report.dumbbell(router)
        missed.extend(router.missed())
        compared.append(router)
        records.append(
            Record(
                case=router.name,
                peer=router.peer.name,
                ours_us_per_packet=router.our_cost.us_per_segment,
                peer_us_per_packet=router.peer_cost.us_per_segment,
                ratio=router.cost.ratio,
                peak_rss_mb=router.our_cost.peak_rss_mb,
                ours_transmissions_per_s=router.our_cost.transmissions_per_s(TRANSMISSIONS),
                peer_transmissions_per_s=router.peer_cost.transmissions_per_s(TRANSMISSIONS),
            )
        )
    write("router.json", [router.record() for router in compared])


def memory(records: list[Record], missed: list[str]) -> None:
    """Measure the memory of a router with mixed traffic and short web connections: more than twenty
    million packets."""
    report.alone_head("memory: mixed traffic through a router")
    short, long = (
        ours.cost(MIXED, duration_s / 2, duration_s, repeats=1)
        for duration_s in (LONG_ROUTER_S / 10, LONG_ROUTER_S)
    )
    for mine in (short, long):
        report.alone_row(f"{mine.long_s:g} s", mine)
    records.append(
        Record("dumbbell, mixed", None, long.us_per_segment, None, None, long.peak_rss_mb)
    )
    if long.peak_rss_mb >= ROUTER_MEMORY_AIM_MB:
        missed.append(f"memory: {long.peak_rss_mb:.1f} MB, aim {ROUTER_MEMORY_AIM_MB:.0f}")
    growth_mb = long.peak_rss_mb - short.peak_rss_mb
    if growth_mb >= ROUTER_GROWTH_AIM_MB:
        missed.append(f"memory grows by {growth_mb:.1f} MB, aim {ROUTER_GROWTH_AIM_MB:.0f}")


def against_peers(records: list[Record], missed: list[str], *, quick: bool) -> None:
    """Measure the seven-station cell in lasthop and in all other simulators."""
    report.peers_head("seven stations, a download each, window 4, 802.11b (paper 003)")
    lean.install()
    for peer in (*peers(quick=quick), MINIMAL):
        compared = cell_in_turn(peer)
        mine, theirs, ratio = typical(compared.ours), typical(compared.peer), compared.ratio
        report.peer_row(f"lasthop, same rounds as {peer.name}", mine)
        report.peer_row(f"{peer.name}, {peer.variant}", theirs, ratio, peer.aim)
        check_memory("seven-station cell", mine, missed)
        records.append(
            Record(
                case=f"cell seven stations, {peer.name} {peer.variant}",
                peer=peer.name,
                ours_us_per_packet=mine.us_per_segment,
                peer_us_per_packet=theirs.us_per_segment,
                ratio=ratio,
                peak_rss_mb=mine.peak_rss_mb,
                ours_transmissions_per_s=mine.transmissions_per_s(CELL_TRANSMISSIONS),
                peer_transmissions_per_s=theirs.transmissions_per_s(CELL_TRANSMISSIONS),
            )
        )
        if peer.aim is not None and ratio < peer.aim:
            allowed_us = theirs.us_per_segment / peer.aim
            missed.append(
                f"{ratio:.0f} times less than {peer.name}, aim {peer.aim:.0f}: "
                f"{mine.us_per_segment:.3f} us, {allowed_us:.3f} us would do"
            )
        apart = theirs.segments_per_s / mine.segments_per_s - 1
        if abs(apart) > SAME_THROUGHPUT:
            missed.append(f"{peer.name} does not simulate the same: throughput {apart:+.1%}")


def cell_in_turn(peer: Peer) -> Paired:
    """Measure the seven-station cell alternately in lasthop and in another simulator."""
    return in_turn(
        lambda: ours.cost(SEVEN, SHORT_S, LONG_S, repeats=3),
        lambda: slope(peer.run, peer.short_s, peer.long_s, repeats=1),
        peer.aim or 0.0,
        peer.rounds,
    )


def by_ourselves(records: list[Record], missed: list[str], *, repeats: int) -> None:
    """Measure CPU time and memory of larger cells that only lasthop simulates."""
    report.alone_head("lasthop alone")
    for case, title, file in ALONE:
        mine = ours.cost(file, SHORT_S, LONG_S, repeats)
        report.alone_row(title, mine)
        records.append(Record(case, None, mine.us_per_segment, None, None, mine.peak_rss_mb))
        if file == HOTSPOT:
            check_memory("hot-spot", mine, missed)


def crowd(records: list[Record], missed: list[str]) -> None:
    """Measure the speed of a cell with aggregation relative to real time on one core. The speed is
    the median of whole runs."""
    runs = ours.worker(CASES / "crowd.toml", {}, [CROWD_S] * CROWD_RUNS)
    middle = sorted(runs, key=lambda run: run.cpu_s)[CROWD_RUNS // 2]
    faster = CROWD_S / middle.cpu_s
    us_per_segment = 1e6 * middle.cpu_s / middle.segments
    print(f"{CROWD}: {faster:.0f} times faster than real time, {us_per_segment:.3f} us/segment")
    peak_rss_mb = middle.peak_rss_mb
    records.append(Record("cell crowd", None, us_per_segment, None, None, peak_rss_mb))
    if faster < CROWD_AIM:
        missed.append(f"{CROWD}: {faster:.0f} times faster than real time, aim {CROWD_AIM:.0f}")


def conflict_graphs(records: list[Record], missed: list[str], *, repeats: int) -> None:
    """Measure networks of wireless links that do not all sense each other: topologies of four
    links, a cell, and a thousand links."""
    cell = ours.cost(SEVEN, SHORT_S, LONG_S, repeats)
    compared = csma.compare(SHORT_S, LONG_S, repeats)
    report.alone_head("networks by conflict graph")
    report.alone_row("cell of seven stations", cell)
    report.alone_row("topology a of paper 001", compared.four)
    report.alone_row(f"{csma.LINKS} links", compared.thousand)
    print(f"{csma.LINKS} links: {compared.times_real_time:.0f} times faster than real time")
    for case, mine in (("topology a", compared.four), ("thousand links", compared.thousand)):
        record = Record(f"csma {case}", None, mine.us_per_segment, None, None, mine.peak_rss_mb)
        records.append(record)
    missed.extend(compared.missed(cell.us_per_segment))


def check_memory(what: str, mine: Cost, missed: list[str]) -> None:
    """Check the aim for the memory of one replication."""
    if mine.peak_rss_mb >= MEMORY_AIM_MB:
        missed.append(f"memory of the {what}: {mine.peak_rss_mb:.1f} MB, aim {MEMORY_AIM_MB:.0f}")


def cold_start(missed: list[str]) -> None:
    """Measure the time from the start of a command to its first output."""
    report.starts_head("cold start")
    for start in ours.cold_starts(repeats=5):
        report.start_row(start)
        if start.heavy:
            missed.append(f"{start.command} loads {', '.join(start.heavy)}")


def two_cores(missed: list[str]) -> None:
    """Compare the speed of two replications on two cores with their speed on one core."""
    print("\ntwo replications on two cores and on one core, in wall-clock time")
    for pair in cores.compare():
        rounds = f"{min(pair.ratios):.2f} to {max(pair.ratios):.2f} in {len(pair.ratios)} rounds"
        print(f"{pair.name}: speedup {pair.ratio:.2f} ({rounds})")
        missed.extend(pair.missed())


if __name__ == "__main__":
    require_release_build()
    sys.exit(main())
