"""Import of the output of iw: associated stations, their rates, and the bytes they sent.

In a dump of an access point, ``rx`` is the uplink. In a dump of a station about its access point,
``rx`` is the downlink. `lasthop.importing.dump` distinguishes the two cases.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lasthop.errors import UserError
from lasthop.importing import aggregating, phy
from lasthop.importing.dump import WITHOUT_AP, Dump, Interface, read
from lasthop.importing.dumped import Dumped
from lasthop.importing.observed import Connections, Network, Note, Station
from lasthop.importing.ppdu import GENERATIONS, Sighting
from lasthop.scenario.access_points import FACTS, Fact, burst, queue

__all__ = ["network"]

IDLE_S = 60.0
"""Inactive time after which a station is imported without traffic. [s]"""

BOTH_WAYS = 0.25
"""Smallest ratio of the two directions' bytes at which both directions count as data. Below this
ratio, the smaller direction contains only TCP ACKs. [-]
"""

MAX_WRONG = 0.05
"""Largest relative error of a rate that the choice of the channel width may cause. [-]"""

MIN_REPEATS = 0.01
"""Smallest fraction of retries for which a channel error is suggested. [-]"""

WIDEST_MHZ = 160
"""Largest supported channel width. A wider channel is simulated with this width. [MHz]"""

UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
"""Units in which an amount of data is printed. [bytes]"""

NOT_SERVING = ("managed", "p2p-client", *WITHOUT_AP)
"""Interface types that are no access points."""


def network(path: Path, interface: str | None = None) -> Network:
    """Return the network that a dump of iw describes.

    Parameters
    ----------
    path : Path
        File with the output of iw.
    interface : str, optional
        Interface to import; by default all interfaces of the radio with the most stations.
    """
    dump = read(path)
    chosen, notes = _choose(path, dump, interface)
    blocks = [each for each in dump.blocks if each.interface in chosen]
    known = _known(dump, chosen)
    dumped = [Dumped.of(path, each, known) for each in blocks]
    direct = [each for each in dumped if each.ours and each.block.is_direct]
    if direct and len(direct) < len(dumped):
        dumped = [each for each in dumped if each not in direct]
        notes.append(Note("peers that are reached directly (TDLS) are left out", True))
    seen = _seen(dumped)
    band = None if known.mhz is None else phy.band_of(known.mhz)
    channel = _channel(dumped, band, known.width_mhz)
    if channel is None:
        rates = [each.rate_bps for each in seen]
        preset = "802.11a" if band == "5 GHz" else phy.preset(rates)
    else:
        preset = channel.phy
        notes += aggregating.notes(channel, [each.pair for each in dumped])
    if dump.repeated:
        times = "a station is" if dump.repeated == 1 else f"{dump.repeated} stations are"
        notes.append(Note(f"{times} listed more than once: the last counts", True))
    notes.append(
        Note(
            "a dump has the bytes of each station, but neither its connections nor the wired line: "
            "those are assumed"
        )
    )
    stations = [_station(each, preset, channel) for each in dumped]
    if not any(each.upload or each.download for each in stations):
        stations, note = _with_traffic(stations, dumped)
        notes.append(note)
    ours = any(each.ours for each in dumped)
    if channel is not None and not ours and burst(channel.band, channel.phy) is not None:
        fact = FACTS["openwrt-burst"]
        notes.append(
            Note(f"if the access point runs OpenWrt, it has {fact.line}, which is not in a dump")
        )
    return Network(
        source=f"iw station dump {path.name}",
        phy=preset,
        phy_note="from the rates" if seen else "assumed: no rate is given",
        stations=stations,
        cell={} if channel is None else dict(_cell(channel, known)),
        notes=notes,
        facts=_facts(preset, ours=ours),
    )


def _choose(path: Path, dump: Dump, interface: str | None) -> tuple[list[str], list[Note]]:
    """Return the interfaces to import, and notes. The interfaces are those of one radio with
    stations.
    """
    counts = Counter(each.interface for each in dump.blocks)
    if interface is not None and interface not in counts:
        raise UserError(f"--interface {interface}: {path} has {', '.join(counts)}")
    groups: dict[object, list[str]] = {}
    for name in counts:
        groups.setdefault(_radio(dump, name), []).append(name)

    def rank(names: list[str]) -> tuple[bool, int]:
        with_ap = _no_access_point(dump, names[0]) is None
        return with_ap, sum(counts[name] for name in names)

    chosen = [interface] if interface else max(groups.values(), key=rank)
    notes = []
    mhz = _known(dump, chosen).mhz
    for name in counts:
        if name not in chosen:
            shares = mhz is not None and dump.interfaces.get(name, Interface()).mhz == mhz
            why = "they share the channel" if shares else "another cell"
            notes.append(Note(f"stations on {name} are left out: {why}", True))
    if what := _no_access_point(dump, chosen[0]):
        notes.append(
            Note(
                f"{chosen[0]} is {what}, which has no access point: this machine is simulated as "
                "one, and traffic between its peers is unknown",
                True,
            )
        )
    return chosen, notes


def _radio(dump: Dump, name: str) -> object:
    """Return a key that is equal for interfaces of the same cell: radio and channel, or else the
    name.

    ``wlan0.sta1`` is the separate interface of a station of ``wlan0`` (AP/VLAN).
    """
    base = name.partition(".")[0]
    shown = dump.interfaces.get(name) or dump.interfaces.get(base)
    if shown is None or not shown.wiphy or shown.type in NOT_SERVING:
        return base
    main = dump.interfaces.get(base, shown)
    return shown.wiphy, main.mhz or shown.mhz


def _no_access_point(dump: Dump, name: str) -> str | None:
    """Return a description of a network without access point; None if the network has one."""
    shown = dump.interfaces.get(name, Interface())
    if shown.type in WITHOUT_AP:
        return WITHOUT_AP[shown.type]
    blocks = [each for each in dump.blocks if each.interface == name]
    is_mesh = not shown.type and any("mesh plink" in each.fields for each in blocks)
    return WITHOUT_AP["mesh point"] if is_mesh else None


def _known(dump: Dump, chosen: Sequence[str]) -> Interface:
    """Return the first of the chosen interfaces whose channel is known; else the first
    interface.
    """
    names = [*chosen, *(name.partition(".")[0] for name in chosen)]
    shown = [dump.interfaces[name] for name in names if name in dump.interfaces]
    tuned = [each for each in shown if each.mhz is not None]
    return (tuned or shown or [Interface()])[0]


def _facts(preset: str, *, ours: bool) -> tuple[Fact, ...]:
    """Return the assumptions about the access point. If `ours`, iw ran on a station, so less is
    known about the access point."""
    if ours:
        return tuple(
            [FACTS["any-edca"], queue(preset, of_mac80211=False)] if preset in GENERATIONS else []
        )
    result = queue(preset, of_mac80211=True)
    return (FACTS["hostapd-edca"], result) if preset in GENERATIONS else (result,)


def _seen(dumped: Sequence[Dumped]) -> list[Sighting]:
    """Return the rates of all stations in both directions."""
    return [rate for each in dumped for rate in each.pair if rate is not None]


def _channel(
    dumped: Sequence[Dumped], band: str | None, width_mhz: int | None
) -> aggregating.Channel | None:
    """Return the channel with the width that iw reports. If this width would change the rates of
    stations with narrower frames, return a narrower channel."""
    seen, guard = Counter(_seen(dumped)), _carrying(dumped)
    narrow = aggregating.channel(seen, band, guard=guard)
    wide = aggregating.channel(seen, band, width_mhz, guard=guard)
    if narrow is None or wide is None or wide.width_mhz != min(width_mhz or 0, WIDEST_MHZ):
        return narrow
    wrong = _wrong(dumped, wide)
    return narrow if wrong > MAX_WRONG and wrong > _wrong(dumped, narrow) else wide


def _wrong(dumped: Sequence[Dumped], channel: aggregating.Channel) -> float:
    """Return the largest relative error of any station's rate in a channel. [-]"""
    wrong = [0.0]
    for each in dumped:
        rate = each.carrying
        placed = aggregating.place(channel, each.pair, each.mostly, each.names)
        if rate is not None and placed.mcs is not None and placed.up_bps:
            wrong.append(abs(placed.up_bps / rate.rate_bps - 1.0))
    return max(wrong)


def _carrying(dumped: Sequence[Dumped]) -> Counter[Sighting]:
    """Return the bytes of all stations by rate. Of each station, only the direction with most bytes
    counts. [bytes]
    """
    carried = Counter[Sighting]()
    for each in dumped:
        if each.carrying is not None:
            carried[each.carrying] += max(int(max(each.moved)), 1)
    return carried


def _cell(channel: aggregating.Channel, known: Interface) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the keys of a cell that aggregates, with comments."""
    lines = {
        "band": "assumed, from rates and widths; `iw dev wlan0 info` prints it",
        "width": "the widest of the stations'",
        "guard_interval": "of the rates that carried most bytes",
    }
    if known.mhz is not None:
        number = "" if known.number is None else f"channel {known.number}, "
        lines["band"] = f"{number}{known.mhz} MHz"
    if known.width_mhz is not None:
        alike = min(known.width_mhz, WIDEST_MHZ) == channel.width_mhz
        lines["width"] = (
            "from `iw dev info`"
            if alike
            else f"the widest of the rates; `iw dev info` has {known.width_mhz} MHz"
        )
    yield from aggregating.keys(channel, lines)
    yield "edca", ('"hostapd"', "assumed: hostapd's defaults, see above")


def _with_traffic(
    stations: Sequence[Station], dumped: Sequence[Dumped]
) -> tuple[list[Station], Note]:
    """Return the stations with one assumed connection at the busiest station, and a note about
    it.
    """
    at = max(range(len(dumped)), key=lambda k: max(dumped[k].moved))
    assumed = Connections(1, False, "every station is silent")
    if dumped[at].mostly == "up":
        way, busy = "upload", replace(stations[at], upload=assumed)
    else:
        way, busy = "download", replace(stations[at], download=assumed)
    note = Note(f"every station has been silent for a minute: one {way} is assumed", True)
    return [busy if k == at else each for k, each in enumerate(stations)], note


def _moved(count: float) -> str:
    """Return an amount of data as text, such as ``204 MB``."""
    for unit, size in UNITS:
        if count >= 0.9995 * size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def _station(dumped: Dumped, preset: str, channel: aggregating.Channel | None) -> Station:
    up_bytes, down_bytes = dumped.moved
    if channel is None:
        placed = _of_rates(dumped, preset)
    else:
        placed = aggregating.place(channel, dumped.pair, dumped.mostly, dumped.names)
    notes = [*_remarks(dumped, placed.remarks)]
    idle = dumped.silent_s > IDLE_S
    if idle:
        notes.append(f"silent for {dumped.silent_s:.0f} s")
    most = max(dumped.moved)
    shares = f"{_moved(down_bytes)} down, {_moved(up_bytes)} up since it associated"

    def assumed(moved: float) -> Connections | None:
        few = moved < BOTH_WAYS * most or most == 0
        return None if idle or few else Connections(1, False, shares)

    upload, download = map(assumed, dumped.moved)
    if not idle and upload is None and download is None:
        download = Connections(1, False, "nothing moved yet")
    return Station(
        address=dumped.block.address,
        up_bps=placed.up_bps,
        down_bps=placed.down_bps,
        phy=placed.phy,
        mcs=placed.mcs,
        streams=placed.streams,
        upload=upload,
        download=download,
        notes=notes,
    )


def _of_rates(dumped: Dumped, preset: str) -> aggregating.Place:
    """Return the rates of a station in a cell whose frames have no MCS."""
    rates = [each and phy.nearest(each.rate_bps, preset) for each in dumped.pair]
    remarks = [
        f"{name} rate {seen.words}: here {phy.spelled(rate)}"
        for name, seen, rate in zip(dumped.names, dumped.pair, rates, strict=True)
        if seen is not None and rate is not None and abs(rate - seen.rate_bps) > 1
    ]
    return aggregating.Place(up_bps=rates[0], down_bps=rates[1], remarks=remarks)


def _remarks(dumped: Dumped, of_rates: Sequence[str]) -> Iterator[str]:
    if dumped.ours:
        yield "this is the machine that wrote the dump, as a station of its access point"
    fields = dumped.block.fields
    signal = fields.get("signal avg") or fields.get("signal")
    if signal and (match := re.match(r"-?\d+", signal)):
        level = int(match[0])
        strange = "" if -110 <= level < 0 else ", which no radio measures"
        yield f"signal {level} dBm{strange}"
    for name, seen in zip(dumped.names, dumped.pair, strict=True):
        if seen is None:
            yield f"no {name} rate is given: that of the other direction or of the cell is assumed"
    yield from of_rates
    if dumped.expected_mbps is not None:
        towards = "from" if dumped.ours else "to"
        yield (
            f"rate control expects a throughput of {dumped.expected_mbps:.1f} Mb/s {towards} it "
            "while no other station sends"
        )
    if dumped.repeats and dumped.packets:
        yield _repeats(dumped)


def _repeats(dumped: Dumped) -> str:
    """Return a phrase with the fraction of retries."""
    part = dumped.repeats / (dumped.repeats + dumped.packets)
    shown = f"{part:.0%}" if part >= MIN_REPEATS else f"{part:.2%}"
    if part < 5e-5:
        shown = "fewer than 0.01%"
    text = f"{shown} of {'its frames' if dumped.ours else 'the frames to it'} were repeats"
    if part < MIN_REPEATS:
        return text
    both = f"{text}, collisions and noise together"
    return both if dumped.ours else f"{both}; error_down = {part:.2f} would be all noise"
