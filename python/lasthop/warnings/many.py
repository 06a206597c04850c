"""Warnings about many scenarios that were simulated together."""

from collections.abc import Iterable

from lasthop.warnings.stationarity import ROUND_TRIPS, enough_s

__all__ = ["short_warmups"]


def short_warmups(short: Iterable[tuple[float, int, float]]) -> list[str]:
    """Return a warning for each warm-up that contains too few round-trip times.

    Parameters
    ----------
    short : iterable
        Warm-up [s], number of scenarios with this warm-up for which it is too short, and their
        longest round-trip time [s].
    """
    return [
        f"`warmup` = {warmup_s:g} s is shorter than {ROUND_TRIPS:g} round trips, of up to "
        f"{rtt_s:.2g} s, in {scenarios} scenario{'' if scenarios == 1 else 's'}: means "
        f"may be of the start; {enough_s(rtt_s):g} s is long enough"
        for warmup_s, scenarios, rtt_s in short
    ]
