"""Import of OpenWrt's ``/etc/config/wireless``: one radio as a cell.

Only settings that affect air time are imported: band, mode, rates, RTS threshold, bursts and WMM.
Names, keys and addresses are not imported. OpenWrt passes these options to hostapd, whose defaults
apply to missing options. Bursts and queue are set by facts of `lasthop.scenario.access_points`.
``/etc/config/sqm`` is read by `lasthop.importing.sqm`.

Vendor firmwares that are based on OpenWrt have radios of other types than ``mac80211``. They write
the generation into ``hwmode``: ``11axa`` is 802.11ax at 5 GHz, where ``htmode`` ``HT80`` is only a
width (``qcawifi.sh`` of Qualcomm's QSDK).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lasthop.errors import UserError
from lasthop.importing import hostapd, phy, sqm
from lasthop.importing.hostapd import OWN, TOLD, assumed_station, quoted
from lasthop.importing.observed import Access, Network, Note
from lasthop.importing.ppdu import GENERATIONS
from lasthop.importing.settled import Settled, Wanted, cell_keys, settle
from lasthop.importing.uci import Section, read
from lasthop.scenario.access_points import BURST_S, FACTS, Fact, burst, queue

__all__ = ["network"]

BANDS = {"2g": "g", "5g": "a", "6g": "a", "60g": "ad"}
"""Values of hostapd's ``hw_mode``, by the value of OpenWrt's option ``band``. Newer versions of
OpenWrt use ``band`` instead of ``hwmode``."""

HWMODE = re.compile(r"(?:802\.)?11((?:be|ax|ac|ad|[abgn])+)|auto")
PART = re.compile(r"be|ax|ac|ad|[abgn]")
LETTERS = ("n", "ac", "ax", "be")
"""Letters of the physical layers after 802.11g, the oldest first."""
LATER = {"HT": "n", "VHT": "ac", "HE": "ax", "EHT": "be"}
"""Letters of the physical layers after 802.11g, by the letters at the beginning of ``htmode``."""
HTMODE = re.compile(r"(HT|VHT|HE|EHT)(20|40|80|160|320|80\+80)(?:[+-]|-[12])?")
NONE = {"", "NONE", "NOHT", "AUTO"}
"""Values of ``htmode`` that enable neither 802.11n nor a later physical layer."""

MAC80211 = ("", "mac80211")
"""Radio types whose driver uses mac80211. A radio without a type is assumed to use mac80211."""

MAX_BURST_MS = 8.16
"""Longest TXOP of a burst: 255 units of 32 us (IEEE 802.11-2020, 9.4.2.28). [ms]"""

MODES_OF_OTHERS = {
    "sta": "a station of another access point",
    "adhoc": "an ad hoc network (IBSS)",
    "ibss": "an ad hoc network (IBSS)",
    "mesh": "a mesh",
    "monitor": "a monitor",
    "wds": "a link to another access point (WDS)",
}
"""Descriptions of networks in which the radio is no access point, by the option ``mode``."""


def network(
    path: Path,
    stations: int,
    radio: str | None = None,
    sqm_file: Path | None = None,
    autorate_file: Path | None = None,
) -> Network:
    """Return the network of one radio. The number of stations is an argument, since the file does
    not contain it.

    Parameters
    ----------
    path : Path
        ``/etc/config/wireless`` or what ``uci show wireless`` prints.
    stations : int
        Number of stations in the imported scenario.
    radio : str, optional
        Name of the radio's section; by default the first radio that is enabled.
    sqm_file : Path, optional
        ``/etc/config/sqm``, for the link after the router.
    autorate_file : Path, optional
        Configuration of cake-autorate, which changes the rates of SQM.
    """
    if autorate_file is not None and sqm_file is None:
        raise UserError(
            f"--autorate {autorate_file}: cake-autorate changes the rates of SQM: expected --sqm "
            "as well"
        )
    sections = read(path, "/etc/config/wireless")
    radios = {each.name: each for each in sections if each.kind == "wifi-device"}
    if not radios:
        is_sqm = any(each.kind == "queue" for each in sections)
        raise UserError(
            f"{path}: no section wifi-device: not /etc/config/wireless",
            f"it is /etc/config/sqm: use `lasthop import openwrt WIRELESS --sqm {path}`, where "
            "WIRELESS is /etc/config/wireless"
            if is_sqm
            else None,
        )
    interfaces = [each for each in sections if each.kind == "wifi-iface"]
    serving = [name for name in radios if _serves(radios[name], interfaces)]
    if radio is not None and radio not in radios:
        raise UserError(f"--radio {radio}: {path} has {', '.join(radios)}")
    chosen = radios[radio or (serving or list(radios))[0]]
    own = [each for each in interfaces if each.text("device") == chosen.name]
    notes = list(_networks(chosen, own, serving))
    if radio is None:
        notes += _other_radios(chosen.name, list(radios), serving, interfaces)
    mode, text = _mode(chosen)
    preset = {"b": "802.11b", "a": "802.11a"}.get(mode, "802.11g")
    band = _band(mode, text)
    cell = {}
    letter = _letter(chosen, mode)
    settled = None
    if letter is not None:
        settled = _channel(chosen, letter, band, text)
        preset, text = settled.within.phy, settled.comments["width"]
        notes += settled.notes
        cell = dict(cell_keys(settled))
    notes.append(Note("the stations and their traffic are assumed"))
    line = sqm.Line({}, ()) if sqm_file is None else sqm.line(sqm_file, autorate_file)
    options = _hostapd_options(chosen, own)
    wmm = settled is not None or any(each.switch("wmm") for each in own)
    generation = None if letter is None else phy.LETTERS[letter]
    bursts = _burst(chosen, band, generation)
    return Network(
        source=f"OpenWrt settings {path.name}, {chosen.name}",
        phy=preset,
        phy_note=text,
        stations=[assumed_station(number) for number in range(1, stations + 1)],
        cell=cell | dict(_cell(chosen, preset)),
        access=dict(_access(options, bursts, wmm=wmm)),
        wire=line.wire,
        line=line.link,
        notes=[*notes, *_of_type(chosen), *line.notes],
        facts=_facts(chosen, preset, options, bursts),
    )


def _is_mac80211(radio: Section) -> bool:
    return radio.word("type") in MAC80211


def _of_type(radio: Section) -> Iterator[Note]:
    """Yield a note if the driver of the radio does not use mac80211, so that less is known."""
    if not _is_mac80211(radio):
        kind = radio.options["type"][:20]
        yield Note(
            f"type {kind} is a driver of its vendor: neither mac80211's queue nor OpenWrt's burst "
            "is assumed, and how it queues is not known",
            True,
        )


def _networks(
    radio: Section, interfaces: Sequence[Section], serving: Sequence[str]
) -> Iterator[Note]:
    """Yield notes about a radio that serves several networks or none."""
    on = [each for each in interfaces if not each.switch("disabled", default=False)]
    modes = [each.word("mode", "ap") for each in on]
    others = [MODES_OF_OTHERS.get(mode, f"mode {mode[:20]}") for mode in modes if mode != "ap"]
    if radio.name not in serving:
        if others and not radio.switch("disabled", default=False):
            yield Note(
                f"{radio.name} is no access point but {' and '.join(dict.fromkeys(others))}: "
                "simulated as if it were one",
                True,
            )
            return
        yield Note(f"{radio.name} is disabled or no access point at present", True)
    elif others:
        yield Note(
            f"{radio.name} is also {' and '.join(dict.fromkeys(others))}, which shares its air "
            "and is left out",
            True,
        )
    if modes.count("ap") > 1:
        yield Note(f"{radio.name} has {modes.count('ap')} networks, which share its air: one cell")


def _other_radios(
    chosen: str, radios: Sequence[str], serving: Sequence[str], interfaces: Sequence[Section]
) -> Iterator[Note]:
    """Yield notes on the radios that are not imported: they are separate cells, or serve no
    network."""
    cells = [name for name in serving if name != chosen]
    if cells:
        are = "is a cell of its own" if len(cells) == 1 else "are cells of their own"
        options = " or ".join(f"`--radio {name}`" for name in cells)
        yield Note(f"this is {chosen}; {' and '.join(cells)} {are}: {options}", True)
    with_networks = {each.text("device") for each in interfaces}
    for name in radios:
        if name != chosen and name not in with_networks:
            yield Note(f"{name} has no wifi-iface: it serves no network, and is left out", True)


def _facts(
    radio: Section, preset: str, options: Section, bursts: tuple[float, Fact | str] | None
) -> tuple[Fact, ...]:
    """Return the assumptions about the radio."""
    if not _is_mac80211(radio):
        unknown = queue(preset, of_mac80211=False)
        return (FACTS["any-edca"], *([unknown] if preset in GENERATIONS else []))
    results = [FACTS["openwrt-edca"]]
    if bursts is not None and isinstance(bursts[1], Fact) and BURST_OPTION not in options.options:
        results.append(bursts[1])
    return (*results, queue(preset, of_mac80211=True))


def _serves(radio: Section, interfaces: Sequence[Section]) -> bool:
    """Return whether the radio is enabled and serves the network of an access point."""
    on = not radio.switch("disabled", default=False)
    return on and any(
        each.text("device") == radio.name
        and each.word("mode", "ap") == "ap"
        and not each.switch("disabled", default=False)
        for each in interfaces
    )


def _mode(radio: Section) -> tuple[str, str]:
    """Return the radio's mode as a value of hostapd's ``hw_mode``, and the option that sets the
    mode.
    """
    band = radio.word("band")
    if band:
        return _known_mode(radio, "band", BANDS.get(band), "2g, 5g, 6g"), f"band {band}"
    hwmode = radio.word("hwmode")
    channel = radio.number("channel", 0, 253) if _numbered(radio) else None
    if hwmode and hwmode not in BANDS:
        parts = _parts(radio)
        high = "a" in parts or parts[:1] == ["ac"]
        low = "b" in parts or "g" in parts
        if high != low:
            older = "b" if parts == ["b"] else "g"
            return "a" if high else older, f"hwmode {hwmode}"
        if "ad" in parts:
            _known_mode(radio, "hwmode", "ad", "a, b, g, n, ac, ax and be")
    elif hwmode:
        mode = BANDS[hwmode]
        return _known_mode(radio, "hwmode", mode, "2g, 5g, 6g"), f"hwmode {hwmode}"
    if channel:
        text = f"channel {channel}" + ("" if channel <= 14 else ", no band is given")
        return ("a" if channel > 14 else "g"), text
    return "g", "no band is given: 2.4 GHz is assumed"


def _known_mode(radio: Section, name: str, mode: str | None, allowed: str) -> str:
    if mode is None or mode == "ad":
        raise radio.wrong(name, f'"{radio.text(name)[:20]}"; expected {allowed}')
    return mode


def _parts(radio: Section) -> list[str]:
    """Return the standards in ``hwmode``: ``11axa`` contains ``ax`` and ``a``."""
    text = radio.word("hwmode")
    if not text or text in BANDS:
        return []
    match = HWMODE.fullmatch(text)
    if match is None:
        _known_mode(radio, "hwmode", None, "11 with a, b, g, n, ac, ax and be, and auto")
    return PART.findall(match[1] or "") if match else []


def _numbered(radio: Section) -> bool:
    return radio.word("channel", "auto") not in ("", "0", "auto", "acs_survey")


def _band(mode: str, text: str) -> str:
    if text.startswith(("band 6g", "hwmode 6g")):
        return "6 GHz"
    return "5 GHz" if mode == "a" else "2.4 GHz"


def _letter(radio: Section, mode: str) -> str | None:
    """Return the letters of the newest physical layer after 802.11g that is enabled; None if none
    is.
    """
    htmode = radio.text("htmode").upper()
    match = HTMODE.fullmatch(htmode)
    if match is None and htmode not in NONE:
        text = f'"{radio.text("htmode")[:20]}"; expected HT, VHT, HE or EHT with a width, such as '
        raise radio.wrong("htmode", f"{text}HT20 or VHT80, or NOHT")
    if mode == "b" or htmode in ("NONE", "NOHT"):
        return None
    letters = [each for each in _parts(radio) if each in LETTERS]
    if match:
        letters.append(LATER[match[1]])
    return max(letters, key=LETTERS.index, default=None)


def _channel(radio: Section, letter: str, band: str, of_mode: str) -> Settled:
    """Return the channel of a radio of 802.11n or later."""
    htmode = radio.text("htmode").upper()
    match = HTMODE.fullmatch(htmode)
    split = match is not None and match[2] == "80+80"
    width_mhz = 20 if match is None else 160 if split else int(match[2])
    capabilities = radio.text("ht_capab") + radio.text("vht_capab")
    short = f"short_gi_{min(width_mhz, 160)}"
    listed = short.upper().replace("_", "-") in capabilities
    allowed = listed or ("SHORT-GI" not in capabilities and radio.switch(short))
    wanted = Wanted(letter, band, width_mhz, allowed, split)
    hwmode = radio.word("hwmode")
    text = f"htmode {htmode}" if match else f"hwmode {hwmode}, no htmode is given"
    if match and LATER[match[1]] != letter:
        text = f"hwmode {hwmode}, htmode {htmode}"
    of_guard = f"{short}{'' if short in radio.options or listed else ', on by default'}"
    return settle(wanted, of_mode, text, of_guard)


BURST_OPTION = "tx_queue_data2_burst"
"""Name of hostapd's option for the TXOP of best effort at the access point."""


def _burst(radio: Section, band: str, generation: str | None) -> tuple[float, Fact | str] | None:
    """Return the TXOP of best effort [s], and the option or the assumption that sets it; None if
    unknown.
    """
    if not _is_mac80211(radio):
        return None
    for name in ("tx_burst", BURST_OPTION):
        text = radio.text(name)
        if not text:
            continue
        fits = re.fullmatch(r"\d{1,3}(\.\d{1,3})?", text)
        if fits is None or float(text) > MAX_BURST_MS:
            raise radio.wrong(name, f'"{text[:20]}" is not a time from 0 to {MAX_BURST_MS} ms')
        if float(text):  # OpenWrt treats 0 as a missing option (mac80211.sh).
            return float(text) / 1e3, name
    fact = burst(band, generation)
    return None if fact is None else (BURST_S, fact)


def _hostapd_options(radio: Section, interfaces: Sequence[Section]) -> Section:
    """Return the EDCA settings that OpenWrt passes unchanged to hostapd."""
    results = Section(radio.path)
    names = [(radio, "hostapd_options"), *((each, "hostapd_bss_options") for each in interfaces)]
    for section, name in names:
        for word in section.text(name).split():
            key, equals, value = word.partition("=")
            if equals and key.startswith(("tx_queue_", "wmm_ac_", "wmm_enabled")):
                results.put(key, value, section.lines[name])
    return results


def _cell(radio: Section, preset: str) -> Iterator[tuple[str, tuple[str, str]]]:
    every = radio.numbers("supported_rates", 6, "kb/s") if preset not in GENERATIONS else []
    rates = [rate for each in every if (rate := 1e3 * each) in phy.RATES[preset]]
    if rates:
        yield "rate", (quoted(phy.spelled(max(rates))), "fastest of supported_rates")
    if radio.text("rts", "off") != "off":
        threshold = radio.number("rts", -1, 65535)
        if threshold is not None and 0 <= threshold < 2347:
            yield "rts_threshold", (quoted(f"{threshold} B"), "rts")


def _access(
    options: Section,
    bursts: tuple[float, Fact | str] | None,
    *,
    wmm: bool,
) -> Iterator[tuple[tuple[str, str], Access]]:
    """Yield EDCA parameters: hostapd's defaults, changed by OpenWrt's burst and by hostapd
    options.
    """
    results = {("cell.ap", "best-effort"): OWN["best-effort"]}
    if wmm:
        results["cell", "best-effort"] = TOLD["best-effort"]
    results |= dict(hostapd.access(options, wmm=wmm))
    if bursts is not None and BURST_OPTION not in options.options:
        txop_s, text = bursts
        note = f"{text.short}, see above" if isinstance(text, Fact) else text
        own = results["cell.ap", "best-effort"]
        results["cell.ap", "best-effort"] = replace(own, txop_s=txop_s, txop_note=note)
    yield from results.items()
