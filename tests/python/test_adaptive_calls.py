"""Calls whose video adapts its rate, in each command that reads such a scenario."""

from pathlib import Path

import pytest

import lasthop as lh
from lasthop.display.delays import Delays
from lasthop.display.scenarios import kind_of
from lasthop.emulation.limits import check
from lasthop.errors import ModelError, UserError
from lasthop.scenario.typed import UdpFlow

EXAMPLE = Path(__file__).parents[2] / "examples" / "adaptive-call.toml"
VIDEO = ("sent_rate_bps", "freezes", "frozen_fraction", "qoo_score")
WIRED = """
duration = "20 s"
link.line = { from = "a", to = "b", rate = "9 Mbps", delay = "10 ms" }
flow.bulk = { from = "a", to = "b" }
flow.x = { from = "a", to = "b", call = { control = "gcc", min_rate = "50 kbps" } }
"""


def test_typed_flows_have_the_bounds_of_the_rate() -> None:
    flows = {flow.name: flow for flow in lh.Scenario(EXAMPLE).typed.flows}
    audio, video = flows["phone/audio-up/1"], flows["phone/video-up/1"]
    assert isinstance(audio, UdpFlow)
    assert isinstance(video, UdpFlow)
    assert (audio.adapts, video.adapts) == (False, True)
    assert video.call is not None
    assert video.call.control is not None
    bounds = video.call.control
    rates = (bounds.min_rate_bps, bounds.start_rate_bps, bounds.max_rate_bps)
    assert (bounds.name, rates) == ("gcc", (30e3, 300e3, 2.5e6))
    assert kind_of(video) == "adaptive video of calls"


def test_results_have_the_rate_and_the_freezes_of_the_video() -> None:
    settings = {"duration": "20 s", "warmup": "10 s", "replications": 2}
    settings["wire.queue.fq_codel"] = "{}"
    result = lh.simulate(EXAMPLE, settings=settings)
    flows = {item["name"]: item for item in result.summary["flows"]}
    for name, item in flows.items():
        assert all(key in item for key in VIDEO) == ("video" in name)
    up = flows["phone/video-up/1"]
    assert 0.5e6 < up["sent_rate_bps"]["mean"] < 2.7e6
    assert 0.0 <= up["frozen_fraction"]["mean"] < 0.2
    assert 0.0 <= up["qoo_score"]["mean"] <= 1.0
    assert [item["name"] for item in Delays.of(result).videos] == [
        "phone/video-up/1",
        "phone/video-down/1",
    ]


@pytest.mark.parametrize("scenario", [EXAMPLE, WIRED])
def test_emulation_and_prediction_refuse_in_one_line(scenario: Path | str) -> None:
    read = lh.Scenario(scenario)
    with pytest.raises(UserError, match="no call whose rate adapts") as refused:
        check(read)
    assert "\n" not in str(refused.value.args[0])
    with pytest.raises(ModelError):
        lh.predict(read)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('{ calls = "audio", control = "gcc" }', "needs video, because the rate of audio"),
        ('{ control = "bbr" }', 'expected one of "none", "gcc"'),
        ('{ max_rate = "1 Mbps" }', 'has no effect; expected control = "gcc"'),
        ('{ control = "gcc", max_rate = "1 kbps" }', "expected 5 kbps to 100 Mbps"),
        ('{ control = "gcc", min_rate = "3 Mbps" }', "expected min_rate to be at most max_rate"),
        ('{ control = "gcc", start_rate = "3 Mbps" }', "expected a rate from min_rate to max_rate"),
    ],
)
def test_wrong_settings_are_refused(call: str, message: str) -> None:
    text = f'duration = "9 s"\ncell.phy = "802.11ac"\nstation.phone.call = {call}\n'
    with pytest.raises(UserError, match=message):
        lh.Scenario(text)


def test_the_word_none_is_the_default() -> None:
    text = 'duration = "9 s"\ncell.phy = "802.11ac"\nstation.phone.call = '
    plain, named = (lh.Scenario(text + call) for call in ("1", '{ control = "none" }'))
    assert plain.typed == named.typed
