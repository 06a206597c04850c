"""Candidates of a search: access parameters that a search may try."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import BEST_EFFORT, TcpFlow
from lasthop.tuning.categories import categories_above, cell_flows, cell_scenario, table_of

WINDOWS = tuple(2**k - 1 for k in range(1, 11))
"""Values of CWmin that a search tries, 1 to 1023. The EDCA parameter set of a beacon can express
these values.
"""

TXOP_LIMITS = (1, 2, 4, 8)
"""TXOP limits that a search tries. For stations, larger limits than W are replaced by W. Here W is
the largest sum of the receive windows of any station's connections. [packets]
"""


@dataclass(frozen=True)
class Candidate:
    """A candidate of a search: access parameters of the AP and of all stations in one access
    category.

    Attributes
    ----------
    ap_cwmin : int or None
        The AP's CWmin; None for PIFS access: AIFSN 1 and no backoff. [slots]
    station_cwmin : int
        CWmin of every station. [slots]
    ap_txop, station_txop : int or None
        TXOP limits of the AP and of stations; None keeps the present limits. [packets]
    every_category : bool
        Whether every higher category with flows also uses PIFS access. The higher categories win
        internal collisions and therefore still send first. Lower categories do not change.
    """

    ap_cwmin: int | None
    station_cwmin: int
    ap_txop: int | None = None
    station_txop: int | None = None
    every_category: bool = False

    @property
    def pifs(self) -> bool:
        """Whether the AP sends after PIFS without a backoff."""
        return self.ap_cwmin is None

    @property
    def bursts(self) -> bool:
        """Whether a TXOP may have more than one packet."""
        return max(self.ap_txop or 1, self.station_txop or 1) > 1

    @property
    def access(self) -> tuple[bool, bool]:
        """Access method of the AP. The first value is whether the tuned category uses PIFS access,
        the second whether every higher category also uses it.
        """
        return self.pifs, self.every_category

    @property
    def family(self) -> tuple[bool, bool, bool, bool]:
        """Family of the candidate: the features that the access point must support. Features are
        PIFS access, TXOP limits, and a contention window other than that of stations.
        """
        return *self.access, self.bursts, self.ap_cwmin != self.station_cwmin

    @property
    def name(self) -> str:
        """Name of the candidate: settings of the AP and of stations, separated by a slash, such as
        ``31 / 7, TXOP 4 / 2``.
        """
        pifs = "PIFS for all" if self.every_category else "PIFS"
        windows = f"{pifs if self.pifs else self.ap_cwmin} / {self.station_cwmin}"
        return f"{windows}, TXOP {self.ap_txop} / {self.station_txop}" if self.bursts else windows


def window_pairs(
    scenario: Scenario, *, pifs: bool, txop: bool, category: str = BEST_EFFORT
) -> Iterator[Candidate]:
    """Yield candidates with every pair of contention windows and without TXOP bursts, then
    candidates with PIFS access and every window of the stations.

    If higher categories have flows, PIFS access is tried twice: only for the tuned category, and
    also for the higher categories.
    """
    ap_cwmax, station_cwmax = largest_windows(scenario, category)
    limits = (1, 1) if txop else (None, None)
    stations = [window for window in WINDOWS if window <= station_cwmax]
    for ap in [window for window in WINDOWS if window <= ap_cwmax]:
        for station in stations:
            yield Candidate(ap, station, *limits)
    if not pifs:
        return
    higher = categories_above(scenario, category)
    for every_category in (False, True) if higher else (False,):
        for station in stations:
            yield Candidate(None, station, limits[0], limits[1], every_category)


def wider(scenario: Scenario, category: str = BEST_EFFORT) -> Iterator[tuple[str, str]]:
    """Yield a text about the contention windows that `window_pairs` leaves out, with the reason."""
    nodes = ("cell.ap", "cell")
    for who, node, cwmax in zip(
        ("the AP", "the stations"), nodes, largest_windows(scenario, category), strict=True
    ):
        beyond = [window for window in WINDOWS if window > cwmax]
        if beyond:
            windows = " to ".join(dict.fromkeys(str(each) for each in (beyond[0], beyond[-1])))
            key = f"{table_of(node, category)}.cwmax"
            yield f"CWmin {windows} of {who}", f"above `{key}` = {cwmax}"


def opportunities(
    scenario: Scenario, bases: Iterable[Candidate], category: str = BEST_EFFORT
) -> Iterator[Candidate]:
    """Yield each candidate of `bases` with every pair of TXOP limits of which at least one allows a
    burst.
    """
    flows = [flow for flow in cell_flows(scenario) if flow.category == category]
    windows = dict.fromkeys((flow.station for flow in flows), 0)
    for flow in flows:
        asked = flow.tcp.window_packets if isinstance(flow, TcpFlow) else TXOP_LIMITS[-1]
        windows[flow.station] += asked
    longest = max(windows.values())
    limits = sorted({min(limit, longest) for limit in TXOP_LIMITS})
    for base in bases:
        for ap in TXOP_LIMITS:
            for station in limits:
                if max(ap, station) > 1:
                    yield replace(base, ap_txop=ap, station_txop=station)


def largest_windows(scenario: Scenario, category: str = BEST_EFFORT) -> tuple[int, int]:
    """Return CWmax of the AP and the smallest CWmax of the stations. If the AP uses PIFS access,
    its CWmax is replaced by that of the stations. [slots]
    """
    known = cell_scenario(scenario)
    stations = min(station.access(category).cwmax for station in known.stations)
    return known.cell.ap.access(category).cwmax or stations, stations
