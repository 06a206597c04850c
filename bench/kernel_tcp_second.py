"""Second series of runs of BBR in simulated time, at the points that five seeds did not decide.

    python bench/kernel_tcp_second.py             makes the missing runs
    python bench/kernel_tcp_second.py --status    prints finished runs, and the cost of the others
    python bench/kernel_tcp_second.py --keep      writes docs/reference/kernel-tcp-bbr.json.gz

Nine points of BBR were undecided after five seeds of Linux. The second series repeats these points
with new seeds. Points and numbers of seeds were fixed before the first run of the series, from the
standard deviations of the first five seeds:

- A point has the smallest multiple of 5, but at least 20, with which the half width of Linux's
  interval is at most 14 % of the engine's value. If engine and Linux have equal means, the interval
  of their difference then fits inside the band of 15 %. At the point with rare losses, the engine's
  own interval is wide, so that this point has 40 seeds and more replications of the engine.
- The verdict of a point uses only the new seeds, since the point was chosen by the first five. It
  uses all of them. A point whose series is incomplete keeps the verdict of the first seeds.
- The send buffer has 6 MB instead of 1 MB. This item was added before the first run of the series,
  after runs of Linux 6.1 had shown that the buffer of 1 MB limits BBR (see the page).
- The points run in the order of `kernel_tcp_plan.SECOND_SERIES`, each with all of its seeds.
- The engine has 400 replications. Points with losses of the link are compared seed by seed.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernel_tcp import Run, carry_out, simulated, simulated_key
from kernel_tcp_compared import is_paired
from kernel_tcp_plan import SECOND_SERIES, SECOND_VARIANT, Planned, second_seeds, with_timer_ticks
from kernel_tcp_points import AS_THEY_ARE, VARIANTS, Point, Variant, grid
from kernel_tcp_virtual import Store, Work, add_options_of_work, emulate_all, seed_by_seed
from kernel_tcp_virtual_page import SECOND_KEPT, keep
from measure import require_release_build
from runs import OUT

from lasthop.uml.kernel import find_kernel, read_kernel

RUNS = OUT / "kernel-tcp-second.jsonl"
REPLICATIONS, MORE_REPLICATIONS = 400, 3000
"""Number of replications of the engine, and the number at the point with rare losses."""
RARE_LOSSES = "bbr, 12 of 50 ms, drop-tail 4 BDP"
VARIANT_SEEDS = 5
"""Number of seeds of the runs with changed settings, which only look for causes."""
CAUSES: Sequence[tuple[str, Variant]] = (
    ("bbr, 12 of 10 ms, CoDel", AS_THEY_ARE),
    ("bbr, 12 of 200 ms, RED", AS_THEY_ARE),
    ("bbr, 12 of 10 ms, CoDel", VARIANTS["long-warmup"]),
    ("bbr, 1 of 10 ms, RED", VARIANTS["each-sack"]),
)
"""Points, and other settings with which they run to find causes of differences: the buffer of 1 MB,
a longer warm-up, and no SACK compression."""


def points() -> list[Point]:
    """Return the points of the series, in the order in which they run."""
    by_name = {point.name: point for point in grid()}
    return [by_name[name] for name in SECOND_SERIES]


def variants() -> Iterator[tuple[Point, Variant]]:
    """Yield the points with a variant."""
    by_name = {point.name: point for point in grid()}
    return ((by_name[name], variant) for name, variant in CAUSES)


class SecondWork(Work):
    """Runs of the second series that are not stored yet."""

    def plan(self) -> list[tuple[str, list[Planned]]]:
        """Return the stages of the series: its points, and then the points with variants."""
        stages = [
            (
                point.name,
                [Planned(Run(point, SECOND_VARIANT, seed), 0) for seed in second_seeds(point)],
            )
            for point in points()
        ]
        for point, variant in variants():
            seeds = list(second_seeds(point))[:VARIANT_SEEDS]
            runs = [Planned(Run(point, variant, seed), 0) for seed in seeds]
            stages.append((f"{point.name}, {variant.words}", runs))
        return [
            (title, [each for each in some if self.only is None or self.only.search(each.run.key)])
            for title, some in stages
        ]


def simulate_all(work: Work) -> None:
    """Make the simulations of the series that are not stored yet."""
    for point in map(with_timer_ticks, points()):
        if (work.only is None or work.only.search(point.name)) and work.simulation(point) is None:
            count = MORE_REPLICATIONS if point.name == RARE_LOSSES else REPLICATIONS
            seen = simulated(point, AS_THEY_ARE, work.length_s, count, count)
            if is_paired(point):
                seen["by_seed"] = seed_by_seed(
                    point, AS_THEY_ARE, work.length_s, second_seeds(point)
                )
            work.store.add(simulated_key(point, AS_THEY_ARE), work.of_engine, seen)
            print(point.name, flush=True)


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", type=Path, help="kernel (default: as for --virtual)")
    add_options_of_work(parser)
    return parser


def follow(options: argparse.Namespace) -> None:
    """Perform the actions that the options select."""
    kernel = read_kernel(options.kernel, "--kernel") if options.kernel else find_kernel()
    path = RUNS if options.seconds is None else RUNS.with_stem(f"{RUNS.stem}-{options.seconds:g}s")
    if options.status or options.keep:
        work = SecondWork([kernel], Store(path), options.seconds, options.only)
        if options.keep:
            keep(work, SECOND_KEPT, [(with_timer_ticks(point), AS_THEY_ARE) for point in points()])
            return
        for title, some in work.plan():
            made = sum(work.result(each) is not None for each in some)
            print(f"{title}: {made} of {len(some)} runs")
        print(work.cost())
        return
    with Store.opened(path) as store:
        work = SecondWork([kernel], store, options.seconds, options.only)
        print(work.cost(), flush=True)
        simulate_all(work)
        if not options.engine:
            emulate_all(work, options.jobs)


if __name__ == "__main__":
    require_release_build()
    carry_out(arguments(), follow)
