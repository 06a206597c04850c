"""CAKE as sqm-scripts set it up: ``piece_of_cake.qos`` and ``layer_cake.qos``.

References: sqm-scripts of June 2024 (commit 95337de). Both scripts begin with the words ``diffserv3
nat`` of ``defaults.sh``. ``piece_of_cake.qos`` adds ``besteffort`` in both directions.
``layer_cake.qos`` adds it at ingress, unless ``squash_ingress`` is 0. The words of ``iqdisc_opts``
and ``eqdisc_opts`` follow. In ``functions.sh``, ``get_cake_lla_string`` sets the overhead. It sets
``atm`` only for ``linklayer atm``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lasthop.importing.cake_words import Cake, read_words, spelled_rate
from lasthop.importing.observed import Note
from lasthop.importing.sqm_shaper import Shaper

__all__ = ["Directions", "directions", "link"]

DEFAULT_WORDS = "diffserv3 nat"
"""Words with which the scripts begin (``INGRESS_CAKE_OPTS`` and ``EGRESS_CAKE_OPTS``)."""
PART_OF_LINE = 0.9
"""Assumed rate of the shaper as a part of the rate of the line. CAKE limits the rate, so that this
number only sets the sending time of a packet on the line. [-]"""
ETHERNET_BYTES = 14
"""Length of the Ethernet header, which the kernel counts at an Ethernet interface. [bytes]"""
WITHOUT_HEADER = re.compile(r"ppp|tun|wg|wwan|ipip|gre|6in4|l2tp", re.IGNORECASE)
"""Pattern of the names of interfaces whose packets begin with the IP header."""
MAX_OVERHEAD = 4096
BEHIND_NAT: Mapping[bool, Mapping[str, str]] = {
    True: {
        "triple-isolate": "flows",
        "dual-dsthost": "flows",
        "dsthost": "flowblind",
        "hosts": "srchost",
    },
    False: {
        "triple-isolate": "flows",
        "dual-srchost": "flows",
        "srchost": "flowblind",
        "hosts": "dsthost",
    },
}
"""Isolation that has the same effect if all stations have the address of the router, by isolation.
The first table is for packets towards the stations."""


class Directions(NamedTuple):
    """CAKE of both directions of a line; None for a direction without shaper."""

    to_stations: Cake | None
    from_stations: Cake | None
    notes: list[Note]


def directions(shaper: Shaper, *, inside: bool, by_htb: bool) -> Directions:
    """Return the queues that sqm-scripts set up.

    Parameters
    ----------
    shaper : Shaper
        The queue in ``/etc/config/sqm``.
    inside : bool
        Whether the interface leads to the stations. Its egress then leads to them.
    by_htb : bool
        Whether HTB shapes, with CAKE in its classes.
    """
    notes: list[Note] = []
    of = _in_htb if by_htb else _of_direction
    ingress = of(shaper, True, notes) if shaper.down_kbps else None
    egress = of(shaper, False, notes) if shaper.up_kbps else None
    if inside:
        return Directions(egress, ingress, notes)
    for cake, to_stations in ((ingress, True), (egress, False)):
        if cake is not None:
            notes += _behind_nat(cake, to_stations)
    return Directions(ingress, egress, notes)


def link(
    queues: Directions, down_kbps: int, up_kbps: int, script: str
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the keys of the link from the router: rates of the line, and the queue of each
    direction. The rates are those of SQM towards the stations and from the stations.
    """
    sides = (
        ("", queues.from_stations, up_kbps, "upload"),
        ("back_", queues.to_stations, down_kbps, "download"),
    )
    for prefix, cake, kbps, what in sides:
        if cake is None or not kbps:
            yield f"{prefix}rate", ('"unlimited"', f"SQM does not shape the stations' {what}")
        elif cake.bandwidth_bps is None:
            yield f"{prefix}rate", (f'"{spelled_rate(1e3 * kbps)}"', "SQM, the rate of HTB")
        else:
            rate = spelled_rate(float(f"{cake.bandwidth_bps / PART_OF_LINE:.4g}"))
            percent = f"{100 * PART_OF_LINE:.0f} %"
            yield f"{prefix}rate", (f'"{rate}"', f"assumed: CAKE has {percent} of the line")
    for prefix, cake, _, what in sides:
        if cake is not None:
            table = f"{{ cake = {cake.table()} }}"
            yield f"{prefix}queue", (table, f"SQM {what}, {script}")


def _in_htb(shaper: Shaper, is_ingress: bool, notes: list[Note]) -> Cake:
    """Return the CAKE in the classes of HTB for one direction of the interface."""
    name = "iqdisc_opts" if is_ingress else "eqdisc_opts"
    cake = read_words(shaper.section.text(name), name)
    if cake.bandwidth_bps is not None:
        cake.notes.append(Note(f"{name}: bandwidth is left out, because HTB shapes", True))
        cake.bandwidth_bps = None
    notes += cake.notes
    return cake


def _of_direction(shaper: Shaper, is_ingress: bool, notes: list[Note]) -> Cake:
    """Return the CAKE of one direction of the interface."""
    section = shaper.section
    kbps = shaper.down_kbps if is_ingress else shaper.up_kbps
    cake = read_words(f"bandwidth {kbps}kbit {DEFAULT_WORDS} {_link_layer(shaper)}")
    squash = section.text("squash_ingress") or "1"
    if section.word("script") != "layer_cake.qos" or (is_ingress and squash == "1"):
        cake.diffserv = "besteffort"
    if is_ingress and (section.text("squash_dscp") or "1") == "1":
        notes.append(Note("SQM clears the DSCPs of downloads (squash_dscp); here they are kept"))
    name = "iqdisc_opts" if is_ingress else "eqdisc_opts"
    read_words(section.text(name), name, cake)
    if cake.overhead_bytes is None and WITHOUT_HEADER.search(shaper.interface):
        cake.overhead_bytes = 0
    notes += cake.notes
    if cake.bandwidth_bps is None:
        notes.append(Note(f"{name}: unlimited: CAKE has no shaper; the line has SQM's rate", True))
    return cake


def _link_layer(shaper: Shaper) -> str:
    """Return the words for the overhead of the line."""
    section = shaper.section
    overhead = section.number("overhead", -MAX_OVERHEAD, MAX_OVERHEAD) or 0
    mpu = section.number("tcMPU", 0, MAX_OVERHEAD) or 0
    layer = section.word("linklayer") or "none"
    by = section.word("linklayer_adaptation_mechanism") or "default"
    if layer == "none" or by not in ("default", "cake", "tc_stab"):
        return ""
    is_atm = layer == "atm"
    if by == "tc_stab":
        # A size table adds to the length that the kernel counts, with the header of the interface.
        overhead += 0 if WITHOUT_HEADER.search(shaper.interface) else ETHERNET_BYTES
        is_atm = layer in ("atm", "adsl")
    return f"{'atm ' if is_atm else ''}overhead {overhead} mpu {mpu}"


def _behind_nat(cake: Cake, to_stations: bool) -> Iterator[Note]:
    """Replace the isolation by its effect after the address translation of the router. Stations of
    a cell are separate hosts."""
    if cake.nat:
        cake.nat = False
        return
    seen = BEHIND_NAT[to_stations].get(cake.isolation)
    if seen is not None:
        direction = "download" if to_stations else "upload"
        yield Note(
            f"{direction}: without the word nat, CAKE sees all stations as one host, so that "
            f"{cake.isolation} acts as {seen}; if your router does not translate addresses, set "
            f'isolation = "{cake.isolation}"',
            True,
        )
        cake.isolation = seen
