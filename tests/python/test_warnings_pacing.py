"""Notes about senders that Linux paces, and refusals of senders that models do not support."""

from collections.abc import Mapping
from typing import Any

import pytest

import lasthop as lh
from lasthop.warnings.pacing import pacing_notes

LINK = {"line": {"from": "a", "to": "b", "rate": "20 Mbps"}}


def notes(**flows: Mapping[str, Any]) -> list[str]:
    """Return the notes about a link with these flows."""
    ends = {"from": "a", "to": "b", "window": 100}
    tree = {
        "duration": "10 s",
        "link": LINK,
        "flow": {name: {**ends, **keys} for name, keys in flows.items()},
    }
    return list(pacing_notes(lh.Scenario(tree).typed))


def test_prague_without_pacing_is_noted() -> None:
    prague = {"congestion": "prague"}
    assert notes(one=prague, two={"congestion": "cubic"}) == [
        "prague is not paced (one); Linux always paces Prague: use tcp.pacing = true"
    ]
    assert notes(one={**prague, "pacing": True}, two={"congestion": "cubic"}) == []


CELL = {"phy": "802.11g", "ap_queue": 60}
BBR = ("bbr", "bbr3")


@pytest.mark.parametrize(
    ("scenario", "model", "words"),
    [
        (
            {"cell": CELL, "station": {"a": {"count": 3, "download": 1}}},
            "hotspot",
            "`station.a.download` runs {}; expected `tcp.congestion` = reno or newreno",
        ),
        (
            {
                "dumbbell": {"flows": 10, "bottleneck": "20 Mbps", "rtt": "40 ms"},
                "queue": 50,
            },
            "red",
            "`tcp.congestion` = {} sends at the delivery rate that it measures",
        ),
        (
            {"csma": {"link": {"a": {}}}, "flow": {"x": {"route": ["a"]}}},
            "acsma",
            "`flow.x` runs {}, whose rate follows its measured delivery rate",
        ),
        (
            {
                "cell": {"phy": "802.11b", "ap_queue": 600},
                "station": {"a": {"count": 2, "upload": 1}},
            },
            "edca",
            "`station.a.upload` runs {}, which does not fill its receive window",
        ),
    ],
)
@pytest.mark.parametrize("control", BBR)
def test_models_refuse_bbr(scenario: dict[str, Any], model: str, words: str, control: str) -> None:
    tree = {"duration": "20 s", "tcp": {"congestion": control}, **scenario}
    with pytest.raises(lh.ModelError, match=words.format(control)):
        lh.predict(tree, model=model)
