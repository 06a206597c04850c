"""Sections about aggregating cells of the page that `emulations.py` writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap

import emulations
from emulations import Case
from emulations_values import (
    Simulated,
    ap_quantity,
    cell_quantity,
    estimate,
    goodput,
    interval_text,
    lateness_ms,
    lateness_text,
)
from equivalence import Agreement, Difference
from pages import table
from runs import Table

STATIONS = ("near", "far", "old")
WANTED_MBPS = 300.0
"""Goodput up to which a machine should process packets without lateness. [Mb/s]"""
LATE = ("lateness of packets, 99th percentile [ms]", "time that sockets waited [%]")
"""Titles of the columns that show whether a machine processes packets without lateness."""
ACCEPTED = 0.1
"""Largest relative difference between a station's emulated and simulated goodput at which both are
called equal. The limit was set before the first run. [-]
"""


def of_aggregates(done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Yield the table of goodputs."""
    yield from SHARES.splitlines()
    columns = [(f"goodput of the {name} station [Mb/s]", goodput(name), 1) for name in STATIONS]
    columns += [("MPDUs per PPDU of the AP", ap_quantity("mpdus_per_ppdu"), 1)]
    head = ["cell"]
    for name, *_ in columns:
        head += [f"{name}: simulation", f"{name.removesuffix(' [Mb/s]')}: emulation"]
    cases = list(emulations.aggregate_shares())
    outside: list[Sequence[str]] = []

    def rows() -> Iterator[Sequence[str]]:
        for case in cases:
            runs, _ = emulations.seen_of(case, done)
            row = [words(case.name)]
            for name, read, digits in columns:
                sim, own = (
                    estimate(read, simulated.replications(unmerged(case))),
                    estimate(read, runs),
                )
                row += [interval_text(sim, digits), interval_text(own, digits)]
                if sim is None or own is None or "Mb/s" not in name:
                    continue
                difference = Difference.of(sim, own, ACCEPTED)
                if difference.agreement is not Agreement.EQUAL:
                    outside.append((words(case.name), name.split()[3], difference.words))
            yield row

    yield from table([*head], rows())
    yield ""
    if outside:
        yield from wrap(
            "In these cases the emulated goodput may differ from the simulated goodput by more "
            f"than {100 * ACCEPTED:g} %. A question mark means that the runs cannot decide whether "
            f"the difference is above {100 * ACCEPTED:g} %:",
            100,
        )
        yield from table(
            ["cell", "station", "difference of the emulated goodput from the simulated goodput"],
            outside,
        )
    else:
        yield f"The emulated goodput is within {100 * ACCEPTED:g} % of the simulated in all cases."
    yield ""
    yield lateness_text(cases, done)


def words(name: str) -> str:
    """Return the name of a scenario on the page. `name` is the key of the stored runs."""
    return name.replace(", merged", ", GRO")


def unmerged(case: Case) -> Case:
    """Return the case without merged segments that corresponds to a case with merged segments.
    Simulated receivers never merge segments.
    """
    return replace(case, name=case.name.removesuffix(", merged"), gro=False)


def of_aggregate_loads(done: Mapping[str, Table], _: Simulated) -> Iterator[str]:
    """Yield the table of cells with increasing data rates."""
    yield from LOADS.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for case in emulations.aggregate_loads():
            seen = done.get(case.key(1))
            if seen is None:
                continue
            run = seen["totals"]["run"]
            yield (
                words(case.name),
                f"{cell_quantity('goodput_bps', 1e6)(seen):.0f}",
                f"{run['carried_pps']:,.0f}",
                f"{run['packets_at_once']:.0f}",
                f"{100 * run['at_work_fraction']:.0f}",
                f"{lateness_ms(seen):.2f}",
                f"{100 * emulations.wait(seen):.0f}",
            )

    head = ["cell", "goodput [Mb/s]", "packets/s", "largest number of packets due together"]
    head.append("thread busy [%]")
    yield from table([*head, *LATE], rows())
    yield ""
    yield fastest(done)


def fastest(done: Mapping[str, Table]) -> str:
    """Return the fastest cells whose runs were not late, as text: with and without merged
    segments."""
    lines = [f"The goal was a cell of {WANTED_MBPS:g} Mb/s that keeps time."]
    for gro, how in ((False, "Without GRO"), (True, "With GRO")):
        in_time: dict[float, str] = {}
        for case in emulations.aggregate_loads():
            runs, _ = emulations.seen_of(case, done)
            if case.gro is gro and runs:
                in_time[cell_quantity("goodput_bps", 1e6)(runs[0])] = case.name
        if not in_time:
            lines.append(f"{how}, no cell kept time.")
            continue
        most = max(in_time)
        verdict = "above" if most >= WANTED_MBPS else "below"
        lines.append(
            f"{how}, the fastest cell that kept time has {most:.0f} Mb/s "
            f"({in_time[most].removesuffix(', merged')}), which is {verdict} the goal."
        )
    return "\n".join(wrap(" ".join(lines), 100))


SHARES = """\
Aggregating cells compared with their simulation

A near station, a far station (SNR 20 dB) and an old station (802.11n, one stream) have six
downloads each, with CUBIC. The access point has one FIFO of 1,000 packets for the three stations.
The wire has a delay of 5 ms. In the simulation, the congestion control is `cubic_linux` with an
initial window of 10 segments. An emulated value is the mean of five runs of 35 s. The first 5 s of
each run are left out.

In rows with GRO (generic receive offload, option `--gro`), a host receives packets that arrive
together as one packet. The simulator's receivers never merge packets. In some rows the old station
has more goodput in the emulation than in the simulation. The emulator splits large TCP segments
into packets, but this is not the cause: the result was the same in runs in which the kernel split
the segments. Other differences between Linux's CUBIC and `cubic_linux` may be the cause, but they
were not examined one by one.
"""

LOADS = """\
How fast an aggregating cell may be

Four stations have two downloads each, and a fifth station has two uploads. Each value comes from
one run of 25 s. The column "largest number of packets due together" has the number of packets that
were due at the same instant. These packets belong to one PPDU. The packets of a PPDU are delivered
one after another. The last packet is therefore late by the time that the delivery of the whole PPDU
takes.

The column "thread busy" has the part of the time in which the emulator's thread that delivers
packets is busy. The thread that delivers packets has priority over other processes, but the thread
that uses the sockets has no priority. If the sockets waited for half of the time, or packets were
more than 2 ms late, the goodput is limited by the machine and not by the cell.
"""
