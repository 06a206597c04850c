"""Applications that limit their TCP connections, in each command that reads such a scenario."""

from pathlib import Path

import pytest

import lasthop as lh
from lasthop.display.columns import column_of
from lasthop.display.delays import Delays
from lasthop.display.swept import delay_table
from lasthop.display.what_if import header
from lasthop.emulation.limits import check
from lasthop.errors import UserError
from lasthop.explanation.delays import completion
from lasthop.explanation.objectives import default_objective
from lasthop.explanation.traffic import always_demands
from lasthop.scenario.typed import TcpFlow

CELL = """
duration = "12 s"
warmup = "2 s"
replications = 2
cell.phy = "802.11g"
wire.delay = "10 ms"
[station.laptop]
download = { size = "250 kB", every = "1 s" }
upload = { rate = "1 Mbps" }
[station.phone]
download = { on = "1 s", off = "1 s", arrivals = "poisson", after_idle = "linux" }
"""


def test_typed_flows_have_their_applications() -> None:
    flows = {flow.name: flow for flow in lh.Scenario(CELL).typed.flows}
    chunks, paced, pauses = (
        flows[name] for name in ("laptop/down/1", "laptop/up/1", "phone/down/1")
    )
    for flow in flows.values():
        assert isinstance(flow, TcpFlow)
        assert flow.is_paced
        assert flow.application is not None
    assert isinstance(chunks, TcpFlow)
    assert chunks.application is not None
    assert (chunks.application.size_bytes, chunks.application.every_s) == (250_000, 1.0)
    assert (chunks.tcp.after_idle, chunks.has_periods) == ("rfc5681", True)
    assert isinstance(paced, TcpFlow)
    assert paced.application is not None
    assert (paced.application.rate_bps, paced.has_periods) == (1e6, False)
    assert isinstance(pauses, TcpFlow)
    assert pauses.application is not None
    assert (pauses.application.on_s, pauses.application.off_s) == (1.0, 1.0)
    assert (pauses.application.arrivals, pauses.tcp.after_idle) == ("poisson", "linux")


def test_results_have_the_rate_and_the_chunks() -> None:
    result = lh.simulate(CELL)
    flows = {item["name"]: item for item in result.summary["flows"]}
    assert flows["laptop/up/1"]["goodput_bps"]["mean"] == pytest.approx(1e6, rel=0.01)
    chunks = flows["laptop/down/1"]
    assert chunks["goodput_bps"]["mean"] == pytest.approx(2e6, rel=0.03)
    assert chunks["chunks"]["mean"] == 10.0
    assert chunks["late_chunks"]["mean"] == 0.0
    assert 0.1 < chunks["chunk_completion_s"]["mean"] < 1.0
    assert "chunks" not in flows["laptop/up/1"]
    [table] = [each for each in Delays.of(result).tables() if each.title == "chunks"]
    assert [row[0] for row in table.rows] == ["laptop/down/1"]


@pytest.mark.parametrize(("direction", "key"), [("upload", "back_rate"), ("download", "rate")])
def test_a_rate_must_not_exceed_that_of_its_direction(direction: str, key: str) -> None:
    other = {"back_rate": "rate", "rate": "back_rate"}[key]
    wire = {key: "2 Mbps", other: "20 Mbps"}
    cell = {"phy": "802.11ac"}

    def with_rate(rate: str) -> lh.Scenario:
        return lh.check(
            {
                "duration": "9 s",
                "cell": cell,
                "wire": wire,
                "station": {"a": {direction: {"rate": rate}}},
            }
        )

    assert with_rate("1.5 Mbps")
    with pytest.raises(
        UserError,
        match=r"more than the `wire` carries \(2 Mbps\); expected at most 1946 kbps of payload",
    ):
        with_rate("3 Mbps")


def test_chunks_are_explained_by_their_completion() -> None:
    """A full line: chunks wait for downloads. A flow with only a rate has no completion time."""
    tree = {
        "duration": "12 s",
        "warmup": "2 s",
        "cell": {"phy": "802.11ac"},
        "wire": {"rate": "8 Mbps", "queue": 200},
        "station": {"a": {"download": {"size": "100 kB", "every": "1 s"}}, "b": {"download": 2}},
    }
    assert default_objective(lh.Scenario(tree)) == "delay"
    result = lh.simulate(tree, replications=2)
    values = completion(result, result.scenario.typed.flows)
    expected = result.sampled("flows", "a/down/1", "chunk_completion_p95_s")
    assert values == expected
    assert max(values) < 12.0
    tree["station"] = {"a": {"download": {"rate": "1 Mbps"}}, "b": {"download": 2}}
    scenario = lh.Scenario(tree)
    assert default_objective(scenario) == "throughput"
    assert [always_demands(flow) for flow in scenario.typed.flows] == [False, True, True]


def test_explanations_name_the_application_as_the_limit() -> None:
    facts = lh.explain(CELL).facts
    limits = {flow: limit["by"] for limit in facts["limits"] for flow in limit["flows"]}
    assert limits["laptop/up/1"] == "application"
    assert limits["laptop/down/1"] == "application"


@pytest.mark.parametrize("model", ["hotspot", "edca", "vbs"])
def test_models_refuse_paced_connections_in_one_line(model: str) -> None:
    with pytest.raises(UserError, match="supported are TCP senders that always have data") as error:
        lh.predict(CELL, model=model)
    assert "`station.laptop.upload`" in str(error.value)


def test_fluid_models_refuse_paced_connections_in_one_line() -> None:
    text = """
duration = "10 s"
dumbbell = { bottleneck = "10 Mbps", rtt = "20 ms" }
queue.red = { min_th = 5, max_th = 15 }
flow.video = { count = 20, rate = "400 kbps" }
"""
    with pytest.raises(UserError, match="supported are TCP senders that always have data"):
        lh.predict(text)


def test_emulations_refuse_paced_connections_in_one_line() -> None:
    with pytest.raises(UserError, match="limited by its application") as error:
        check(lh.Scenario(CELL))
    assert "\n" not in str(error.value)
    # a size alone needs no application
    check(lh.Scenario('duration = "5 s"\ncell.phy = "802.11g"\nstation.a.download.size = "1 MB"'))


def test_paths_of_sweeps_lead_to_the_application() -> None:
    with pytest.raises(UserError, match="more than the air to station `laptop` carries"):
        lh.Scenario(CELL, {"station.laptop.upload.rate": "60 Mbps"})
    changed = lh.Scenario(CELL, {"station.laptop.download.every": "2 s"})
    flow = changed.typed.flows[1]
    assert isinstance(flow, TcpFlow)
    assert flow.application is not None
    assert flow.application.every_s == 2.0


GROUPS = """
duration = "12 s"
warmup = "2 s"
replications = 2
cell.phy = "802.11g"
[station.laptop.download.video]
size = "250 kB"
every = "1 s"
[station.laptop.download.backup]
connections = 2
[station.laptop.upload.sync]
rate = "1 Mbps"
"""


def test_flows_of_groups_have_the_keys_of_their_groups() -> None:
    scenario = lh.Scenario(GROUPS)
    keys = {flow.name: scenario.typed.flow_key(flow) for flow in scenario.typed.flows}
    assert keys == {
        "laptop/up/sync/1": "station.laptop.upload.sync",
        "laptop/down/video/1": "station.laptop.download.video",
        "laptop/down/backup/1": "station.laptop.download.backup",
        "laptop/down/backup/2": "station.laptop.download.backup",
    }
    changed = lh.Scenario(GROUPS, {"station.laptop.download.backup.connections": 1})
    assert len(changed.typed.flows) == 3


def test_groups_are_swept_explained_and_measured_by_their_names() -> None:
    path = "station.laptop.upload.sync.rate"
    sweep = lh.sweep(GROUPS, {path: ["1 Mbps", "2 Mbps"]})
    assert [point.settings[path] for point in sweep.points] == ["1 Mbps", "2 Mbps"]
    explanation = lh.explain(GROUPS)
    limits = {flow: each["by"] for each in explanation.facts["limits"] for flow in each["flows"]}
    assert limits["laptop/up/sync/1"] == "application"
    assert limits["laptop/down/video/1"] == "application"
    assert limits["laptop/down/backup/1"] != "application"
    result = lh.simulate(GROUPS, settings={"record.series_interval": "1 s"})
    flows = {item["name"]: item for item in result.summary["flows"]}
    assert flows["laptop/up/sync/1"]["goodput_bps"]["mean"] == pytest.approx(1e6, rel=0.02)


def test_keys_and_groups_in_one_table_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(GROUPS)
    with pytest.raises(UserError, match="conflicts with the groups of this table"):
        lh.Scenario(GROUPS, {"station.laptop.download.start": "1 s"})
    assert lh.Scenario(str(file)).typed.flows[0].name == "laptop/up/sync/1"


def test_what_if_and_sweeps_have_the_completion_of_chunks_by_default() -> None:
    text = """
duration = "6 s"
warmup = "1 s"
replications = 2
cell.phy = "802.11g"
station.a.download = { size = "100 kB", every = "1 s" }
"""
    answer = lh.what_if(text, {"slow": {"wire.delay": "100 ms"}})
    head = next(header(each) for each in answer.measures if each.quantity.startswith("chunk"))
    assert head.startswith("a/down/1\nchunk completion: 95 %")
    points = lh.sweep(text, {"wire.delay": ["1 ms", "100 ms"]}).points
    heads, _ = delay_table(points)
    assert any(each.startswith("a/down/1\nmean\ncompletion") for each in heads)


def test_a_heading_does_not_repeat_the_unit() -> None:
    assert column_of("flows", "chunk_completion_s").header == "mean\ncompletion\n[s]"
    assert column_of("classes", "report_delay_s").header == "mean\ndelay\n[ms]"
