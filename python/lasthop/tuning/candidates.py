"""Access parameters that a search may try, and what to write down for each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lasthop.errors import ScenarioError
from lasthop.scenario import Scenario

__all__ = ["Candidate", "Setting", "apply", "opportunities", "toml", "window_pairs"]

WINDOWS = tuple(2**k - 1 for k in range(1, 11))
"""Smallest contention windows tried, 1 to 1023: what a beacon's EDCA parameter set can say."""

TXOP_LIMITS = (1, 2, 4, 8)
"""TXOP limits tried, and the stations' window if it is shorter. [packets]"""

DIFS = 2
"""AIFSN of DIFS, the least that a station may use; one less is PIFS."""

Setting: TypeAlias = tuple[str, int]
"""Key path and value, as `--set` takes them."""


@dataclass(frozen=True)
class Candidate:
    """Access parameters of the AP and of all stations.

    Attributes
    ----------
    ap_cwmin : int or None
        The AP's CWmin; None for PIFS access: AIFSN 1 and no backoff. [slots]
    station_cwmin : int
        CWmin of every station. [slots]
    ap_txop, station_txop : int or None
        TXOP limits; None leaves them as they are. [packets]
    """

    ap_cwmin: int | None
    station_cwmin: int
    ap_txop: int | None = None
    station_txop: int | None = None

    @property
    def pifs(self) -> bool:
        """Whether the AP sends after PIFS without backoff."""
        return self.ap_cwmin is None

    @property
    def bursts(self) -> bool:
        """Whether a transmission opportunity may hold more than one packet."""
        return max(self.ap_txop or 1, self.station_txop or 1) > 1

    @property
    def family(self) -> tuple[bool, bool, bool]:
        """What an access point must be able to do: PIFS, TXOP, windows of its own."""
        return self.pifs, self.bursts, self.ap_cwmin != self.station_cwmin

    @property
    def name(self) -> str:
        """AP and stations, with a slash between: ``31 / 7, TXOP 4 / 2``."""
        windows = f"{'PIFS' if self.pifs else self.ap_cwmin} / {self.station_cwmin}"
        return f"{windows}, TXOP {self.ap_txop} / {self.station_txop}" if self.bursts else windows


def window_pairs(scenario: Scenario, *, pifs: bool, txop: bool) -> Iterator[Candidate]:
    """Every pair of contention windows, without bursts; then PIFS access with every window."""
    ap_cwmax, station_cwmax = _largest_windows(scenario)
    limits = (1, 1) if txop else (None, None)
    stations = [window for window in WINDOWS if window <= station_cwmax]
    for ap in [window for window in WINDOWS if window <= ap_cwmax]:
        for station in stations:
            yield Candidate(ap, station, *limits)
    if pifs:
        for station in stations:
            yield Candidate(None, station, *limits)


def opportunities(scenario: Scenario, bases: Iterable[Candidate]) -> Iterator[Candidate]:
    """Each of `bases` with every pair of TXOP limits that makes a burst."""
    windows = dict.fromkeys((flow["station"] for flow in scenario["flows"]), 0)
    for flow in scenario["flows"]:
        tcp = flow.get("tcp")
        windows[flow["station"]] += TXOP_LIMITS[-1] if tcp is None else tcp["window_packets"]
    longest = max(windows.values())
    limits = sorted({min(limit, longest) for limit in TXOP_LIMITS})
    for base in bases:
        for ap in TXOP_LIMITS:
            for station in limits:
                if max(ap, station) > 1:
                    yield Candidate(base.ap_cwmin, base.station_cwmin, ap, station)


def apply(scenario: Scenario, candidate: Candidate) -> tuple[Scenario, list[Setting]] | None:
    """A scenario with the candidate's parameters, and the fewest settings that make it so.

    None if the scenario is refused with them.
    """
    wanted = _stations_keys(candidate)
    settings = [(f"cell.{key}", value) for key, value in wanted.items()]
    settings += [(f"cell.ap.{key}", value) for key, value in _ap_keys(scenario, candidate).items()]
    try:
        changed = Scenario(scenario, settings)
        own = [
            (f"station.{group}.{key}", value)
            for key, value in wanted.items()
            for group in _overriding(changed, key, value)
        ]
        if own:
            settings += own
            changed = Scenario(scenario, settings)
    except ScenarioError:
        return None
    return changed, settings


def fewest(scenario: Scenario, changed: Scenario, settings: Sequence[Setting]) -> list[Setting]:
    """`settings` without those that `changed`, which they make of `scenario`, can do without."""
    kept = list(settings)
    for setting in settings:
        others = [other for other in kept if other != setting]
        if _means(scenario, others, changed):
            kept = others
    return kept


def toml(settings: Sequence[Setting]) -> str:
    """Settings as they stand in a scenario file."""
    tables: dict[str, list[str]] = {}
    for path, value in settings:
        table, _, key = path.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {value}\n")
    return "\n".join(f"[{table}]\n{''.join(lines)}" for table, lines in tables.items())


def _largest_windows(scenario: Scenario) -> tuple[int, int]:
    """CWmax of the AP and the least of the stations. [slots]"""
    stations = min(station["cwmax"] for station in scenario["stations"])
    return _ap_cwmax(scenario["cell"]["ap"], stations), stations


def _ap_cwmax(ap: Mapping[str, Any], stations: int) -> int:
    """The AP's CWmax; with PIFS access, which has none, that of the stations. [slots]"""
    return int(ap["cwmax"] or stations)


def _stations_keys(candidate: Candidate) -> dict[str, int]:
    keys = {"cwmin": candidate.station_cwmin, "txop_packets": candidate.station_txop}
    return {key: value for key, value in keys.items() if value is not None}


def _ap_keys(scenario: Scenario, candidate: Candidate) -> dict[str, int]:
    ap = scenario["cell"]["ap"]
    keys = {"aifsn": DIFS - 1, "cwmin": 0, "cwmax": 0}
    if candidate.ap_cwmin is not None:
        keys = {
            "aifsn": max(DIFS, ap["aifsn"]),
            "cwmin": candidate.ap_cwmin,
            "cwmax": _largest_windows(scenario)[0],
        }
    return keys if candidate.ap_txop is None else keys | {"txop_packets": candidate.ap_txop}


def _overriding(scenario: Scenario, key: str, value: int) -> list[str]:
    """Groups of stations that do not take `key` from the cell."""
    return list(
        dict.fromkeys(station["group"] for station in scenario["stations"] if station[key] != value)
    )


def _means(scenario: Scenario, settings: Sequence[Setting], wanted: Scenario) -> bool:
    try:
        return Scenario(scenario, settings) == wanted
    except ScenarioError:
        return False
