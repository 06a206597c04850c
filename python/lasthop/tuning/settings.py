"""Conversion of a candidate's access parameters to settings of a scenario."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from lasthop.errors import ScenarioError
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import BEST_EFFORT, PingFlow, SensorFlow
from lasthop.tuning.candidates import Candidate, largest_windows
from lasthop.tuning.categories import (
    CATEGORIES,
    categories_above,
    categories_in_use,
    cell_flows,
    cell_scenario,
    table_of,
)

DIFS = 2
"""AIFSN that corresponds to DIFS, the smallest AIFSN of a station. PIFS corresponds to an AIFSN of
1.
"""

PIFS_ACCESS = {"aifsn": DIFS - 1, "cwmin": 0, "cwmax": 0}

Setting: TypeAlias = tuple[str, int]
"""A setting: key path and value, as for the option `--set`."""


def apply(
    scenario: Scenario, candidate: Candidate, category: str = BEST_EFFORT
) -> tuple[Scenario, list[Setting]]:
    """Return the scenario with the parameters of a candidate, and the settings that change it.

    If the file derives the contention windows of other categories from those of best effort, these
    windows must not change. Settings that preserve them are added for categories with flows, and
    for categories whose derived windows would make the scenario invalid.

    Raises
    ------
    ScenarioError
        If the scenario with the settings is invalid.
    """
    used = [other for other in categories_in_use(scenario) if other != category]
    idle = [other for other in CATEGORIES if other not in (category, *used)]
    for more in ([], *([each] for each in idle)):
        with suppress(ScenarioError):
            return _applied(scenario, candidate, category, [*used, *more])
    return _applied(scenario, candidate, category, [*used, *idle])


def fewest(scenario: Scenario, changed: Scenario, settings: Sequence[Setting]) -> list[Setting]:
    """Return `settings` without those that are not needed to change `scenario` to `changed`."""
    needed = list(settings)
    for setting in settings:
        others = [other for other in needed if other != setting]
        if _means(scenario, others, changed):
            needed = others
    return needed


def counts_are_no_times(scenario: Scenario, settings: Sequence[Setting]) -> bool:
    """Return whether `settings` contain a TXOP limit in packets that has no equivalent limit in
    time.

    With several rates or packet lengths, no limit in time allows the same number of packets for all
    stations.
    """
    if not any(path.endswith("txop_packets") and value > 1 for path, value in settings):
        return False
    station = scenario.typed.station
    packets = {
        (
            station[flow.station].rate_bps,
            station[flow.station].downlink_rate_bps,
            None if isinstance(flow, SensorFlow | PingFlow) else flow.transport.payload_bytes,
        )
        for flow in cell_flows(scenario)
    }
    return len(packets) > 1


def toml(settings: Sequence[Setting]) -> str:
    """Return the settings in the notation of a scenario file."""
    tables: dict[str, list[str]] = {}
    for path, value in settings:
        table, _, key = path.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {value}\n")
    return "\n".join(f"[{table}]\n{''.join(lines)}" for table, lines in tables.items())


def _applied(
    scenario: Scenario, candidate: Candidate, category: str, others: Sequence[str]
) -> tuple[Scenario, list[Setting]]:
    wanted = _stations_keys(candidate)
    settings = _under("cell", category, wanted)
    settings += _under("cell.ap", category, _ap_keys(scenario, candidate, category))
    if candidate.every_category:
        for other in categories_above(scenario, category):
            settings += _under("cell.ap", other, PIFS_ACCESS)
    given = {path for path, _ in settings}
    settings += [
        setting for setting in _preserved(scenario, category, others) if setting[0] not in given
    ]
    changed = Scenario(scenario, settings)
    own = [
        (f"{table_of(f'station.{group}', category)}.{key}", value)
        for key, value in wanted.items()
        for group in _overriding(changed, category, key, value)
    ]
    return (Scenario(scenario, settings + own) if own else changed), settings + own


def _under(node: str, category: str, values: Mapping[str, int]) -> list[Setting]:
    return [(f"{table_of(node, category)}.{key}", value) for key, value in values.items()]


def _preserved(scenario: Scenario, category: str, others: Sequence[str]) -> list[Setting]:
    """Return settings that preserve the contention windows of the categories `others`; an empty
    list unless best effort is tuned. The windows of other categories may be derived from those of
    best effort.
    """
    if category != BEST_EFFORT:
        return []
    settings: list[Setting] = []
    known = cell_scenario(scenario)
    for other in others:
        for key in ("cwmin", "cwmax"):
            of_group = {each.group: getattr(each.access(other), key) for each in known.stations}
            if len(set(of_group.values())) == 1:
                settings.append((f"cell.{other}.{key}", next(iter(of_group.values()))))
            else:
                settings += [(f"station.{name}.{other}.{key}", cw) for name, cw in of_group.items()]
                # The value of the cell, which applies to all stations, is also set. Together with
                # the new windows, the value in the file could be invalid.
                settings.append((f"cell.{other}.{key}", max(of_group.values())))
            settings.append((f"cell.ap.{other}.{key}", getattr(known.cell.ap.access(other), key)))
    return settings


def _stations_keys(candidate: Candidate) -> dict[str, int]:
    keys = {"cwmin": candidate.station_cwmin, "txop_packets": candidate.station_txop}
    return {key: value for key, value in keys.items() if value is not None}


def _ap_keys(scenario: Scenario, candidate: Candidate, category: str) -> dict[str, int]:
    keys = dict(PIFS_ACCESS)
    if candidate.ap_cwmin is not None:
        keys = {
            "aifsn": max(DIFS, cell_scenario(scenario).cell.ap.access(category).aifsn),
            "cwmin": candidate.ap_cwmin,
            "cwmax": largest_windows(scenario, category)[0],
        }
    return keys if candidate.ap_txop is None else keys | {"txop_packets": candidate.ap_txop}


def _overriding(scenario: Scenario, category: str, key: str, value: int) -> list[str]:
    """Return the groups of stations that set their own value of `key`, if this value differs from
    `value`.
    """
    return list(
        dict.fromkeys(
            station.group
            for station in scenario.typed.stations
            if getattr(station.access(category), key) != value
        )
    )


def _means(scenario: Scenario, settings: Sequence[Setting], wanted: Scenario) -> bool:
    try:
        return Scenario(scenario, settings) == wanted
    except ScenarioError:
        return False
