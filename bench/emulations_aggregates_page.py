"""Sections on aggregating cells of the page that `emulations.py` writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap

import emulations
from emulations import Case
from emulations_read import Simulated, estimate, goodput, late, lateness_ms, of_ap, of_cell, shown
from equivalence import Agreement, Difference
from pages import table
from runs import Table

STATIONS = ("near", "far", "old")
WANTED_MBPS = 300.0
"""Goodput at which a cell is to keep time. [Mb/s]"""
ACCEPTED = 0.1
"""Band within which a station's emulated goodput equals the simulated one; set before the first
run. [-]"""


def of_aggregates(done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Who gets how much."""
    yield from SHARES.splitlines()
    columns = [(f"{name} [Mb/s]", goodput(name), 1) for name in STATIONS]
    columns += [("MPDUs per PPDU of the AP", of_ap("mpdus_per_ppdu"), 1)]
    head = [""]
    for name, *_ in columns:
        head += [f"{name}: simulation", "emulation"]
    cases = list(emulations.aggregate_shares())
    outside: list[Sequence[str]] = []

    def rows() -> Iterator[Sequence[str]]:
        for case in cases:
            runs, _ = emulations.seen_of(case, done)
            row = [case.name]
            for name, read, digits in columns:
                sim, own = estimate(read, simulated.of(unmerged(case))), estimate(read, runs)
                row += [shown(sim, digits), shown(own, digits)]
                if sim is None or own is None or "Mb/s" not in name:
                    continue
                found = Difference.of(sim, own, ACCEPTED)
                if found.agreement is not Agreement.EQUAL:
                    outside.append((case.name, name.split()[0], found.words))
            yield row

    yield from table([*head], rows())
    yield ""
    if outside:
        yield (
            f"Goodput is not equal within {100 * ACCEPTED:g} % in these cases. A question mark "
            "means that the runs do not decide:"
        )
        yield from table(["cell", "station", "emulation compared with simulation"], outside)
    else:
        yield f"Goodput is equal within {100 * ACCEPTED:g} % in all cases."
    yield ""
    yield late(cases, done)


def unmerged(case: Case) -> Case:
    """The case of which a merged one is a variant: simulated receivers never merge."""
    return replace(case, name=case.name.removesuffix(", merged"), gro=False)


def of_aggregate_loads(done: Mapping[str, Table], _: Simulated) -> Iterator[str]:
    """How fast such a cell may be."""
    yield from LOADS.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for case in emulations.aggregate_loads():
            seen = done.get(case.key(1))
            if seen is None:
                continue
            run = seen["totals"]["run"]
            yield (
                case.name,
                f"{of_cell('goodput_bps', 1e6)(seen):.0f}",
                f"{run['carried_pps']:,.0f}",
                f"{run['packets_at_once']:.0f}",
                f"{100 * run['at_work_fraction']:.0f}",
                f"{lateness_ms(seen):.2f}",
                f"{100 * emulations.wait(seen):.0f}",
            )

    head = ["", "goodput [Mb/s]", "packets/s", "at once", "at work [%]"]
    yield from table([*head, "late, 99th percentile [ms]", "sockets waited [%]"], rows())
    yield ""
    yield fastest(done)


def fastest(done: Mapping[str, Table]) -> str:
    """The fastest cells that kept time, with merged segments and without, in words."""
    lines = ["These cells were the fastest that kept time."]
    for gro, words in ((False, "With segments one by one"), (True, "With merged segments")):
        kept: dict[float, str] = {}
        for case in emulations.aggregate_loads():
            runs, _ = emulations.seen_of(case, done)
            if case.gro is gro and runs:
                kept[of_cell("goodput_bps", 1e6)(runs[0])] = case.name
        if not kept:
            lines.append(f"{words}, no cell kept time.")
            continue
        most = max(kept)
        verdict = "above" if most >= WANTED_MBPS else "below"
        lines.append(
            f"{words}, {most:.0f} Mb/s ({kept[most].removesuffix(', merged')}) is {verdict} "
            f"the goal of {WANTED_MBPS:g}."
        )
    return "\n".join(wrap(" ".join(lines), 100))


SHARES = """\
Aggregating cells compared with their simulation

A near station, a far station (20 dB) and an old station (802.11n, one stream) have six downloads
each, with CUBIC. The access point has one FIFO of 1,000 packets for all of them. The wire has a
delay of 5 ms. The simulator's CUBIC is `cubic_linux` with an initial window of 10. An emulated
value comes from five runs of 35 s, without their first 5 s.

In rows with "merged", hosts receive packets that arrive together as one packet (`--gro`). The
simulator's receivers never merge packets. In some rows the old station has more goodput than
simulated. The emulator splits large segments of TCP into packets, but this is not the cause: in
runs in which the kernel split them, the result was the same. Further differences of Linux's CUBIC
have not been isolated.
"""

LOADS = """\
How fast an aggregating cell may be

Four stations have two downloads each, and a fifth station has two uploads. Each value comes from
one run of 25 s. "At once" is the largest number of packets that were due in the same instant. They
belong to one PPDU, and the last of them is late by the time that all of them take.

"At work" is the part of the time in which the thread that carries packets is busy. This thread has
priority over other work, but the sockets do not. If the sockets waited for half of the time, or
packets were more than 2 ms late, the machine limits the goodput and not the cell.
"""
