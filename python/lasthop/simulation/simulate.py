"""Simulation of one scenario: the call of the engine, and the result."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypedDict

from lasthop import _core
from lasthop.arguments import callback, flag
from lasthop.errors import Stopped, UserError
from lasthop.numeric import whole_number
from lasthop.progress.cost_limits import MAX_MEMORY_BYTES, Deadline
from lasthop.scenario.scenario import Scenario, ScenarioLike, as_pairs, blaming
from lasthop.simulation.result import Result
from lasthop.simulation.series_memory import need_room

__all__ = ["MAX_JOBS", "Progress", "ProgressCallback", "replaced", "simulate", "thread_count"]

MAX_JOBS = 1024
"""Largest accepted number of threads (`jobs`)."""


class Progress(TypedDict):
    """Progress of a simulation, over all its replications."""

    replications_done: int
    replications: int
    simulated_s: float
    """Simulated time so far. [s]"""
    total_s: float
    """Total simulated time of the simulation. [s]"""


ProgressCallback: TypeAlias = Callable[[Progress], bool | None]


def simulate(
    scenario: ScenarioLike,
    *,
    replications: int | None = None,
    seed: int | None = None,
    series: str | None = None,
    frames: int | None = None,
    tails: bool = False,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    jobs: int | None = None,
    progress: ProgressCallback | None = None,
    max_time_s: float | None = None,
    max_memory_bytes: float = MAX_MEMORY_BYTES,
) -> Result:
    """Simulate a scenario packet by packet.

    The result depends only on scenario, seed and version, and not on `jobs`. The GIL is released.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    replications, seed : int, optional
        Values that replace those of the scenario.
    series : str, optional
        Sampling interval of time series of the first replication, such as ``"0.1 s"``.
    frames : int, optional
        Maximum number of frames of the first replication that are recorded for a packet capture.
    tails : bool
        Whether to report also quantities of a cell that averages do not show. These are
        ``jain_p05``, the 5th percentile of Jain's index over windows of 1 s; ``longest_starved_s``
        of each station; ``sojourn_p99_s`` of each queue; ``rtt_p95_s`` and ``rtt_p99_s`` of each
        TCP flow; and `Result.distributions`. All other values are the same with and without
        this option.
    settings : mapping or pairs
        Further values to replace, such as ``{"cell.ap.cwmin": 15}``.
    jobs : int, optional
        Number of threads that run replications; by default one for each available processor.
    progress : callable, optional
        Called about every 50 ms with a `Progress`; the run stops if it returns False.
    max_time_s : float, optional
        Longest time that the run may take, estimated from its speed in the first half second; by
        default there is no limit. [s]
    max_memory_bytes : float
        Largest memory that a table of the time series may need. [bytes]

    Returns
    -------
    Result
        Estimates as data frames, samples, series and pictures. If `progress` or Ctrl-C stopped the
        run, the result has the finished replications, `Result.interrupted` is set, and a
        `RuntimeWarning` is given.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If the number of threads is not valid.
    TooCostlyError
        If the time series would need more memory than `max_memory_bytes`; if the run would take
        longer than `max_time_s` by the estimate, or has taken twice as long.
    ValueError
        If `max_time_s` or `max_memory_bytes` is not above 0.
    Stopped
        If `progress` returned False before the first replication finished.
    KeyboardInterrupt
        At Ctrl-C before the first replication finished.

    Examples
    --------
    >>> import lasthop as lh
    >>> result = lh.simulate(
    ...     {
    ...         "duration": "5 s",
    ...         "warmup": "1 s",
    ...         "replications": 2,
    ...         "cell": {"phy": "802.11b"},
    ...         "station": {"sender": {"upload": 4}, "reader": {"download": 1}},
    ...     }
    ... )
    >>> result.stations["goodput_bps"].idxmax()
    'sender'
    >>> list(result.cells.columns)[:2]
    ['goodput_bps', 'goodput_bps_ci95']
    """
    threads = thread_count(jobs)
    callback("progress", progress)
    tails = flag("tails", tails)
    checked = replaced(
        scenario, settings, replications=replications, seed=seed, series=series, frames=frames
    )
    need_room(checked, max_memory_bytes)
    deadline = None
    if max_time_s is not None:
        deadline = Deadline(f"{checked.source}: simulating", max_time_s)
    has_said_no = False

    def watched(seen: Progress) -> bool | None:
        nonlocal has_said_no
        if deadline is not None:
            deadline.look(seen["simulated_s"], seen["total_s"])
        go_on = None if progress is None else progress(seen)
        has_said_no |= go_on is not None and not go_on
        return go_on

    try:
        output = _core.simulate(
            checked.checked, threads, watched if progress or deadline else None, tails
        )
    except KeyboardInterrupt as error:
        # The engine's interrupt has a message; an interrupt by Ctrl-C has none.
        if has_said_no and error.args:
            raise Stopped(f"progress stopped the run; {error}") from None
        raise
    result = Result(output, checked)
    if output.interrupted:
        asked = checked.typed.replications
        message = f"interrupted: the result has {result.replications} of {asked} replications"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return result


def replaced(
    scenario: ScenarioLike,
    settings: Mapping[str, object] | Sequence[tuple[str, object]],
    *,
    replications: int | None = None,
    seed: int | None = None,
    series: str | None = None,
    frames: int | None = None,
) -> Scenario:
    """Return the scenario with replaced values. Errors name the Python argument that set a
    value.
    """
    given = {
        "replications": ("replications", replications),
        "seed": ("seed", seed),
        "record.series_interval": ("series", series),
        "record.frames": ("frames", frames),
    }
    given = {path: argument for path, argument in given.items() if argument[1] is not None}
    pairs = as_pairs(settings)
    pairs += [(path, value) for path, (_, value) in given.items()]
    with blaming({path: f"{name}={value!r}" for path, (name, value) in given.items()}):
        return Scenario(scenario, pairs)


def thread_count(jobs: int | None) -> int:
    """Return the number of threads for `jobs`; by default one for each available processor.

    Raises
    ------
    UserError
        If `jobs` is not a whole number from 1 to `MAX_JOBS`.
    """
    if jobs is None:
        return available_jobs()
    count = whole_number(jobs)
    if count is None or count < 1:
        raise UserError(f"jobs={jobs!r}: must be a whole number of threads from 1")
    if count > MAX_JOBS:
        raise UserError(f"jobs={jobs}: at most {MAX_JOBS} threads are possible")
    return count


def available_jobs() -> int:
    """Return the number of processors on which this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
