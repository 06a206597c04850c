"""Pages of results for notebooks: tables of the main quantities with intervals, and a picture."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lasthop.answers.digits import estimate, plain, signed, span
from lasthop.answers.estimates import estimate_text
from lasthop.answers.heading import Heading
from lasthop.display.columns import (
    COLUMNS,
    TITLES,
    Column,
    called,
    of_shares,
    printed,
    shown_columns,
)
from lasthop.display.compared import MEASURED_DIFFERENCE, measured_difference
from lasthop.display.delays import Delays, unshown_columns
from lasthop.display.page import MAX_ROWS, Page, Table
from lasthop.display.stability import stability_lines
from lasthop.display.swept import delay_table
from lasthop.display.text import counted
from lasthop.scenario.typed import CsmaScenario
from lasthop.scenario.typed import Scenario as Typed

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer
    from lasthop.comparison.compare import Comparison, Row
    from lasthop.plot.figure import Figure
    from lasthop.sweep import Point, Sweep
    from lasthop.tuning.tune import Tuning

LISTS = {
    "stations": "stations",
    "classes": "classes",
    "cells": "the cell",
    "flows": "flows",
    "links": "links",
    "queues": "queues",
    "tins": "tins of CAKE",
    "aps": "the access point",
}
"""Lists of a result with the titles of their tables, in order. The first table on the page is
open; the others are folded.
"""

OF_SWEEP = ("cells", "classes", "flows", "links", "queues")
"""Lists that the table of a sweep may show; the first list with values is shown."""

MAX_POINTS = 500
"""Maximum number of grid points for which a notebook draws a picture of a sweep."""

OF_COMPARISON = ("goodput_share", "goodput_bps", "queue_packets", "occupancy_packets")
"""Quantities that come first in the table of a comparison."""

OF_TUNING = (
    ("calls", "calls", 1.0, ""),
    ("goodput_bps", "goodput", 1e-6, "Mb/s"),
    ("rtt_s", "RTT", 1e3, "ms"),
    ("sojourn_s", "AP delay", 1e3, "ms"),
    ("jain", "Jain's index", 1.0, ""),
    ("jain_p05", "Jain's 5th percentile over 1 s", 1.0, ""),
)
"""Quantities in the table of a search for parameters: name, title, scale and unit."""

NAMES_OF_SETTINGS = "rows: CWmin of AP / stations, then their TXOP limits [packets]"
"""Explanation of the row names in the table of a search for parameters."""


def answer_page(answer: "Answer") -> Page:
    """Return the page of a simulation, prediction or emulation."""
    summary, heading, delays = answer.contents, answer.heading, Delays.of(answer)
    return Page(
        heading.scenario,
        about(heading),
        tables(summary, answer.scenario.typed if answer.has_scenario else None, delays),
        notes=[*delays.headlines(), *stability_lines(summary)],
        picture=picture_of(answer),
        alt=f"{heading.kind} of {heading.scenario}",
    )


def about(heading: Heading) -> str:
    """Return a line with the kind of a result, and the number and duration of its runs."""
    if heading.kind == "prediction":
        return f"prediction by model {heading.model}"
    count = heading.replications
    interval = "± is a 95 % interval" if count > 1 else "one run: no intervals"
    return (
        f"{heading.kind}, {count} x {span(heading.duration_s)}, first {heading.warmup_s:g} s cut, "
        f"seed {heading.seed}; {interval}"
    )


def tables(summary: Mapping[str, Any], known: Typed | None, delays: Delays) -> list[Table]:
    """Return tables of delays and losses, then one table per list of the result that has values."""
    tables = list(delays.tables())
    results = [Table(table.title, table.heads, table.rows, table.names) for table in tables]
    first = "flows" if isinstance(known, CsmaScenario) else None
    order = sorted(LISTS, key=lambda name: name != first)
    for name in order:
        items = printed(summary, name)
        columns = unshown_columns(tables, name, items, shown_columns(items, name))
        if not columns:
            continue
        if name == "classes" and known is not None:
            columns = [of_shares(column, known) for column in columns]
        rows = [[called(item), *(column.cell(item) for column in columns)] for item in items]
        title = f"{LISTS[name]}" + (f" ({len(items)})" if len(items) > 1 else "")
        results.append(Table(title, [TITLES[name], *(column.header for column in columns)], rows))
    return results


def picture_of(answer: "Answer") -> "Callable[[], Figure] | None":
    """Return the function that draws the result's small picture: a conflict graph, or goodputs or
    shares as bars.
    """
    summary = answer.contents
    if answer.has_scenario and isinstance(answer.scenario.typed, CsmaScenario):
        return answer.plot.conflicts
    items = summary.get("stations") or summary.get("classes") or summary.get("flows") or ()
    if any("goodput_bps" in item for item in items):
        return answer.plot.goodput
    if any("goodput_share" in item for item in items):
        return answer.plot.shares
    return None


def comparison_page(comparison: "Comparison") -> Page:
    """Return the page of a comparison: prediction, simulation, emulation and measurement side by
    side.
    """
    simulation = comparison.simulation.heading
    model = comparison.prediction
    notes = (
        [] if comparison.refusal is None else [f"no prediction: the scenario {comparison.refusal}"]
    )
    if model is not None:
        notes += stability_lines(model.contents)
    heads = ["quantity", "of", "predicted", "simulated", "difference"]
    others = {"emulated": comparison.emulation, "measured": comparison.measured}
    asked = [name for name, answer in others.items() if answer is not None]
    heads += asked
    if comparison.measured is not None:
        heads.append(MEASURED_DIFFERENCE)
    rows = [
        [f"{column.title} [{column.unit or '-'}]", row.name, *_side_by_side(row, column, asked)]
        for row, column in rows_with_columns(comparison)
    ]
    return Page(
        simulation.scenario,
        f"{'' if model is None else f'model {model.model} and '}{about(simulation)}",
        [Table("", heads, rows, names=2)],
        notes=notes,
        picture=comparison.figure,
        alt=f"comparison of {simulation.scenario}",
    )


def rows_with_columns(comparison: "Comparison") -> "list[tuple[Row, Column]]":
    """Return the rows of a comparison that are shown, with their columns; shares and goodputs are
    first.
    """
    rows = comparison.rows
    # A conflict graph has neither stations nor classes. Rows of flows are shown only for a conflict
    # graph, and for losses that no other row shows.
    is_summed = any(row.list in ("stations", "classes") for row in rows)
    known = comparison.simulation.has_scenario

    def is_shown(row: "Row") -> bool:
        return comparison.is_only_loss(row) or comparison.is_of_pings(row)

    results = [
        (row, column)
        for row in rows
        for column in COLUMNS.get(row.list, ())
        if column.quantity == row.quantity
        and not (row.list == "flows" and is_summed and not (known and is_shown(row)))
        and not (known and comparison.repeats_a_node(row))
    ]
    last = len(OF_COMPARISON)
    rank = {quantity: place for place, quantity in enumerate(OF_COMPARISON)}
    return sorted(results, key=lambda each: rank.get(each[0].quantity, last))


def _side_by_side(row: "Row", column: Column, others: Sequence[str]) -> list[str]:
    def scaled(value: float | None) -> float | None:
        return None if value is None else value * column.scale

    half = scaled(row.ci95)
    texts = {
        "emulated": estimate(scaled(row.emulated), scaled(row.emulated_ci95)),
        "measured": estimate(scaled(row.measured), scaled(row.measured_ci95)),
    }
    return [
        plain(scaled(row.predicted)),
        estimate(scaled(row.simulated), half),
        signed(scaled(row.difference), half),
        *(texts[name] for name in others),
        *([measured_difference(row, column.scale)] if "measured" in others else []),
    ]


def sweep_page(sweep: "Sweep") -> Page:
    """Return the page of a sweep: each row has the settings of a grid point and the values of an
    item.
    """
    paths = list(dict.fromkeys(path for point in sweep.points for path in point.settings))
    for name in OF_SWEEP:
        results = [(point, item) for point in sweep.points for item in printed(point.summary, name)]
        columns = shown_columns((item for _, item in results), name)
        if columns:
            break
    else:
        results, columns = [(point, {"name": ""}) for point in sweep.points], []
    many = len({item["name"] for _, item in results}) > 1
    rows = [
        [*_settings(point, paths), *([called(item)] if many else []), *_cells(columns, item)]
        for point, item in results
    ]
    heads = [*paths, *([TITLES[name]] if many else []), *(column.header for column in columns)]
    names = len(paths) + many
    late, delays = delay_table(sweep.points[: MAX_ROWS + 1])
    delayed = [Table("delays", [*paths, *late], delays, len(paths))] if late else []
    return Page(
        sweep.scenario.typed.name,
        f"sweep of {counted(len(sweep.points), 'point')}; ± is a 95 % interval",
        [*delayed, *([Table(LISTS[name], heads, rows, names)] if heads else [])],
        picture=sweep.plot if 1 < len(sweep.points) <= MAX_POINTS else None,
        alt=f"sweep of {sweep.scenario.typed.name}",
    )


def _settings(point: "Point", paths: Sequence[str]) -> list[str]:
    return [str(point.settings.get(path, "")) for path in paths]


def _cells(columns: Sequence[Column], item: Mapping[str, Any]) -> list[str]:
    return [column.cell(item) for column in columns]


def tuning_page(tuning: "Tuning") -> Page:
    """Return the page of a search: settings that full simulations confirmed, and the costs.

    The chosen setting is bold. Settings that were ruled out are grey and have an x.
    """
    out = {trial.name for trial in tuning.confirmed if tuning.objection(trial)}
    samples = {trial.name: tuning.estimates_of(trial) for trial in tuning.confirmed}
    shown = [each for each in OF_TUNING if any(each[0] in sample for sample in samples.values())]
    heads = ["AP / stations", *(f"{title}\n[{unit or '-'}]" for _, title, _, unit in shown)]
    rows = [
        [
            f"{name} x" if name in out else name,
            *(estimate_text(sample.get(quantity), scale) for quantity, _, scale, _ in shown),
        ]
        for name, sample in samples.items()
    ]
    quiet = frozenset(number for number, name in enumerate(samples) if name in out)
    chosen = frozenset(
        number for number, trial in enumerate(tuning.confirmed) if trial is tuning.chosen
    )
    set_to = ", ".join(f"{path} = {value}" for path, value in tuning.settings.items())
    notes = [f"set {set_to}" if tuning.recommended else tuning.verdict]
    notes += [NAMES_OF_SETTINGS + ("; x ruled out" if out else "")] if rows else []
    return Page(
        tuning.base.typed.name,
        f"tuned for {tuning.objective}: {tuning.chosen.name}; ± is a 95 % interval",
        [Table("", heads, rows, bold=chosen, quiet=quiet)] if rows else [],
        notes=[*notes, *tuning.costs],
        picture=tuning.figure if rows else None,
        alt=f"settings of {tuning.base.typed.name}",
    )
