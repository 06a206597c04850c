"""Compare the engine's TCP with Linux's TCP at the same queues, at 20 Mbit/s and other rates.

    python bench/kernel_tcp.py                                 makes the missing runs
    python bench/kernel_tcp.py --only 'cubic, 12'              scenarios whose names match
    python bench/kernel_tcp.py --only ... --variant no-rack    with a changed setting
    python bench/kernel_tcp.py --page                          docs/reference/kernel-tcp-measured.md

Each scenario (a point of the grid) is simulated, and emulated in three simultaneous runs in real
time. In an emulation, Linux's sockets send through the engine's queue. Every run is stored as a
line of out/kernel_tcp.jsonl. A stored run is not repeated. `--anew` repeats simulations, and
`--late-again` repeats late runs. A run is late if the 99th percentile of its packets' lateness is
above 2 ms, or if its sockets waited for a processor for half of the time. Late runs are excluded.

A variant changes settings of the kernel, of the scenario, or of both. `--list` prints the names of
scenarios and variants. To define another variant, use `--sysctl`, `--parameter`, `--set` or
`--no-quick-acks`, with a new name in `--variant`. During such runs, parameters of kernel modules
apply to the whole machine.
"""

import argparse
import contextlib
import multiprocessing
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from kernel_tcp_points import (
    AS_THEY_ARE,
    SYSCTLS,
    VARIANTS,
    WINDOW_PACKETS,
    Point,
    Variant,
    in_long_part,
    points,
)
from kernel_tcp_watch import SAMPLED_S, Watch, track
from measure import require_release_build
from periods import loss_by_period
from runs import OUT, Lists, Runs, by_replication, kept

import lasthop as lh
from lasthop.answers.fairness import jain_index
from lasthop.cli.options import pairs
from lasthop.emulated.lateness import LATE_S, MUCH_WAITING
from lasthop.emulation import emulate
from lasthop.errors import UserError
from lasthop.scenario.typed import Scenario

SEEDS, REPLICATIONS = 3, 20
PERIODIC = 5
"""Number of simulations that are run to determine the period of cwnd of a single flow."""
LISTS = ("flows", "classes", "cells", "queues", "links", "totals")
JOBS = 9
"""Number of simultaneous runs at 20 Mbit/s that two processors can process without late packets."""
STARTING_S = 3.0
"""Time to start a batch of runs, in addition to the duration of its runs. This value is used until
a batch has been measured. [s]"""
PARAMETERS = Path("/sys/module")
RECEIVE_LIMIT = Path("/proc/sys/net/core/rmem_max")

Figures = dict[str, float]


@dataclass(frozen=True)
class Run:
    """An emulation in real time: a scenario, a variant and a seed."""

    point: Point
    variant: Variant
    seed: int

    @property
    def key(self) -> str:
        """Key under which the run is stored."""
        return f"{named(self.point, self.variant)}, seed {self.seed}"


def named(point: Point, variant: Variant) -> str:
    """Return the name of a scenario with a variant."""
    return f"{point.name}, {variant.name}" if variant.name else point.name


def simulated_key(point: Point, variant: Variant) -> str:
    """Return the key under which a simulation is stored."""
    return f"{named(point, variant)}, simulated"


# -- results to compare --------------------------------------------------------------------------


def figures(lists: Lists) -> Figures:
    """Return the compared values of one run: total goodput, total loss, drops at the queue, mean
    queue length, Jain's index of all flows, and retransmitted segments.
    """
    queue = "ap" if "ap" in lists["queues"] else "bottleneck"
    all_flows = lists["cells"].get("cell") or lists["classes"]["flow"]
    drops = lists["queues"][queue]["drop_probability"]
    return {
        "goodput_bps": all_flows["goodput_bps"],
        "loss": all_flows.get("loss_probability", drops),
        "drops": drops,
        "queue_packets": lists["queues"][queue]["occupancy_packets"],
        "jain": jain_index([each["goodput_bps"] for each in lists["flows"].values()]),
        "retransmissions": sum(each["retransmissions"] for each in lists["flows"].values()),
    }


def simulated(
    point: Point,
    variant: Variant,
    seconds: float | None,
    replications: int = REPLICATIONS,
    periodic: int = PERIODIC,
) -> dict[str, Any]:
    """Simulate with the engine. Return the values of each replication, and the windows over time of
    the first replication.
    """
    settings = {**variant.settings, "record.series_interval": f"{SAMPLED_S} s"}
    result = lh.simulate(point.timed(seconds), settings=settings, replications=replications)
    runs = by_replication(result, LISTS)
    seen = {
        "runs": [figures(each) for each in runs],
        "track": windows_of(result),
        "variant": asdict(variant),
    }
    if len(runs[0]["flows"]) > 1:
        return seen
    by_period = []
    for seed in range(1, periodic + 1):
        replication = lh.simulate(
            point.timed(seconds), settings=settings, replications=1, seed=seed
        )
        run_figures = figures(by_replication(replication, LISTS)[0])
        by_period.append(
            loss_of_periods(windows_of(replication), run_figures, replication.scenario.typed)
        )
    known = [each for each in by_period if each is not None]
    return {**seen, "by_period": known if len(known) == periodic else []}


def windows_of(result: lh.Result) -> dict[str, Any]:
    """Return the windows over time in the first replication of a simulation."""
    sampled = [each for each in result.tracks if each[0] == "flows" and each[2] == "cwnd_packets"]
    tracks = [result.track(*each) for each in sampled]
    samples = zip(*(values for _, values in tracks), strict=True)
    # before the start of a flow, the engine reports no cwnd, and the kernel reports 0
    windows = [[each or 0.0 for each in sample] for sample in samples]
    return track(tracks[0][0], windows)


def loss_of_periods(
    windows: Mapping[str, Any], run_figures: Figures, scenario: Scenario
) -> float | None:
    """Return the loss fraction of a single flow, computed over whole periods of its cwnd. [-]

    Return NaN if there are too few periods, and None if cwnd is not periodic.
    """
    measured_s = scenario.duration_s - scenario.warmup_s
    payload_bits = 8.0 * scenario.tcp_flows[0].tcp.payload_bytes
    # sent segments are the delivered segments, and the segments that were lost and sent again
    sent_pps = run_figures["goodput_bps"] / payload_bits / (1.0 - min(run_figures["loss"], 0.99))
    return loss_by_period(
        windows,
        lost_packets=run_figures["loss"] * sent_pps * measured_s,
        sent_pps=sent_pps,
        from_s=scenario.warmup_s,
        to_s=scenario.duration_s,
    )


def emulated(run: Run, seconds: float | None, *, is_first: bool = False) -> dict[str, Any]:
    """Emulate with the kernel in real time. Return the compared values, the windows over time and
    the kernel's counters.
    """
    point, variant = run.point, run.variant
    tree = {**point.timed(seconds), "seed": run.seed}
    watch = Watch(point.congestion, lh.Scenario(tree).typed.warmup_s, run.seed, is_first=is_first)
    began_s = processor_s()
    answer = emulate(
        tree,
        settings=variant.settings,
        quick_acks=variant.quick_acks,
        sysctl={**SYSCTLS, **variant.sysctls},
        watch=watch,
    )
    run_figures, windows = figures(kept(answer.summary, LISTS)), watch.track()
    known = lh.Scenario(tree).typed
    is_single = len(known.flows) == 1
    return {
        "figures": run_figures,
        "by_period": loss_of_periods(windows, run_figures, known) if is_single else None,
        "late_s": answer.lateness_p99_s,
        "wait": answer.total("processor_wait") or 0.0,
        "at_work": answer.total("at_work_fraction"),
        "processor_s": round(processor_s() - began_s, 2),
        "real_time": is_first,
        "track": windows,
        "counters": watch.counted,
        "variant": asdict(variant),
    }


def processor_s() -> float:
    """Return the CPU time of this process. [s]"""
    spent = os.times()
    return spent.user + spent.system


def is_late(seen: Mapping[str, Any]) -> bool:
    """Return whether an emulation was late and is excluded."""
    return bool(seen["late_s"] > LATE_S or seen["wait"] >= MUCH_WAITING)


# -- runs ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def set_parameters(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set parameters of kernel modules for the whole machine until the `with` block ends."""
    with contextlib.ExitStack() as stack:
        for name, value in wanted.items():
            module, _, parameter = name.partition(".")
            file = PARAMETERS / module / "parameters" / parameter
            stack.callback(file.write_text, file.read_text())
            file.write_text(value)
        yield


def batches(runs: Iterable[Run], jobs: float) -> Iterator[list[Run]]:
    """Yield batches of runs that can run simultaneously: their module parameters are equal, and
    their total load is limited.
    """
    for _, same in groupby(runs, lambda run: (run.variant.name, run.point.duration_s)):
        batch: list[Run] = []
        for run in same:
            if batch and sum(each.point.load for each in [*batch, run]) > jobs:
                yield batch
                batch = []
            batch.append(run)
        yield batch


def in_turn(chosen: Sequence[Point], variants: Sequence[Variant]) -> Iterator[Run]:
    """Yield all runs of these scenarios and variants. The three runs of a scenario directly
    follow one another.
    """
    for variant in variants:
        for point in chosen:
            for seed in range(1, SEEDS + 1):
                yield Run(point, variant, seed)


@dataclass(frozen=True)
class Manner:
    """Options of runs in real time."""

    jobs: int
    """Number of simultaneous runs at 20 Mbit/s. A run with more CPU load (`Point.load`) counts as
    several runs."""
    budget_s: float
    seconds: float | None
    """Duration of runs if it is shorter than the default; None for the default. [s]"""
    is_first: bool
    """Whether the thread of the sockets has real-time priority."""

    def lasts_s(self, batch: Sequence[Run]) -> float:
        """Return the duration of a batch of simultaneous runs. [s]"""
        return max(run.point.lasts_s(self.seconds) for run in batch)


def side_by_side(
    pool: Executor, batch: Sequence[Run], manner: Manner
) -> Iterator[tuple[Run, dict[str, Any]]]:
    """Start the runs of a batch. Yield each run and its results when the run ends."""
    emulate_one = partial(emulated, seconds=manner.seconds, is_first=manner.is_first)
    with set_parameters(batch[0].variant.parameters):
        running = {pool.submit(emulate_one, run): run for run in batch}
        for ended in as_completed(running):
            yield running[ended], ended.result()


def processes(count: int) -> ProcessPoolExecutor:
    """Return a pool of processes. Each run has its own process, because TCP settings are per thread
    and lateness is measured per process.
    """
    fork = multiprocessing.get_context("forkserver")
    fork.set_forkserver_preload(["lasthop.emulation", "lasthop.cli.options"])
    return ProcessPoolExecutor(count, mp_context=fork)


def emulate_all(runs: Runs, plan: Sequence[Run], manner: Manner) -> None:
    """Make the runs that are not stored yet, until the time limit is reached."""
    todo = list(batches(plan, manner.jobs))
    began_s, beyond_s = time.monotonic(), STARTING_S
    with processes(max(map(len, todo), default=1)) as pool:
        for number, batch in enumerate(todo):
            left_s = sum(manner.lasts_s(each) + beyond_s for each in todo[number:])
            next_s = manner.lasts_s(batch) + beyond_s
            if time.monotonic() - began_s + next_s > manner.budget_s:
                print(f"stopped: {left_s / 60:.1f} minutes are left to run", flush=True)
                return
            print(
                f"batch {number + 1} of {len(todo)}, {len(batch)} runs from "
                f'"{batch[0].key}" on; {left_s / 60:.1f} minutes left',
                flush=True,
            )
            batch_began_s = time.monotonic()
            for run, seen in side_by_side(pool, batch, manner):
                runs.add(run.key, {**seen, "beside": len(batch)})
                print(f"  {said(run, seen)}", flush=True)
            beyond_s = max(0.0, time.monotonic() - batch_began_s - manner.lasts_s(batch))


def said(run: Run, seen: Mapping[str, Any]) -> str:
    """Return a run and its results as a line of text."""
    run_figures = seen["figures"]
    return (
        f"{run.key}: {run_figures['goodput_bps'] / 1e6:.2f} Mb/s, "
        f"{100 * run_figures['loss']:.3f} % lost, queue {run_figures['queue_packets']:.1f}; "
        f"{1e3 * seen['late_s']:.2f} ms late, sockets waited {100 * seen['wait']:.0f} %"
        + (" (does not count)" if is_late(seen) else "")
    )


def simulate_all(
    runs: Runs, chosen: Sequence[tuple[Point, Variant]], seconds: float | None, *, anew: bool
) -> None:
    """Run the simulations that are not stored yet. Call this function before any run in real
    time.
    """
    done = runs.known()
    for point, variant in chosen:
        key = simulated_key(point, variant)
        if point.is_simulated and (anew or key not in done):
            runs.add(key, simulated(point, variant, seconds))
            print(key, flush=True)


def of_seconds(seconds: float | None) -> Runs:
    """Return the store of runs with this duration."""
    return Runs(OUT / f"kernel_tcp{'' if seconds is None else f'-{seconds:g}s'}.jsonl")


# -- command line --------------------------------------------------------------------------------


def asked_variants(options: argparse.Namespace) -> list[Variant]:
    """Return the selected variants, or the variant that the options define."""
    said_so = (
        dict(pairs(options.sysctl, "--sysctl", "NAME=VALUE", "net.ipv4.tcp_recovery=0")),
        dict(pairs(options.parameter, "--parameter", "NAME=VALUE", "tcp_cubic.hystart=0")),
        dict(pairs(options.set, "--set", "PATH=VALUE", "tcp.prr=false")),
    )
    names = options.variant or []
    if any(said_so) or options.no_quick_acks:
        if len(names) != 1 or names[0] in VARIANTS:
            raise UserError("settings want one --variant with a name that is not taken")
        return [Variant(names[0], names[0], *said_so, not options.no_quick_acks)]
    if unknown := [name for name in names if name not in VARIANTS]:
        raise UserError(f"{unknown[0]}: no such variant; there are {', '.join(VARIANTS)}")
    return [VARIANTS[name] for name in names] or [AS_THEY_ARE]


def check_same(done: Mapping[str, Any], variants: Sequence[Variant]) -> None:
    """Check that stored runs with the name of a variant were made with the settings of this
    variant.
    """
    made = {seen["variant"]["name"]: Variant(**seen["variant"]) for seen in done.values()}
    for variant in variants:
        other = made.get(variant.name, variant)
        if replace(other, words=variant.words) != variant:
            raise UserError(f"{variant.name}: other runs of this name had {other}")


def seconds(text: str) -> float:
    """Parse a duration of runs. [s]"""
    value = float(text)
    if not 1.0 <= value <= 1000.0:
        raise argparse.ArgumentTypeError(f"{text}: from 1 to 1000")
    return value


def at_least_one(text: str) -> int:
    """Parse a number of simultaneous runs."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: from 1")
    return value


def pattern(text: str) -> re.Pattern[str]:
    """Parse a regular expression for names."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from None


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", type=pattern, default="", metavar="PATTERN", help="points whose names match"
    )
    parser.add_argument("--long-part", action="store_true", help="what `make test-long` runs")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--engine", action="store_true", help="simulations alone")
    ways.add_argument("--kernel", action="store_true", help="emulations alone")
    parser.add_argument(
        "--jobs", type=at_least_one, default=JOBS, help="side by side, in 20 Mbit/s"
    )
    parser.add_argument(
        "--real-time", action="store_true", help="sockets before all else on this machine"
    )
    parser.add_argument("--budget-minutes", type=float, default=float("inf"), metavar="N")
    parser.add_argument("--seconds", type=seconds, help="shorter runs, which are kept elsewhere")
    parser.add_argument("--anew", action="store_true", help="simulate again")
    parser.add_argument("--late-again", action="store_true", help="emulate again what was late")
    parser.add_argument(
        "--variant", action="append", metavar="NAME", help="one of --list, or a name"
    )
    for name, what, help_text in (
        ("--sysctl", "NAME=VALUE", "of the kernel's network namespaces"),
        ("--parameter", "MODULE.NAME=VALUE", "of a module, for the whole machine meanwhile"),
        ("--set", "PATH=VALUE", "a key of the scenario, both ways"),
    ):
        parser.add_argument(name, action="append", default=[], metavar=what, help=help_text)
    parser.add_argument(
        "--no-quick-acks", action="store_true", help="none by the kernel's receivers"
    )
    parser.add_argument("--list", action="store_true", help="name points and variants")
    parser.add_argument("--page", action="store_true", help="write the page")
    return parser


def carry_out(
    parser: argparse.ArgumentParser, follow: Callable[[argparse.Namespace], None]
) -> None:
    """Parse the command line and call `follow` with the options. If `follow` raises a `UserError`,
    print its message and exit with 2.
    """
    options = parser.parse_args()
    try:
        follow(options)
    except UserError as error:
        parser.exit(2, f"{error}\n")


def follow(options: argparse.Namespace) -> None:
    """Perform the actions that the options select."""
    runs = of_seconds(options.seconds)
    if options.page:
        import kernel_tcp_page

        kernel_tcp_page.write(runs, options.seconds)
        return
    chosen = [
        point
        for point in points()
        if options.only.search(point.name) and (in_long_part(point) or not options.long_part)
    ]
    if not chosen:
        raise UserError(
            f"--only {options.only.pattern!r}: no point has that in its name; see --list"
        )
    if options.list:
        print(*(point.name for point in chosen), sep="\n")
        print(
            *(f"--variant {variant.name}: {variant.words}" for variant in VARIANTS.values()),
            sep="\n",
        )
        return
    variants = asked_variants(options)
    done = runs.known()
    check_same(done, variants)
    if not options.kernel:
        both = [(point, variant) for variant in variants for point in chosen]
        simulate_all(runs, both, options.seconds, anew=options.anew)
    if not options.engine:
        check_room()
        plan = [
            run
            for run in in_turn(chosen, variants)
            if run.key not in done or (options.late_again and is_late(done[run.key]))
        ]
        budget_s = 60 * options.budget_minutes
        manner = Manner(options.jobs, budget_s, options.seconds, options.real_time)
        emulate_all(runs, plan, manner)


def check_room() -> None:
    """Check that the kernel allows the largest receive buffer, which is twice the receive
    window.
    """
    least = WINDOW_PACKETS * 1460
    if os.geteuid() != 0:
        raise UserError("needs root: the kernel's TCP runs in network namespaces")
    if int(RECEIVE_LIMIT.read_text()) < least:
        raise UserError(f"receive windows are short: sysctl -w net.core.rmem_max={least}")


if __name__ == "__main__":
    require_release_build()
    carry_out(arguments(), follow)
