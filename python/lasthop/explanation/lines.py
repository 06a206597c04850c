"""Facts of a run as lines of text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["fact_lines"]

MOST_DELAYS = 4
"""Flows whose waits are printed."""

LIMITED_BY = {
    "application": "the application",
    "rwnd": "the receive window",
    "cwnd": "the congestion window",
}


def fact_lines(facts: Mapping[str, Any], *, most_delays: int = MOST_DELAYS) -> Iterator[str]:
    """Yield where packets wait, what limits each flow, and the station that costs most air time.

    Parameters
    ----------
    facts : mapping
        Facts of a run, see `lasthop.explanation.facts.facts`.
    most_delays : int
        Number of flows whose waits are given: calls first, then the longest delays.
    """
    calls = [call["flows"] for call in facts["calls"]]
    in_calls = {name for flows in calls for name in flows}
    delays = sorted(
        facts["delays"], key=lambda item: (item["flow"] not in in_calls, -item["total_s"])
    )
    for item in delays[:most_delays]:
        parts = [part for part in item["parts"] if part["share"] >= 0.05][:3]
        shares = ", ".join(f"{100 * part['share']:.0f} % in {part['queue']}" for part in parts)
        mean = f"packets of {item['flow']} take {1e3 * item['total_s']:.3g} ms on average"
        yield f"{mean}: {shares or 'no queue'}"
    for item in facts["limits"]:
        flows = "all TCP flows" if item["all"] else listed(item["flows"])
        share = f"{100 * item['fraction']:.0f} %"
        if item["by"] == "line":
            yield f"{item['where']} ({share} used) limits {flows}"
        elif item["by"] == "acks":
            yield f"{item['where']} ({share} used) delays the ACKs of {flows}"
        elif item["by"] == "losses":
            dropped = f"{100 * item['fraction']:.2g} % of packets"
            yield f"losses in {item['where']} ({dropped}) limit {flows}"
        elif item["by"] == "air":
            yield f"the air ({share} busy) limits {flows}"
        else:
            yield f"{LIMITED_BY[item['by']]} limits {flows} ({share} of the time)"
    air = facts["air"]
    if air:
        yield (
            f"{air['station']} costs most air time: it uses {100 * air['airtime_fraction']:.0f} % "
            f"for {100 * air['goodput_share']:.0f} % of the goodput"
        )


def listed(names: Sequence[str]) -> str:
    """Return the names of one or two flows, else the number of flows and their owners."""
    if len(names) <= 2:
        return " and ".join(names)
    owners = list(dict.fromkeys(name.partition("/")[0] for name in names))
    if len(owners) > 2:
        owners = [owners[0], f"{len(owners) - 1} others"]
    return f"{len(names)} flows of {' and '.join(owners)}"
