"""The status of a queue as text."""

from typing import Any

from rich.console import Console

from lasthop.enforce.queue.live import tables

STATUS: dict[str, Any] = {
    "interface": "eth0",
    "queue": "vbs",
    "rate_bps": 18_000_000,
    "limit_packets": 100,
    "sent_bps": 17_959_000.0,
    "backlog_packets": 59,
    "delay_s": 0.039,
    "dropped_packets": 18,
    "sent_packets": 5816,
    "classes": [
        {
            "name": "guests",
            "target_share": 0.5,
            "packets": 59,
            "blocking_probability": 0.25,
            "rate_bps": None,
            "dropped_packets": 18,
            "offered_packets": 5891,
        }
    ],
    "warnings": ["[mind] this"],
    "faults": [],
}


def shown(status: dict[str, Any]) -> list[str]:
    """Return the lines of the status with single spaces."""
    console = Console(width=160)
    with console.capture() as captured:
        console.print(tables(status))
    return [" ".join(line.split()) for line in captured.get().splitlines()]


def test_numbers_are_below_names_with_units() -> None:
    assert shown(STATUS) == [
        "interface queue rate [Mbit/s] sent [Mbit/s] packets limit delay [ms] dropped sent packets",
        "eth0 vbs 18.000 17.959 59 100 39.0 18 5816",
        "",
        "class target share packets blocking rate [Mbit/s] dropped offered",
        "guests 0.500 59 0.2500 - 18 5891",
        "warning: [mind] this",
    ]


def test_unknown_values_are_a_dash() -> None:
    counted = ("sent_bps", "backlog_packets", "delay_s", "dropped_packets", "sent_packets")
    fresh = {key: value for key, value in STATUS.items() if key not in counted}
    assert shown({**fresh, "classes": []})[1] == "eth0 vbs 18.000 - - 100 - - -"
