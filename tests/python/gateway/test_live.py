"""The status of a gateway as text on a terminal of 80 columns."""

from typing import Any

import pytest
from rich.console import Console

from lasthop.enforce.gateway.live import tables

ROW = {
    "ap": "wlan",
    "addresses": ["10.77.1.10", "2001:db8::10"],
    "udp_uplink_bps": 0.0,
    "pinged": True,
    "silent": False,
    "heard": None,
    "late_s": None,
    "rate_bps": 15_702_000.0,
    "backlog_packets": 21,
    "dropped_packets": 400,
}


def status(*names: str, **more: Any) -> dict[str, Any]:
    """Return the status of a gateway with these stations."""
    return {
        "aps": [
            {
                "name": "wlan",
                "fairness": "station",
                "rate_bps": 31_640_000,
                "rtt_s": 0.0183,
                "base_rtt_s": 0.0031,
                "pings": 104,
                "answers": 104,
            }
        ],
        "stations": [ROW | {"name": name} | more for name in names],
        "faults": [],
        "warnings": [],
        "leaves": {"discipline": "codel", "why": "the best that this kernel has"},
    }


def printed(report: dict[str, Any], columns: int) -> list[str]:
    """Return the lines of the status on a terminal of this many columns."""
    console = Console(width=columns, color_system=None)
    with console.capture() as captured:
        console.print(tables(report, width=columns))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_titles_keep_their_units() -> None:
    lines = printed(status("a"), 160)
    assert lines[0].split("  ")[0] == "access point"
    for title in ("C [Mbit/s]", "  RTT [ms]", "base RTT [ms]"):
        assert title in lines[0]
    for title in ("rate [Mbit/s]", "UDP up [Mbit/s]"):
        assert title in lines[4]


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_each_station_has_a_recognisable_line(columns: int) -> None:
    macs = ["52:0d:1c:7b:11:02", "52:0d:1c:7b:11:03"]
    lines = printed(status(*macs, silent=True), columns)
    assert max(map(len, lines)) <= columns
    rows = [line for line in lines if ":11:0" in line]
    assert [row.split()[0][-8:] for row in rows] == [mac[-8:] for mac in macs]
    assert all("15.702" in row and row.endswith("no answer") for row in rows)
    assert sum("[Mbit/s]" in line for line in lines) >= 2


def test_a_name_that_is_too_long_loses_its_front() -> None:
    lines = printed(status("a-name-of-" + "x" * 60 + "-42"), 80)
    (row,) = (line for line in lines if line.endswith("yes"))
    assert row.startswith("…x")
    assert row.split()[0].endswith("xxx-42")


def test_pinged_stations_are_reported() -> None:
    assert printed(status("a"), 160)[-1].endswith("  yes")
    assert printed(status("a", pinged=False, silent=True), 160)[-1].endswith("  no")
    assert printed(status("a", silent=True), 160)[-1].endswith("  no answer")
    assert printed(status("a", silent=True, heard="flows"), 160)[-1].endswith("  by flows")
    assert printed(status("a", late_s=0.297), 160)[-1].endswith("  297 ms late")
    fixed = status("a", pinged=False)
    for name in ("silent", "heard", "late_s"):
        del fixed["stations"][0][name]
    assert printed(fixed, 160)[-1].endswith("  -")


def test_the_rate_by_which_a_station_is_weighed_is_shown_with_its_source() -> None:
    report = status("a", phy_rate_bps=866_700_000, phy_rate_source="iw")
    report["stations"] += status("b", phy_rate_bps=None, phy_rate_source="highest")["stations"]
    report["stations"] += status("c")[
        "stations"
    ]  # stations of an access point with a different fairness setting
    lines = printed(report, 160)
    assert lines[-4].endswith("  PHY rate [Mbit/s]")
    assert [line.split("  ")[-1].strip() for line in lines[-3:]] == ["866.7 iw", "highest", "-"]
    assert all(len(line) <= 80 for line in printed(report, 80))


def test_brackets_of_a_fault_are_not_markup() -> None:
    report = status("a") | {"faults": ["[ms] is gone"], "warnings": ["mind [this]"]}
    assert printed(report, 80)[-2:] == ["warning: mind [this]", "fault: [ms] is gone"]


def test_bytes_at_the_filters_and_mac_addresses_at_ports_are_shown() -> None:
    report = status("a")
    report["filters"] = [
        {
            "ap": "wlan",
            "direction": direction,
            "redirected_bytes": 12_000_000,
            "unclassified_bytes": 500_000,
            "multicast_bytes": 0,
            "exempt_bytes": {"arp": 2_000, "dns": 30_000, "uplink_udp": 0},
            "unmatched_bytes": 0,
        }
        for direction in ("from_stations", "to_stations")
    ]
    report["ports"] = [
        {"name": "lan", "macs": 12, "waiting": 3},
        {"name": "lan2", "macs": 1, "waiting": 0},
    ]
    lines = printed(report, 160)
    (row,) = (line for line in lines if "from stations" in line)
    for cell in ("12.000", "0.500", "0.032", "0.000", "dns 0.030, arp 0.002"):
        assert cell in row
    assert lines[-2:] == ["lan: 12 MAC addresses, 3 without a leaf", "lan2: 1 MAC address"]
    assert all(len(line) <= 80 for line in printed(report, 80))
