"""Read values of stored runs for the page of `emulations.py`, and compute means over runs."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import emulations
from emulations import Case
from runs import OUT, Runs, Table, by_replication

import lasthop as lh
from lasthop.answers.estimates import Estimate

SIMULATED = Runs(OUT / "emulations-simulated.jsonl")
REPLICATIONS = 20

Reader = Callable[[Table], float]
"""Function that returns a value from the measurements of a run."""


class Simulated:
    """Simulated and predicted values of the emulated scenarios. Simulations are stored."""

    def __init__(self) -> None:
        self.stored = SIMULATED.known()

    def replications(self, case: Case) -> list[Table]:
        """Return the measurements of each simulated replication of a case."""
        key = f"{case.suite}, {case.name}"
        if key not in self.stored:
            print(f"simulating {key}", flush=True)
            # the durations are equal because, for example, Jain's index depends on the duration
            times = emulations.times(case.suite)
            tree = {**case.tree, **times, "replications": REPLICATIONS}
            self.stored[key] = by_replication(lh.simulate(tree), emulations.LISTS)
            SIMULATED.add(key, self.stored[key])
        return list(self.stored[key])


def cell_quantity(quantity: str, unit: float = 1.0) -> Reader:
    """Return a function that reads a quantity of the cell."""
    return lambda seen: float(seen["cells"]["cell"][quantity]) / unit


def ap_quantity(quantity: str) -> Reader:
    """Return a function that reads a quantity of the access point."""
    return lambda seen: float(seen["aps"]["ap"][quantity])


def lateness_ms(seen: Table) -> float:
    """Return the 99th percentile of the lateness of packets in a run. [ms]"""
    return 1e3 * emulations.lateness_s(seen)


def queue(seen: Table) -> float:
    """Return the mean queue length of the access point. [packets]"""
    return float(seen["queues"]["ap"]["occupancy_packets"])


def goodput(prefix: str) -> Reader:
    """Return a function that reads the total goodput of the stations whose names begin with
    `prefix`. [Mb/s]
    """

    def read(seen: Table) -> float:
        own = [station for name, station in seen["stations"].items() if name.startswith(prefix)]
        return sum(float(station["goodput_bps"]) for station in own) / 1e6

    return read


def forward_links(seen: Table) -> list[str]:
    """Return the names of the bottleneck links in the direction of the data."""
    return [name for name in seen["links"] if not name.endswith("/back")]


def link_mean(list_name: str, quantity: str) -> Reader:
    """Return a function that reads a quantity and averages it over the bottleneck links."""
    return lambda seen: fmean(seen[list_name][name][quantity] for name in forward_links(seen))


def estimate(read: Reader, runs: Sequence[Table]) -> Estimate | None:
    """Return the mean over runs with its confidence interval; None if there are no runs."""
    values = list(map(read, runs))
    return Estimate.of(values) if values else None


def interval_text(value: Estimate | None, digits: int) -> str:
    """Return a mean with its confidence interval as text."""
    if value is None:
        return ""
    half = "" if value.ci95 is None else f" ± {value.ci95:.{digits}f}"
    return f"{value.mean:.{digits}f}{half}"


def scaled(value: Estimate | None, unit: float) -> Estimate | None:
    """Return a mean and its confidence interval, multiplied by `unit`."""
    if value is None:
        return None
    return Estimate(value.mean / unit, None if value.ci95 is None else value.ci95 / unit)


def lateness_text(cases: Sequence[Case], done: Mapping[str, Table]) -> str:
    """Return the numbers of included and excluded runs as text."""
    each = [emulations.seen_of(case, done) for case in cases]
    runs = [seen for on_time, _ in each for seen in on_time]
    most_ms = 1e3 * max(map(emulations.lateness_s, runs), default=0.0)
    left = sum(count for _, count in each)
    return (
        f"The values are from {len(runs)} runs, whose packets were at most {most_ms:.2f} ms late "
        f"(99th percentile). {f'{left} other runs' if left else 'No run'}\n"
        f"{'were' if left else 'was'} left out."
    )
