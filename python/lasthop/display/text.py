"""Short texts about results and scenarios for the Python prompt, with the most important
numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lasthop.answers.digits import plain, span
from lasthop.answers.estimates import Estimate, estimates_of
from lasthop.answers.stability import stabilities
from lasthop.display.delays import Delays
from lasthop.scenario.typed import CellScenario, CsmaScenario

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer
    from lasthop.comparison.compare import Comparison
    from lasthop.emulated.emulation import Emulation
    from lasthop.prediction.prediction import Prediction
    from lasthop.scenario.scenario import Scenario
    from lasthop.scenario.typed import Scenario as Typed
    from lasthop.simulation.result import Result
    from lasthop.sweep import Sweep
    from lasthop.tuning.tune import Tuning

MAX_LINES = 4
"""Maximum number of lines of a short text. Further lines are cut off."""

MAX_WIDE = 100
"""Maximum length of a line; the rest of a longer line is cut off. [characters]"""

MAX_STABILITY = 2
"""Maximum number of queues whose stability is printed."""

MAX_VALUES = 4
"""Maximum number of printed values per swept path."""

BACK = "/back"
"""Suffix of the name of a link's reverse direction."""

Item = Mapping[str, Any]

SHARERS = ("stations", "classes", "flows")
"""Names of lists in a summary. The short text compares the goodputs of the items of one list, which
is the first list with several items."""

BUSY = {"airtime_fraction": "air time", "utilisation": "utilisation"}
"""Printed names of the quantities that measure the load of a link."""


SHARES = {"goodput_share": "share", "goodput_bps": "goodput", "occupancy_packets": "queue"}
"""Printed names of the quantities for which the model's largest error is printed."""


def result_text(result: "Result") -> str:
    """Return the short text of a simulation: goodput, fairness, extreme shares, and the busiest
    link or queue.
    """
    runs = f"{result.replications} x {span(result.heading.duration_s)}"
    return _text("Result", result, f"{runs}, seed {result.seed}")


def prediction_text(prediction: "Prediction") -> str:
    """Return the short text of a prediction: the same numbers as for a simulation, and
    stability.
    """
    return _text("Prediction", prediction, f"model {prediction.model}")


def emulation_text(emulation: "Emulation") -> str:
    """Return the short text of an emulation, with the same numbers as for a simulation."""
    count, span_s = emulation.heading.replications, emulation.heading.duration_s
    runs = f"{count} x {span_s:.3g} s" if count > 1 else f"{span_s:.3g} s"
    return _text("Emulation", emulation, f"{runs} in {emulation.clock}")


def comparison_text(comparison: "Comparison") -> str:
    """Return the short text of a comparison: numbers of the simulation, and the model's largest
    error.
    """
    name = comparison.simulation.heading.scenario
    emulated = "" if comparison.emulation is None else ", emulated"
    if comparison.prediction is None:
        head = f"Comparison({name!r}: simulated{emulated}, no prediction)"
        return cut([head, f"the scenario {comparison.refusal}"])
    head = f"Comparison({name!r}: predicted by {comparison.prediction.model}, simulated{emulated})"
    simulated = list(_numbers(comparison.simulation))[: MAX_LINES - 2]
    return cut([head, *simulated, *_furthest(comparison)])


def sweep_text(sweep: "Sweep") -> str:
    """Return the short text of a sweep: the number of grid points, and the values of each path."""
    lines = [f"Sweep({sweep.scenario.typed.name!r}: {len(sweep.points)} points)"]
    paths = list(dict.fromkeys(path for point in sweep.points for path in point.settings))
    for path in paths:
        every = list(dict.fromkeys(str(point.settings.get(path, "")) for point in sweep.points))
        more = f", ... {every[-1]}" if len(every) > MAX_VALUES else ""
        lines.append(f"{path}: {', '.join(every[: MAX_VALUES - bool(more)])}{more}")
    return cut(lines)


def tuning_text(tuning: "Tuning") -> str:
    """Return the short text of a search: the recommendation with its gains, or why there is
    none.
    """
    lines = [f"Tuning({tuning.base.typed.name!r} for {tuning.objective}: {tuning.chosen.name})"]
    if tuning.recommended:
        lines.append(", ".join(f"{path}={value}" for path, value in tuning.settings.items()))
    else:
        lines.append(tuning.verdict)
    gained = [
        f"{title} {sign}{text}"
        for quantity, title, scale, unit in (
            ("goodput_bps", "goodput", 1e-6, " Mb/s"),
            ("rtt_s", "RTT", 1e3, " ms"),
            ("jain", "Jain's index", 1.0, ""),
        )
        if (change := tuning.gains.get(quantity)) is not None
        for sign in ("+" if change.mean > 0 else "",)
        for text in (change.text(scale) + unit,)
    ]
    return cut([*lines, *([", ".join(gained)] if gained else [])])


def scenario_text(scenario: "Scenario") -> str:
    """Return the short text of a scenario: duration, replications and contents."""
    known = scenario.typed
    runs = f"{known.replications} x {span(known.duration_s)}, first {known.warmup_s:g} s cut"
    replaced = counted(len(scenario.settings), "value") + " replaced"
    about = [runs, f"seed {known.seed}", *([replaced] if scenario.settings else [])]
    head = f"Scenario({scenario.source!r}: {known.name!r})"
    return cut([head, ", ".join(about), *contents(known)])


def contents(known: "Typed") -> Iterator[str]:
    """Yield lines on the contents of a scenario: cell, conflict graph, wired links and flows."""
    if isinstance(known, CsmaScenario):
        links, flows = len(known.csma.links), len(known.csma.flows)
        yield (
            f"conflict graph, {known.csma.access} access: {counted(links, 'link')}, "
            f"{counted(flows, 'flow')}"
        )
        return
    if isinstance(known, CellScenario):
        stations, inside = len(known.stations), sum(bool(flow.station) for flow in known.flows)
        yield (
            f"{known.cell.phy} cell: {counted(stations, 'station')}, {counted(inside, 'flow')}, "
            f"AP's queue of {known.cell.ap.queue_packets} packets ({_called(known.cell.ap.queue)})"
        )
    wired = sum(not flow.station for flow in known.flows)
    ways = [link for link in known.routers if link.rate_bps is not None]
    routers = [link for link in ways if not link.name.endswith(BACK)]
    if wired:
        named = ", ".join(
            f"{router.name} {plain(1e-6 * (router.rate_bps or 0.0))} Mb/s, "
            f"{router.queue_packets} packets ({_called(router.queue)})"
            for router in routers[:1]
        )
        more = f" and {counted(len(routers) - 1, 'more link')}" if len(routers) > 1 else ""
        yield f"network: {counted(wired, 'flow')}" + (f" over {named}{more}" if named else "")


def counted(number: int, what: str) -> str:
    """Return a number with its noun, such as ``3 links``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _called(queue: Any) -> str:
    return str(queue.discipline).replace("_", "-")


def _text(kind: str, answer: "Answer", about: str) -> str:
    lines = [f"{kind}({answer.heading.scenario!r}: {about})", *_numbers(answer)]
    return cut(lines)


def _numbers(answer: "Answer") -> Iterator[str]:
    """Yield lines on calls, goodput and fairness, extreme shares, stability, and the busiest
    link.
    """
    summary = answer.contents
    yield from Delays.of(answer).headlines()
    if total := _whole(summary):
        yield total
    if extremes := _extremes(summary):
        yield extremes
    for queue in stabilities(summary)[:MAX_STABILITY]:
        swing = "" if queue.period_s is None else f", period {queue.period_s.text()} s"
        state = "stable" if queue.stable else "unstable"
        yield f"queue {queue.name}: equilibrium {state}{swing}"
    if links := _links(summary):
        yield links


def _whole(summary: Mapping[str, Any]) -> str:
    """Return goodput and fairness of the cell. Without a cell, return those of the only class or of
    all flows.
    """
    cells = summary.get("cells", ())
    entry = cells[0] if cells else None
    if entry is None:
        classes = summary.get("classes", ())
        entry = classes[0] if len(classes) == 1 else None
    if entry is None:
        rates = _sharers(summary, "goodput_bps")
        total = sum(rate.mean for _, rate in rates if rate is not None)
        return f"goodput {plain(1e-6 * total)} Mb/s in sum" if rates else ""
    parts = [
        f"{title} {value.text(scale)}{unit}"
        for quantity, title, scale, unit in (
            ("goodput_bps", "goodput", 1e-6, " Mb/s"),
            ("jain", "Jain's index", 1.0, ""),
            ("updown_ratio", "up/down", 1.0, ""),
        )
        if (value := Estimate.read(entry.get(quantity))) is not None
    ]
    return ", ".join(parts)


def _extremes(summary: Mapping[str, Any]) -> str:
    """Return a line with the largest and the smallest goodput. If goodputs are unknown, the line
    contains the largest and the smallest share of the goodput.
    """
    for quantity, scale, unit in (("goodput_bps", 1e-6, " Mb/s"), ("goodput_share", 100, " %")):
        shares = [(name, value) for name, value in _sharers(summary, quantity) if value is not None]
        if len(shares) > 1:
            ranked = sorted(shares, key=lambda share: share[1].mean)
            (smallest, least), (largest, most) = ranked[0], ranked[-1]
            if most.mean == least.mean:
                return f"each of {len(shares)} gets {shares[0][1].text(scale)}{unit}"
            ends = (
                f"{largest} {most.text(scale)}{unit}; least: {smallest} {least.text(scale)}{unit}"
            )
            return f"most: {ends}"
    return ""


def _sharers(summary: Mapping[str, Any], quantity: str) -> Sequence[tuple[str, Estimate | None]]:
    """Return the name of each item and its value of the quantity, for one list of the summary. This
    list is the first in `SHARERS` in which several items have the quantity.
    """
    for name in SHARERS:
        items = [item for item in summary.get(name, ()) if quantity in item]
        if len(items) > 1:
            return [(item["name"], Estimate.read(item[quantity])) for item in items]
    return ()


def _links(summary: Mapping[str, Any]) -> str:
    """Return a line on the busiest link and its queue. If there are no links, return a line on the
    longest queue of a node.
    """
    queues = estimates_of(summary.get("queues", ()), "occupancy_packets")
    for quantity, words in BUSY.items():
        if used := estimates_of(summary.get("links", ()), quantity):
            name, value = max(used.items(), key=lambda link: link[1].mean)
            more = f", mean queue {queues[name].text()} packets" if name in queues else ""
            return f"link {name}: {words} {value.text(100)} %{more}"
    nodes = estimates_of([*summary.get("aps", ()), *summary.get("stations", ())], "queue_packets")
    if not nodes:
        return ""
    name, value = max(nodes.items(), key=lambda node: node[1].mean)
    return f"longest queue: {name} {value.text()} packets"


def _furthest(comparison: "Comparison") -> Iterator[str]:
    """Yield a line with the goodput or share for which the model's relative error is largest. If
    there is no goodput or share, the line is about the queue with the largest error.
    """
    for what, wanted in (
        ("shares", ("goodput_share", "goodput_bps")),
        ("queues", ("occupancy_packets",)),
    ):
        off = {
            f"{SHARES[row.quantity]} of {row.name}": 100 * row.difference / row.simulated
            for row in comparison.rows
            if row.quantity in wanted and row.difference is not None and row.simulated
        }
        if off:
            name = max(off, key=lambda each: abs(off[each]))
            yield f"of {what} furthest from the model: {name}, off by {off[name]:+.3g} %"
            return


def cut(lines: Sequence[str]) -> str:
    """Return the first `MAX_LINES` lines as one text. Long lines are cut off, and all lines but
    the first are indented.
    """
    first, *rest = (line if len(line) <= MAX_WIDE else f"{line[:MAX_WIDE]}…" for line in lines)
    return "\n  ".join([first, *rest[: MAX_LINES - 1]])
