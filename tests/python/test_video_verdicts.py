"""Adaptive video in `explain`, `what-if` and `check`: stalls first, then the bitrate."""

import json
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.display.what_if import conclusion
from lasthop.explanation.objectives import default_objective, objective_for
from lasthop.explanation.video import BITRATE_WEIGHT, video_verdicts
from lasthop.whatif.measures import CHUNKS, STALLED

from .conftest import Lasthop

FILM: dict[str, Any] = {
    "duration": "24 s",
    "warmup": "4 s",
    "replications": 2,
    "cell": {"phy": "802.11g"},
    "wire": {"rate": "8 Mbps", "delay": "10 ms", "queue": 200},
    "station": {
        "tv": {"stream": {"bitrates": ["1 Mbps", "2 Mbps"], "chunk": "1 s", "buffer": "6 s"}}
    },
}
NAME = "tv/stream/1"


def film(**stream: Any) -> dict[str, Any]:
    """Return the scenario with other keys of the stream."""
    tv = {"stream": {**FILM["station"]["tv"]["stream"], **stream}}
    return {**FILM, "station": {"tv": tv}}


def test_a_video_that_never_starts_stalls_all_the_time() -> None:
    """Chunks of 40 Mb over a line of 8 Mb/s: 12 s of video need 120 s."""
    never = lh.simulate(film(bitrates=["40 Mbps"], buffer="12 s", startup="12 s"))
    row = never.flows.loc[NAME]
    assert (row["stalled_fraction"], row["stalls"]) == (1.0, 0.0)
    assert row["video_bitrate_bps"] == pytest.approx(40e6)
    assert never.sampled("flows", NAME, "startup_s") == [None, None]
    assert video_verdicts(never) == [f"{NAME}: never plays: it does not start in 2 of 2 runs"]
    # no chunk arrives
    nothing = lh.simulate(film(bitrates=["400 Mbps"], chunk="2 s"))
    assert nothing.flows.loc[NAME, "video_bitrate_bps"] == 0.0
    assert nothing.flows.loc[NAME, "stalled_fraction"] == 1.0


def test_a_stream_that_stops_in_the_warm_up_is_reported(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "film.json"
    path.write_text(json.dumps(film(stop="3 s")))
    shown = lasthop("check", str(path))
    assert (
        f"flow {NAME} is not measured: it stops at 3 s, and the warm-up ends at 4 s" in shown.stdout
    )
    assert "stalled_fraction" not in lh.simulate(path).flows.columns
    with pytest.raises(lh.UserError, match="stops before the warm-up ends at 4 s"):
        lh.explain(path, objective="video")


def test_stalls_count_before_the_bitrate() -> None:
    scenario = lh.Scenario(film())
    assert default_objective(scenario) == "video"
    objective = objective_for(scenario)
    good = lh.simulate(scenario)
    assert objective.is_met(good)
    assert max(objective.values(good)) <= 0.1 * BITRATE_WEIGHT
    assert video_verdicts(good)[0].startswith(f"{NAME}: good: no stalls")
    # half of the highest bitrate is better than a stall of 1 % of the time
    low = lh.simulate(film(bitrates=["1 Mbps", "20 Mbps"]))
    assert video_verdicts(low)[0].startswith(f"{NAME}: low bitrate: 1 Mb/s of 20 Mb/s")
    stalls = lh.simulate(film(bitrates=["10 Mbps"]))
    assert "stalls: for " in video_verdicts(stalls)[0]
    values = [max(objective_for(each.scenario).values(each)) for each in (low, stalls)]
    assert values[0] < BITRATE_WEIGHT < values[1]


def test_an_explanation_of_a_video_names_the_line() -> None:
    explanation = lh.explain(film(bitrates=["10 Mbps"]), replications=4)
    assert explanation.objective.name == "video"
    assert explanation.causes[0].candidate.id == "slow-line"
    lines = str(explanation).splitlines()
    assert "Objective: video without stalls, at a high bitrate; now stalled" in lines[1]
    assert lines[2].startswith(f"{NAME}: stalls: for ")
    assert not any("transfers" in line for line in lines)


def test_what_if_compares_a_video_that_never_starts_and_judges_no_chunks() -> None:
    asked = lh.what_if(
        film(bitrates=["10 Mbps"], buffer="20 s", startup="20 s"),
        {"faster": {"wire.rate": "30 Mbps"}},
        replications=6,
    )
    quantities = [measure.quantity for measure in asked.measures]
    assert quantities[:3] == [STALLED, "video_bitrate_bps", CHUNKS]
    assert [measure.quantity for measure in asked.background] == [CHUNKS]
    advised = [advice.measure.quantity for advice in asked.advice if advice.measure]
    assert advised[0] == STALLED
    assert CHUNKS not in advised
    lines = list(conclusion(asked))
    assert 'Lowest time stalled of tv/stream/1: "faster"' in lines[0]
    assert not any("chunk" in line for line in lines)


def test_causes_with_a_small_gain_are_left_out() -> None:
    """A path that is 10 ms shorter changes a chunk time of seconds by less than 5 %."""
    tree = film(bitrates=["10 Mbps"])
    explanation = lh.explain(tree, objective="delay", replications=4)
    assert "long-path" in {each.id for each in explanation.candidates}
    assert "long-path" not in {gain.candidate.id for gain in explanation.causes}


def test_only_causes_of_fairness_are_examined_for_fairness() -> None:
    ends = {"from": "a", "to": "b"}
    tree = {
        "duration": "20 s",
        "warmup": "5 s",
        "replications": 2,
        "link": {"line": {**ends, "rate": "20 Mbps", "delay": "10 ms", "queue": 100}},
        "flow": {"near": {**ends, "rtt": "20 ms"}, "far": {**ends, "rtt": "200 ms"}},
    }
    explanation = lh.explain(tree, objective="fairness", remedies=False)
    causes = {each.id for each in explanation.candidates}
    assert {"unequal-rtt", "long-queue"} <= causes
    assert not causes & {"slow-line", "long-path"}
    fair = (("link.line.queue", "{ fq_codel = {} }"),)
    [unequal] = [each for each in explanation.read_facts.causes if each.id == "unequal-rtt"]
    assert fair in [each.settings for each in unequal.remedies]


@pytest.mark.parametrize("target", ["pc", "pc/ping/1"])
def test_the_pings_of_a_station_are_a_target(target: str) -> None:
    tree = {
        "duration": "10 s",
        "warmup": "2 s",
        "replications": 2,
        "cell": {"phy": "802.11ac"},
        "wire": {"rate": "20 Mbps"},
        "station": {"tv": {"download": 2}, "pc": {"ping": "100 ms"}},
    }
    explanation = lh.explain(tree, target=target, remedies=False)
    assert explanation.objective.name == "delay"
    assert explanation.objective.quantities[0].title == "99 % of pings within"
    with pytest.raises(lh.UserError, match=r'has only pings; expected the objective "delay"'):
        lh.explain(tree, objective="throughput", target=target, remedies=False)


def test_chunks_of_too_many_segments_are_refused_in_one_line() -> None:
    """100 s at 100 Gb/s are 12.5 billion segments of 100 B; TCP numbers them with 32 bits."""
    with pytest.raises(lh.ScenarioError, match=r"makes chunks of 12500000000 segments of 100 B"):
        lh.Scenario(film(bitrates=["100 Gbps"], chunk="100 s", buffer="100 s", mss="100 B"))
    lh.Scenario(film(bitrates=["30 Gbps"], chunk="100 s", buffer="100 s", mss="100 B"))
