"""Facts about a run as lines of text."""

from collections.abc import Iterator, Sequence

from lasthop.answers.calls import call_of
from lasthop.explanation.facts import Facts

__all__ = ["fact_lines"]

MAX_DELAYS = 4
"""Maximum number of flows whose delays are printed."""

LIMITED_BY = {
    "application": "the application",
    "rwnd": "the receive window",
    "cwnd": "the congestion window",
}


def fact_lines(facts: Facts, *, most_delays: int = MAX_DELAYS) -> Iterator[str]:
    """Yield lines on where packets wait, what limits each flow, and which station costs most air
    time.

    Parameters
    ----------
    facts : Facts
        Facts of a run.
    most_delays : int
        Maximum number of flows whose delays are printed: flows of calls first, then the longest
        delays.
    """
    in_calls = {name for item in facts.calls for name in call_of(item).flows}
    delays = sorted(facts.delays, key=lambda delay: (delay.flow not in in_calls, -delay.total_s))
    for delay in delays[:most_delays]:
        parts = [part for part in delay.parts if part.share >= 0.05][:3]
        shares = ", ".join(f"{100 * part.share:.0f} % in {part.queue}" for part in parts)
        mean = f"packets of {delay.flow} take {1e3 * delay.total_s:.3g} ms on average"
        yield f"{mean}: {shares or 'no queue'}"
    for limit in facts.limits:
        flows = "all TCP flows" if limit.is_of_all else listed(limit.flows)
        share = f"{100 * limit.fraction:.0f} %"
        match limit.by:
            case "line":
                yield f"{limit.where} ({share} used) limits {flows}"
            case "acks":
                yield f"{limit.where} ({share} used) delays the ACKs of {flows}"
            case "losses":
                dropped = f"{100 * limit.fraction:.2g} % of packets"
                yield f"losses in {limit.where} ({dropped}) limit {flows}"
            case "air":
                yield f"the air ({share} busy) limits {flows}"
            case by:
                yield f"{LIMITED_BY[by]} limits {flows} ({share} of the time)"
    if air := facts.air:
        yield (
            f"{air.station} costs most air time: it uses {100 * air.airtime_fraction:.0f} % "
            f"for {100 * air.goodput_share:.0f} % of the goodput"
        )


def listed(names: Sequence[str]) -> str:
    """Return one or two flow names; for more flows, return their number and their stations or
    hosts.
    """
    if len(names) <= 2:
        return " and ".join(names)
    owners = list(dict.fromkeys(name.partition("/")[0] for name in names))
    if len(owners) > 2:
        owners = [owners[0], f"{len(owners) - 1} others"]
    return f"{len(names)} flows of {' and '.join(owners)}"
