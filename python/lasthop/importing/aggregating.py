"""Cell of 802.11n, ac or ax with its stations, from the modulations of captured frames.

A cell of lasthop has one width and one guard interval. A station has one MCS for both directions.
Other modulations are replaced by the nearest possible one, and a comment at the station reports
this.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lasthop.importing import phy
from lasthop.importing.observed import Note
from lasthop.importing.ppdu import (
    AFTER,
    GENERATIONS,
    SUBCARRIERS,
    Modulation,
    Sighting,
    fitting,
    highest_mcs,
)

__all__ = ["Channel", "Place", "channel", "keys", "notes", "place", "sighting_text", "streams"]

MIN_PART = 1e-3
"""Smallest fraction of all frames for which a Wi-Fi generation or a channel width is imported. [-]
"""
WIDEST_MHZ = {"2.4 GHz": 40, "5 GHz": 160, "6 GHz": 160}
OLDER = {"2.4 GHz": "802.11g", "5 GHz": "802.11a"}
"""Physical layer of stations whose frames have no MCS, by band. The 6 GHz band has no such
stations.
"""
USUAL_STREAMS = 2
"""Assumed number of spatial streams: phones and laptops have two antennas. [-]"""

Pair = tuple[Sighting | None, Sighting | None]
"""Modulations of a station's frames: uplink, downlink."""


class Channel(NamedTuple):
    """Band, width and guard interval of a cell's channel.

    Attributes
    ----------
    phy, band : str
        Physical layer and band, as values of ``cell.phy`` and ``cell.band``.
    width_mhz : int
        Channel width. [MHz]
    guard_interval_ns : int
        Guard interval; in an 802.11ax cell, older stations have 800. [ns]
    """

    phy: str
    band: str
    width_mhz: int
    guard_interval_ns: int = 800

    def width_of(self, own: str) -> int:
        """Return the width of a station's frames; `own` is the station's Wi-Fi generation. [MHz]"""
        return min(self.width_mhz, max(SUBCARRIERS[own]))

    def guard_interval_of(self, own: str) -> int:
        """Return the guard interval of a station's frames; `own` is its Wi-Fi generation. [ns]"""
        return 800 if self.phy == "802.11ax" != own else self.guard_interval_ns


class Place(NamedTuple):
    """Physical layer and rates of a station in a cell.

    Attributes
    ----------
    phy : str
        Wi-Fi generation of the station; None if it is the same as that of the cell.
    mcs, streams : int
        MCS and streams in both directions; None for stations without MCS, or without frames.
    up_bps, down_bps : float
        Rates of frames from and to the station. [bit/s]
    remarks : sequence of str
        Differences between the scenario's values and the frames.
    """

    phy: str | None = None
    mcs: int | None = None
    streams: int | None = None
    up_bps: float | None = None
    down_bps: float | None = None
    remarks: Sequence[str] = ()


def channel(
    weights: Mapping[Sighting, float],
    band: str | None = None,
    width_mhz: int | None = None,
    newest: str | None = None,
    guard: Mapping[Sighting, float] | None = None,
) -> Channel | None:
    """Return the channel of a cell with these frames; None if no frame has an MCS.

    Parameters
    ----------
    weights : mapping
        Number of frames or bytes per modulation.
    band : str, optional
        Band of the cell, if it is known.
    width_mhz : int, optional
        Width, if it is known; default: the largest width of a frame. [MHz]
    newest : str, optional
        Wi-Fi generation of the cell, if it is known; default: the newest generation of a frame.
    guard : mapping, optional
        Number of frames or bytes per modulation for the choice of the guard interval; by default
        `weights`.
    """
    total = sum(weights.values())
    known = {each: weight for each, weight in weights.items() if weight >= MIN_PART * total}
    seen = [each.modulation for each in known if each.modulation is not None]
    if not seen and newest is None:
        return None
    if band is None:
        band = _band([each.rate_bps for each in known], seen, newest)
    allowed = [each for each in GENERATIONS if is_in(each, band)]
    latest = [nearest_phy(each.phy, allowed) for each in seen]
    own = newest or max(latest, key=GENERATIONS.index)
    usual = 80 if not seen and own != "802.11n" and band != "2.4 GHz" else 20
    width = width_mhz or max((each.width_mhz for each in seen), default=usual)
    width = min(width, WIDEST_MHZ[band], max(SUBCARRIERS[own]))
    return Channel(own, band, width, _guard_interval(guard or known, own))


def _band(rates: Sequence[float], seen: Sequence[Modulation], newest: str | None) -> str:
    """Return the most likely band: 2.4 GHz for 802.11b, 5 GHz for 802.11ac, 6 GHz for 320 MHz."""
    fast = newest == "802.11ac" or any(each.phy == "802.11ac" for each in seen)
    widest = max((each.width_mhz for each in seen), default=0)
    if fast or widest > WIDEST_MHZ["2.4 GHz"]:
        return "6 GHz" if widest > WIDEST_MHZ["5 GHz"] and not fast else "5 GHz"
    narrow = bool(seen) or newest == "802.11n"
    return "2.4 GHz" if narrow or set(rates) & set(phy.CCK_BPS) else "5 GHz"


def is_in(own: str, band: str) -> bool:
    """Return whether a Wi-Fi generation is supported in a band."""
    return own == "802.11ax" or band == "5 GHz" or (own == "802.11n" and band == "2.4 GHz")


def nearest_phy(own: str, allowed: Sequence[str]) -> str:
    """Return the newest generation in `allowed` that is not newer than `own`. If all are newer,
    return the oldest.
    """
    if own == AFTER:
        return allowed[-1]
    older = [each for each in allowed if GENERATIONS.index(each) <= GENERATIONS.index(own)]
    return (older or allowed)[-1 if older else 0]


def _guard_interval(weights: Mapping[Sighting, float], own: str) -> int:
    """Return the guard interval of most frames. In an 802.11ax cell, only 802.11ax frames count.
    [ns]"""
    counts: dict[int, float] = {}
    for each, weight in weights.items():
        modulation = each.modulation
        if modulation is not None and (own == "802.11ax") == (
            modulation.phy in ("802.11ax", AFTER)
        ):
            counts[modulation.guard_interval_ns] = (
                counts.get(modulation.guard_interval_ns, 0.0) + weight
            )
    return max(counts, key=lambda span: (counts[span], -span), default=800)


def place(within: Channel, pair: Pair, mostly: str, names: tuple[str, str]) -> Place:
    """Return a station's physical layer, with the nearest modulation that the channel permits.

    Parameters
    ----------
    within : Channel
        Channel of the cell.
    pair : pair of Sighting
        Modulations of uplink and downlink frames.
    mostly : str
        Direction of most bytes, ``"up"`` or ``"down"``. The MCS of this direction is used for both.
    names : pair of str
        Names of uplink and downlink in remarks.
    """
    both = [(name, seen) for name, seen in zip(names, pair, strict=True) if seen is not None]
    if mostly == "down":
        both.reverse()
    if not both:
        return Place()
    modulated = [each for each in both if each[1].modulation is not None]
    if not modulated:
        return _without_mcs(within, pair, names)
    allowed = [each for each in GENERATIONS if is_in(each, within.band)]
    allowed = allowed[: allowed.index(within.phy) + 1]
    phys = [nearest_phy(seen.modulation.phy, allowed) for _, seen in modulated if seen.modulation]
    own = max(phys, key=GENERATIONS.index)

    def fitted(seen: Sighting) -> Modulation:
        return fitting(seen, own, within.width_of(own), within.guard_interval_of(own))

    (name, chosen), *_ = modulated
    taken = fitted(chosen)
    remarks = []
    if _differs(chosen, taken):
        remarks.append(f"{name} rate {sighting_text(chosen)}: here {shown(taken)}")
    for other, seen in both:
        if other != name and (seen.modulation is None or fitted(seen) != taken):
            remarks.append(
                f"{other} rate {sighting_text(seen)}: here as {name}, an MCS holds both ways"
            )
    rate = taken.rate_bps
    named = None if own == within.phy else own
    return Place(named, taken.mcs, taken.streams, rate, rate, remarks)


def _without_mcs(within: Channel, pair: Pair, names: tuple[str, str]) -> Place:
    """Return a station whose frames have no MCS: 802.11a or g. At 6 GHz, the station gets the
    slowest MCS."""
    older = OLDER.get(within.band)
    if older is None:
        slowest = Modulation(within.phy, 0, 1, within.width_mhz, within.guard_interval_ns)
        rate = slowest.rate_bps
        remark = f"rates without MCS are not possible at 6 GHz: here {shown(slowest)}"
        return Place(None, 0, 1, rate, rate, [remark])
    remarks, rates = [], []
    for name, seen in zip(names, pair, strict=True):
        rate_bps = None if seen is None else phy.nearest(seen.rate_bps, older)
        rates.append(rate_bps)
        if seen is not None and rate_bps is not None and abs(rate_bps - seen.rate_bps) > 1:
            remarks.append(f"{name} rate {sighting_text(seen)}: here {phy.spelled(rate_bps)}")
    return Place(older, None, None, rates[0], rates[1], remarks)


def _differs(seen: Sighting, taken: Modulation) -> bool:
    return abs(taken.rate_bps - seen.rate_bps) > max(1e-3 * seen.rate_bps, 0.06e6)


def sighting_text(seen: Sighting) -> str:
    """Return a modulation in words; if the source has a text for it, return this text."""
    return seen.words or (shown(seen.modulation) if seen.modulation else phy.spelled(seen.rate_bps))


def shown(modulation: Modulation) -> str:
    """Return a modulation as text: ``780 Mb/s, MCS 9, 2 streams, 80 MHz, 0.8 us``."""
    streams = f"{modulation.streams} stream{'s' if modulation.streams > 1 else ''}"
    guard = f"{modulation.guard_interval_ns / 1e3:g} us"
    parts = f"MCS {modulation.mcs}, {streams}, {modulation.width_mhz} MHz, {guard}"
    return f"{modulation.rate_bps / 1e6:.1f} Mb/s, {parts}" if modulation.rate_bps else parts


def notes(within: Channel, pairs: Sequence[Pair]) -> Iterator[Note]:
    """Yield notes about the cell: unsupported features, and assumptions.

    Parameters
    ----------
    within : Channel
        Channel of the cell.
    pairs : sequence of pairs of Sighting
        Modulations of each station, uplink and downlink.
    """
    seen = [each for pair in pairs for each in pair if each is not None]
    modulations = [each.modulation for each in seen if each.modulation is not None]
    if any(each.phy == AFTER for each in modulations):
        yield later()
    peculiar = {word for each in seen for word in each.peculiar}
    for feature, message in NOT_HERE.items():
        if feature in peculiar:
            yield Note(message, warns=True)
    slow = [pair for pair in pairs if any(pair) and all(_is_cck(each) for each in pair)]
    if slow:
        many = "a station has" if len(slow) == 1 else f"{len(slow)} stations have"
        older = OLDER.get(within.band, within.phy)
        yield Note(
            f"{many} rates of 802.11b, which is in no cell that aggregates: simulated as {older}",
            warns=True,
        )
    intervals = {each.guard_interval_ns for each in modulations}
    widths = {each.width_mhz for each in modulations}
    if len(intervals) > 1 or len(widths) > 1:
        yield Note(
            "a cell has one width and one guard interval, here "
            f"{within.width_mhz} MHz and {within.guard_interval_ns / 1e3:g} us: comments give the "
            "values of stations that differ"
        )
    yield limits(within.phy)


NOT_HERE = {
    "DCM": "frames with dual carrier modulation are simulated with the MCS of the nearest rate",
    "OFDMA": "frames to several stations simultaneously (OFDMA, MU-MIMO) are simulated one by one",
    "80+80 MHz": "80+80 MHz are simulated as 160 MHz",
}
"""Features of frames that lasthop does not support, with a sentence on the replacement."""


def later() -> Note:
    """Return the note that 802.11be is simulated as 802.11ax."""
    return Note(
        "802.11be is simulated as 802.11ax, which is the nearest: up to 160 MHz, one "
        "link, MCS 0 to 11; faster stations get MCS and streams of the nearest rate",
        warns=True,
    )


def limits(own: str) -> Note:
    """Return the note that the limits of aggregates are assumed."""
    return Note(f"how much aggregates hold is assumed: what {own} allows, see cell.aggregation")


def _is_cck(seen: Sighting | None) -> bool:
    return seen is None or (seen.modulation is None and seen.rate_bps in phy.CCK_BPS)


def keys(within: Channel, comments: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the keys of the cell in a scenario, each with a comment on the source of its value.

    Parameters
    ----------
    within : Channel
        Channel of the cell.
    comments : mapping
        Comments by ``"band"``, ``"width"`` and ``"guard_interval"``.
    """
    values = {
        "band": within.band,
        "width": f"{within.width_mhz} MHz",
        "guard_interval": f"{within.guard_interval_ns / 1e3:g} us",
    }
    for key, value in values.items():
        yield key, (f'"{value}"', comments.get(key, "assumed"))


def streams(within: Channel) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the key with the assumed number of spatial streams, for stations of unknown
    capability.
    """
    mcs = highest_mcs(within.phy, within.width_mhz, USUAL_STREAMS)
    text = f"assumed, with MCS {mcs}, as near the access point"
    yield "streams", (str(USUAL_STREAMS), text)
