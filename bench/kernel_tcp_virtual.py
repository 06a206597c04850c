"""Compare the engine's TCP with Linux's TCP in simulated time, with runs of user-mode Linux.

    python bench/kernel_tcp_virtual.py             makes the missing runs
    python bench/kernel_tcp_virtual.py --jobs 2    makes two runs in parallel
    python bench/kernel_tcp_virtual.py --status    prints finished runs, and the cost of the others
    python bench/kernel_tcp_virtual.py --keep      writes docs/reference/kernel-tcp-virtual.json.gz
    python bench/kernel_tcp_virtual.py --page      writes the tables of kernel-tcp-measured.md that
                                                   were measured in simulated time

`kernel_tcp_plan.py` contains the plan of the runs. Each run starts a separate user-mode Linux,
which runs one emulation as `kernel_tcp.py` does. All random numbers of the kernel follow from the
seed. Each finished run is stored as a line of out/kernel-tcp-virtual.jsonl. A run is repeated only
if the kernel, lasthop's library for simulated time, or the engine's code without its TCP has
changed. The script can be interrupted at any time and started again.
"""

import argparse
import fcntl
import hashlib
import json
import pickle
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import kernel_tcp_inside
from kernel_tcp import (
    LISTS,
    Run,
    at_least_one,
    carry_out,
    figures,
    pattern,
    seconds,
    simulated,
    simulated_key,
)
from kernel_tcp_compared import Compared, is_paired, needs_more
from kernel_tcp_inside import RUN, SEEN
from kernel_tcp_plan import (
    ALL_SEEDS,
    FIRST_SEEDS,
    LONG_RUN_SUFFIX,
    Planned,
    runs_of,
    simulations,
    stages,
)
from kernel_tcp_points import AS_THEY_ARE, Point, Variant
from measure import require_release_build
from runs import OUT, Runs, by_replication

import lasthop as lh
from lasthop import _core
from lasthop.errors import UserError
from lasthop.uml import boot
from lasthop.uml.kernel import PROGRAM, Kernel, find_kernel, read_kernel

KEPT = OUT / "kernel-tcp-virtual.jsonl"
CRATES = Path(__file__).parent.parent / "crates"
NETWORK, OWN_TCP = ("engine/src", "emulator/src"), "engine/src/tcp/"
"""Folders with the source code of emulations, and the folder in them that emulations do not use."""
MORE = 100
"""Number of replications if the results of 20 replications vary too much."""
MAX_PROCESSOR_S = 1800.0
"""CPU time after which a run is aborted. [s]"""
MINUTE_S = 60.0
COST_S = {0: 30.0, 1: 35.0}
"""Assumed CPU time of a run of a minute, by the index of the kernel. The value is used until a run
has been measured. [s]"""

Seen = Mapping[str, Any]


@dataclass(frozen=True)
class Fingerprints:
    """Hashes of all code that affects a result: kernel, preloaded library and engine."""

    kernel: str
    preload: str
    engine: str
    """Hash of the engine's source code. For emulations, the engine's TCP is not included."""

    @classmethod
    def of(cls, kernel: Kernel) -> "Fingerprints":
        """Return the fingerprints of emulations on a kernel."""
        with kernel.program.open("rb") as program:
            content = hashlib.file_digest(program, "sha256").hexdigest()
        return cls(content, hashlib.sha256(_core.UML_PRELOAD).hexdigest(), network_hash())


def network_hash() -> str:
    """Return a hash of the source code of emulations: the emulator, and the engine without its
    TCP.
    """
    digest = hashlib.sha256()
    for part in NETWORK:
        for file in sorted((CRATES / part).rglob("*.rs")):
            name = file.relative_to(CRATES).as_posix()
            if not name.startswith(OWN_TCP):
                digest.update(f"{name}\n{file.read_text()}\n".encode())
    return digest.hexdigest()


class Store:
    """Stored results, by run and fingerprints. Only one process may write to the file at a time."""

    def __init__(self, path: Path = KEPT) -> None:
        self.runs = Runs(path)
        self.lock = threading.Lock()
        self.seen: dict[tuple[str, Fingerprints], Seen] = {}
        for key, seen in self.runs.lines():
            self.seen[key, Fingerprints(**seen["fingerprints"])] = seen

    @classmethod
    @contextmanager
    def opened(cls, path: Path = KEPT) -> Iterator["Store"]:
        """Open the file for writing. An incomplete last line is removed.

        Raises
        ------
        UserError
            If another process writes to the file.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(f"{path}: another process is making runs: end it first") from None
            file.seek(0)
            content = file.read()
            if content and not content.endswith(b"\n"):
                file.truncate(content.rfind(b"\n") + 1)
            yield cls(path)

    def get(self, key: str, fingerprints: Fingerprints) -> Seen | None:
        """Return a stored result; None if there is none."""
        return self.seen.get((key, fingerprints))

    def add(self, key: str, fingerprints: Fingerprints, seen: Mapping[str, Any]) -> None:
        """Store the result of a run."""
        record = {**seen, "fingerprints": vars(fingerprints)}
        with self.lock:
            self.runs.add(key, record)
            self.seen[key, fingerprints] = record


def emulated_in_simulated_time(kernel: Kernel, run: Run, length_s: float | None) -> dict[str, Any]:
    """Run `kernel_tcp.emulated` in a separate user-mode Linux, and return its result."""
    answers: list[str] = []

    def keep(exchange: Path) -> None:
        if (exchange / SEEN).exists():
            answers.append((exchange / SEEN).read_text())

    ended = boot.run(
        kernel,
        [sys.executable, str(Path(kernel_tcp_inside.__file__).resolve())],
        seed=run.seed,
        files={RUN: pickle.dumps((run, length_s))},
        memory_mb=run.variant.memory_mb,
        max_processor_s=MAX_PROCESSOR_S,
        collect=keep,
    )
    if not answers:
        raise UserError(f"{run.key}: Linux {kernel.version} gave no result: {ended.stderr}")
    seen: dict[str, Any] = json.loads(answers[0])
    return {
        **seen,
        "engine": _core.ENGINE,
        "version": kernel.version,
        "cost_s": round(ended.processor_s, 2),
    }


def seed_by_seed(
    point: Point,
    variant: Variant,
    length_s: float | None,
    seeds: Iterable[int] = range(1, ALL_SEEDS + 1),
) -> list[dict[str, float]]:
    """Return the values of simulations that have the seeds of the emulations."""
    tree = point.timed(length_s)

    def figures_of(seed: int) -> dict[str, float]:
        result = lh.simulate(tree, settings=variant.settings, replications=1, seed=seed)
        return figures(by_replication(result, LISTS)[0])

    return [figures_of(seed) for seed in seeds]


# -- runs ---------------------------------------------------------------------------------------


@dataclass
class Work:
    """The kernels, the stored results and the options, from which the remaining runs follow."""

    kernels: Sequence[Kernel]
    store: Store
    length_s: float | None = None
    only: re.Pattern[str] | None = None

    @cached_property
    def fingerprints(self) -> list[Fingerprints]:
        """Fingerprints of emulations, for each kernel."""
        return [Fingerprints.of(kernel) for kernel in self.kernels]

    @cached_property
    def of_engine(self) -> Fingerprints:
        """Fingerprints of simulations, which use no kernel."""
        return Fingerprints("", "", _core.ENGINE)

    def key(self, planned: Planned) -> str:
        """Return the key under which a run is stored."""
        return f"{planned.run.key}, Linux {self.kernels[planned.kernel].version}"

    def result(self, planned: Planned) -> Seen | None:
        """Return the stored result of a run; None if there is none."""
        return self.store.get(self.key(planned), self.fingerprints[planned.kernel])

    def simulation(self, point: Point, variant: Variant = AS_THEY_ARE) -> Seen | None:
        """Return the stored simulations of a scenario; None if there are none."""
        return self.store.get(simulated_key(point, variant), self.of_engine)

    def is_undecided(self, point: Point) -> bool | None:
        """Return whether a scenario is undecided after the first seeds; None if these runs are
        missing.
        """
        some = [self.result(each) for each in runs_of([point], range(1, FIRST_SEEDS + 1), 0)]
        engine = self.simulation(point)
        if engine is None or None in some:
            return None
        return Compared.of(point, engine, [seen for seen in some if seen is not None]).is_undecided

    def plan(self) -> list[tuple[str, list[Planned]]]:
        """Return the stages of the plan with the runs that the options select."""
        return [
            (title, [each for each in some if self.only is None or self.only.search(each.run.key)])
            for title, some in stages(self.is_undecided)
            if len(self.kernels) > max((each.kernel for each in some), default=0)
        ]

    def todo(self) -> list[Planned]:
        """Return the runs that are not stored yet, in the order of the plan. Later runs that depend
        on the results of these runs are not included.
        """
        return [each for _, some in self.plan() for each in some if self.result(each) is None]

    def costs_s(self, some: Sequence[Planned]) -> list[float]:
        """Return the expected CPU time of each run: the mean of similar finished runs. [s]

        Similar runs are those of the same scenario on the same kernel. If there are none, all runs
        on this kernel are used.
        """
        made: dict[tuple[str, ...], list[float]] = {}
        for (key, _), seen in self.store.seen.items():
            if "cost_s" in seen:
                point = key.rpartition(", seed ")[0]
                made.setdefault((point, seen["version"]), []).append(seen["cost_s"])
                if LONG_RUN_SUFFIX not in point:
                    made.setdefault((seen["version"],), []).append(seen["cost_s"])
        means = {alike: fmean(costs) for alike, costs in made.items()}
        versions = [kernel.version for kernel in self.kernels]
        return [
            means.get(
                (each.run.point.name, versions[each.kernel]),
                means.get((versions[each.kernel],), COST_S[each.kernel])
                * (each.run.point.duration_s / MINUTE_S),
            )
            for each in some
        ]

    def cost(self) -> str:
        """Return as text the CPU time of finished runs, and the expected CPU time of missing
        runs.
        """
        spent = [seen["cost_s"] for seen in self.store.seen.values() if "cost_s" in seen]
        todo = self.todo()
        left_s = sum(self.costs_s(todo))
        return (
            f"{len(spent)} runs made, {sum(spent) / 3600:.2f} CPU hours; {len(todo)} runs left, "
            f"about {left_s / 3600:.2f} CPU hours"
        )


def simulate_all(work: Work) -> None:
    """Make the simulations that are not stored yet, for all scenarios that the engine supports."""
    for point, variant in simulations():
        key = simulated_key(point, variant)
        wanted = work.only is None or work.only.search(key)
        if not wanted:
            continue
        if work.simulation(point, variant) is None:
            seen = simulated(point, variant, work.length_s)
            if is_paired(point):
                seen["by_seed"] = seed_by_seed(point, variant, work.length_s)
            work.store.add(key, work.of_engine, seen)
            print(key, flush=True)
        known = work.simulation(point, variant)
        if known is not None and len(known["runs"]) < MORE and needs_more(point, known):
            seen = simulated(point, variant, work.length_s, MORE, MORE)
            work.store.add(key, work.of_engine, seen)
            print(f"{key}, {MORE} replications", flush=True)


def emulate_all(work: Work, jobs: int) -> None:
    """Make the runs of the plan that are not stored yet."""
    running: dict[Future[dict[str, Any]], Planned] = {}
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            now = list(running.values())
            todo = [each for each in work.todo() if each not in now]
            while todo and len(running) < jobs:
                each = todo.pop(0)
                kernel = work.kernels[each.kernel]
                future = pool.submit(emulated_in_simulated_time, kernel, each.run, work.length_s)
                running[future] = each
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                each = running.pop(future)
                seen = future.result()
                work.store.add(work.key(each), work.fingerprints[each.kernel], seen)
                print(f"{work.key(each)}: {seen['cost_s']:.0f} CPU s; {work.cost()}", flush=True)


def find_kernels(options: argparse.Namespace) -> list[Kernel]:
    """Return both kernels.

    Raises
    ------
    UserError
        If a kernel is missing, or if both have the same version.
    """
    first = read_kernel(options.kernel, "--kernel") if options.kernel else find_kernel()
    second = read_kernel(options.second, "--second")
    if first.version == second.version:
        raise UserError(
            f"--second {options.second}: Linux {second.version} is also the first kernel: "
            "expected another version"
        )
    return [first, second]


def add_options_of_work(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose and store the runs of a `Work`."""
    parser.add_argument(
        "--only", type=pattern, metavar="PATTERN", help="make only the runs whose names match"
    )
    parser.add_argument(
        "--jobs", type=at_least_one, default=1, help="make this many runs in parallel"
    )
    parser.add_argument(
        "--seconds", type=seconds, help="make runs of this duration [s], stored in another file"
    )
    parser.add_argument("--engine", action="store_true", help="simulate only")
    parser.add_argument("--status", action="store_true", help="print what has been run")
    parser.add_argument("--keep", action="store_true", help="write the compressed results")


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", type=Path, help="first kernel (default: as for --virtual)")
    parser.add_argument(
        "--second", type=Path, default=Path("/usr/bin", PROGRAM), help="second kernel"
    )
    add_options_of_work(parser)
    parser.add_argument("--page", action="store_true", help="write the section of the page")
    return parser


def follow(options: argparse.Namespace) -> None:
    """Perform the actions that the options select."""
    if options.keep or options.page:
        import kernel_tcp_virtual_page as page

        if options.keep:
            page.keep(Work(find_kernels(options), Store()))
        if options.page:
            page.write()
        return
    kernels = find_kernels(options)
    path = KEPT if options.seconds is None else KEPT.with_stem(f"{KEPT.stem}-{options.seconds:g}s")
    if options.status:
        work = Work(kernels, Store(path), options.seconds, options.only)
        for title, some in work.plan():
            made = sum(work.result(each) is not None for each in some)
            print(f"{title}: {made} of {len(some)} runs")
        print(work.cost())
        return
    with Store.opened(path) as store:
        work = Work(kernels, store, options.seconds, options.only)
        print(work.cost(), flush=True)
        simulate_all(work)
        if not options.engine:
            emulate_all(work, options.jobs)


if __name__ == "__main__":
    require_release_build()
    carry_out(arguments(), follow)
