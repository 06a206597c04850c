"""Draw the pictures of the guide pages from runs of the scenarios on these pages.

``python docs/figures.py`` draws all pictures. Equal runs give equal pictures.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import claims
import numpy as np
from matplotlib.axes import Axes

import lasthop as lh
from lasthop.plot.conflicts import conflict_figure
from lasthop.plot.figure import MODEL, QUIET, SIMULATION, Figure, house_style, title
from lasthop.plot.stability import chart_figure
from lasthop.stability import Axis, chart

GUIDE = Path(__file__).parent / "guide"


def scenario(page: str, name: str) -> str:
    """Return the text of a file on a page."""
    text = (GUIDE / f"{page}.md").read_text("utf-8")
    match = re.search(rf"^```toml\n(# {re.escape(name)}\.toml\n.*?)^```", text, re.M | re.S)
    if match is None:
        raise ValueError(f"{page}.md shows no {name}.toml")
    return match[1]


def draw_means(axes: Axes, x: Any, answers: Any, color: str, label: str, **style: Any) -> None:
    """Draw means as a function of x, with confidence intervals as bars."""
    means, halves = zip(*answers, strict=True)
    axes.errorbar(x, means, halves, color=color, label=label, **{"marker": "o", **style})


def mean(item: Mapping[str, Any], quantity: str, scale: float = 1.0) -> tuple[float, float]:
    """Return the mean of a quantity and the half width of its interval, both multiplied by
    `scale`.
    """
    value = item[quantity]
    return scale * value["mean"], scale * (value["ci95"] or 0.0)


def named(items: Any, name: str) -> Mapping[str, Any]:
    """Return the item with this name."""
    item: Mapping[str, Any] = next(each for each in items if each["name"] == name)
    return item


def queues_call() -> Figure:
    """Draw the delay of a call and the goodput of downloads, for each queue discipline."""
    under = {
        "75 packets": {"limit": 75},
        "20 packets": {"threshold": 20},
        "RED 10 to 30": {"red": {"min_th": 10, "max_th": 30}},
        "CoDel": {"codel": {}},
        "PIE": {"pie": {}},
        "FQ-CoDel": {"fq_codel": {}},
    }
    text = scenario("queues", "call")
    summaries = [
        lh.simulate(text, settings={"cell.ap_queue": queue}).summary for queue in under.values()
    ]
    calls = [mean(named(f["flows"], "phone/udp-down/1"), "one_way_delay_s", 1e3) for f in summaries]
    goodputs = [mean(f["cells"][0], "goodput_bps", 1e-6) for f in summaries]
    return bars(
        list(under),
        {
            "delay of the call [ms]": calls,
            "goodput of all [Mb/s]": goodputs,
        },
    )


def bars(rows: list[str], panels: Mapping[str, list[tuple[float, float]]]) -> Figure:
    """Draw one panel per quantity, with one bar for each row."""
    with house_style(12.0 + 6.5 * len(rows)) as figure:
        row_of_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        places = np.arange(len(rows))[::-1]
        for axes, (label, values) in zip(row_of_axes, panels.items(), strict=True):
            means, halves = zip(*values, strict=True)
            axes.barh(places, means, xerr=halves, color=SIMULATION, height=0.6, ecolor="black")
            axes.set_xlabel(label)
            axes.grid(axis="y", visible=False)
        row_of_axes[0].set_yticks(places, rows)
    return figure


def queues_router() -> Figure:
    """Draw waiting time and utilisation of a router's queue, for each queue discipline."""
    under = {
        "500 packets": 500,
        "20 packets": 20,
        "RED 20 to 60": {"red": {"min_th": 20, "max_th": 60}},
        "CoDel": {"codel": {}},
        "PIE": {"pie": {}},
        "FQ-CoDel": {"fq_codel": {}},
        "CAKE": {"cake": {}},
    }
    swept = lh.sweep(scenario("queues", "router"), {"queue": list(under.values())})
    points = [each.summary for each in swept.points]
    classes = [each["classes"] for each in points]
    return bars(
        list(under),
        {
            "call [ms]": [mean(named(each, "voice"), "one_way_delay_s", 1e3) for each in classes],
            "slow pages [s]": [mean(named(each, "site"), "completion_p95_s") for each in classes],
            "far [Mb/s]": [mean(named(each, "far"), "goodput_bps", 1e-6) for each in classes],
        },
    )


def sharing_rain() -> Figure:
    """Draw the goodputs of two groups of stations during rain, without classes and with equal
    shares of the queue.
    """
    text = scenario("sharing", "rain")
    halves = "{ near = { station = 'near', share = 0.5 }, far = { share = 0.5 } }"
    shared = {"cell.ap_queue.vbs.class": halves, "cell.ap_queue.vbs.algorithm": "regulated"}
    with house_style(88.0) as figure:
        column = figure.subplots(2, 1, sharex=True, sharey=True)
        for axes, settings, what in zip(
            column, ({}, shared), ("one queue for all", "equal shares of the queue"), strict=True
        ):
            series = lh.simulate(text, settings=settings).series
            flows = series[(series["list"] == "flows") & (series["quantity"] == "goodput_bps")]
            is_near = flows["name"].str.startswith("near")
            for rows, color, label in (
                (flows[is_near], SIMULATION, "near"),
                (flows[~is_near], MODEL, "far and guests"),
            ):
                total = rows.groupby("time_s")["value"].sum() / 1e6
                axes.plot(total.index, total.rolling(5).mean(), color=color, label=label, ls="-")
            for begin, end, words in ((40, 80, "rain"), (90, 110, "guests")):
                axes.axvspan(begin, end, color="#DDDDDD", alpha=0.5, linewidth=0)
                axes.annotate(words, ((begin + end) / 2, 0.25), ha="center", color=QUIET)
            axes.set_ylabel("goodput [Mb/s]")
            title(axes, what)
        column[0].set_ylim(bottom=0.0)
        column[0].set_xlim(10.0, 120.0)
        column[1].set_xlabel("time [s], means of 5 s")
        handles, labels = column[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=2)
    return figure


def bottleneck_shares() -> Figure:
    """Draw the goodputs of a station with four downloads and of a station with one download,
    without and with the shared bottleneck.
    """
    text = scenario("bottleneck", "sharing").replace("vsb = {}\n", "")
    shares: dict[str, list[tuple[float, float]]] = {"greedy": [], "modest": []}
    cases: dict[str, dict[str, object]] = {
        "4 downloads against 1": {},
        "4 uploads against 1 download": {"station.greedy": {"upload": 4}},
    }
    rows = []
    for words, settings in cases.items():
        for vsb in (False, True):
            tree: dict[str, object] = {**settings, **({"vsb": {}} if vsb else {})}
            stations = lh.simulate(text, settings=tree).summary["stations"]
            for name, values in shares.items():
                values.append(mean(named(stations, name), "goodput_bps", 1e-6))
            rows.append(f"{words}\n{'behind a bottleneck' if vsb else 'as it is'}")
    with house_style(52.0) as figure:
        axes = figure.subplots()
        places = np.arange(len(rows))[::-1].astype(float)
        for offset, (name, color) in zip(
            (0.18, -0.18), (("greedy", MODEL), ("modest", SIMULATION)), strict=True
        ):
            means, halves = zip(*shares[name], strict=True)
            label = "the station with 4" if name == "greedy" else "the station with 1"
            axes.barh(
                places + offset, means, 0.34, xerr=halves, color=color, label=label, ecolor="black"
            )
        axes.set_yticks(places, rows)
        axes.set_xlabel("goodput [Mb/s]")
        axes.grid(axis="y", visible=False)
        figure.legend(loc="outside upper right", ncols=2)
    return figure


def networks_phases() -> Figure:
    """Draw the goodput of near flows as a function of the additional delay of far flows."""
    text = scenario("networks", "mixed")
    more = np.arange(0.0, 0.65, 0.1)
    with house_style(54.0) as figure:
        axes = figure.subplots()
        for jitter, color, label in (
            ("0 ms", MODEL, "without jitter"),
            ("packet", SIMULATION, "jitter of a packet time"),
        ):
            goodputs = []
            for ms in more:
                settings = {"flow.far.rtt": f"{120 + ms:.1f} ms", "dumbbell.jitter": jitter}
                classes = lh.simulate(text, settings=settings).summary["classes"]
                goodputs.append(mean(named(classes, "near"), "goodput_bps", 1e-6))
            draw_means(axes, 120.0 + more, goodputs, color, label, linestyle="-")
        axes.set_xlabel("round-trip time of the far flows [ms]")
        axes.set_ylabel("goodput of the near flows [Mb/s]")
        axes.legend()
    return figure


def places_shops() -> Figure:
    """Draw the goodput of three shops in a street, and the goodput after the eastern shop has moved
    farther away.
    """
    text = scenario("places", "positions")
    apart = {"csma.node.east.x": "1700 m", "csma.node.e.x": "1700 m"}
    return conflict_figure(
        [
            ("600 m apart: the centre starves", lh.simulate(text)),
            ("the east one 500 m farther on", lh.simulate(text, settings=apart)),
        ]
    )


def relay_connections() -> Figure:
    """Draw the goodput of n connections over a long link with losses, without competing traffic."""
    link = {
        "name": "a long link with losses",
        "duration": "60 s",
        "warmup": "10 s",
        "replications": 5,
        "link": {
            "hop": {"from": "far", "to": "near", "rate": "20 Mbps", "queue": 250, "loss": 0.01}
        },
        "tcp": {"congestion": "reno", "sack": True, "initial_window": 2, "window": 1000},
        "flow": {"one": {"from": "far", "to": "near", "rtt": "150 ms"}},
    }
    counts = (1, 2, 4, 8, 16, 24, 32)
    goodputs = []
    for count in counts:
        result = lh.simulate(link, settings={"flow.one.count": count})
        goodputs.append(mean(result.summary["classes"][0], "goodput_bps", 1e-6))
    with house_style(54.0) as figure:
        axes = figure.subplots()
        draw_means(axes, counts, goodputs, SIMULATION, "simulation", linestyle="-")
        single = goodputs[0][0]
        axes.plot(
            counts,
            [single * n for n in counts],
            color=QUIET,
            ls=":",
            label="n times one connection",
        )
        axes.axhline(20.0, color=QUIET, linestyle="--", linewidth=0.8, label="the link")
        axes.set_ylim(0.0, 22.0)
        axes.set_xlabel("connections")
        axes.set_ylabel("goodput [Mb/s]")
        axes.legend(loc="lower right")
    return figure


def import_measured() -> Figure:
    """Draw a measurement with model and simulation. The measurement is a simulation with another
    seed.
    """
    text = scenario("import", "cafe")
    return lh.compare(text, measured=[measured(text)]).figure()


def measured(text: str) -> str:
    """Return a simulation with another seed in the format of a measurement."""
    file = Path(__file__).parents[1] / "target" / "measured.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(lh.simulate(text, seed=7).to_json(), "utf-8")
    return str(file)


OVER_PAPER = (0.5, 2.0)
"""Range of the axis for the ratio of simulated to stated values. Values outside the range are drawn
at its ends. [-]
"""


def reproduced() -> Figure:
    """Draw all numbers stated in the papers and the corresponding values of lasthop, from the
    stored run.
    """
    shown: dict[str, dict[tuple[str, str], float]] = {}
    for claim in claims.load()["claims"]:
        subject = claim["id"].rpartition("-")[0]
        for check in claim["checks"]:
            if subject != "ax" and check["off"] is not None:
                place = (check["value"], str(check["paper"]))
                shown.setdefault(subject, {})[place] = 1.0 + check["off"]
    with house_style(70.0) as figure:
        axes = figure.subplots()
        axes.axhline(1.0, color=QUIET, linewidth=0.8)
        for band, style in ((0.05, "--"), (0.15, ":")):
            for edge in (1.0 - band, 1.0 + band):
                axes.axhline(edge, color=QUIET, linestyle=style, linewidth=0.8)
            axes.annotate(
                f"{100 * band:.0f} %",
                (1.0, 1.0 + band),
                xycoords=("axes fraction", "data"),
                xytext=(3, 0),
                textcoords="offset points",
                verticalalignment="center",
            )
        beyond = 0
        for k, (subject, points) in enumerate(shown.items()):
            ratios = sorted(points.values())
            beyond += sum(not OVER_PAPER[0] <= ratio <= OVER_PAPER[1] for ratio in ratios)
            parts = [100.0 * (rank + 0.5) / len(ratios) for rank in range(len(ratios))]
            inside = np.clip(ratios, *OVER_PAPER)
            label = f"{subject} ({len(ratios)})"
            axes.plot(parts, inside, f"{'osD^v'[k]}-", label=label, alpha=0.6)
        axes.set_yscale("log")
        axes.set_ylim(OVER_PAPER[0] / 1.05, OVER_PAPER[1] * 1.05)
        axes.set_yticks([0.5, 0.7, 1.0, 1.4, 2.0], ["0.5", "0.7", "1", "1.4", "2"])
        axes.set_yticks([], minor=True)
        axes.set_xlabel("numbers that a paper states, in order of the ratio [%]")
        axes.set_ylabel(f"simulated over stated [-]\n({beyond} beyond the axis, at its ends)")
        axes.legend(ncols=2)
    return figure


def goodput() -> Figure:
    """Draw the result of `plot.goodput` for the first hot-spot scenario."""
    return lh.simulate(scenario("first", "hotspot")).plot.goodput()


def router_chart() -> Figure:
    """Draw the region in which the router of a guide is stable, as a function of two parameters."""
    case = lh.fluid(scenario("oscillation", "router")).case
    axes = Axis("max_th", 60.0, 2000.0), Axis("rtt", 0.005, 0.5)
    return chart_figure(chart(case, *axes, 40), "sixty flows through RED")


def router_compare() -> Figure:
    """Draw the router's queue over time, with the equilibrium and the limit cycle of the fluid
    model.
    """
    return lh.compare(scenario("oscillation", "router")).plot()


def hotspot_simulate() -> Figure:
    """Draw the simulated result of the first hot-spot scenario."""
    return lh.simulate(scenario("first", "hotspot")).plot()


def hotspot_compare() -> Figure:
    """Draw the simulated result of the first hot-spot scenario with the prediction of the model."""
    return lh.compare(scenario("first", "hotspot")).plot()


def cell_series() -> Figure:
    """Draw queue lengths, windows and rates over time."""
    cell = scenario("recording", "cell")
    return lh.simulate(cell, series="20 ms", replications=1).plot.series()


def cell_air() -> Figure:
    """Draw the frames on the air in a time interval."""
    return lh.simulate(scenario("recording", "cell"), replications=1).plot.air(1.2, 1.22)


def cell_air_aggregates() -> Figure:
    """Draw the aggregates on the air in a time interval."""
    return lh.simulate(scenario("recording", "wifi5"), replications=1).plot.air(1.2, 1.22)


def buffer_sweep() -> Figure:
    """Draw the shares as a function of the queue length."""
    return lh.sweep(scenario("sweep", "buffer"), {"cell.ap_queue": "20,50,200"}).plot()


def buffer_sweep_rates() -> Figure:
    """Draw the shares as a function of data rate and queue length."""
    over = {"cell.ap_queue": "20,50,200", "station.up.rate": "1 Mbps,2 Mbps,5.5 Mbps,11 Mbps"}
    return lh.sweep(scenario("sweep", "buffer"), over).plot()


def router_sweep() -> Figure:
    """Draw goodput and losses for each queue discipline."""
    over = {"queue": "100,20,{red={min_th=20,max_th=60}},{codel={}}"}
    return lh.sweep(scenario("sweep", "router"), over).plot()


def what_if() -> Figure:
    """Draw the results of the cases that the page about `lasthop what-if` compares."""
    cases: Mapping[str, Mapping[str, object]] = {
        "fq": {"wire.queue.fq_codel": {}},
        "l4s": {"wire.queue.dualpi2": {}, "tcp.congestion": "prague"},
        "AP": {"cell.ap_queue.mac80211": {}},
    }
    return lh.what_if(scenario("what-if", "home"), cases).plot()


def downloads_tune() -> Figure:
    """Draw the results of the settings that `lasthop tune` has confirmed."""
    return lh.tune(scenario("tuning", "downloads"), "throughput").plot()


def homes_shared() -> Figure:
    """Draw two classes that share the queue of the access point."""
    half = "{{ station = '{0}', share = 0.5 }}"
    classes = ", ".join(f"{name} = {half.format(name)}" for name in ("near", "far"))
    settings = {"cell.ap_queue.vbs.class": f"{{ {classes} }}"}
    return lh.simulate(scenario("sharing", "homes"), settings=settings).plot()


PICTURES: Mapping[str, Callable[[], Figure]] = {
    "router-chart": router_chart,
    "router-compare": router_compare,
    "hotspot-simulate": hotspot_simulate,
    "hotspot-compare": hotspot_compare,
    "cell-series": cell_series,
    "cell-air": cell_air,
    "cell-air-aggregates": cell_air_aggregates,
    "buffer-sweep": buffer_sweep,
    "buffer-sweep-rates": buffer_sweep_rates,
    "router-sweep": router_sweep,
    "what-if": what_if,
    "downloads-tune": downloads_tune,
    "homes-shared": homes_shared,
    "queues-call": queues_call,
    "queues-router": queues_router,
    "sharing-rain": sharing_rain,
    "bottleneck-shares": bottleneck_shares,
    "networks-phases": networks_phases,
    "places-shops": places_shops,
    "relay-connections": relay_connections,
    "import-measured": import_measured,
    "claims": reproduced,
    "python-goodput": goodput,
}
"""Functions that draw the pictures, by file name."""
