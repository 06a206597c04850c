"""Physical layer of a captured cell, and the rates of its stations."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lasthop.importing import aggregating, phy
from lasthop.importing.capture import Capture, Cell
from lasthop.importing.counters import StationCounters, Way
from lasthop.importing.observed import Note
from lasthop.importing.ppdu import GENERATIONS, Sighting
from lasthop.scenario.access_points import FACTS

__all__ = ["Layer", "keys", "layer", "notes", "place"]

ALL_ALIKE = 0.9
"""Limit for the fraction of a station's bytes that are sent at its main rate. Above this limit, the
other rates are not mentioned. [-]
"""
WAYS = ("up", "down")


class Layer(NamedTuple):
    """Physical layer of a cell: ``cell.phy``, its source, the band, and the channel if frames have
    an MCS.
    """

    phy: str
    why: str
    band: str | None
    channel: aggregating.Channel | None


def layer(known: Capture, cell: Cell, chosen: str | None) -> Layer:
    """Return the physical layer that the captured frames show, or that --phy sets."""
    mhz = known.mhz.most_common(1)
    band = phy.band_of(mhz[0][0]) if mhz else None
    sent = _sent(cell)
    why = "assumed" if not sent else "rates of the frames"
    if chosen is not None:
        why = "as --phy says"
        if chosen not in GENERATIONS:
            return Layer(chosen, why, band, None)
    if chosen == "802.11ac" or (chosen == "802.11n" and band == "6 GHz"):
        band = "5 GHz"  # The physical layer of --phy exists only in this band.
    channel = aggregating.channel(sent, band, newest=chosen)
    if channel is not None:
        return Layer(channel.phy, why, band, channel)
    preset, why = _without_mcs(cell, sent, band)
    return Layer(preset, why, band, None)


def _sent(cell: Cell) -> Counter[Sighting]:
    """Return the bytes of all stations by rate and modulation."""
    sent = Counter[Sighting]()
    for each in cell.stations.values():
        sent.update(each.up.sent)
        sent.update(each.down.sent)
    return sent


def _without_mcs(cell: Cell, sent: Counter[Sighting], band: str | None) -> tuple[str, str]:
    """Return the physical layer of a cell of 802.11a, b or g, and the reason for the choice."""
    if not sent:
        return "802.11g", "assumed"
    rates = Counter[float]()
    for each, count in sent.items():
        rates[each.rate_bps] += count
    preset = phy.preset(list(rates))
    if preset == "802.11b":
        return preset, "all data goes at rates of DSSS and CCK"
    slow = sum(count for rate, count in cell.control.items() if rate in phy.CCK_BPS)
    if slow > sum(cell.control.values()) / 2 and not _slow_data(rates):
        return "802.11g-long", "OFDM data between ACKs of 802.11b"
    return ("802.11a", "OFDM at 5 GHz") if band == "5 GHz" else (preset, "OFDM rates")


def _slow_data(rates: Counter[float]) -> bool:
    slow = sum(count for rate, count in rates.items() if rate in phy.CCK_BPS)
    return slow > sum(rates.values()) / 10


def _most(way: Way) -> Sighting | None:
    """Return the rate at which most bytes were sent; None if the capture has no rates."""
    return max(way.sent, key=lambda each: way.sent[each], default=None)


def _pair(tally: StationCounters) -> aggregating.Pair:
    return _most(tally.up), _most(tally.down)


def place(within: Layer, tally: StationCounters) -> aggregating.Place:
    """Return a station's rates in the cell, with remarks on its other rates."""
    spread = list(_spread(tally))
    if within.channel is not None:
        mostly = "up" if tally.up.payload_bytes > tally.down.payload_bytes else "down"
        placed = aggregating.place(within.channel, _pair(tally), mostly, WAYS)
        return placed._replace(remarks=[*placed.remarks, *spread])
    rates, remarks = [], []
    for name, most in zip(WAYS, _pair(tally), strict=True):
        took = None if most is None else phy.nearest(most.rate_bps, within.phy)
        rates.append(took)
        if most is not None and took is not None and abs(took - most.rate_bps) > 1:
            remarks.append(f"{name}: {phy.spelled(most.rate_bps)}: here {phy.spelled(took)}")
            spread = [each for each in spread if not each.startswith(f"{name}: ")]
    return aggregating.Place(up_bps=rates[0], down_bps=rates[1], remarks=[*remarks, *spread])


def _spread(tally: StationCounters) -> Iterator[str]:
    """Yield a remark for each direction in which less than `ALL_ALIKE` of a station's bytes have
    its main rate.
    """
    for name in WAYS:
        sent = tally.way(name).sent
        most = _most(tally.way(name))
        if most is not None and (part := sent[most] / sum(sent.values())) < ALL_ALIKE:
            rate = aggregating.sighting_text(most)
            yield f"{name}: {rate} for {part:.0%} of the bytes, the rest at {_others(len(sent))}"


def _others(count: int) -> str:
    """Return the number of other rates in words."""
    return "another" if count == 2 else f"{count - 1} others"


def notes(within: Layer, cell: Cell) -> Iterator[Note]:
    """Yield notes about a cell whose frames have an MCS."""
    if within.channel is None:
        return
    yield from aggregating.notes(within.channel, [*map(_pair, cell.stations.values())])
    if cell.rts:
        yield Note(
            "RTS is sent before some aggregates, a capture does not show which; here before none"
        )


def keys(
    within: Layer, tallies: Sequence[StationCounters]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the keys of a cell whose frames have an MCS, with comments."""
    if within.channel is None:
        return
    seen = any(each.up.sent or each.down.sent for each in tallies)
    assumed = {"width": "the widest of the frames", "guard_interval": "that of most bytes"}
    comments = assumed if seen else {}
    if within.band is not None:
        comments |= {"band": "channel of the capture"}
    yield from aggregating.keys(within.channel, comments)
    edca = FACTS["any-edca"]
    yield edca.key, (edca.value, f"assumed: {edca.short}, see above")
    if not seen:
        yield from aggregating.streams(within.channel)
