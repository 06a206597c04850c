"""Sentences on whether the wired line is full, or what else limits its use, per direction."""

from collections.abc import Iterator, Sequence

from lasthop import _core
from lasthop.answers.answer import Answer
from lasthop.answers.items import summary_items
from lasthop.explanation.facts import Facts, Limit
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import CellScenario

__all__ = ["line_use"]

FULL = _core.FULL
"""Utilisation above which a line counts as full, here and in the facts about the limits of flows.
[-]
"""

WINDOWS = {"rwnd": "receive windows", "cwnd": "congestion windows"}
"""Printed names of the windows that limit flows, by the names of these windows in the facts."""

TRAFFIC = {"down": "downloads", "up": "uploads"}


def line_use(scenario: Scenario, answer: Answer, facts: Facts) -> Iterator[str]:
    """Yield a sentence per direction: whether the wired line of a cell is full, and if not, the
    reason.

    A direction is omitted if none of its flows always has data to send, or if the interval of the
    utilisation includes `FULL`.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the result.
    answer : Answer
        Result of a simulation or an emulation.
    facts : Facts
        Facts of the result.
    """
    typed = scenario.typed
    links = {link.name: link for link in summary_items(answer.contents, "links")}
    if not isinstance(typed, CellScenario) or typed.wire.rate_bps is None:
        return
    from lasthop.explanation.traffic import always_demands

    rates_bps = {"down": typed.wire.rate_bps, "up": typed.wire.back_rate_bps or typed.wire.rate_bps}
    for direction, rate_bps in rates_bps.items():
        greedy = {
            flow.name
            for flow in typed.flows
            if flow.direction == direction and always_demands(flow)
        }
        link = links.get(f"wire/{direction}")
        used = link.estimate("utilisation") if link else None
        if not greedy or used is None:
            continue
        ci95 = used.ci95 or 0.0
        line = (
            f"the line of {rate_bps / 1e6:g} Mb/s {direction} {traffic_of(answer, direction)}"
            f"({100 * used.mean:.0f} % used)"
        )
        if used.mean - ci95 > FULL:
            yield f"{line}: it is full; the Wi-Fi does not limit it"
        elif used.mean + ci95 <= FULL:
            # If a gateway shapes the traffic, the limits in the facts do not apply.
            limit = None if typed.vsb else limit_of(greedy, facts.limits)
            yield f"{line}: it is not full{reason(limit, direction)}"


def traffic_of(answer: Answer, direction: str) -> str:
    """Return a verb phrase on the traffic of a line, with its goodput if known."""
    goodputs = [
        flow.estimate("goodput_bps")
        for flow in summary_items(answer.contents, "flows")
        if flow.direction == direction
    ]
    rates_bps = [goodput.mean for goodput in goodputs if goodput is not None]
    return f"carries {sum(rates_bps) / 1e6:.3g} Mb/s of data " if rates_bps else "is busy "


def limit_of(greedy: set[str], limits: Sequence[Limit]) -> Limit | None:
    """Return the limit that applies to most of the flows in `greedy`; None if no limit is known."""
    shared = [limit for limit in limits if greedy.intersection(limit.flows)]
    return max(shared, key=lambda limit: len(greedy.intersection(limit.flows)), default=None)


def reason(limit: Limit | None, direction: str) -> str:
    """Return the end of a sentence: why a line is not full. Empty if the reason is unknown."""
    if limit is None:
        return ""
    match limit.by:
        case "air":
            return f"; the Wi-Fi limits it (the air is {100 * limit.fraction:.0f} % busy)"
        case "line":
            return f" ({limit.where} is {100 * limit.fraction:.0f} % used)"
        case "acks":
            return f" ({limit.where} delays the ACKs of the {TRAFFIC[direction]})"
        case "losses":
            return f" (losses in {limit.where} limit the {TRAFFIC[direction]})"
        case by:
            return f" ({WINDOWS[by]} limit the {TRAFFIC[direction]})" if by in WINDOWS else ""
