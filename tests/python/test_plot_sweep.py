"""Pictures of sweeps: axes, drawn quantities, and limits."""

import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.figure import Figure

import lasthop as lh
from lasthop.answers.quantities import check_name
from lasthop.plot.heat import Scale
from lasthop.plot.layout import layout_of
from lasthop.plot.rows import Spread
from lasthop.plot.swept import NONE, Axis, Quantity, drawn, is_named, without_braces
from lasthop.sweep.columns import column
from lasthop.sweep.grid import grid

from .test_network import DUMBBELL
from .test_plot_answers import GROUPS, clipped_texts

OF_GROUPS = "error bars: 95 % interval; a group: mean and range (pale), no\ninterval"

QUICK = {"duration": "1 s", "warmup": "0.2 s", "replications": 2}


def axis(*texts: str) -> Axis:
    return Axis.of(column("a.b", texts))


def layout(over: dict[str, list[str]], combine: str = "grid"):  # type: ignore[no-untyped-def]
    points = grid(over, combine)
    return layout_of(points, [Axis.of(column(path, points.column(path))) for path in points.paths])


def values(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


def legend(figure: Figure) -> tuple[str, list[str]]:
    [box] = figure.legends
    return box.get_title().get_text(), [text.get_text() for text in box.get_texts()]


@pytest.fixture(scope="module")
def queues() -> lh.Sweep:
    return lh.sweep(GROUPS, {"cell.ap_queue": [10, 40, 20]}, settings=QUICK)


def test_equal_ratios_are_drawn_over_a_logarithmic_axis() -> None:
    assert axis("10", "100", "1000").logarithmic
    assert axis("7", "15", "31", "63").logarithmic
    assert axis("20", "50", "200").logarithmic
    assert not axis("10", "20", "30").logarithmic
    assert not axis("0", "10", "100").logarithmic
    assert not axis("10", "1000").logarithmic


def test_numbers_have_their_usual_unit() -> None:
    times = axis("1 s", "10 ms", "100 ms")
    assert times.label == "a.b [s]"
    assert times.texts == ("10 ms", "100 ms", "1 s")  # in increasing order
    assert times.text_of("10 ms") == "0.01"
    assert axis("10 ms", "100 ms").text_of("10 ms") == "10"
    assert axis("2 Mbps", "500 kbps").label == "a.b [Mb/s]"
    assert not axis("true", "false").is_numeric
    table = axis("100", "{red={min_th=5,max_th=9}}", "{codel={}}")
    assert [table.text_of(text) for text in table.texts] == [
        "100",
        "red min_th=5, max_th=9",
        "codel",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{fq_codel = {}}", "fq_codel"),
        ("{ fq_codel={ } }", "fq_codel"),
        ("{limit = 9, fq_codel = {}}", "limit=9, fq_codel"),
        ("{fq_codel = {ecn = true}, limit = 9}", "fq_codel ecn=true, limit=9"),
        (
            "{mac80211 = {aql = false,airtime_fairness = {}}}",
            "mac80211 aql=false, airtime_fairness",
        ),
        ('{red = {form = "a = {b}"}}', 'red form="a = {b}"'),
        ("{}", ""),
        ("cubic", "cubic"),
    ],
)
def test_a_table_is_written_without_braces(text: str, words: str) -> None:
    assert without_braces(text) == words


def items(**tops: float) -> dict[str, dict[tuple[str, ...], Spread]]:
    return {name: {("1",): Spread(top), ("2",): NONE} for name, top in tops.items()}


def test_items_without_a_value_are_distinguished_from_small_ones() -> None:
    few, small, lacking = drawn(items(bulk=90.0, call=0.1, none=float("nan")), [])
    assert list(few) == ["bulk", "call"]  # few enough that all are drawn
    assert (small, lacking) == ((), ("none",))
    many = items(**{f"bulk{k}": 90.0 for k in range(8)}, call=0.1, bell=0.2, none=float("nan"))
    shown, small, lacking = drawn(many, ["queue"])
    assert len(shown) == 8
    assert (small, lacking) == (("call", "bell"), ("none",))
    shown, small, _ = drawn(many, ["flow.call.udp.rate"])
    assert "call" in shown
    assert small == ("bell",)


@pytest.mark.parametrize(
    ("item", "path", "named"),
    [
        ("phone ↑", "station.phone.udp_up", True),
        ("phone/udp-up/1", "station.phone.udp_up.rate", True),
        ("call-3", "flow.call.count", True),
        ("phone", "station.telephone.rate", False),
        ("call", "cell.ap_queue", False),
        ("x", "csma.link.x.r", True),
    ],
)
def test_a_path_names_the_items_of_its_table(item: str, path: str, named: bool) -> None:
    assert is_named(item, [path]) is named


def test_a_call_is_drawn_and_flows_without_a_round_trip_are_named() -> None:
    call = DUMBBELL + '[flow.call]\nudp = "64 kbps"\n'
    swept = lh.sweep(call, {"queue": ["{fq_codel = {}}", "{codel = {}}"]}, settings=QUICK)
    figure = swept.plot("flows.goodput_bps")
    assert "call" in legend(figure)[1]
    assert legend(figure)[0] == ""
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows == ["fq_codel", "codel"]
    assert legend(swept.plot("flows.rtt_s"))[0] == "no RTT: voice, call"


def test_panels_of_the_requested_quantities_come_first() -> None:
    bulk = "".join(f"[flow.f{number}]\n" for number in range(9))
    tree = 'duration = "1 s"\nqueue = 20\ndumbbell = { bottleneck = "20 Mbps", rtt = "9 ms" }\n'
    call = f'{tree}{bulk}[flow.call]\nudp = "64 kbps"\n'
    figure = lh.sweep(call, {"flow.call.udp.rate": ["64 kbps", "96 kbps"]}, settings=QUICK).plot(
        "flows.goodput_bps"
    )
    assert [axes.get_title(loc="left") for axes in figure.axes][:2] == ["call", "f0"]
    assert legend(figure) == ("the first 6 of 10 panels", [])


def test_a_single_path_is_the_abscissa_and_categories_are_rows() -> None:
    assert layout({"q": ["1", "2"]}).x.is_numeric
    assert not layout({"q": ["cubic", "reno"]}).x.is_numeric


def test_the_longer_numeric_path_is_the_abscissa() -> None:
    how = layout({"a": ["1", "2", "3"], "b": values(5)})
    assert (how.x.path, how.lines.path, how.is_map) == ("b", "a", False)
    how = layout({"a": ["1", "2"], "law": ["cubic", "reno", "illinois"]})
    assert (how.x.path, how.lines.path) == ("a", "law")
    how = layout({"law": values(9)[:2] + ["x"] * 0 + ["cubic"], "b": values(5)})
    assert how.lines.path == "law"
    how = layout({"name": [f"x{n}" for n in range(9)], "b": ["1", "2"]})
    assert (how.x.path, how.lines.path) == ("name", "b")


def test_two_long_paths_make_a_map_and_a_short_path_makes_lines() -> None:
    assert layout({"a": values(7), "b": values(8)}).is_map
    assert not layout({"a": values(6), "b": values(8)}).is_map


def test_combined_values_are_labelled_by_one_path_or_by_all() -> None:
    how = layout({"a": ["1", "2"], "b": ["5", "5"]}, "zip")
    assert (how.x.path, how.label) == ("a", "a\nb")
    assert how.ticks.labels == ("1\n5", "2\n5")
    how = layout({"a": ["1", "1"], "b": ["x", "y"]}, "zip")
    assert how.x.texts == ("1, x", "1, y")
    assert how.at(("1", "y")) == ("1, y", "")


def test_combined_points_are_labelled_with_values_of_all_paths() -> None:
    roomy = {"q": ["10", "20", "30"], "rate": ["2 Mbps", "11 Mbps", "5.5 Mbps"]}
    how = layout(roomy, "zip")
    assert how.ticks.labels == ("10\n2", "20\n11", "30\n5.5")
    assert how.label == "q\nrate [Mb/s]"
    # Labels are vertical if they would overlap.
    # They are in rows if vertical labels would also overlap.
    names = ["a-long-name", "another-name"]
    dense = {"q": values(10), "law": names * 5}
    how = layout(dense, "zip")
    assert how.ticks.is_upright
    assert how.ticks.labels[:2] == ("1, a-long-name", "2, another-name")
    close = {"q": ["10", "11", "1000"], "law": [*names, names[0]]}
    how = layout(close, "zip")
    assert how.x.texts == ("10, a-long-name", "11, another-name", "1000, a-long-name")
    many = {"q": values(11), "law": names * 5 + names[:1]}
    how = layout(many, "zip")
    assert (how.ticks, how.label) == (None, "q, with law")


def test_ticks_of_combined_points_are_drawn_and_not_cut() -> None:
    over = {"cell.ap_queue": [10, 20, 40], "station.up.rate": ["2 Mbps", "5.5 Mbps", "11 Mbps"]}
    figure = lh.sweep(GROUPS, over, combine="zip", settings=QUICK).plot()
    [axes] = figure.axes
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == ["10\n2", "20\n5.5", "40\n11"]
    assert axes.get_xlabel() == "cell.ap_queue\nstation.up.rate [Mb/s]"
    assert clipped_texts(figure) == []


def test_queues_and_flows_of_a_group_are_its_mean_and_range(queues: lh.Sweep) -> None:
    [axes] = queues.plot("queues.sojourn_s").axes
    assert legend(queues.plot("queues.sojourn_s"))[1] == ["ap", "up", "down"]
    table = queues.queues.set_index(["cell.ap_queue", "name"])["sojourn_s"] * 1e3
    line = axes.containers[2].lines[0]
    each = [table[10, f"down-{k}"] for k in (1, 2, 3)]
    assert line.get_ydata()[0] == pytest.approx(sum(each) / 3)
    bands = [each for each in axes.collections if isinstance(each, FillBetweenPolyCollection)]
    assert len(bands) == 1
    flows = legend(queues.plot("flows.rtt_s"))
    assert flows == (OF_GROUPS, ["up/up/1", "up/up/2", "down/down/1"])


def test_too_many_lines_are_refused_with_the_limit() -> None:
    with pytest.raises(lh.UserError, match="a picture of 9 lines, one for each of b, c"):
        layout({"a": values(4), "b": ["1", "2", "3"], "c": ["1", "2", "3"]})
    with pytest.raises(lh.UserError, match="at most 40 have a row each"):
        layout({"a": [f"x{number}" for number in range(41)]})


def test_shares_are_drawn_over_one_path_with_intervals_and_ranges(queues: lh.Sweep) -> None:
    [axes] = queues.plot().axes
    assert axes.get_ylabel() == "share [%]"
    assert axes.get_xlabel() == "cell.ap_queue"
    assert axes.get_xscale() == "log"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10", "20", "40"]
    up, down = (each.lines[0] for each in axes.containers)
    table = queues.stations.set_index(["cell.ap_queue", "name"])["goodput_share"] * 100
    assert list(up.get_xdata()) == [10, 20, 40]
    assert list(up.get_ydata()) == pytest.approx([table[q, "up"] for q in (10, 20, 40)])
    group = [table[q][["down-1", "down-2", "down-3"]] for q in (10, 20, 40)]
    assert list(down.get_ydata()) == pytest.approx([each.mean() for each in group])
    [band] = (each for each in axes.collections if isinstance(each, FillBetweenPolyCollection))
    highest = band.get_paths()[0].vertices[:, 1].max()
    assert highest == pytest.approx(max(each.max() for each in group))
    assert legend(queues.plot()) == (OF_GROUPS, ["up ↑", "down ↓"])
    assert clipped_texts(queues.plot()) == []


def test_a_quantity_is_chosen_by_name_and_list(queues: lh.Sweep) -> None:
    [axes] = queues.plot("jain").axes
    assert axes.get_ylabel() == "Jain's index [-]"
    [line] = (each.lines[0] for each in axes.containers)
    jain = queues.cells.set_index("cell.ap_queue")["jain"]
    assert list(line.get_ydata()) == pytest.approx([jain[q] for q in (10, 20, 40)])
    [axes] = queues.plot("aps.queue_packets").axes
    assert axes.get_ylabel() == "queue [packets]"
    assert len(axes.containers) == 1
    assert Quantity.of("classes", "rtt_s").label == "RTT [ms]"


def test_a_missing_quantity_is_refused_with_similar_names(queues: lh.Sweep) -> None:
    for refused in (lambda: queues.plot("jam"), lambda: check_name("cells.jam")):
        with pytest.raises(lh.UserError, match='no quantity "jam"; the nearest are jain') as error:
            refused()
        assert error.value.hint == "`lasthop explain --terms` lists all quantities"
    with pytest.raises(lh.UserError, match='no quantity "jain" in aps; it is in cells'):
        queues.plot("aps.jain")
    with pytest.raises(lh.UserError, match='no quantity ""; '):
        check_name("")
    check_name("cells.jain")


def test_both_directions_of_a_station_are_two_lines() -> None:
    laptop = GROUPS | {"station": {"laptop": {"udp_up": "greedy", "udp_down": "greedy"}}}
    swept = lh.sweep(laptop, {"cell.ap.cwmin": [15, 63]}, settings=QUICK)
    assert legend(swept.plot())[1] == ["laptop ↑", "laptop ↓"]


def test_a_group_stays_a_group_where_its_number_varies() -> None:
    swept = lh.sweep(GROUPS, {"station.down.count": [1, 3]}, settings=QUICK)
    assert legend(swept.plot())[1] == ["up ↑", "down ↓"]


def test_two_paths_have_one_panel_per_item_and_one_line_per_value() -> None:
    over = {"cell.ap_queue": [10, 20, 40], "station.up.rate": ["2 Mbps", "11 Mbps"]}
    figure = lh.sweep(GROUPS, over, settings=QUICK).plot()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["up ↑", "down ↓"]
    assert [len(axes.containers) for axes in figure.axes] == [2, 2]
    title, lines = legend(figure)
    assert title.startswith("lines: station.up.rate [Mb/s]")
    assert lines == ["2", "11"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "cell.ap_queue"]


@pytest.fixture(scope="module")
def router() -> lh.Sweep:
    over = {"queue": ["20", "{red={min_th=5,max_th=15}}"], "tcp.congestion": ["cubic", "reno"]}
    return lh.sweep(DUMBBELL, over, settings=QUICK)


def test_a_router_has_goodput_and_losses_in_rows_of_categories(router: lh.Sweep) -> None:
    figure = router.plot()
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels[0] == "goodput [Mb/s]"
    assert labels[-1] == "loss [%]"
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows == ["20", "red min_th=5,\nmax_th=15"]
    assert figure.axes[0].get_xlim() != figure.axes[-1].get_xlim()


def test_a_map_has_a_numbered_cell_per_point() -> None:
    over = {"cell.ap_queue": list(range(10, 80, 10)), "cell.ap.cwmin": [3, 7, 15, 31, 63, 127, 255]}
    quick = QUICK | {"duration": "0.4 s", "warmup": "0 s", "replications": 1}
    swept = lh.sweep(GROUPS, over, settings=quick)
    axes, _ = swept.plot("cells.goodput_bps").axes
    [image] = axes.images
    table = swept.cells.set_index(["cell.ap_queue", "cell.ap.cwmin"])["goodput_bps"] / 1e6
    drawn = image.get_array()
    assert drawn.shape == (7, 7)
    assert drawn[6, 1] == pytest.approx(table[20, 255])
    assert len(axes.texts) == 49
    assert axes.texts[0].get_text() == f"{table[10, 3]:.2f}"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("cell.ap_queue", "cell.ap.cwmin")


def test_maps_of_a_quantity_share_scale_and_decimals() -> None:
    over = {"cell.ap_queue": list(range(10, 80, 10)), "cell.ap.cwmin": [3, 7, 15, 31, 63, 127, 255]}
    quick = QUICK | {"duration": "0.4 s", "warmup": "0 s", "replications": 1}
    up, down, *_ = lh.sweep(GROUPS, over, settings=quick).plot().axes
    assert up.images[0].get_clim() == down.images[0].get_clim()
    drawn = [axes.images[0].get_array() for axes in (up, down)]
    low, high = up.images[0].get_clim()
    assert (low, high) == (min(map(np.min, drawn)), max(map(np.max, drawn)))
    decimals = {
        len(text.get_text().partition(".")[2]) for axes in (up, down) for text in axes.texts
    }
    assert len(decimals) == 1


def test_numbers_of_a_map_have_enough_decimals_for_their_differences() -> None:
    assert [Scale.of([0.0, 100.0]).text_of(x) for x in (0.0, 7.99, 100.0)] == ["0", "8", "100"]
    assert [Scale.of([3.0, 33.3]).text_of(x) for x in (3.0, 33.3)] == ["3.0", "33.3"]
    assert Scale.of([0.998, 1.0]).text_of(0.9991) == "0.9991"
    assert Scale.of([1e-6, 2e-6]).text_of(1.23e-6) == "1.2e-06"
    assert Scale.of([5.0, 5.0]).text_of(5.0) == "5.00"
    assert Scale.of([float("nan")]).text_of(0.0) == "0"


def test_a_sweep_is_drawn_into_a_given_figure(queues: lh.Sweep) -> None:
    mine = Figure()
    assert queues.plot(figure=mine) is mine
    with pytest.raises(lh.UserError, match="figure=3: expected a figure"):
        queues.plot(figure=3)  # type: ignore[arg-type]


def test_a_legend_of_long_names_is_not_cut() -> None:
    scenario = {
        "duration": "2 s",
        "warmup": "1 s",
        "replications": 1,
        "cell": {"phy": "802.11g"},
        "station": {"a": {"download": 6}, "b": {"upload": 1}},
    }
    figure = lh.sweep(scenario, {"cell.cwmin": [15, 31]}).plot("flows.rtt_s")
    assert "b/up/1" in legend(figure)[1]
    assert clipped_texts(figure) == []


def test_panels_of_a_quantity_begin_at_zero() -> None:
    over = {"cell.ap_queue": [20, 50], "station.b.count": [1, 2, 3]}
    scenario = {
        "cell": {"phy": "802.11g"},
        "station": {"a": {"upload": 1}, "b": {"count": 1, "download": 1}},
    }
    settings = {"duration": "0.6 s", "warmup": "0.2 s", "replications": 2}
    figure = lh.sweep(scenario, over, settings=settings).plot("stations.fairness_level")
    assert len(figure.axes) == 2
    assert {axes.get_ylim()[0] for axes in figure.axes} == {0.0}
    for axes in figure.axes:  # The marks at the upper edge are not cut off.
        assert axes.get_ylim()[1] >= 1.02 * max(max(line.get_ydata()) for line in axes.lines)


def test_a_group_of_a_single_run_has_a_range_and_no_interval() -> None:
    once = {**QUICK, "replications": 1}
    figure = lh.sweep(GROUPS, {"cell.ap_queue": [10, 40]}, settings=once).plot()
    assert legend(figure)[0] == "a group: mean and range (pale)"
