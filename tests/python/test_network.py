"""Wired networks seen by a user: results, comparisons, sweeps and pictures."""

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


def test_the_utilisation_of_a_link_follows_from_its_deliveries(result: lh.Result) -> None:
    links, queues = result.table("links"), result.table("queues")
    assert list(links.index) == ["bottleneck", "bottleneck/back"]
    assert 0.9 < links.loc["bottleneck", "utilisation"] <= 1
    assert links.loc["bottleneck", "utilisation_min"] <= links.loc["bottleneck", "utilisation"]
    assert queues.loc["bottleneck", "occupancy_max_packets"] <= 30


def test_a_network_without_a_fluid_model_is_simulated(result: lh.Result) -> None:
    with pytest.raises(ModelError, match=r"`flow\.file` ends after its last segment"):
        lh.predict(DUMBBELL)
    with pytest.raises(ModelError, match="runs between wired nodes"):
        lh.predict(DUMBBELL, model="hotspot")
    comparison = lh.compare(DUMBBELL)
    assert comparison.refusal is not None
    assert comparison.oscillation is not None
    assert comparison.oscillation.stable is None
    assert comparison.simulation.to_json() == result.to_json()
    assert {row.list for row in comparison.rows} == {"classes", "links", "queues", "stability"}


def test_pictures_show_classes_and_links(result: lh.Result, tmp_path: Path) -> None:
    comparison = lh.compare(DUMBBELL)
    comparison.save_figure(tmp_path / "network.png")
    titles = [axes.get_title(loc="left") for axes in comparison.figure().axes]
    assert "Queue over time: bottleneck" in titles
    assert titles[:2] == ["Delay", "Completion"]
    assert {"Goodput", "Utilisation", "Queues"} < set(titles)
    delays = {row.name: row.simulated for row in comparison.rows if row.quantity == "sojourn_s"}
    assert delays["bottleneck"] == result.queues.loc["bottleneck", "sojourn_s"]
    delay = [row for row in comparison.rows if row.quantity == "one_way_delay_s"]
    assert [(row.list, row.name) for row in delay] == [("classes", "voice")]
    assert result.plot.goodput().axes[0].get_xlabel().startswith("goodput")
    assert result.plot.queues().axes[0].get_xlabel().startswith("mean queue")


def test_a_sweep_may_be_over_the_queue() -> None:
    swept = lh.sweep(DUMBBELL, {"queue": [5, 60]})
    queues = swept.table("queues")
    drops = queues[queues["name"] == "bottleneck"].set_index("queue")["drop_probability"]
    assert drops[5] > drops[60]


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


def test_cell_in_a_network_is_compared_once_and_with_its_links() -> None:
    wired = (
        '[link.up]\nfrom = "far"\nto = "end"\nrate = "2 Mbps"\n'
        '[flow.w]\nfrom = "house"\nto = "end"\n'
    )
    comparison = lh.compare(CELL + wired)
    goodputs = [row.name for row in comparison.rows if row.quantity == "goodput_bps"]
    assert sorted(goodputs) == ["a", "cell", "w"]
    shares = [row.name for row in comparison.rows if row.quantity == "goodput_share"]
    assert shares == ["a"]  # shares of the cell; the index of the class would include all flows
    waiting = {row.name for row in comparison.rows if row.quantity == "occupancy_packets"}
    assert waiting == {"up", "up/back"}
    axes = comparison.figure().axes
    rows = [[label.get_text() for label in each.get_yticklabels()] for each in axes]
    assert rows == [["a"], ["a", "w"], ["ap", "a", "up", "up/back"]]


def test_web_connections_appear_as_a_class_only() -> None:
    site = '[flow.site]\nweb = { connections = 20, response = "5 kB" }\n'
    result = lh.simulate(DUMBBELL + site)
    assert "site" not in result.flows.index
    classes = result.table("classes")
    site_row = classes.loc["site"]
    # 80 connections are expected in 4 s. PackMime's arrivals come in bursts.
    assert 20 < site_row["connections_finished"] < 240
    assert site_row["connections_refused"] == 0
    assert 0.02 < site_row["completion_s"] < site_row["completion_p95_s"] < 6
    assert classes["connections_finished"].notna().sum() == 1


TWO_RTTS = DUMBBELL + '[flow.far]\nrtt = "31 ms"\n'


def test_possible_phase_effects_cause_a_warning() -> None:
    [warning] = lh.simulate(TWO_RTTS).warnings
    assert (
        "queue bottleneck: phase effects: flows with 2 round-trip times share a drop-tail queue"
        in warning
    )
    settings = [
        {"dumbbell.jitter": "packet"},  # the recommended setting
        {"queue": {"red": {"min_th": 5, "max_th": 15}}},  # RED drops at random
        {"queue": 10_000, "warmup": "3 s"},  # a queue that drops nothing
        {"flow.far.rtt": "20 ms"},  # only one round-trip time
    ]
    for each in settings:
        assert lh.simulate(TWO_RTTS, settings=each).warnings == [], each
    [warning] = lh.simulate(TWO_RTTS, settings={"queue": {"threshold": 20}}).warnings
    assert "share a threshold queue" in warning


def test_long_title_fits_into_the_picture() -> None:
    name = "my router: Compound, CUBIC, voice, web traffic and files"
    result = lh.simulate(DUMBBELL, settings={"name": name, "flow.voice.count": 2})
    for figure in (result.plot.queues(), result.plot.goodput()):
        figure.draw_without_rendering()
        assert figure.get_suptitle().strip().replace("\n", " ") == name
        box = figure._suptitle.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


def test_series_of_a_wired_network_have_no_panel_for_a_cell() -> None:
    result = lh.simulate(DUMBBELL, series="0.1 s")
    assert len(result.plot.series("occupancy_packets").axes) == 2


RED = """\
duration = "6 s"
queue.red = { min_th = 50, max_th = 100 }
dumbbell = { flows = 10, bottleneck = "20 Mbps", delay = "20 ms" }
tcp = { congestion = "reno", window = 1000 }
"""


def test_router_without_links_of_hosts_is_predicted() -> None:
    assert lh.predict(RED).queues.loc["bottleneck", "occupancy_packets"] > 0
    with pytest.raises(ModelError, match="UDP offers 30 Mb/s to link bottleneck of 20 Mb/s"):
        lh.predict(RED + '[flow.x]\nudp = { rate = "30 Mbps", header = "0 B" }\n')
