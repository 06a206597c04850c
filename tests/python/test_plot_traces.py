"""Lines over time: one colour per label, horizontal lines for levels, and a legend that fits."""

from lasthop.plot.traces import Trace, TracePanel, traces_figure

TIMES = [0.0, 1.0, 2.0]


def test_a_label_has_the_same_colour_in_all_panels_and_a_single_key():
    panels = [
        TracePanel("a", [Trace("near", TIMES, [1.0, 2.0, 3.0]), Trace("far", TIMES, [0.0] * 3)]),
        TracePanel("b", [Trace("near", TIMES, [3.0, 2.0, 1.0])], "second", {"room": 4.0}),
    ]
    figure = traces_figure(panels)
    first, second = figure.axes
    assert first.lines[0].get_color() == second.lines[0].get_color() != first.lines[1].get_color()
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["near", "far", "room"]
    assert first.get_ylim()[0] == second.get_ylim()[0] == 0.0


def test_a_level_above_all_lines_is_seen():
    figure = traces_figure([TracePanel("a", [Trace("x", TIMES, [1.0] * 3)], levels={"room": 9.0})])
    assert figure.axes[0].get_ylim()[1] > 9.0
