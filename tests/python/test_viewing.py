"""Web pages and adaptive video of stations, in each command that reads such a scenario."""

from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.display.delays import Delays
from lasthop.emulation.limits import check
from lasthop.errors import ModelError, UserError
from lasthop.explanation.delays import completion
from lasthop.explanation.objectives import default_objective
from lasthop.explanation.traffic import always_demands
from lasthop.scenario.typed import TcpFlow

RUN = """
duration = "20 s"
warmup = "4 s"
replications = 2
cell.phy = "802.11g"
wire = { rate = "8 Mbps", delay = "10 ms", queue = 200 }
"""
VIEWERS = f"""{RUN}
[station.laptop.web]
connections = 1
arrivals = "constant"
response = "60 kB"
server_delay = "20 ms"
[station.tv.stream.film]
streams = 2
bitrates = ["500 kbps", "1 Mbps", "2 Mbps"]
chunk = "1 s"
buffer = "6 s"
category = "video"
"""
STREAM = ("video_bitrate_bps", "switches", "stalls", "stalled_fraction", "startup_s")


def flows_of(text: str, **settings: Any) -> dict[str, Any]:
    result = lh.simulate(text, settings=settings).summary
    return {item["name"]: item for item in result["flows"]}


def test_typed_flows_have_their_kind_and_their_key() -> None:
    scenario = lh.Scenario(VIEWERS).typed
    pages, *videos = scenario.flows
    assert isinstance(pages, TcpFlow)
    assert (pages.name, pages.setting, pages.is_paced) == ("laptop/web/1", "web", False)
    assert pages.web is not None
    for number, video in enumerate(videos, 1):
        assert isinstance(video, TcpFlow)
        assert (video.name, video.setting) == (f"tv/stream/film/{number}", "stream.film")
        assert (video.category, video.tcp.after_idle) == ("video", "rfc5681")
        assert video.stream is not None
        assert video.stream.bitrates_bps == (500e3, 1e6, 2e6)
        assert (video.stream.chunk_s, video.stream.startup_s) == (1.0, 1.0)
        assert (video.is_paced, video.has_periods) == (True, True)


def test_results_have_page_loads_and_video() -> None:
    flows = flows_of(VIEWERS)
    pages = flows["laptop/web/1"]
    assert pages["connections_finished"]["mean"] == 16.0
    assert 0.1 < pages["completion_p50_s"]["mean"] <= pages["completion_p95_s"]["mean"] < 1.0
    assert pages["goodput_bps"]["mean"] == pytest.approx(480e3, rel=0.01)
    for name in ("tv/stream/film/1", "tv/stream/film/2"):
        video = flows[name]
        assert [video[quantity]["mean"] for quantity in STREAM[1:4]] == [0.0, 0.0, 0.0]
        assert video["video_bitrate_bps"]["mean"] == 2e6
        assert video["goodput_bps"]["mean"] == pytest.approx(2e6, rel=0.1)
        assert 0.0 < video["startup_s"]["mean"] < 1.0
        assert video["chunk_completion_s"]["mean"] < 1.0
    assert "video_bitrate_bps" not in pages


def test_a_video_stalls_if_its_lowest_bitrate_exceeds_the_line() -> None:
    settings = {"station.tv.stream.film.bitrates": ["6 Mbps"], "duration": "60 s"}
    video = flows_of(VIEWERS, **settings)["tv/stream/film/1"]
    assert video["stalls"]["mean"] > 3
    # two streams and the pages share 8 Mb/s, and each stream needs 6 Mb/s
    share = (8.0 * 1460 / 1500 - 0.48) / 2 / 6.0
    assert video["stalled_fraction"]["mean"] == pytest.approx(1 - share, abs=0.05)
    assert video["switches"]["mean"] == 0.0


def test_a_download_takes_bitrate_from_a_video() -> None:
    alone = flows_of(VIEWERS)
    busy = flows_of(VIEWERS + "[station.desktop]\ndownload = 8\n")
    name = "tv/stream/film/1"
    assert busy[name]["video_bitrate_bps"]["mean"] < alone[name]["video_bitrate_bps"]["mean"]
    loads = [each["laptop/web/1"]["completion_p95_s"]["mean"] for each in (alone, busy)]
    assert loads[1] > 1.5 * loads[0]


def test_the_same_pages_over_a_wired_link_take_only_the_air_time_less() -> None:
    """The wire of the cell equals the link. The air adds at most 2 ms to each of the packets in a
    row: a request, and the last segment of a response."""
    pages = "connections = 2, arrivals = 'constant', request = '300 B', response = '30 kB'"
    pages = f"{{ {pages}, server_delay = '5 ms' }}"
    wired = f"""
duration = "20 s"
warmup = "4 s"
replications = 2
link.l = {{ from = "s", to = "c", rate = "8 Mbps", delay = "10 ms", queue = 200 }}
tcp = {{ congestion = "newreno", sack = false, initial_window = 2, window = 42 }}
flow.a = {{ from = "s", to = "c", start_spread = "0 s", web = {pages} }}
"""
    settings = {"tcp.congestion": "newreno", "tcp.sack": False, "tcp.initial_window": 2}
    settings |= {"tcp.window": 42}
    over_air = flows_of(f"{RUN}\n[station.a]\nweb = {pages}", **settings)["a/web/1"]
    [of_wire] = lh.simulate(wired).summary["classes"]
    for quantity in ("connections_finished", "connections_refused", "unfinished"):
        assert over_air[quantity]["mean"] == of_wire[quantity]["mean"]
    assert over_air["goodput_bps"]["mean"] == of_wire["goodput_bps"]["mean"]
    longer_s = over_air["completion_s"]["mean"] - of_wire["completion_s"]["mean"]
    assert 0.0 < longer_s < 0.01


def test_tables_show_pages_and_video_first() -> None:
    result = lh.simulate(VIEWERS)
    tables = {table.title: table for table in Delays.of(result).tables()}
    assert list(tables) == ["adaptive video", "pages and transfers"]
    heads = [head.replace("\n", " ") for head in tables["adaptive video"].heads]
    assert heads[:4] == ["flow", "mean bitrate [Mb/s]", "time stalled [%]", "stalls [-]"]
    heads = [head.replace("\n", " ") for head in tables["pages and transfers"].heads]
    assert heads[:2] == ["flow", "median [s]"]
    assert "mean completion [s]" in heads


def test_the_buffer_is_a_time_series() -> None:
    series = lh.simulate(VIEWERS, replications=1, series="500 ms").series
    buffers = series[series["quantity"] == "buffer_s"]
    assert set(buffers["name"]) == {"tv/stream/film/1", "tv/stream/film/2"}
    assert buffers["value"].between(0.0, 6.0).all()
    assert buffers["value"].max() > 5.0


def test_pages_and_video_have_objectives() -> None:
    scenario = lh.Scenario(VIEWERS)
    assert default_objective(scenario) == "video"
    flows = scenario.typed.flows
    assert not any(map(always_demands, flows))
    result = lh.simulate(VIEWERS)
    loads = result.sampled("flows", "laptop/web/1", "completion_p95_s")
    assert loads is not None
    for longest, load in zip(completion(result, flows), loads, strict=True):
        assert load is not None
        assert longest >= load


def test_predictions_and_emulations_refuse_in_one_line() -> None:
    for table in ("web = 1", "stream = 1"):
        text = f"{RUN}\n[station.a]\n{table}\n[station.b]\ndownload = 1\n"
        with pytest.raises(ModelError, match=r"limited by its application"):
            lh.predict(text)
        with pytest.raises(UserError, match=r"expected a program"):
            check(lh.Scenario(text))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("stream = { buffer = '2 s' }", "is shorter than `chunk`; expected at least 4 s"),
        ("stream = { startup = '40 s' }", "is longer than `buffer`; expected at most 30 s"),
        ("stream = { bitrates = ['2 Mbps', '1 Mbps'] }", "not in ascending order"),
        ("stream = { bitrates = [] }", "is empty"),
        ("web = { response = '1 MB' }", "missing; expected the number of pages per second"),
        ("web = { connections = 1, start_spread = '30 s' }", "expected at most 20 s"),
        ("stream = { one = {}, chunk = '2 s' }", "conflicts with the groups"),
    ],
)
def test_mistakes_are_refused_in_one_line(table: str, message: str) -> None:
    with pytest.raises(lh.ScenarioError, match=message):
        lh.Scenario(f"{RUN}\n[station.a]\n{table}\n")


def test_a_capture_has_connections_for_pages_and_requests(tmp_path: Path) -> None:
    path = tmp_path / "run.pcapng"
    settings = {"duration": "6 s", "warmup": "1 s"}
    result = lh.simulate(VIEWERS, replications=1, frames=100_000, settings=settings)
    result.save_capture(path)
    assert path.stat().st_size > 1_000_000
