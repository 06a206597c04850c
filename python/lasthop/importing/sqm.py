"""Import of OpenWrt's ``/etc/config/sqm``: the wired line as shaped by sqm-scripts.

References: sqm-scripts of June 2024 (commit 95337de). ``run-openwrt.sh`` starts a queue for each
interface with ``enabled 1``. ``defaults.sh`` has the defaults of options. In ``functions.sh``, a
rate of 0 means that the direction is not shaped, and ``linklayer none`` means no overhead. Each
script ``*.qos`` chooses its qdisc.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError
from lasthop.importing import sqm_cake
from lasthop.importing.autorate import Autorate, read_autorate
from lasthop.importing.observed import Note
from lasthop.importing.sqm_shaper import Shaper, spelled
from lasthop.importing.uci import Section, read

__all__ = ["Line", "line"]

DEFAULTS_KBPS = {"download": 14698, "upload": 2302}
"""Default rates of sqm-scripts. [kbit/s]"""
MAX_KBPS = 100_000_000
MAX_OVERHEAD = 4096
FULL_BYTES = 1500
"""Length of a full-size packet. [bytes]"""
CELL_BYTES, CELL_PAYLOAD = 53, 48
"""Lengths of an ATM cell and of its payload. [bytes]"""
MAX_WORDS = 60

CAKES = ("piece_of_cake.qos", "layer_cake.qos")
"""Scripts that always use CAKE, whatever ``qdisc`` is."""
QDISCS = {
    "fq_codel": "fq_codel",
    "codel": "codel",
    "pie": "pie",
    "fq_pie": "fq_codel",
}
"""Queue disciplines of lasthop by the qdiscs of sqm-scripts."""
FIFOS = {"pfifo", "bfifo", "pfifo_fast"}
NEAREST = {
    "fq_pie": "fq_pie is simulated as fq_codel",
}
"""Qdiscs that lasthop does not support, each with a sentence on its replacement."""

GUEST = re.compile(r"guest|iot", re.IGNORECASE)
INSIDE = re.compile(r"@?(br-|br_|lan|wlan|phy\d+-|ath\d|ra\d|rai\d|rax\d)", re.IGNORECASE)
"""Pattern of the names of interfaces on the side of the stations."""
OUTSIDE = re.compile(r"wan|ppp|dsl|internet|lte|modem", re.IGNORECASE)
"""Pattern of the names of interfaces that certainly lead to the provider's line. They have
precedence over interfaces such as ``eth1``, which may lead to either side.
"""


NO_LINE = Note(
    "the scenario has no wired line; to add one, append [wire] with the lines "
    'rate = "100 Mbps", back_rate = "20 Mbps" and delay = "10 ms"',
    True,
)
"""Note for a file whose queues shape no line."""


class Line(NamedTuple):
    """Shaped line: keys of the table ``wire`` with values and comments, and notes.

    If the two directions have different queues, the keys are those of a wired link from the router
    instead, in `link`.
    """

    wire: Mapping[str, tuple[str, str]]
    notes: Sequence[Note]
    link: Mapping[str, tuple[str, str]] = {}


def line(path: Path, autorate_file: Path | None = None) -> Line:
    """Return the line that sqm-scripts shape. The result has no keys if no queue is enabled, or if
    all queues are for guests.

    Parameters
    ----------
    path : Path
        ``/etc/config/sqm``.
    autorate_file : Path, optional
        Configuration of cake-autorate, whose base rates replace those of SQM.
    """
    queues = [each for each in read(path, "/etc/config/sqm") if each.kind == "queue"]
    if not queues:
        raise UserError(
            f"{path}: no section queue: not /etc/config/sqm",
            "`--sqm` reads /etc/config/sqm, and FILE is /etc/config/wireless",
        )
    notes: list[Note] = []
    running: dict[str, Shaper] = {}
    for section in queues:
        interface = section.text("interface") or section.name
        if not _is_on(section):
            text = section.text("enabled")
            why = "disabled" if text in ("", "0") else f"enabled '{text[:20]}', which is not 1"
            notes.append(Note(f"SQM on {interface} is {why}: it shapes no line", True))
        elif interface in running:
            notes.append(Note(f"SQM has {interface} twice, and the first one counts", True))
        else:
            running[interface] = _shaper(section, interface)
    guests = [each for name, each in running.items() if GUEST.search(name)]
    lines = [each for each in running.values() if each not in guests]
    for each in guests:
        notes.append(Note(f"SQM shapes {each.words}: the guest network's line is left out", True))
    if not lines:
        return Line({}, [*notes, NO_LINE])
    chosen = min(lines, key=lambda each: _distance(each.interface))
    notes += [
        Note(f"SQM also shapes {each.words}: another line, left out; this is {chosen.words}", True)
        for each in lines
        if each is not chosen
    ]
    if autorate_file is not None:
        chosen, more = _autorated(chosen, read_autorate(autorate_file))
        notes += more
    own = list(_remarks(chosen))
    queue = _queue(chosen.section)
    if queue == "cake" and (chosen.down_kbps or chosen.up_kbps):
        inside, by_htb = INSIDE.match(chosen.interface) is not None, not _is_shaped_by_cake(chosen)
        cakes = sqm_cake.directions(chosen, inside=inside, by_htb=by_htb)
        rates = (chosen.down_kbps, chosen.up_kbps)
        script = chosen.section.word("script") or "a script of SQM"
        link = dict(sqm_cake.link(cakes, *(rates[::-1] if inside else rates), script))
        own += cakes.notes
        return Line({}, [*notes, *own], link)
    wire = dict(_rates(chosen))
    if not wire:
        notes.append(Note(f"SQM shapes neither direction of {chosen.interface}", True))
        return Line({}, [*notes, NO_LINE])
    if queue in QDISCS:
        wire["queue"] = (f"{{ {QDISCS[queue]} = {{}} }}", f"SQM qdisc {queue}")
    return Line(wire, [*notes, *own])


def _is_shaped_by_cake(shaper: Shaper) -> bool:
    """Return whether the script of a queue uses CAKE's own shaper."""
    return shaper.section.word("script") in CAKES


def _autorated(shaper: Shaper, autorate: Autorate) -> tuple[Shaper, list[Note]]:
    """Return the shaper with the base rates of cake-autorate, and warnings."""
    notes = autorate.notes()
    if autorate.interface not in ("", shaper.interface):
        notes.append(
            Note(
                f"cake-autorate shapes {autorate.interface[:20]}, and SQM {shaper.interface}: "
                "assumed to be the same line",
                True,
            )
        )
    if not _is_shaped_by_cake(shaper):
        text = (
            "cake-autorate needs CAKE's own shaper: SQM script piece_of_cake.qos or layer_cake.qos"
        )
        notes.append(Note(text, True))
    down, up = autorate.download, autorate.upload
    return shaper._replace(
        down_kbps=down.base_kbps if down.adjusts else shaper.down_kbps,
        up_kbps=up.base_kbps if up.adjusts else shaper.up_kbps,
    ), notes


def _is_on(section: Section) -> bool:
    """Return whether sqm-scripts start the queue, which needs ``enabled 1``."""
    section.switch("enabled", default=False)  # This call raises an error for an invalid value.
    return section.text("enabled") == "1"


def _shaper(section: Section, interface: str) -> Shaper:
    rates = [
        DEFAULTS_KBPS[name] if value is None else value
        for name in ("download", "upload")
        for value in [section.number(name, 0, MAX_KBPS)]
    ]
    return Shaper(section, interface, *rates)


def _distance(interface: str) -> int:
    """Return the rank of an interface: 0 if it certainly leads to the provider's line, and a larger
    number if this is less likely."""
    if INSIDE.match(interface):
        return 3
    if OUTSIDE.search(interface):
        return 0
    return 2 if re.match(r"tun|tap|wg|gre|ifb", interface) else 1


def _rates(shaper: Shaper) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the keys with the rates of the line. At an interface towards the stations, the
    directions are exchanged.
    """
    names = ("download", "upload")
    rates = (shaper.down_kbps, shaper.up_kbps)
    if INSIDE.match(shaper.interface):
        names, rates = names[::-1], rates[::-1]
    if not any(rates):
        return
    for key, name, kbps in zip(("rate", "back_rate"), names, rates, strict=True):
        given = shaper.section.text(name)
        text = f"SQM {name}" + ("" if given else ", sqm-scripts' default")
        if kbps:
            yield key, (f'"{spelled(kbps)}"', text)
        else:
            yield key, ('"unlimited"', f"SQM {name} is 0: not shaped")


def _queue(section: Section) -> str:
    """Return the qdisc that the script of a queue installs."""
    script = section.word("script")
    named = section.word("qdisc") or "fq_codel"
    if script in CAKES or named.startswith("cake"):
        return "fq_codel" if script == "simplest_tbf.qos" else "cake"
    return named


def _remarks(shaper: Shaper) -> Iterator[Note]:
    """Yield notes on settings of a queue that a scenario does not support."""
    section = shaper.section
    if INSIDE.match(shaper.interface):
        yield Note(
            f"SQM shapes {shaper.interface}, which leads to the stations: its upload is their "
            "download, and the rates are exchanged",
            True,
        )
    for name in ("download", "upload"):
        if not section.text(name):
            kbps = DEFAULTS_KBPS[name]
            yield Note(f"SQM has no {name}: sqm-scripts use {kbps} kbit/s (defaults.sh)", True)
    for name, kbps in (("download", shaper.down_kbps), ("upload", shaper.up_kbps)):
        if not kbps:
            yield Note(f"SQM does not shape {name}: the line's own rate is not known", True)
    queue = _queue(section)
    if queue in NEAREST:
        yield Note(NEAREST[queue], True)
    elif queue not in QDISCS and queue not in FIFOS and queue != "cake":
        yield Note(f"lasthop has no qdisc {queue[:20]}: the line has a FIFO of 1000 packets", True)
    if _is_shaped_by_cake(shaper):
        return
    if section.word("script") == "simple.qos" and (queue in QDISCS or queue == "cake"):
        yield Note("simple.qos has three classes by DSCP: here all packets are in one")
    yield from _overhead(shaper)
    for name in () if queue == "cake" else ("iqdisc_opts", "eqdisc_opts"):
        if words := section.text(name).strip():
            shown = words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}..."
            yield Note(f'{name} "{shown}" is left out', True)


def _overhead(shaper: Shaper) -> Iterator[Note]:
    """Yield notes on the overhead that the shaper adds to each packet."""
    section = shaper.section
    overhead = section.number("overhead", -MAX_OVERHEAD, MAX_OVERHEAD) or 0
    least = section.number("tcMPU", 0, MAX_OVERHEAD) or 0
    layer = section.word("linklayer") or "none"
    if layer == "none":
        if overhead:
            yield Note(f"SQM's overhead of {overhead} B has no effect with linklayer none")
        return
    counted = max(FULL_BYTES + overhead, least)
    if layer == "atm" or (layer == "adsl" and _queue(section) != "cake"):
        counted = ceil(counted / CELL_PAYLOAD) * CELL_BYTES
    yield Note(
        f"SQM's linklayer {layer[:20]} with an overhead of {overhead} B is left out: it counts "
        f"{counted} B for a packet of {FULL_BYTES} B, so that full packets have "
        f"{FULL_BYTES / counted:.1%} of the rates here",
        True,
    )
