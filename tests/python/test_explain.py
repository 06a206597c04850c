"""`explain`: objectives, the search by paired runs, and the command."""

import json
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.explanation.candidates import causes_of
from lasthop.explanation.facts import Cause, rules
from lasthop.explanation.objectives import default_objective, objective_for
from lasthop.explanation.shares import jain_index, shares
from lasthop.explanation.text import side_effects
from lasthop.scenario.scenario import Scenario

from .conftest import EXAMPLES, Lasthop

ROOT = Path(__file__).parents[2]

UPLOAD = """\
name = "a call beside an upload"
duration = "8 s"
warmup = "2 s"
replications = 3
queue = 300
tcp = { congestion = "cubic", sack = true, window = 2000 }
dumbbell = { bottleneck = "5 Mbps", rtt = "20 ms" }

[flow.upload]

[flow.voice]
udp = { rate = "64 kbps", packet = "160 B" }
"""

IDLE = UPLOAD.replace("[flow.upload]\n", "")


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> lh.Explanation:
    path = tmp_path_factory.mktemp("explain") / "upload.toml"
    path.write_text(UPLOAD)
    return lh.explain(path, replications=4, jobs=1)


def test_a_standing_queue_is_the_first_cause(explained: lh.Explanation) -> None:
    assert explained.objective.name == "delay"
    first = explained.causes[0]
    assert (first.candidate.id, first.candidate.subject) == ("long-queue", "bottleneck")
    assert first.candidate.settings == (("queue", "{ fq_codel = {} }"),)
    assert first.difference.mean is not None
    assert first.difference.mean < -0.1


def test_suggestions_help_with_other_seeds(explained: lh.Explanation) -> None:
    assert explained.suggestions
    for gain in explained.suggestions[:2]:
        present, changed = (
            fmean(explained.objective.values(lh.simulate(each, seed=77, tails=True, jobs=1)))
            for each in (explained.scenario, gain.candidate.scenario)
        )
        assert changed < present


def test_the_text_names_the_cause_and_a_command(explained: lh.Explanation) -> None:
    text = repr(explained)
    assert "Cause: standing queue (bottleneck)" in text
    assert "upload.toml --set 'queue={ fq_codel = {} }'" in text
    assert "; goodput of all flows" in text.partition("bottleneck with 10 Mbps")[2]
    tree = json.loads(explained.to_json())
    assert tree["verdict"] == "causes"
    assert tree["causes"][0]["gain"] > 0.1
    assert {"id", "subject", "edits"} <= set(tree["candidates"][0])


def test_a_satisfied_network_has_nothing_to_improve() -> None:
    explanation = lh.explain(Scenario({**IDLE_TREE}), jobs=1)
    assert explanation.verdict == "nothing to improve"
    assert not explanation.causes
    assert not explanation.suggestions
    assert not explanation.replications
    assert "Nothing to improve" in repr(explanation)


IDLE_TREE = {
    "duration": "4 s",
    "queue": 300,
    "dumbbell": {"bottleneck": "5 Mbps", "rtt": "20 ms"},
    "flow": {"voice": {"udp": {"rate": "64 kbps", "packet": "160 B"}}},
}


def test_the_default_objective_follows_the_traffic() -> None:
    cell = {"phy": "802.11g"}
    call: dict[str, object] = {"udp_up": "64 kbps", "udp_down": "64 kbps"}

    def of(station: dict[str, object]) -> str:
        tree = {"duration": "4 s", "cell": cell, "station": {"a": station}}
        return default_objective(Scenario(tree))

    assert of(call) == "calls"
    assert of({"udp_up": "64 kbps", "download": 1}) == "delay"
    assert of({"download": {"segments": 20}}) == "delay"
    assert of({"download": 1, "udp_up": "greedy"}) == "throughput"


PINGED = """\
name = "pings and an upload"
duration = "6 s"
warmup = "2 s"
replications = 3
cell = { phy = "802.11g" }
wire = { rate = "20 Mbps", back_rate = "2 Mbps", delay = "5 ms", queue = 100 }

[station.laptop]
ping = "50 ms"
upload = 1
"""


def test_pings_are_the_objective_unless_other_traffic_needs_short_delays(tmp_path: Path) -> None:
    path = tmp_path / "pinged.toml"
    path.write_text(PINGED)
    explanation = lh.explain(path, replications=3, jobs=1)
    assert explanation.objective.name == "delay"
    base = lh.simulate(path, tails=True, jobs=1)
    delays, losses = (quantity.values(base) for quantity in explanation.objective.quantities)
    assert delays == base.sampled("flows", "laptop/ping/1", "rtt_p99_s")
    assert losses == base.sampled("flows", "laptop/ping/1", "loss_probability")
    assert explanation.objective.values(base) == pytest.approx(
        [delay + loss for delay, loss in zip(delays, losses, strict=True)]
    )
    # A window of 42 packets of 1500 B leaves the line of 2 Mb/s within 252 ms.
    assert fmean(delays) == pytest.approx(0.252, rel=0.05)
    assert explanation.causes[0].candidate.id == "long-queue"
    assert "99 % of pings within" in repr(explanation)
    own = lh.explain(path, target="laptop/ping/1", remedies=False, jobs=1)
    assert own.objective.values(base) == explanation.objective.values(base)
    assert default_objective(Scenario(path, [("station.laptop.call", "1")])) == "calls"


def test_a_line_with_spare_capacity_on_average_can_be_too_slow_for_pages(tmp_path: Path) -> None:
    """A page of 1 MB takes 2 s at 4 Mb/s, and half of it at 8 Mb/s: no other edit gains as much."""
    path = tmp_path / "pages.toml"
    path.write_text(
        'duration = "40 s"\nwarmup = "2 s"\nreplications = 3\ncell.phy = "802.11ac"\n'
        'wire = { rate = "4 Mbps", delay = "5 ms" }\n[station.a.download]\n'
        'size = "1 MB"\nevery = "10 s"\n'
    )
    explanation = lh.explain(path, replications=6, jobs=1)
    first = explanation.causes[0]
    assert first.candidate.id == "slow-line"
    assert first.difference.mean is not None
    assert first.difference.mean < -0.8


def test_connections_of_the_only_station_can_be_unequal() -> None:
    def of(**flows: Any) -> Scenario:
        tree = {"duration": "3 s", "warmup": "1 s", "cell": {"phy": "802.11g", "ap_queue": 100}}
        return Scenario({**tree, "station": {"laptop": flows}})

    two = {"bbr": {"congestion": "bbr"}, "cubic": {"congestion": "cubic"}}
    two = {f"with-{name}": flow for name, flow in two.items()}
    result = lh.simulate(of(download=two), seed=1)
    names = [f"laptop/down/with-{name}/1" for name in ("bbr", "cubic")]
    goodputs = [result.sampled("flows", name, "goodput_bps") for name in names]
    assert shares(result) == [[a, b] for a, b in zip(*map(list, goodputs), strict=True)]
    with pytest.raises(UserError, match="at least two stations"):
        objective_for(of(download=1, upload=1), "fairness")
    with pytest.raises(UserError, match="at least two stations"):
        objective_for(of(download=1), "fairness")


def test_the_score_of_a_call_counts_bad_directions_first() -> None:
    scenario = Scenario(ROOT / "examples" / "home-call.toml", [("duration", "8 s")])
    result = lh.simulate(scenario, jobs=1)
    samples = result.sample_tree["flows"]
    names = ("phone/udp-up/1", "phone/udp-down/1")
    for k, value in enumerate(objective_for(scenario, "calls").values(result)):
        delays = [samples[name]["one_way_delay_p99_s"][k] or 0.0 for name in names]
        losses = [samples[name]["loss_probability"][k] or 0.0 for name in names]
        bad = sum(d > 0.15 or p > 0.01 for d, p in zip(delays, losses, strict=True))
        rest = sum(
            (min(d, 1.0) + min(10 * p, 1.0)) / 4 for d, p in zip(delays, losses, strict=True)
        )
        assert value == pytest.approx(bad + rest)


def test_a_change_that_starves_a_flow_is_not_a_remedy_for_throughput() -> None:
    two = {**IDLE_TREE, "duration": "4 s", "flow": {"near": {}, "far": {"rtt": "40 ms"}}}
    greedy = {"near": {}, "far": {"udp": {"rate": "20 Mbps", "packet": "1 kB"}}}
    base, case = (lh.simulate(Scenario(tree), jobs=1) for tree in (two, {**two, "flow": greedy}))
    objective = objective_for(base.scenario, "throughput")
    assert objective.harms(base, case)
    assert not objective.harms(case, case)
    explanation: Any = SimpleNamespace(scenario=base.scenario, objective=objective, suggestions=[])
    gain: Any = SimpleNamespace(base=base, result=case)
    assert side_effects(explanation, gain).startswith("; goodput of near ")
    unchanged: Any = SimpleNamespace(base=base, result=base)
    assert side_effects(explanation, unchanged) == ""


def test_the_delay_of_a_sensor_over_tcp_is_that_of_its_reports() -> None:
    sensor = {"sensor_up": {"every": "0.2 s", "transport": "tcp"}}
    tree = {"duration": "4 s", "cell": {"phy": "802.11g"}, "station": {"meter": sensor}}
    result = lh.simulate(Scenario(tree), replications=2, jobs=1)
    reports = result.sample_tree["flows"]["meter/sensor-up/1"]
    assert reports["report_delivery"] == [1.0, 1.0]
    expected = reports["report_delay_p95_s"]
    assert objective_for(result.scenario, "delay").values(result) == expected


def test_a_flow_that_starves_among_many_can_be_improved() -> None:
    flows = {"near": {"count": 40}, "far": {"rtt": "900 ms"}}
    tree = {"duration": "4 s", "warmup": "1 s", "tcp": {"window": 3}, "flow": flows}
    dumbbell = {"bottleneck": "200 Mbps", "rtt": "10 ms"}
    result = lh.simulate(Scenario({**tree, "dumbbell": dumbbell}), jobs=1)
    objective = objective_for(result.scenario, "fairness")
    [row, *_] = shares(result)
    assert objective.values(result)[0] > 0.97
    assert min(row) < fmean(row) / 2.0
    assert not objective.is_met(result)


def test_the_printed_delay_is_that_of_the_packets_and_losses_are_separate() -> None:
    greedy = {**UPLOAD_TREE, "queue": 20, "flow": {"video": {"udp": {"rate": "7 Mbps"}}}}
    result = lh.simulate(Scenario(greedy), jobs=1)
    objective = objective_for(result.scenario, "delay")
    item = result.sample_tree["flows"]["video"]
    delay, loss = (quantity.values(result) for quantity in objective.quantities)
    assert delay == item["one_way_delay_p99_s"]
    assert loss == item["loss_probability"]
    assert loss[0] > 0.1
    assert objective.values(result) == [d + p for d, p in zip(delay, loss, strict=True)]


def test_jains_index_is_0_25_if_one_of_four_flows_has_everything() -> None:
    assert jain_index([3.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    assert jain_index([2.0, 2.0]) == pytest.approx(1.0)


def test_an_edit_without_effect_is_not_a_candidate() -> None:
    scenario = Scenario(UPLOAD_TREE)
    given = [
        Cause(id="a", title="", subject="", sentence="", edits=(("queue", value),))
        for value in ("{ limit = 300 }", "nonsense", "{ limit = 30 }")
    ]
    [result] = causes_of(scenario, given)
    assert result.settings == (("queue", "{ limit = 30 }"),)


UPLOAD_TREE = {**IDLE_TREE, "flow": {"upload": {}}}


def test_each_rule_is_on_the_page() -> None:
    page = (ROOT / "docs" / "guide" / "explain.md").read_text()
    for rule in rules():
        assert f"`{rule.id}`" in page, rule.id


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--for", "speed"], "--for speed: expected one of calls"),
        (["--for", "calls"], "--for calls: there is no call; expected a station or host"),
        (["--target", "tv"], "--target tv: no station or flow has this name"),
        (["--replications", "1"], '"1": expected a number of replications from 2 to 1000'),
    ],
)
def test_bad_arguments_are_one_line(
    lasthop: Lasthop, tmp_path: Path, arguments: list[str], message: str
) -> None:
    path = tmp_path / "upload.toml"
    path.write_text(UPLOAD)
    done = lasthop("explain", str(path), *arguments)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr


def test_users_of_a_conflict_graph_are_refused(lasthop: Lasthop) -> None:
    path = ROOT / "examples" / "csma.toml"
    done = lasthop("explain", str(path), "--list")
    assert done.returncode == 2
    message = f"error: {path}: [csma]: users of a conflict graph cannot be explained"
    assert done.stderr.startswith(message)
    assert done.stdout == ""


def test_a_target_must_exist() -> None:
    with pytest.raises(UserError, match="no station or flow"):
        lh.explain(Scenario(UPLOAD_TREE), target="tv")


def test_a_file_is_explained_before_a_term(
    lasthop: Lasthop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jain").write_text(IDLE)
    assert "Objective: a short delay" in lasthop("explain", "jain").stdout
    assert "glossary" in lasthop("explain", "jain", "--term").stdout
    assert "no such file" in lasthop("explain", "absent.toml").stderr


def test_the_causes_of_a_file_are_listed(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "upload.toml"
    path.write_text(UPLOAD)
    done = lasthop("explain", str(path), "--list")
    assert "long-queue at bottleneck" in done.stdout
    assert "--set 'queue={ fq_codel = {} }'" in done.stdout
    assert len(json.loads(lasthop("explain", "--rules", "--json").stdout)) == len(rules())


CELL = """
name = "three stations"
duration = "10 s"
warmup = "2 s"
replications = 3
cell.phy = "802.11b"
station.laptop.upload = {uploads}
station.others = {{ count = 2, {direction} = 1 }}
{more}
"""


@pytest.mark.parametrize(
    ("uploads", "direction", "more", "options"),
    [
        (6, "download", "", " --for fairness"),
        (1, "upload", "", ""),
        (6, "download", "station.phone.call = {}", ""),
    ],
    ids=["unequal", "equal", "calls"],
)
def test_the_proposed_objective_is_that_of_explain(
    uploads: int, direction: str, more: str, options: str, lasthop: Lasthop, tmp_path: Path
) -> None:
    path = tmp_path / "cell.toml"
    path.write_text(CELL.format(uploads=uploads, direction=direction, more=more))
    done = lasthop("simulate", str(path))
    assert f"what helps: lasthop explain {path}{options}\n" in done.stdout
    explained = lasthop("explain", str(path), "--replications", "2").stdout
    assert ("--for fairness compares changes" in explained) == bool(options)


def test_no_explanation_is_proposed_where_explain_refuses(lasthop: Lasthop) -> None:
    done = lasthop("simulate", EXAMPLES / "csma.toml", "--replications", "1")
    assert done.returncode == 0
    assert "what helps" not in done.stdout
    assert lasthop("explain", EXAMPLES / "csma.toml").returncode == 2


def test_a_simulation_ends_with_a_short_explanation(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "upload.toml"
    path.write_text(UPLOAD)
    lines = lasthop("simulate", str(path)).stdout.splitlines()
    at = lines.index("why:")
    assert len(lines) - at <= 5
    assert any("bottleneck (99 % used) limits upload" in line for line in lines[at:])
    assert lines[-1] == f"what helps: lasthop explain {path}"
    assert "why:" not in lasthop("simulate", str(path), "--json").stdout
