"""``hostapd.conf``: band, rates, access parameters of the access point and of its stations.

Names and units are those of `lasthop.tuning.hostapd`, which writes such lines: ``tx_queue_data2``
is the access point's own queue, windows in slots and bursts in ms; ``wmm_ac_be`` is what its
beacons tell stations, windows as exponents and TXOP limits in units of 32 us. What a file leaves
out has the defaults of hostapd 2.10 (``hostapd_config_defaults_bss`` and comments of its example).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError
from lasthop.importing import phy
from lasthop.importing.observed import Access, Connections, Network, Note, Station
from lasthop.importing.ppdu import GENERATIONS
from lasthop.importing.settled import Settled, Wanted, cell_keys, settle
from lasthop.importing.text import read_lines
from lasthop.importing.uci import hint_of
from lasthop.scenario.access_points import EDCA, FACTS, Edca, Fact, queue
from lasthop.tuning.hostapd import BEACONS, LARGEST_EXPONENT, QUEUES, TXOP_S

__all__ = ["Setting", "Settings", "access", "network", "read"]


class Setting(NamedTuple):
    """A value of the file, and its line."""

    value: str
    line: int


Settings = Mapping[str, Setting]

MODES = {"a": "802.11a", "b": "802.11b", "g": "802.11g"}
"""Presets by ``hw_mode``, where no later physical layer is switched on."""

CHWIDTHS = {
    "ac": "vht_oper_chwidth",
    "ax": "he_oper_chwidth",
    "be": "eht_oper_chwidth",
}
"""Names of the width above 40 MHz, by letter of the physical layer."""
WIDTHS = {1: 80, 2: 160, 3: 160, 9: 320}
"""Widths by their values; 3 is 80+80. [MHz]"""
SIX_GHZ_MHZ = {131: 20, 132: 40, 133: 80, 134: 160, 135: 160, 136: 20, 137: 320}
"""Operating classes at 6 GHz and their widths (IEEE 802.11ax-2021, table E-4). [MHz]"""
SPLIT = 135
"""That of 80+80 MHz."""

SECRET = re.compile(r"(psk|passphrase|password|secret|key|wep|sae|pin)", re.IGNORECASE)
"""Names whose values no error shows."""

MOST_CW, MOST_AIFSN = 32767, 15


def _default(edca: Edca) -> Access:
    return Access(edca.aifsn, edca.cwmin, edca.cwmax, edca.txop_s, default=True)


OWN = {category: _default(edca) for category, edca in EDCA["access point"].items()}
"""Access parameters of the access point's queues where the file is silent."""

TOLD = {category: _default(edca) for category, edca in EDCA["station"].items()}
"""Access parameters in beacons where the file is silent."""


def read(path: Path) -> dict[str, Setting]:
    """Settings by name; the last one counts, as for hostapd."""
    results: dict[str, Setting] = {}
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
        results[name.strip()] = Setting(value.strip(), number)
    if not {"hw_mode", "interface", "ssid", "channel", "driver", "wmm_enabled"} & set(results):
        raise UserError(
            f"{path}: no hw_mode, interface, ssid or channel: not hostapd.conf",
            hint_of(path, lines),
        )
    return results


def network(path: Path, stations: int) -> Network:
    """The cell that a hostapd.conf makes, with so many stations, which it does not know."""
    settings = read(path)
    mode = settings.get("hw_mode", Setting("b", 0))
    channel = whole_number(path, settings, "channel", 0, 253)
    if mode.value == "any":
        mode = Setting("a" if channel is not None and channel > 14 else "g", mode.line)
    if mode.value not in MODES:
        where = f"{path}:{mode.line}: `hw_mode`"
        raise UserError(f'{where}: "{mode.value[:20]}": expected a, b or g (ad is at 60 GHz)')
    letters = _letters(path, settings)
    notes = list(_remarks(path, settings, mode.value, letters))
    preset, text = MODES[mode.value], _of_mode(settings, mode.value)
    cell = {}
    if letters and mode.value != "b":
        of_mode = "5 GHz" if mode.value == "a" else "2.4 GHz"
        chosen = _channel(path, settings, letters, of_mode)
        preset, text = chosen.within.phy, f"ieee80211{letters[-1]}=1"
        notes += chosen.notes
        cell = dict(cell_keys(chosen))
    return Network(
        source=f"hostapd settings {path.name}",
        phy=preset,
        phy_note=text,
        stations=[assumed_station(number) for number in range(1, stations + 1)],
        cell=cell | dict(_cell(path, settings, preset)),
        access=dict(_access(path, settings)),
        notes=notes,
        facts=_facts(settings, preset),
    )


def _facts(settings: Settings, preset: str) -> tuple[Fact, ...]:
    """Facts that are assumed of the access point: hostapd.conf does not say how it queues."""
    driver = settings.get("driver", Setting("nl80211", 0)).value
    result = queue(preset, of_mac80211=driver == "nl80211")
    if driver == "nl80211" or preset in GENERATIONS:
        return (FACTS["hostapd-edca"], result)
    return (FACTS["hostapd-edca"],)


def assumed_station(number: int) -> Station:
    """A station that the settings of an access point know nothing of."""
    why = "settings name no stations: --stations sets their number"
    return Station(str(number), download=Connections(1, False, why))


def _of_mode(settings: Settings, mode: str) -> str:
    return f"hw_mode={mode}" if "hw_mode" in settings else "hw_mode is missing: hostapd uses b"


def _letters(path: Path, settings: Settings) -> list[str]:
    """Later physical layers that are switched on, the newest last."""
    return [
        letter
        for letter in phy.LETTERS
        if (whole_number(path, settings, f"ieee80211{letter}", 0, 1) or 0) == 1
    ]


def _channel(path: Path, settings: Settings, letters: Sequence[str], band: str) -> Settled:
    """The channel of an access point of 802.11n or later."""
    width, text = 20, "no secondary channel, no wider one"
    if re.search(r"\[HT40[+-]?\]", settings.get("ht_capab", Setting("", 0)).value):
        width, text = 40, "ht_capab has HT40"
    for letter, name in CHWIDTHS.items():
        wide = WIDTHS.get(whole_number(path, settings, name, 0, 9) or 0)
        if letter in letters and wide is not None and wide >= width:
            width, text = wide, f"{name}={settings[name].value}"
    operating = whole_number(path, settings, "op_class", 0, 255)
    if operating is not None and operating in SIX_GHZ_MHZ:
        band, wide = "6 GHz", SIX_GHZ_MHZ[operating]
        if wide > width:
            width, text = wide, f"op_class={operating}"
    split = text.endswith("chwidth=3") or operating == SPLIT
    channel = settings.get("channel", Setting("0", 0)).value
    short = f"[SHORT-GI-{min(width, 160)}]"
    capabilities = "".join(
        settings.get(name, Setting("", 0)).value for name in ("ht_capab", "vht_capab")
    )
    of_band = f"hw_mode, channel {channel}" if band != "6 GHz" else f"op_class={operating}"
    wanted = Wanted(letters[-1], band, width, short in capabilities, split)
    return settle(wanted, of_band, text, short.strip("[]"))


def whole_number(path: Path, settings: Settings, name: str, least: int, most: int) -> int | None:
    """A whole number of the file; None if the file does not have it."""
    setting = settings.get(name)
    if setting is None:
        return None
    where = f"{path}:{setting.line}: `{name}`"
    if not re.fullmatch(r"-?\d{1,9}", setting.value) or not least <= int(setting.value) <= most:
        raise UserError(
            f'{where}: "{setting.value[:20]}" is not a whole number from {least} to {most}'
        )
    return int(setting.value)


def _remarks(path: Path, settings: Settings, mode: str, later: Sequence[str]) -> Iterator[Note]:
    if "hw_mode" not in settings:
        yield Note("hw_mode is missing; hostapd then uses 802.11b", warns=True)
    if mode == "b" and later:
        yield Note(f"hw_mode=b with ieee80211{later[-1]}=1 is refused by hostapd", warns=True)
    bss = [setting.value for name, setting in settings.items() if name == "bss"]
    if bss:
        yield Note(f"a second network on this radio, bss={bss[0]}, is left out", warns=True)
    yield Note("the stations and their traffic are assumed")


def _cell(path: Path, settings: Settings, preset: str) -> Iterator[tuple[str, tuple[str, str]]]:
    rates = _rates(path, settings, "supported_rates")
    aggregates = preset in GENERATIONS
    known = phy.OFDM_BPS if aggregates else phy.RATES[preset]
    usable = [rate for rate in rates if rate in known]
    if rates and not usable and not aggregates:
        where = f"{path}:{settings['supported_rates'].line}: `supported_rates`"
        raise UserError(f"{where}: the list has no rate of {preset}")
    if usable and not aggregates:
        yield "rate", (quoted(phy.spelled(max(usable))), "fastest of supported_rates")
    basic = [rate for rate in _rates(path, settings, "basic_rates") if rate in known]
    control = [rate for rate in basic if rate in _control_rates(preset)]
    if control:
        yield "control_rate", (quoted(phy.spelled(max(control))), "fastest of basic_rates")
    threshold = whole_number(path, settings, "rts_threshold", -1, 65535)
    if threshold is not None and 0 <= threshold < 2347:
        yield "rts_threshold", (quoted(f"{threshold} B"), "rts_threshold")


def _control_rates(preset: str) -> tuple[float, ...]:
    return phy.CCK_BPS if preset == "802.11b" else (6e6, 12e6, 24e6)


def _rates(path: Path, settings: Settings, name: str) -> list[float]:
    """Rates of a list in units of 100 kb/s. [bit/s]"""
    setting = settings.get(name)
    if setting is None:
        return []
    if not re.fullmatch(r"\d{1,4}(\s+\d{1,4})*", setting.value):
        where = f"{path}:{setting.line}: `{name}`"
        raise UserError(f'{where}: "{setting.value[:40]}" is not a list of rates in 100 kb/s')
    return [1e5 * int(text) for text in setting.value.split()]


def _access(path: Path, settings: Settings) -> Iterator[tuple[tuple[str, str], Access]]:
    """Access parameters, where the file says any or WMM is on, whose defaults then hold."""
    on = (whole_number(path, settings, "wmm_enabled", 0, 1) or 0) == 1
    return access(path, settings, wmm=on or bool(_letters(path, settings)))


def access(
    path: Path, settings: Settings, *, wmm: bool
) -> Iterator[tuple[tuple[str, str], Access]]:
    """Yield access parameters by table and category.

    Parameters
    ----------
    path : Path
        The file, for errors.
    settings : mapping
        Settings of hostapd.
    wmm : bool
        Whether WMM is on, so that beacons tell stations theirs.
    """
    for category in QUEUES:
        own = _own(path, settings, f"tx_queue_{QUEUES[category]}")
        if own is not None or category == "best-effort":
            yield ("cell.ap", category), filled(own, OWN[category])
        messages = _told(path, settings, f"wmm_ac_{BEACONS[category]}")
        if wmm and (messages is not None or category == "best-effort"):
            yield ("cell", category), filled(messages, TOLD[category])


def filled(access: Access | None, default: Access) -> Access:
    """Access parameters with defaults where nothing was said."""
    if access is None:
        return default
    values = (
        ours if ours is not None else theirs
        for ours, theirs in zip(_values(access), _values(default), strict=True)
    )
    aifsn, cwmin, cwmax, txop_s = values
    return Access(int(aifsn or 0), int(cwmin or 0), int(cwmax or 0), txop_s)


def _values(access: Access) -> tuple[float | None, ...]:
    return access.aifsn, access.cwmin, access.cwmax, access.txop_s


def _own(path: Path, settings: Settings, name: str) -> Access | None:
    """The queue of the access point itself."""
    aifsn = whole_number(path, settings, f"{name}_aifs", 1, 255)
    cwmin, cwmax = (
        whole_number(path, settings, f"{name}_{key}", 0, MOST_CW) for key in ("cwmin", "cwmax")
    )
    burst_s = None
    if (setting := settings.get(f"{name}_burst")) is not None:
        if not re.fullmatch(r"\d{1,3}(\.\d{1,3})?", setting.value):
            where = f"{path}:{setting.line}: `{name}_burst`"
            raise UserError(f'{where}: "{setting.value[:20]}" is not a time in ms such as 1.5')
        burst_s = float(setting.value) / 1e3
    return _checked(path, settings, name, aifsn, cwmin, cwmax, burst_s)


def _told(path: Path, settings: Settings, name: str) -> Access | None:
    """What stations are told of the category."""
    aifsn = whole_number(path, settings, f"{name}_aifs", 1, 255)
    low, high = (
        whole_number(path, settings, f"{name}_{key}", 0, LARGEST_EXPONENT)
        for key in ("cwmin", "cwmax")
    )
    units = whole_number(path, settings, f"{name}_txop_limit", 0, 65535)
    return _checked(
        path,
        settings,
        name,
        aifsn,
        None if low is None else 2**low - 1,
        None if high is None else 2**high - 1,
        None if units is None else units * TXOP_S,
    )


def _checked(
    path: Path,
    settings: Settings,
    name: str,
    aifsn: int | None,
    cwmin: int | None,
    cwmax: int | None,
    txop_s: float | None,
) -> Access | None:
    if aifsn is None and cwmin is None and cwmax is None and txop_s is None:
        return None
    if cwmin is not None and cwmax is not None and cwmin > cwmax:
        where = f"{path}:{settings[f'{name}_cwmin'].line}: `{name}_cwmin`"
        raise UserError(f"{where}: above {name}_cwmax")
    if aifsn is not None and aifsn > MOST_AIFSN:
        where = f"{path}:{settings[f'{name}_aifs'].line}: `{name}_aifs`"
        raise UserError(f"{where}: {aifsn}: expected an AIFSN from 1 to {MOST_AIFSN}")
    return Access(aifsn, cwmin, cwmax, txop_s)


def quoted(text: str) -> str:
    """A text as TOML writes it; what is written here has no quotes in it."""
    return f'"{text}"'
