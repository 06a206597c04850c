"""Sentences that state whether the Wi-Fi uses the full rate of the wired line."""

import pytest

from lasthop import Scenario
from lasthop.answers.answer import Answer
from lasthop.explanation.facts import read_facts
from lasthop.explanation.line_use import line_use

HOME = """
duration = "2 s"
cell.phy = "802.11ax"
wire = { rate = "300 Mbps", back_rate = "50 Mbps" }
station.a = { snr = "15 dB", download = 1, udp_up = { rate = "1 Mbps" } }
"""
NO_FACTS = {"calls": [], "delays": [], "limits": [], "air": None, "causes": []}
AIR = {"flows": ["a/down/1"], "by": "air", "where": "air", "fraction": 0.98}
WINDOW = {"flows": ["a/down/1"], "by": "rwnd", "where": "", "fraction": 0.9}


@pytest.mark.parametrize(
    ("used", "limit", "end"),
    [
        ((0.97, 0.02), AIR, "(97 % used): it is full; the Wi-Fi does not limit it"),
        ((0.60, 0.02), AIR, "not full; the Wi-Fi limits it (the air is 98 % busy)"),
        ((0.60, 0.02), WINDOW, "not full (receive windows limit the downloads)"),
        ((0.88, 0.05), AIR, ""),
    ],
    ids=["full line", "full air", "receive window", "undecided"],
)
def test_a_line_is_full_or_limited_by_the_wifi_only_beyond_its_interval(
    used: tuple[float, float], limit: dict[str, object], end: str
) -> None:
    mean, ci95 = used
    flow = {
        "name": "a/down/1",
        "direction": "down",
        "goodput_bps": {"mean": 176e6, "ci95": 1e6},
    }
    links = [
        {"name": f"wire/{direction}", "utilisation": {"mean": mean, "ci95": ci95}}
        for direction in ("down", "up")
    ]
    answer = Answer({"links": links, "flows": [flow]}, None)
    facts = read_facts({**NO_FACTS, "limits": [{**limit, "all": False}]})
    lines = list(line_use(Scenario(HOME), answer, facts))
    # An upload with a fixed rate demands no more.
    # Therefore no sentence describes the line in the direction of the upload.
    assert len(lines) == (1 if end else 0)
    assert all(line.startswith("the line of 300 Mb/s down carries 176 Mb/s") for line in lines)
    assert all(line.endswith(end) for line in lines)
