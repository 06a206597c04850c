"""Wired networks from the outside: results, comparison, sweep, pictures."""

from pathlib import Path

import pytest

import lasthop as lh
from lasthop.errors import ModelError

DUMBBELL = """\
duration = "6 s"
warmup = "2 s"
replications = 2
queue = 30
dumbbell = { flows = 4, access = "4 Mbps", bottleneck = "10 Mbps", rtt = "20 ms" }
[flow.voice]
udp = "64 kbps"
[flow.file]
segments = 400
"""


@pytest.fixture(scope="module")
def result() -> lh.Result:
    return lh.simulate(DUMBBELL)


def test_classes_sum_up_their_flows(result: lh.Result) -> None:
    classes, flows = result.table("classes"), result.table("flows")
    assert list(classes.index) == ["flow", "voice", "file"]
    of_class = flows[flows["class"] == "flow"]
    assert len(of_class) == 4
    total = of_class["goodput_bps"].sum()
    assert classes.loc["flow", "goodput_bps"] == pytest.approx(total)
    assert classes.loc["file", "completion_s"] == flows.loc["file", "completion_s"]
    assert classes.loc["file", "unfinished"] == 0


def test_link_is_as_busy_as_what_it_delivers(result: lh.Result) -> None:
    links, queues = result.table("links"), result.table("queues")
    assert list(links.index) == ["bottleneck", "bottleneck/back"]
    assert 0.9 < links.loc["bottleneck", "utilisation"] <= 1
    assert links.loc["bottleneck", "utilisation_min"] <= links.loc["bottleneck", "utilisation"]
    assert queues.loc["bottleneck", "occupancy_max_packets"] <= 30


def test_network_without_fluid_counterpart_is_simulated_all_the_same(result: lh.Result) -> None:
    with pytest.raises(ModelError, match=r"`flow\.file` ends after its last segment"):
        lh.predict(DUMBBELL)
    with pytest.raises(ModelError, match="runs between wired nodes"):
        lh.predict(DUMBBELL, model="hotspot")
    comparison = lh.compare(DUMBBELL)
    assert comparison.refusal is not None
    assert comparison.swing is not None
    assert comparison.swing.stable is None
    assert comparison.simulation.to_json() == result.to_json()
    assert {row.list for row in comparison.rows} == {"classes", "links", "queues", "stability"}


def test_pictures_show_classes_and_links(result: lh.Result, tmp_path: Path) -> None:
    comparison = lh.compare(DUMBBELL)
    comparison.save_figure(tmp_path / "network.png")
    titles = [axes.get_title(loc="left") for axes in comparison.figure().axes]
    assert titles[0] == "How the queue moves: bottleneck"
    assert titles[1:] == ["Who gets how much", "What is used", "Where packets wait"]
    assert result.plot.goodput().axes[0].get_xlabel().startswith("goodput")
    assert result.plot.queues().axes[0].get_xlabel().startswith("mean queue")


def test_sweep_over_the_queue() -> None:
    swept = lh.sweep(DUMBBELL, {"queue": [5, 60]})
    queues = swept.table("queues")
    drops = queues[queues["name"] == "bottleneck"].set_index("queue")["drop_probability"]
    assert drops["5"] > drops["60"]


CELL = """\
duration = "6 s"
replications = 2
tcp = { window = 1, delayed_ack = false }
cell = { phy = "802.11b", node = "house" }
[link.core]
from = "house"
to = "far"
delay = "40 ms"
[station.a]
upload = { server = "far" }
"""


def test_cell_on_a_network_reaches_servers_over_its_links() -> None:
    far = lh.simulate(CELL).table("flows").loc["a/up/1", "rtt_s"]
    near = lh.simulate(CELL, settings={"link.core.delay": "10 ms"}).table("flows")
    assert far - near.loc["a/up/1", "rtt_s"] == pytest.approx(0.060, abs=1e-4)
    with pytest.raises(ModelError, match="over links"):
        lh.predict(CELL)


def test_web_connections_appear_as_a_class_only() -> None:
    site = '[flow.site]\nweb = { connections = 20, response = "5 kB" }\n'
    result = lh.simulate(DUMBBELL + site)
    assert "site" not in result.flows.index
    classes = result.table("classes")
    site_row = classes.loc["site"]
    # 80 connections in 4 s; PackMime's arrivals come in waves
    assert 20 < site_row["connections_finished"] < 240
    assert site_row["connections_refused"] == 0
    assert 0.02 < site_row["completion_s"] < site_row["completion_p95_s"] < 6
    assert classes["connections_finished"].notna().sum() == 1
