"""Import of ``hostapd.conf``: band, rates, EDCA parameters of the access point and its stations.

Names and units are those of `lasthop.tuning.hostapd`, which writes the same settings.
``tx_queue_data2`` has the parameters of the access point's queue, with windows in slots and bursts
in ms. ``wmm_ac_be`` has the parameters that beacons announce to stations, with windows as exponents
and TXOP limits in units of 32 us. Missing values have the defaults of hostapd 2.10
(``hostapd_config_defaults_bss`` and comments of its example).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from lasthop.errors import UserError
from lasthop.importing import phy
from lasthop.importing.observed import Access, Connections, Network, Note, Station
from lasthop.importing.ppdu import GENERATIONS
from lasthop.importing.settled import Settled, Wanted, cell_keys, settle
from lasthop.importing.text import read_lines
from lasthop.importing.uci import Section, hint_of
from lasthop.scenario.access_points import EDCA, FACTS, Edca, Fact, queue
from lasthop.tuning.hostapd import BEACONS, LARGEST_EXPONENT, QUEUES, TXOP_S

__all__ = ["access", "network", "read"]


MODES = {"a": "802.11a", "b": "802.11b", "g": "802.11g"}
"""Physical layers by ``hw_mode`` if neither 802.11n nor a later one is enabled."""

CHWIDTHS = {
    "ac": "vht_oper_chwidth",
    "ax": "he_oper_chwidth",
    "be": "eht_oper_chwidth",
}
"""Names of the settings for widths above 40 MHz, by letters of the physical layer."""
WIDTHS = {1: 80, 2: 160, 3: 160, 9: 320}
"""Channel widths by the values of the settings in `CHWIDTHS`; 3 is 80+80. [MHz]"""
SIX_GHZ_MHZ = {131: 20, 132: 40, 133: 80, 134: 160, 135: 160, 136: 20, 137: 320}
"""Channel widths of the operating classes at 6 GHz (IEEE 802.11ax-2021, table E-4). [MHz]"""
SPLIT = 135
"""Operating class with two separate parts, 80+80 MHz."""

SECRET = re.compile(r"(psk|passphrase|password|secret|key|wep|sae|pin)", re.IGNORECASE)
"""Pattern of the names of settings whose values are secret and must not appear in errors."""

MAX_CW, MAX_AIFSN = 32767, 15


def _default(edca: Edca) -> Access:
    return Access(edca.aifsn, edca.cwmin, edca.cwmax, edca.txop_s, default=True)


OWN = {category: _default(edca) for category, edca in EDCA["access point"].items()}
"""Default EDCA parameters of the access point's queues."""

TOLD = {category: _default(edca) for category, edca in EDCA["station"].items()}
"""Default EDCA parameters in beacons, which stations use."""


def read(path: Path) -> Section:
    """Return the settings of a file. As in hostapd, the last value of a repeated name counts."""
    results = Section(path)
    lines = read_lines(path, "hostapd.conf")
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[a-z][a-z0-9_.-]*", name.strip(), re.IGNORECASE):
            shown = "" if SECRET.search(text) else f' "{text[:40]}"'
            raise UserError(
                f"{path}:{number}:{shown} is not a line NAME=VALUE of hostapd.conf",
                hint_of(path, lines),
            )
        results.put(name.strip(), value.strip(), number)
    known = {"hw_mode", "interface", "ssid", "channel", "driver", "wmm_enabled"}
    if known.isdisjoint(results.options):
        raise UserError(
            f"{path}: no hw_mode, interface, ssid or channel: not hostapd.conf",
            hint_of(path, lines),
        )
    return results


def network(path: Path, stations: int) -> Network:
    """Return the network of a hostapd.conf. The number of stations is an argument, since the file
    does not contain it."""
    settings = read(path)
    mode = settings.text("hw_mode", "b")
    channel = settings.number("channel", 0, 253)
    if mode == "any":
        mode = "a" if channel is not None and channel > 14 else "g"
    if mode not in MODES:
        why = f'"{mode[:20]}": expected a, b or g (ad is at 60 GHz)'
        raise settings.wrong("hw_mode", why)
    # Enabled physical layers after 802.11g, the newest last.
    letters = [each for each in phy.LETTERS if settings.number(f"ieee80211{each}", 0, 1) == 1]
    notes = list(_remarks(settings, mode, letters))
    has_mode = "hw_mode" in settings.options
    text = f"hw_mode={mode}" if has_mode else "hw_mode is missing: hostapd uses b"
    preset = MODES[mode]
    cell = {}
    if letters and mode != "b":
        chosen = _channel(settings, letters, "5 GHz" if mode == "a" else "2.4 GHz")
        preset, text = chosen.within.phy, f"ieee80211{letters[-1]}=1"
        notes += chosen.notes
        cell = dict(cell_keys(chosen))
    # 802.11n and later need WMM.
    wmm = settings.number("wmm_enabled", 0, 1) == 1 or bool(letters)
    return Network(
        source=f"hostapd settings {path.name}",
        phy=preset,
        phy_note=text,
        stations=[assumed_station(number) for number in range(1, stations + 1)],
        cell=cell | dict(_cell(settings, preset)),
        access=dict(access(settings, wmm=wmm)),
        notes=notes,
        facts=_facts(settings, preset),
    )


def _facts(settings: Section, preset: str) -> tuple[Fact, ...]:
    """Return the assumptions about the access point's queue, which hostapd.conf does not
    describe."""
    is_mac80211 = settings.text("driver", "nl80211") == "nl80211"
    queues = [queue(preset, of_mac80211=is_mac80211)]
    is_known = is_mac80211 or preset in GENERATIONS
    return (FACTS["hostapd-edca"], *(queues if is_known else []))


def assumed_station(number: int) -> Station:
    """Return a station with one assumed download, since the settings describe no stations."""
    why = "settings name no stations: --stations sets their number"
    return Station(str(number), download=Connections(1, False, why))


def _channel(settings: Section, letters: Sequence[str], band: str) -> Settled:
    """Return the channel of an access point of 802.11n or later."""
    width, text = 20, "no secondary channel, no wider one"
    if re.search(r"\[HT40[+-]?\]", settings.text("ht_capab")):
        width, text = 40, "ht_capab has HT40"
    for letter, name in CHWIDTHS.items():
        wide = WIDTHS.get(settings.number(name, 0, 9) or 0)
        if letter in letters and wide is not None and wide >= width:
            width, text = wide, f"{name}={settings.text(name)}"
    operating = settings.number("op_class", 0, 255)
    if operating is not None and operating in SIX_GHZ_MHZ:
        band, wide = "6 GHz", SIX_GHZ_MHZ[operating]
        if wide > width:
            width, text = wide, f"op_class={operating}"
    split = text.endswith("chwidth=3") or operating == SPLIT
    channel = settings.text("channel", "0")
    short = f"[SHORT-GI-{min(width, 160)}]"
    capabilities = settings.text("ht_capab") + settings.text("vht_capab")
    of_band = f"hw_mode, channel {channel}" if band != "6 GHz" else f"op_class={operating}"
    wanted = Wanted(letters[-1], band, width, short in capabilities, split)
    return settle(wanted, of_band, text, short.strip("[]"))


def _remarks(settings: Section, mode: str, later: Sequence[str]) -> Iterator[Note]:
    if "hw_mode" not in settings.options:
        yield Note("hw_mode is missing; hostapd then uses 802.11b", warns=True)
    if mode == "b" and later:
        yield Note(f"hw_mode=b with ieee80211{later[-1]}=1 is refused by hostapd", warns=True)
    if "bss" in settings.options:
        bss = settings.text("bss")
        yield Note(f"a second network on this radio, bss={bss}, is left out", warns=True)
    yield Note("the stations and their traffic are assumed")


def _cell(settings: Section, preset: str) -> Iterator[tuple[str, tuple[str, str]]]:
    aggregates = preset in GENERATIONS
    known = phy.OFDM_BPS if aggregates else phy.RATES[preset]
    rates = [1e5 * each for each in settings.numbers("supported_rates", 4, "100 kb/s")]
    usable = [rate for rate in rates if rate in known]
    if rates and not usable and not aggregates:
        raise settings.wrong("supported_rates", f"the list has no rate of {preset}")
    if usable and not aggregates:
        yield "rate", (quoted(phy.spelled(max(usable))), "fastest of supported_rates")
    allowed = phy.CCK_BPS if preset == "802.11b" else (6e6, 12e6, 24e6)
    basic = [1e5 * each for each in settings.numbers("basic_rates", 4, "100 kb/s")]
    control = [rate for rate in basic if rate in known and rate in allowed]
    if control:
        yield "control_rate", (quoted(phy.spelled(max(control))), "fastest of basic_rates")
    threshold = settings.number("rts_threshold", -1, 65535)
    if threshold is not None and 0 <= threshold < 2347:
        yield "rts_threshold", (quoted(f"{threshold} B"), "rts_threshold")


def access(settings: Section, *, wmm: bool) -> Iterator[tuple[tuple[str, str], Access]]:
    """Yield EDCA parameters, each with its scenario table and its access category.

    Parameters
    ----------
    settings : Section
        Settings of a hostapd.conf.
    wmm : bool
        Whether WMM is enabled, so that beacons contain the parameters of stations.
    """
    for category in QUEUES:
        own = _own(settings, f"tx_queue_{QUEUES[category]}")
        if own is not None or category == "best-effort":
            yield ("cell.ap", category), filled(own, OWN[category])
        sent = _sent(settings, f"wmm_ac_{BEACONS[category]}")
        if wmm and (sent is not None or category == "best-effort"):
            yield ("cell", category), filled(sent, TOLD[category])


def filled(access: Access | None, default: Access) -> Access:
    """Return EDCA parameters in which default values replace missing values."""
    if access is None:
        return default
    names = ("aifsn", "cwmin", "cwmax", "txop_s")
    given = {name: value for name, value in asdict(access).items() if value is not None}
    return replace(default, default=False, **{name: given[name] for name in names if name in given})


def _own(settings: Section, name: str) -> Access | None:
    """Return the EDCA parameters of one queue of the access point; None if the file sets none."""
    aifsn = settings.number(f"{name}_aifs", 1, 255)
    cwmin, cwmax = (settings.number(f"{name}_{key}", 0, MAX_CW) for key in ("cwmin", "cwmax"))
    burst_s = None
    if (burst := f"{name}_burst") in settings.options:
        text = settings.text(burst)
        if not re.fullmatch(r"\d{1,3}(\.\d{1,3})?", text):
            raise settings.wrong(burst, f'"{text[:20]}" is not a time in ms such as 1.5')
        burst_s = float(text) / 1e3
    return _checked(settings, name, Access(aifsn, cwmin, cwmax, burst_s))


def _sent(settings: Section, name: str) -> Access | None:
    """Return the EDCA parameters of one category in beacons; None if the file sets none."""
    aifsn = settings.number(f"{name}_aifs", 1, 255)
    cwmin, cwmax = (
        None if exponent is None else 2**exponent - 1
        for key in ("cwmin", "cwmax")
        for exponent in [settings.number(f"{name}_{key}", 0, LARGEST_EXPONENT)]
    )
    units = settings.number(f"{name}_txop_limit", 0, 65535)
    txop_s = None if units is None else units * TXOP_S
    return _checked(settings, name, Access(aifsn, cwmin, cwmax, txop_s))


def _checked(settings: Section, name: str, access: Access) -> Access | None:
    """Check the ranges of EDCA parameters, and return them; None if no parameter is set."""
    if access == Access():
        return None
    if access.cwmin is not None and access.cwmax is not None and access.cwmin > access.cwmax:
        raise settings.wrong(f"{name}_cwmin", f"above {name}_cwmax")
    if access.aifsn is not None and access.aifsn > MAX_AIFSN:
        why = f"{access.aifsn}: expected an AIFSN from 1 to {MAX_AIFSN}"
        raise settings.wrong(f"{name}_aifs", why)
    return access


def quoted(text: str) -> str:
    """Return a text as a TOML string. The text must not contain quotes."""
    return f'"{text}"'
