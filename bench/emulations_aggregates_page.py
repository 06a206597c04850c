"""Sections on aggregating cells of the page that `emulations.py` writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

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
    outside: list[str] = []

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
                    outside.append(f"{case.name}: {name.split()[0]} {found.words}")
            yield row

    yield from table([*head], rows())
    yield ""
    yield f"Not equal within {100 * ACCEPTED:g} %: {'; '.join(outside) or 'none'}."
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
    said = []
    for gro, word in ((False, "one by one"), (True, "merged")):
        kept: dict[float, str] = {}
        for case in emulations.aggregate_loads():
            runs, _ = emulations.seen_of(case, done)
            if case.gro is gro and runs:
                kept[of_cell("goodput_bps", 1e6)(runs[0])] = case.name
        if not kept:
            said.append(f"none with segments {word}")
            continue
        most = max(kept)
        verdict = "above" if most >= WANTED_MBPS else "below"
        said.append(
            f"with segments {word} {most:.0f} Mb/s ({kept[most].removesuffix(', merged')}), "
            f"{verdict} the {WANTED_MBPS:g} that were aimed at"
        )
    return f"The fastest that kept time: {'; '.join(said)}."


SHARES = """\
Aggregating cells beside their simulation

Six downloads by CUBIC each of a near station, of a far one (20 dB) and of an old one (802.11n, one
stream), behind one FIFO of 1,000 packets, 5 ms of wire; the simulator's CUBIC is `cubic_linux` with
an initial window of 10. Emulated are five runs of 35 s of which 5 are cut. "Merged" are hosts that
get what arrives at once as one packet (`--gro`); the simulator's receivers never do. Where the old
station has more than simulated, it is not the emulator's cutting of what TCP sends at once: runs in
which the kernel cut it had the same. What else Linux's CUBIC does differently is not isolated.
"""

LOADS = """\
How fast an aggregating cell may be

Four stations with two downloads each, one with two uploads; one run of 25 s each. "At once" are the
most packets that were due in the same instant, those of a PPDU: the last of them is late by what
all of them take. "At work" is the thread that carries packets, which comes before other work.
Sockets do not: where they waited for half of the time, or packets were later than 2 ms, goodput is
the machine's and not the cell's.
"""
