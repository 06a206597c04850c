"""Search for the best access parameters of a scenario, with gains and costs."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from typing import Any

from lasthop.arguments import callback
from lasthop.batch import Workers
from lasthop.batch.simulations import Simulations
from lasthop.errors import Stopped, UserError
from lasthop.numeric import real_number, whole_number
from lasthop.scenario.scenario import ScenarioLike
from lasthop.simulation.simulate import replaced, thread_count
from lasthop.tuning.bounds import GIVE_UP, MIN_JAIN, Bounds
from lasthop.tuning.calls import calls_of
from lasthop.tuning.categories import categories_in_use, category_asked
from lasthop.tuning.objectives import OBJECTIVES, objective_for
from lasthop.tuning.search import Interrupted, ProgressCallback, Search
from lasthop.tuning.tuning import TUNING_FILES, Tuning

__all__ = ["CONFIRM", "TUNING_FILES", "TuneInterrupted", "Tuning", "tune"]

CONFIRM = 10
"""Default number of candidates that are confirmed by a full simulation."""


class TuneInterrupted(KeyboardInterrupt):
    """Interruption of a search by Ctrl-C; `finished` has the result so far."""

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
    """Find the access parameters that are best for an objective.

    Contention windows of the access point and of the stations, TXOP limits and PIFS access are
    ranked by the 802.11e model, or by short simulations where the model does not hold. The best few
    settings are fully simulated, with the scenario's seeds. The best of them is recommended only if
    it improves the objective beyond the interval of the paired differences, also with fresh seeds;
    otherwise the present setting stays. The choice depends on scenario and version, not on `jobs`.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    objective : str
        ``"throughput"`` is the goodput of the cell, and ``"delay"`` the mean time in the access
        point's queue. ``"fairness"`` is Jain's index of the stations' goodputs, separately for each
        direction if a station sends and receives. Settings within 0.5 % of the best setting (with
        ``"delay"`` within 1 ms) are ranked by the other two objectives. With ``"fairness"`` these
        settings are those whose stations differ by at most 0.5 % more of a share than with the best
        setting. The aim ``"calls"`` is the largest number of calls in addition to the file's
        traffic. Each direction must have a 99th percentile of one-way delay under 150 ms, and
        losses under 1 %. The calls use the codec G.711, or are like the calls of the file.
    category : str, optional
        Access category whose parameters are searched; by default that of most TCP connections. The
        windows of other categories do not change.
    give_up : float
        Fraction of the present goodput and of Jain's index that may be lost for another objective.
        With ``"throughput"`` and ``"delay"``, this limit also holds, beyond the interval, for each
        flow's RTT, for the 99th percentile of its RTT or delay, and for each station's goodput.
    min_jain : float
        Least 5th percentile of Jain's index over windows of 1 s. If the percentile of the present
        setting is lower, that value is the limit. In addition, no station may get less than a tenth
        of an equal share for 5 s, unless as many stations do at present.
    pifs, txop : bool
        Whether the access point may use PIFS access, and whether TXOP limits are searched.
    confirm : int
        Number of candidates to confirm by simulation, in addition to the present setting. If all
        candidates are ruled out, as many further candidates are confirmed, at most twice.
    executor : concurrent.futures.Executor, optional
        Executor that simulates instead of threads of this process; see `lasthop.sweep`.
    directory : path, optional
        Directory in which finished simulations are kept, for reuse by the next search.
    replications, seed, settings, jobs
        See `simulate`.
    progress : callable, optional
        Called with a `TuneProgress` before each candidate; the search stops if it returns False.

    Returns
    -------
    Tuning
        Recommended setting with gains and costs, or the reason why the present setting stays; and
        all settings that were tried.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If an argument is refused, if the scenario has no cell or delivers nothing, or if counting
        the calls would take too long.
    Stopped
        If `progress` returns False; its ``finished`` is a `Tuning` with the result so far.
    TuneInterrupted
        At Ctrl-C, with ``finished`` as for `Stopped`. The exception is a `KeyboardInterrupt`.

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
    callback("progress", progress)
    if objective not in OBJECTIVES:
        raise UserError(f'objective="{objective}": expected one of {", ".join(OBJECTIVES)}')
    cost = real_number(give_up)
    if cost is None or not 0.0 <= cost < 1.0:
        raise UserError(f"give_up={give_up!r}: must be a fraction from 0 to below 1")
    least = real_number(min_jain)
    if least is None or not 0.0 <= least <= 1.0:
        raise UserError(f"min_jain={min_jain!r}: must be a Jain's index from 0 to 1")
    candidates = whole_number(confirm)
    if candidates is None or candidates < 1:
        raise UserError(f"confirm={confirm!r}: must be a whole number of candidates from 1")
    thread_count(jobs)
    base = replaced(scenario, settings, replications=replications, seed=seed)
    if not categories_in_use(base):
        raise UserError(
            f"{base.source}: no station has a flow; only a WiFi cell has access parameters to tune"
        )
    calls = calls_of(base) if objective == "calls" else None
    base = base if calls is None else calls.alongside(base)
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
        search.run(pifs=pifs, txop=txop, confirm=candidates)
    except Interrupted:
        raise TuneInterrupted(Tuning(search)) from None
    except Stopped:
        tuning = Tuning(search)
        raise Stopped(tuning.how_far, tuning) from None
    return Tuning(search)
