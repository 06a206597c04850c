"""Access parameters as lines of hostapd.conf, and as settings of a scenario that describe exactly
these lines.

``tx_queue_data0`` to ``data3`` are the access point's own queues for voice, video, best effort and
background. Their contention windows are in slots: 2^k - 1 with k of 1 or more. Their burst lengths
are in milliseconds with one decimal. ``wmm_ac_vo``, ``_vi``, ``_be`` and ``_bk`` are the parameters
of the stations, which beacons contain. Their contention windows are exponents k, and their TXOP
limits are in units of 32 us. See the comments of hostapd.conf in hostapd's sources.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lasthop.models.dcf.airtime import exchange_s
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.transports import Ping, Tcp
from lasthop.scenario.typed import AccessCategory, CellScenario
from lasthop.tuning.categories import (
    CATEGORIES,
    categories_in_use,
    cell_scenario,
    table_of,
)

QUEUES = {"voice": "data0", "video": "data1", "best-effort": "data2", "background": "data3"}
BEACONS = {"voice": "vo", "video": "vi", "best-effort": "be", "background": "bk"}
"""Names of the access categories in the beacon parameters of hostapd."""

BURST_S = 1e-4
"""Unit of the access point's burst lengths. [s]"""

TXOP_S = 32e-6
"""Unit of the stations' TXOP limits. [s]"""

LARGEST_EXPONENT = 15


@dataclass(frozen=True)
class HostapdValues:
    """Access parameters of one category at one node, in the units of hostapd.

    Attributes
    ----------
    aifsn : int
        Slots between SIFS and backoff. [slots]
    cwmin_exponent, cwmax_exponent : int
        Exponents k of the contention windows 2^k - 1.
    txop_units : int
        TXOP limit in the unit of the node's parameter; 0 allows one packet per channel access.
    """

    aifsn: int
    cwmin_exponent: int
    cwmax_exponent: int
    txop_units: int

    def settings(self, table: str, unit_s: float) -> Iterator[tuple[str, object]]:
        """Yield the parameters as settings of a scenario."""
        yield f"{table}.aifsn", self.aifsn
        yield f"{table}.cwmin", 2**self.cwmin_exponent - 1
        yield f"{table}.cwmax", 2**self.cwmax_exponent - 1
        limit_us = round(self.txop_units * unit_s * 1e6)
        yield f"{table}.txop_limit", f"{limit_us} us" if limit_us else "none"


@dataclass(frozen=True)
class Hostapd:
    """Lines of hostapd.conf, and the settings of a scenario that the lines describe.

    Attributes
    ----------
    text : str
        Lines of hostapd.conf.
    settings : sequence of pairs
        Settings of a scenario with the values of the lines.
    """

    text: str
    settings: Sequence[tuple[str, object]]


def hostapd(scenario: Scenario) -> Hostapd:
    """Return the access parameters of every category that has flows, in hostapd's units.

    A TXOP limit of N packets is converted to the duration of N times the longest exchange that the
    node begins in the category. Values that hostapd cannot express are rounded, and a comment
    reports the rounding.
    """
    known = cell_scenario(scenario)
    aps, stations, settings = list[str](), list[str](), list[tuple[str, object]]()
    for category in reversed([each for each in CATEGORIES if each in categories_in_use(scenario)]):
        own = known.cell.ap.access(category)
        values = _in_units(known, category, own, up=False, unit_s=BURST_S, least_exponent=1)
        aps += [f"# {category}: {_in_words(own)}{_other(own, values)}", *_queue(category, values)]
        settings += values.settings(table_of("cell.ap", category), BURST_S)
        every = list(dict.fromkeys(_access(each.access(category)) for each in known.stations))
        if len(every) > 1:
            stations.append(f"# {category}: stations differ, and a beacon has one value for all")
            continue
        own = known.stations[0].access(category)
        values = _in_units(known, category, own, up=True, unit_s=TXOP_S, least_exponent=0)
        stations.append(f"# {category}: {_in_words(own)}{_other(own, values)}")
        stations += _beacon(category, values)
        settings += values.settings(table_of("cell", category), TXOP_S)
    text = "\n".join(
        [
            f"# Written by lasthop for {known.name}",
            "# Queues of the access point itself: windows in slots, bursts in ms",
            *aps,
            "# Values in its beacons for stations: windows 2^k - 1 as k, TXOP limits in 32 us",
            "wmm_enabled=1",
            *stations,
        ]
    )
    return Hostapd(text + "\n", settings)


def _access(access: AccessCategory) -> tuple[object, ...]:
    return access.aifsn, access.cwmin, access.cwmax, access.txop_packets, access.txop_limit_s


def _in_words(access: AccessCategory) -> str:
    words = f"AIFSN {access.aifsn}, CWmin {access.cwmin}, CWmax {access.cwmax}"
    packets = access.txop_packets or 1
    return f"{words}, TXOP of {packets} packets" if packets > 1 else words


def _other(access: AccessCategory, values: HostapdValues) -> str:
    """Return a text about the values that hostapd cannot express. The text is empty if hostapd can
    express all values.
    """
    windows = (2**values.cwmin_exponent - 1, 2**values.cwmax_exponent - 1)
    wanted = (access.cwmin, access.cwmax)
    names = ("CWmin", "CWmax")
    changed = [
        f"{name} {window}"
        for name, window, own in zip(names, windows, wanted, strict=True)
        if window != own
    ]
    return f"; nearest here {' and '.join(changed)}" if changed else ""


def _in_units(
    scenario: CellScenario,
    category: str,
    access: AccessCategory,
    *,
    up: bool,
    unit_s: float,
    least_exponent: int,
) -> HostapdValues:
    packets = access.txop_packets or 1
    # In hostapd, a TXOP limit of 0 means one exchange per channel access.
    limit_s = None if access.txop_packets == 1 else access.txop_limit_s
    if limit_s is None and packets > 1:
        sifs_s = scenario.cell.sifs_s
        longest_s = max(_exchanges_s(scenario, category, up=up), default=0.0)
        limit_s = packets * longest_s + (packets - 1) * sifs_s
    # The limit is rounded up, so that the last exchange still fits into the TXOP.
    units = 0 if limit_s is None else math.ceil(limit_s / unit_s - 1e-6)
    return HostapdValues(
        access.aifsn,
        _exponent(access.cwmin, least_exponent),
        _exponent(access.cwmax, least_exponent),
        units,
    )


def _exponent(window: int, least: int) -> int:
    """Return the exponent k of the nearest contention window 2^k - 1, at least `least`."""
    return min(max(round(math.log2(window + 1)), least), LARGEST_EXPONENT)


def _exchanges_s(scenario: CellScenario, category: str, *, up: bool) -> Iterator[float]:
    """Yield the durations of exchanges in a category that stations begin (`up`) or the access point
    begins. [s]
    """
    for flow in scenario.flows:
        if not flow.station or flow.category != category:
            continue
        transport = flow.transport
        if (flow.direction == "up") is up:
            packet_bytes = transport.packet_bytes
        elif isinstance(transport, Tcp):
            packet_bytes = transport.header_bytes
        elif isinstance(transport, Ping):
            packet_bytes = transport.packet_bytes
        else:
            continue
        station = scenario.station[flow.station]
        rate_bps = station.rate_bps if up else station.downlink_rate_bps
        control = station.uplink_control_bps if up else station.downlink_control_bps
        yield exchange_s(scenario.cell, packet_bytes, rate_bps, *control)


def _queue(category: str, values: HostapdValues) -> list[str]:
    name = f"tx_queue_{QUEUES[category]}"
    burst = f"{values.txop_units * BURST_S * 1e3:.1f}" if values.txop_units else "0"
    return [
        f"{name}_aifs={values.aifsn}",
        f"{name}_cwmin={2**values.cwmin_exponent - 1}",
        f"{name}_cwmax={2**values.cwmax_exponent - 1}",
        f"{name}_burst={burst}",
    ]


def _beacon(category: str, values: HostapdValues) -> list[str]:
    name = f"wmm_ac_{BEACONS[category]}"
    return [
        f"{name}_aifs={values.aifsn}",
        f"{name}_cwmin={values.cwmin_exponent}",
        f"{name}_cwmax={values.cwmax_exponent}",
        f"{name}_txop_limit={values.txop_units}",
        f"{name}_acm=0",
    ]
