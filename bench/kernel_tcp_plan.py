"""Plan of `kernel_tcp_virtual.py`: which scenarios run, with which seeds, on which kernels.

A point is a scenario of the grid. The first three items of the plan were decided before the first
run, and the other items after the first runs. The choice of long runs and the number of
replications depend only on simulations:

- Twelve selected points run with 20 seeds on two kernels. At six of them, runs in real time
  differed from simulations, and no cause was known. The other six points are chosen so that the
  twelve points include both congestion controls, one and twelve flows, the three RTTs, and all
  queues.
- All other points of the grid run with 5 seeds on the first kernel. The first kernel is 6.12, which
  is the nearest to the kernel 6.18 of the runs in real time. Kernel 6.12 has its own simulated
  clock, and its runs need less CPU time than those of Debian's 6.1.
- Points of Reno and CUBIC that are undecided in goodput, packet loss or queue length after 5 seeds
  run with all 15 other seeds. Results are not examined in between, so that runs do not stop at a
  convenient value.
- A single flow of Reno can have fewer than three reductions of the window in a run of a minute. Its
  packet loss then remains undecided with any number of seeds. Four points are of this kind in
  simulations. These points also run for six minutes, with 5 seeds on the first kernel. The long
  runs replace the runs of a minute in the comparison.
- Points that are undecided after 5 long runs have 15 more of them. This item was added after the
  first long runs.
- Simulations have 20 replications, or 100 if the half width of the confidence interval with 20
  exceeds half the band of equality.
- The engine's CUBIC has the timer ticks of user-mode Linux, which are 10 ms. This item was added
  after all runs, when a tick of 1 ms proved to be the cause of two differences.
- The points of BBR were run with 5 seeds on the first kernel before the engine had BBR. Before the
  first comparison, it was decided that these five seeds are compared with 20 replications of the
  engine, or 100 by the rule above. The engine's BBR has bursts (`tso`) and the timer ticks of
  user-mode Linux. Points that remain undecided are reported as such. Seven points had been looked
  at with two replications while the engine's BBR was written; nothing was changed after that.
- Nine points of BBR were undecided after five seeds. They run again with new seeds and a larger
  send buffer (`kernel_tcp_second.py`).
- If changing one or several settings may explain a difference, the point also runs with these
  settings, with 5 seeds on the first kernel.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kernel_tcp import Run
from kernel_tcp_points import AS_THEY_ARE, VARIANTS, Point, Variant, grid

UNEXPLAINED = (
    "newreno, 1 of 50 ms, drop-tail 1/4 BDP",
    "newreno, 1 of 50 ms, drop-tail 1 BDP",
    "newreno, 1 of 50 ms, drop-tail 4 BDP",
    "newreno, 12 of 200 ms, drop-tail 4 BDP",
    "cubic, 1 of 200 ms, 1 BDP, 0.1 % lost",
    "cubic, 1 of 10 ms, drop-tail 1/4 BDP",
)
"""Points (scenarios of the grid) at which runs in real time differed from simulations, and at which
no cause was known."""
ADDITIONAL = (
    "newreno, 1 of 200 ms, CoDel",
    "newreno, 12 of 10 ms, drop-tail 1 BDP",
    "cubic, 12 of 200 ms, drop-tail 1 BDP",
    "cubic, 12 of 50 ms, RED",
    "cubic, 12 of 10 ms, CoDel",
    "cubic, 1 of 50 ms, 1 BDP, 1 % lost",
)
"""Six more points, which complete the selected points. At the first point, runs in real time differ
from simulations. At the second point, the interval of the packet loss nearly reaches the limit of
the band. The other four points add cases with CUBIC.
"""
SELECTED = (*UNEXPLAINED, *ADDITIONAL)
LONG_PERIOD = (
    "newreno, 1 of 50 ms, drop-tail 4 BDP",
    "newreno, 1 of 200 ms, drop-tail 1/4 BDP",
    "newreno, 1 of 200 ms, CoDel",
    "newreno, 1 of 200 ms, RED",
)
"""Points with fewer than three window reductions in a run of a minute."""
LONG_RUN_FACTOR = 6
"""Duration of a long run, divided by that of a usual run. [-]"""
LONG_RUN_SUFFIX = f", {LONG_RUN_FACTOR} minutes"
"""Suffix of the name of a point with long runs."""
CAUSES = (
    ("newreno, 1 of 10 ms, drop-tail 1/4 BDP", "plain"),
    ("newreno, 1 of 50 ms, drop-tail 1/4 BDP", "plain"),
    ("newreno, 1 of 50 ms, drop-tail 1 BDP", "plain"),
    ("newreno, 12 of 200 ms, drop-tail 4 BDP", "long-rto"),
    ("cubic, 1 of 10 ms, drop-tail 1/4 BDP", "each-sack"),
    ("cubic, 1 of 10 ms, drop-tail 1/4 BDP", "plain"),
    ("newreno, 1 of 200 ms, drop-tail 4 BDP", "wide"),
    ("newreno, 1 of 200 ms, CoDel, 6 minutes", "plain"),
    ("cubic, 1 of 50 ms, drop-tail 1 BDP", "short-tick"),
    ("cubic, 1 of 10 ms, drop-tail 1 BDP", "plain"),
    ("cubic, 1 of 10 ms, 1 BDP, 0.1 % lost", "short-tick"),
    ("newreno, 12 of 200 ms, drop-tail 1 BDP", "no-quick-acks"),
    ("cubic, 12 of 50 ms, drop-tail 4 BDP", "no-quick-acks"),
    ("cubic, 12 of 200 ms, RED", "no-quick-acks"),
    ("bbr, 1 of 10 ms, drop-tail 1/4 BDP", "no-tso"),
)
"""Points, and the variant that explains the difference between kernel and engine."""
UML_HZ = 100
"""`CONFIG_HZ` of user-mode Linux: number of timer ticks per second. [1/s]"""
FIRST_SEEDS, ALL_SEEDS = 5, 20
"""Number of seeds of most points, and of points that need more."""
WITH_MORE_SEEDS = ("newreno", "cubic")
"""Congestion controls of the grid whose undecided points run with more seeds."""
COMPARED = (*WITH_MORE_SEEDS, "bbr")
"""Congestion controls of the grid that the engine supports, too."""

SECOND_SERIES: Mapping[str, int] = {
    "bbr, 12 of 200 ms, drop-tail 1/4 BDP": 20,
    "bbr, 12 of 200 ms, CoDel": 20,
    "bbr, 1 of 10 ms, RED": 20,
    "bbr, 12 of 10 ms, CoDel": 20,
    "bbr, 12 of 200 ms, RED": 20,
    "bbr, 12 of 200 ms, drop-tail 1 BDP": 25,
    "bbr, 12 of 50 ms, drop-tail 4 BDP": 40,
    "bbr, 12 of 200 ms, 1 BDP, 1 % lost": 30,
    "bbr, 12 of 200 ms, 1 BDP, 0.1 % lost": 45,
}
"""Points of BBR that five seeds did not decide, and the number of their new seeds, in the order in
which the points run. The standard deviations of the first five seeds, divided by the engine's
value, were 9, 12, 14, 17, 26, 33, 33, 36 and 44 %."""
SECOND_FIRST_SEED = 101
"""First seed of the second series. The first series has the seeds 1 to 20."""
SECOND_VARIANT = VARIANTS["large-buffer"]
"""Variant of all runs of the second series."""


@dataclass(frozen=True)
class Planned:
    """A run, and the index of its kernel: 0 is the first kernel, 1 the second."""

    run: Run
    kernel: int


def stages(is_undecided: Callable[[Point], bool | None]) -> Iterator[tuple[str, list[Planned]]]:
    """Yield the stages of the plan in order: the title of each stage, and its runs.

    `is_undecided` returns whether a point is undecided after `FIRST_SEEDS` seeds; None if these
    runs are missing.
    """
    named = [point for point in grid() if point.name in SELECTED]
    others = [point for point in grid() if point.name not in SELECTED]
    compared = [point for point in others if law_of(point) in WITH_MORE_SEEDS]
    few, more = range(1, FIRST_SEEDS + 1), range(FIRST_SEEDS + 1, ALL_SEEDS + 1)
    yield "selected points, first kernel, first seeds", runs_of(named, few, 0)
    yield "selected points, second kernel, first seeds", runs_of(named, few, 1)
    yield "settings changed", changed(few)
    yield "other points of Reno and CUBIC", runs_of(compared, few, 0)
    yield "selected points, first kernel, other seeds", runs_of(named, more, 0)
    yield "long runs", runs_of([long for each in grid() if (long := with_long_run(each))], few, 0)
    judged = [with_long_run(point) or point for point in [*named, *compared]]
    undecided = [point for point in judged if point.name not in SELECTED and is_undecided(point)]
    yield "points that are undecided after the first seeds", runs_of(undecided, more, 0)
    yield "selected points, second kernel, other seeds", runs_of(named, more, 1)
    yield "points of BBR", runs_of([each for each in others if law_of(each) == "bbr"], few, 0)


def law_of(point: Point) -> str:
    """Return the name of a point's congestion control in stored runs."""
    return point.name.partition(",")[0]


def with_long_run(point: Point) -> Point | None:
    """Return the scenario for the long runs of a point; None if the point needs no long runs."""
    if point.name not in LONG_PERIOD:
        return None
    return replace(
        point,
        name=f"{point.name}{LONG_RUN_SUFFIX}",
        warmup_s=LONG_RUN_FACTOR * point.warmup_s,
        duration_s=LONG_RUN_FACTOR * point.duration_s,
    )


def second_seeds(point: Point) -> range:
    """Return the seeds of a point in the second series; an empty range for other points."""
    return range(SECOND_FIRST_SEED, SECOND_FIRST_SEED + SECOND_SERIES.get(point.name, 0))


def variants() -> Iterator[tuple[Point, Variant]]:
    """Yield the points with a variant that explains a difference, and this variant."""
    points = {
        point.name: point for each in grid() for point in (each, with_long_run(each)) if point
    }
    for name, variant in CAUSES:
        yield points[name], VARIANTS[variant]


def changed(seeds: Sequence[int]) -> list[Planned]:
    """Return the runs with variants that change the kernel."""
    wanted = [(point, variant) for point, variant in variants() if variant.changes_kernel]
    return [Planned(Run(*each, seed), 0) for seed in seeds for each in wanted]


def simulations() -> Iterator[tuple[Point, Variant]]:
    """Yield all simulations: points of the grid, points with long runs, and points with
    variants.
    """
    for point in grid():
        if point.is_simulated:
            both = (point, with_long_run(point))
            yield from ((with_timer_ticks(each), AS_THEY_ARE) for each in both if each)
    changed = ((point, variant) for point, variant in variants() if variant.settings)
    yield from ((with_timer_ticks(point), variant) for point, variant in changed)


def with_timer_ticks(point: Point) -> Point:
    """Return the scenario with the timer ticks of user-mode Linux for CUBIC and BBR."""
    tcp = point.tree["tcp"]
    if tcp["congestion"] not in ("cubic_linux", "bbr"):
        return point
    return replace(point, tree={**point.tree, "tcp": {**tcp, tcp["congestion"]: {"hz": UML_HZ}}})


def runs_of(chosen: Iterable[Point], seeds: Sequence[int], kernel: int) -> list[Planned]:
    """Return the runs of these points. All points run with the first seed, then with the second,
    and so on.
    """
    chosen = list(chosen)
    return [Planned(Run(point, AS_THEY_ARE, seed), kernel) for seed in seeds for point in chosen]
