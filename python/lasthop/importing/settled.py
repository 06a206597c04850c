"""Channel of a cell from the settings of an access point of 802.11n or later."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lasthop.importing import phy
from lasthop.importing.aggregating import (
    NOT_HERE,
    WIDEST_MHZ,
    Channel,
    is_in,
    keys,
    later,
    limits,
    nearest_phy,
    streams,
)
from lasthop.importing.observed import Note
from lasthop.importing.ppdu import AFTER, GENERATIONS, SUBCARRIERS

__all__ = ["Settled", "Wanted", "cell_keys", "settle"]


class Wanted(NamedTuple):
    """Channel that the settings of an access point request.

    Attributes
    ----------
    letter, band : str
        Newest physical layer, ``"n"`` to ``"be"``, and band.
    width_mhz : int
        Channel width, up to 320. [MHz]
    short : bool
        Whether the short guard interval of 802.11n and ac is enabled.
    split : bool
        Whether the channel consists of two separate parts (80+80 MHz).
    """

    letter: str
    band: str
    width_mhz: int
    short: bool
    split: bool = False


class Settled(NamedTuple):
    """Channel of the imported cell, with comments for its keys, and notes."""

    within: Channel
    comments: Mapping[str, str]
    notes: Sequence[Note]


def settle(wanted: Wanted, of_band: str, of_width: str, of_guard: str) -> Settled:
    """Return the channel of the imported cell, which is the nearest supported channel.

    Parameters
    ----------
    wanted : Wanted
        Requested channel.
    of_band, of_width, of_guard : str
        Sources of band, width and guard interval, which become comments.
    """
    asked = phy.LETTERS[wanted.letter]
    allowed = [each for each in GENERATIONS if is_in(each, wanted.band)]
    own = nearest_phy(asked, allowed)
    widest = min(WIDEST_MHZ[wanted.band], max(SUBCARRIERS[own]))
    width_mhz = min(wanted.width_mhz, widest)
    notes = []
    if asked == AFTER:
        notes.append(later())
    elif own != asked:
        notes.append(Note(f"{asked} is not at {wanted.band}: simulated as {own}", warns=True))
    if width_mhz < wanted.width_mhz and asked != AFTER:
        narrower = f"{own} at {wanted.band} has {widest} MHz at most, not {wanted.width_mhz} MHz"
        notes.append(Note(narrower, warns=True))
    if wanted.split:
        notes.append(Note(NOT_HERE["80+80 MHz"], warns=True))
    if width_mhz < wanted.width_mhz:
        of_width = f"{of_width}, of which {own} here has {width_mhz} MHz at most"
    short = wanted.short and own != "802.11ax"
    lines = {
        "band": of_band,
        "width": of_width,
        "guard_interval": of_guard if short else "assumed",
    }
    within = Channel(own, wanted.band, width_mhz, 400 if short else 800)
    return Settled(within, lines, [*notes, limits(own)])


def cell_keys(settled: Settled) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the keys of a cell with this channel, with comments."""
    yield from keys(settled.within, settled.comments)
    yield "edca", ('"hostapd"', "defaults of hostapd for values that are not given below")
    yield from streams(settled.within)
