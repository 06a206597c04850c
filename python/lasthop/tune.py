"""Which access parameters to set for a scenario, for what gain and at what cost."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from typing import Any

from lasthop.batch import Workers
from lasthop.errors import Stopped, UserError
from lasthop.run import replaced, threads_asked
from lasthop.scenario import ScenarioLike
from lasthop.tuning.bounds import GIVE_UP, MIN_JAIN, Bounds
from lasthop.tuning.calls import calls_of
from lasthop.tuning.categories import categories_in_use, category_asked
from lasthop.tuning.found import TUNING_FILES, Tuning
from lasthop.tuning.objectives import OBJECTIVES, objective_for
from lasthop.tuning.search import Interrupted, ProgressCallback, Search
from lasthop.tuning.simulations import Simulations

__all__ = ["CONFIRM", "TUNING_FILES", "TuneInterrupted", "Tuning", "tune"]

CONFIRM = 10
"""Candidates confirmed by simulation, unless said otherwise."""


class TuneInterrupted(KeyboardInterrupt):
    """A search that Ctrl-C ended; `finished` holds what it has found."""

    def __init__(self, finished: Tuning) -> None:
        super().__init__(finished.how_far)
        self.finished = finished

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.finished,)


def tune(
    scenario: ScenarioLike,
    objective: str = "throughput",
    *,
    category: str | None = None,
    give_up: float = GIVE_UP,
    min_jain: float = MIN_JAIN,
    pifs: bool = True,
    txop: bool = True,
    confirm: int = CONFIRM,
    replications: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    jobs: int | None = None,
    executor: Executor | Workers | None = None,
    directory: str | PathLike[str] | None = None,
    progress: ProgressCallback | None = None,
) -> Tuning:
    """Find the access parameters that serve a scenario best.

    Contention windows of the access point and of the stations, TXOP limits and PIFS access are
    ranked by the 802.11e model, or by short simulations where it does not hold; the best few are
    simulated as the scenario says, with the same seeds. The best of these is recommended only if
    it improves the objective beyond the interval of the paired differences, also with fresh seeds;
    otherwise the present setting stays. The same scenario and version give the same choice,
    whatever `jobs`.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    objective : str
        ``"throughput"``: the cell's goodput; ``"delay"``: the mean time in the
        access point's queue; ``"fairness"``: Jain's index of the stations' goodputs, each
        direction on its own where a station sends and receives. Settings within 0.5 % of the
        best, or 1 ms, are told apart by the other two; where fairness is the aim, settings whose
        stations differ by 0.5 % more of a share than with the best. ``"calls"``: the most calls
        whose 99th percentile of one-way delay is under 150 ms and whose losses are under 1 %, each
        way, beside the file's traffic; calls of G.711, or those of the file.
    category : str, optional
        Access category whose parameters are searched; by default the one of most TCP connections.
        The windows of other categories stay as they are.
    give_up : float
        Part of the present goodput, and of Jain's index, that another aim may cost. With
        ``"throughput"`` and ``"delay"``, no RTT of a flow, no 99th percentile of its RTT or delay
        and no goodput of a station may get worse by more either, beyond its interval.
    min_jain : float
        Least 5th percentile of Jain's index over windows of 1 s; where the present setting has
        less, no setting may have less than that. No station may get less than a tenth of an equal
        share for 5 s either, unless as many do at present.
    pifs, txop : bool
        Whether the access point may use PIFS access, and whether TXOP limits are searched.
    confirm : int
        Candidates confirmed by simulation beside the present setting; where all are ruled out,
        as many again, twice at most.
    executor : concurrent.futures.Executor, optional
        Who simulates in the place of threads of this process; see `lasthop.sweep`.
    directory : path, optional
        Where finished simulations are kept, and found again by the next search.
    replications, seed, settings, jobs
        See `simulate`.
    progress : callable, optional
        Called with a `TuneProgress` before each candidate; the search stops if it returns False.

    Returns
    -------
    Tuning
        The recommended setting, what it gains and costs, or why the present one stays; and every
        other one that was tried.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If an argument is refused, the scenario has no cell, nothing is delivered in it, or calls
        would take too long to count.
    Stopped
        If `progress` returns False; its ``finished`` is a `Tuning` with what was found.
    TuneInterrupted
        At Ctrl-C, likewise; it is a `KeyboardInterrupt`.

    Examples
    --------
    >>> import lasthop as lh
    >>> found = lh.tune(
    ...     {
    ...         "duration": "3 s",
    ...         "warmup": "1 s",
    ...         "replications": 2,
    ...         "cell": {"phy": "802.11b"},
    ...         "tcp": {"congestion": "reno", "window": 42},
    ...         "station": {"reader": {"count": 2, "download": 1}},
    ...     },
    ...     "throughput",
    ...     txop=False,
    ...     confirm=1,
    ... )
    >>> found.recommended and found.gains["goodput_bps"].mean > 0
    True
    >>> "cell.ap.cwmin" in found.settings
    True
    """
    if objective not in OBJECTIVES:
        raise UserError(
            f'there is no objective "{objective}"', f"objectives: {', '.join(OBJECTIVES)}"
        )
    if not isinstance(give_up, int | float) or not 0.0 <= give_up < 1.0:
        raise UserError(f"give_up={give_up!r}: a part from 0 to below 1 is needed")
    if not isinstance(min_jain, int | float) or not 0.0 <= min_jain <= 1.0:
        raise UserError(f"min_jain={min_jain!r}: a Jain's index from 0 to 1 is needed")
    if not isinstance(confirm, int) or confirm < 1:
        raise UserError(f"confirm={confirm!r}: a whole number from 1 is needed, of candidates")
    threads_asked(jobs)
    base = replaced(scenario, settings, replications=replications, seed=seed)
    if not categories_in_use(base):
        raise UserError(
            f"{base.source}: no station has a flow; only a WiFi cell has access parameters to tune"
        )
    calls = calls_of(base) if objective == "calls" else None
    base = base if calls is None else calls.beside(base)
    category = category_asked(base, category)
    search = Search(
        base,
        objective_for(objective, base, category),
        category=category,
        bounds=Bounds(give_up, min_jain),
        calls=calls,
        simulations=Simulations(jobs, executor, None if directory is None else Path(directory)),
        progress=progress,
    )
    try:
        search.run(pifs=pifs, txop=txop, confirm=confirm)
    except Interrupted:
        raise TuneInterrupted(Tuning(search)) from None
    except Stopped:
        found = Tuning(search)
        raise Stopped(found.how_far, found) from None
    return Tuning(search)
