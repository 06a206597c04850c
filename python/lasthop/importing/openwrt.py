"""OpenWrt's ``/etc/config/wireless``, and ``/etc/config/sqm`` for the line behind it.

Only what decides about air time is taken: band, mode, rates, RTS threshold, beacon interval and
WMM; names, keys and addresses stay where they are. OpenWrt hands these options to hostapd, whose
defaults hold for the rest.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lasthop.errors import UserError
from lasthop.importing import phy
from lasthop.importing.hostapd import OWN, TOLD, assumed_station, quoted
from lasthop.importing.observed import Access, Network, Note
from lasthop.importing.ppdu import GENERATIONS
from lasthop.importing.settled import Settled, Wanted, cell_keys, settle
from lasthop.importing.uci import Section, read

__all__ = ["network"]

BANDS = {"2g": "g", "5g": "a", "6g": "a", "60g": "ad"}
"""Modes by ``band``, which newer versions say in place of ``hwmode``."""

HWMODES = {
    "11b": "b",
    "11g": "g",
    "11a": "a",
    "11bg": "g",
    "11ng": "g",
    "11na": "a",
    "11n": "g",
    "11bgn": "g",
    "11ac": "a",
    "auto": "g",
}
LATER = {"HT": "n", "VHT": "ac", "HE": "ax", "EHT": "be"}
"""Later physical layers by the letters of ``htmode``."""
HTMODE = re.compile(r"(HT|VHT|HE|EHT)(20|40|80|160|320|80\+80)[+-]?")
NONE = {"", "NONE", "NOHT", "AUTO"}
"""Values of ``htmode`` that name no physical layer."""
OF_HWMODES = {"11ng": "n", "11na": "n", "11n": "n", "11bgn": "n", "11ac": "ac"}
"""Later physical layers by ``hwmode``, where ``htmode`` is silent."""

TRUE = {"1", "on", "true", "yes", "enabled"}
FALSE = {"0", "off", "false", "no", "disabled"}

SHAPERS = {"cake": "fq_codel", "fq_codel": "fq_codel", "codel": "codel", "pie": "pie"}
"""Disciplines of lasthop by those of SQM; CAKE shares between flows as FQ-CoDel does."""


def network(
    path: Path, stations: int, radio: str | None = None, sqm: Path | None = None
) -> Network:
    """The cell of one radio of the file, with so many stations, which it does not know.

    Parameters
    ----------
    path : Path
        ``/etc/config/wireless`` or what ``uci show wireless`` prints.
    stations : int
        Their number.
    radio : str, optional
        Name of its section; by default the first that is switched on.
    sqm : Path, optional
        ``/etc/config/sqm``, for the line behind the router.
    """
    sections = read(path, "/etc/config/wireless")
    radios = {each.name: each for each in sections if each.kind == "wifi-device"}
    if not radios:
        raise UserError(f"{path}: no section wifi-device: not /etc/config/wireless")
    interfaces = [each for each in sections if each.kind == "wifi-iface"]
    serving = [name for name in radios if _serves(path, radios[name], interfaces)]
    if radio is not None and radio not in radios:
        raise UserError(f"--radio {radio}: {path} has {', '.join(radios)}")
    chosen = radios[radio or (serving or list(radios))[0]]
    notes = []
    if radio is None and len(serving) > 1:
        others = ", ".join(name for name in serving if name != chosen.name)
        notes.append(Note(f"this is {chosen.name}; {others} are cells of their own: --radio", True))
    if chosen.name not in serving:
        notes.append(Note(f"{chosen.name} is disabled or no access point at present", True))
    mode, said = _mode(path, chosen)
    preset = {"b": "802.11b", "a": "802.11a"}.get(mode, "802.11g")
    cell = {}
    settled = _channel(path, chosen, mode, said)
    if settled is not None:
        preset, said = settled.within.phy, settled.said["width"]
        notes += settled.notes
        cell = dict(cell_keys(settled))
    notes.append(Note("who the stations are and what they do is assumed"))
    wire = {} if sqm is None else dict(_wire(sqm))
    wmm = settled is not None or any(
        _switch(path, each, "wmm")
        for each in interfaces
        if each.options.get("device") == chosen.name
    )
    return Network(
        source=f"OpenWrt settings {path.name}, {chosen.name}",
        phy=preset,
        phy_note=said,
        stations=[assumed_station(number) for number in range(1, stations + 1)],
        cell=cell | dict(_cell(path, chosen, preset)),
        access=_access(wmm),
        wire=wire,
        notes=notes,
    )


def _serves(path: Path, radio: Section, interfaces: Sequence[Section]) -> bool:
    """Whether the radio is on and one of its networks is an access point's."""
    on = not _switch(path, radio, "disabled", default=False)
    return on and any(
        each.options.get("device") == radio.name
        and each.options.get("mode", "ap") == "ap"
        and not _switch(path, each, "disabled", default=False)
        for each in interfaces
    )


def _switch(path: Path, section: Section, name: str, *, default: bool = True) -> bool:
    text = section.options.get(name, "").lower()
    if text and text not in TRUE | FALSE:
        where = f"{path}:{section.lines[name]}: `{section.name}.{name}`"
        raise UserError(f'{where}: "{text[:20]}" is neither 0 nor 1')
    return text in TRUE if text else default


def _mode(path: Path, radio: Section) -> tuple[str, str]:
    """The mode as hostapd has it, and what said so."""
    for name, known in (("band", BANDS), ("hwmode", HWMODES)):
        text = radio.options.get(name, "").lower()
        if not text:
            continue
        mode = known.get(text) or (BANDS.get(text) if name == "hwmode" else None)
        if mode is None or mode == "ad":
            where = f"{path}:{radio.lines[name]}: `{radio.name}.{name}`"
            allowed = ", ".join(known if mode is None else ("2g", "5g", "6g"))
            raise UserError(f'{where}: "{text[:20]}"; lasthop has {allowed}')
        return mode, f"{name} {text}"
    channel = _whole(path, radio, "channel", 0, 253) if _numbered(radio) else None
    if channel is not None and channel > 14:
        return "a", f"channel {channel}, no band is told"
    return "g", "no band is told: 2.4 GHz is assumed" if channel is None else f"channel {channel}"


def _numbered(radio: Section) -> bool:
    return radio.options.get("channel", "auto").lower() not in ("auto", "acs_survey")


def _channel(path: Path, radio: Section, mode: str, of_mode: str) -> Settled | None:
    """The channel of a radio of 802.11n or later; None of older ones."""
    htmode = radio.options.get("htmode", "").upper()
    found = HTMODE.fullmatch(htmode)
    if found is None and htmode not in NONE:
        where = f"{path}:{radio.lines['htmode']}: `{radio.name}.htmode`"
        raise UserError(
            f'{where}: "{radio.options["htmode"][:20]}"; lasthop has HT, VHT, HE or EHT with a '
            "width, such as HT20 or VHT80, and NOHT"
        )
    hwmode = radio.options.get("hwmode", "").lower()
    letter = LATER[found[1]] if found else OF_HWMODES.get(hwmode)
    if mode == "b" or letter is None or htmode in ("NONE", "NOHT"):
        return None
    split = found is not None and found[2] == "80+80"
    width_mhz = 20 if found is None else 160 if split else int(found[2])
    capabilities = radio.options.get("ht_capab", "") + radio.options.get("vht_capab", "")
    short = f"short_gi_{min(width_mhz, 160)}"
    listed = short.upper().replace("_", "-") in capabilities
    allowed = listed or ("SHORT-GI" not in capabilities and _switch(path, radio, short))
    band = "6 GHz" if of_mode == "band 6g" else "5 GHz" if mode == "a" else "2.4 GHz"
    wanted = Wanted(letter, band, width_mhz, allowed, split)
    said = f"htmode {htmode}" if found else f"hwmode {hwmode}, no htmode is told"
    of_guard = f"{short}{'' if short in radio.options or listed else ', on by default'}"
    return settle(wanted, of_mode, said, of_guard)


def _whole(path: Path, section: Section, name: str, least: int, most: int) -> int | None:
    text = section.options.get(name)
    if text is None:
        return None
    if not re.fullmatch(r"-?\d{1,9}", text) or not least <= int(text) <= most:
        where = f"{path}:{section.lines[name]}: `{section.name}.{name}`"
        raise UserError(f'{where}: "{text[:20]}" is not a whole number from {least} to {most}')
    return int(text)


def _cell(path: Path, radio: Section, preset: str) -> Iterator[tuple[str, tuple[str, str]]]:
    aggregates = preset in GENERATIONS
    rates = [] if aggregates else _rates(path, radio, "supported_rates", preset)
    if rates:
        yield "rate", (quoted(phy.spelled(max(rates))), "fastest of supported_rates")
    if radio.options.get("rts", "off") != "off":
        threshold = _whole(path, radio, "rts", -1, 65535)
        if threshold is not None and 0 <= threshold < 2347:
            yield "rts_threshold", (quoted(f"{threshold} B"), "rts")


def _rates(path: Path, radio: Section, name: str, preset: str) -> list[float]:
    """Rates of a list in kb/s, those that the preset has. [bit/s]"""
    text = radio.options.get(name, "")
    if text and not re.fullmatch(r"\d{1,6}(\s+\d{1,6})*", text):
        where = f"{path}:{radio.lines[name]}: `{radio.name}.{name}`"
        raise UserError(f'{where}: "{text[:40]}" is not a list of rates in kb/s')
    return [rate for word in text.split() if (rate := 1e3 * int(word)) in phy.RATES[preset]]


def _access(wmm: bool) -> Mapping[tuple[str, str], Access]:
    own = {("cell.ap", "best-effort"): OWN["best-effort"]}
    return own | ({("cell", "best-effort"): TOLD["best-effort"]} if wmm else {})


def _wire(path: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """The line as SQM shapes it."""
    queues = [each for each in read(path, "/etc/config/sqm") if each.kind == "queue"]
    if not queues:
        raise UserError(f"{path}: no section queue: not /etc/config/sqm")
    on = [each for each in queues if _switch(path, each, "enabled", default=False)] or queues
    queue = on[0]
    for name, key in (("download", "rate"), ("upload", "back_rate")):
        kbps = _whole(path, queue, name, 0, 100_000_000)
        if kbps:
            yield key, (quoted(phy.spelled(1e3 * kbps)), f"SQM {name}")
    qdisc = queue.options.get("qdisc", "")
    if qdisc in SHAPERS:
        yield "queue", (f"{{ {SHAPERS[qdisc]} = {{}} }}", f"SQM qdisc {qdisc}")
