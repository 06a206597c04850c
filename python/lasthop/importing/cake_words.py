"""Words of tc-cake(8): arguments of `tc qdisc ... cake` become the table `queue.cake`.

The meaning of each word is that of ``q_cake.c`` of iproute2. Words are read from left to right, and
later words replace earlier words, except that the words of a framing add their overhead.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lasthop.importing.observed import Note

__all__ = ["Cake", "read_words"]

RATES: dict[str, float] = {"": 1, "bit": 1, "bps": 8}
RATES |= {f"{each}bit": 1e3**power for power, each in enumerate("kmgt", 1)}
RATES |= {f"{each}ibit": 1024**power for power, each in enumerate("kmgt", 1)}
RATES |= {f"{each}bps": 8 * 1e3**power for power, each in enumerate("kmgt", 1)}
RATES |= {f"{each}ibps": 8 * 1024**power for power, each in enumerate("kmgt", 1)}
"""Units of `tc` for rates, in bit/s. In `tc`, ``bps`` is bytes per second."""
SIZES: dict[str, float] = {
    "": 1,
    "b": 1,
    "k": 1 << 10,
    "kb": 1 << 10,
    "m": 1 << 20,
    "mb": 1 << 20,
    "g": 1 << 30,
}
SIZES |= {"gb": 1 << 30, "kbit": 1 << 7, "mbit": 1 << 17, "gbit": 1 << 27}
"""Units of `tc` for sizes. [bytes]"""
TIMES: dict[str, float] = {
    "": 1e-6,
    "us": 1e-6,
    "usec": 1e-6,
    "usecs": 1e-6,
    "ms": 1e-3,
    "msec": 1e-3,
}
TIMES |= {"msecs": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0}
"""Units of `tc` for times. [s]"""
QUANTITY = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([a-z]*)", re.IGNORECASE)

RTTS = {
    "datacentre": 100e-6,
    "lan": 1e-3,
    "metro": 10e-3,
    "regional": 30e-3,
    "internet": 0.1,
    "oceanic": 0.3,
    "satellite": 1.0,
    "interplanetary": 1000.0,
}
"""Round-trip times, by the word that selects them. [s]"""
MIN_RTT_S, MAX_RTT_S = 20e-6, 100.0
MAX_BYTES = 256
"""Largest overhead, and largest minimum length, of CAKE. [bytes]"""

DIFFSERVS = {
    **{word: word for word in ("besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8")},
    "diffserv": "diffserv4",
}
ISOLATIONS = (
    *("flowblind", "srchost", "dsthost", "hosts", "flows"),
    *("dual-srchost", "dual-dsthost", "triple-isolate"),
)
ACK_FILTERS = {
    "no-ack-filter": "off",
    "ack-filter": "conservative",
    "ack-filter-aggressive": "aggressive",
}
LINK_LAYERS = {"noatm": "none", "atm": "atm", "ptm": "ptm"}
FRAMINGS: dict[str, tuple[int, str | None, int | None]] = {
    "ipoa-vcmux": (8, "atm", None),
    "ipoa-llcsnap": (16, "atm", None),
    "bridged-vcmux": (24, "atm", None),
    "bridged-llcsnap": (32, "atm", None),
    "pppoa-vcmux": (10, "atm", None),
    "pppoa-llc": (14, "atm", None),
    "pppoe-vcmux": (32, "atm", None),
    "pppoe-llcsnap": (40, "atm", None),
    "pppoe-ptm": (30, "ptm", None),
    "bridged-ptm": (22, "ptm", None),
    "docsis": (18, "none", 64),
    "ethernet": (38, None, 84),
    "ether-vlan": (4, None, None),
}
"""Added overhead [bytes], link layer and minimum length [bytes] of each framing."""
DEFAULTS = frozenset({"nowash", "split-gso"})
"""Words that select what a scenario always has."""
WITHOUT_EFFECT = {
    "wash": "it would clear the DSCPs after the queue, so that later queues see best effort; here "
    "CAKE keeps the DSCPs",
    "no-split-gso": "it would send merged segments as one packet; here each packet is one segment",
    "autorate-ingress": "it would set the bandwidth from the rate of the arriving packets; here "
    "the bandwidth is constant",
    "via-ethernet": "obsolete: tc ignores it, because CAKE subtracts the Ethernet header itself",
    "squash": "obsolete: tc refuses it; it meant besteffort wash",
    "diffserv-llt": "obsolete: tc refuses it; it was another division into tins",
    "ether-fcs": "obsolete: tc refuses it; it added 4 B for the check sequence, as overhead 4 does",
    "ether-phy": "obsolete: tc refuses it; it added 20 B for preamble and gap, as overhead 20 does",
    "ether-all": "obsolete: tc refuses it; it added 24 B, as overhead 24 does",
}
"""Words that have no effect here, each with what they would do."""


@dataclass
class Cake:
    """Settings of CAKE.

    Attributes
    ----------
    bandwidth_bps : float
        Rate of the shaper; None without a shaper. [bit/s]
    rtt_s : float
        Round-trip time for which CoDel is set. [s]
    overhead_bytes : int
        Bytes that the line adds to an IP packet; None if the kernel counts its own length, which is
        that of the Ethernet frame without check sequence. [bytes]
    notes : list of Note
        Warnings about words without effect.
    """

    bandwidth_bps: float | None = None
    rtt_s: float = 0.1
    diffserv: str = "diffserv3"
    isolation: str = "triple-isolate"
    nat: bool = False
    ack_filter: str = "off"
    overhead_bytes: int | None = None
    mpu_bytes: int = 0
    link_layer: str = "none"
    memory_limit_bytes: int | None = None
    ingress: bool = False
    notes: list[Note] = field(default_factory=list)

    def table(self) -> str:
        """Return the settings as a table of TOML in one line, without default values."""
        return f"{{ {', '.join(self._entries())} }}" if any(self._entries()) else "{}"

    def _entries(self) -> Iterator[str]:
        is_shaped = self.bandwidth_bps is not None
        if self.bandwidth_bps is not None:
            yield f'bandwidth = "{spelled_rate(self.bandwidth_bps)}"'
        if self.diffserv != "diffserv3":
            yield f'diffserv = "{self.diffserv}"'
        if self.isolation != "triple-isolate":
            yield f'isolation = "{self.isolation}"'
        if self.nat:
            yield "nat = true"
        if self.ack_filter != "off":
            yield f'ack_filter = "{self.ack_filter}"'
        if is_shaped and self.overhead_bytes is not None:
            yield f'overhead = "{self.overhead_bytes} B"'
        if is_shaped and self.mpu_bytes:
            yield f'mpu = "{self.mpu_bytes} B"'
        if is_shaped and self.link_layer != "none":
            yield f'link_layer = "{self.link_layer}"'
        if self.rtt_s != 0.1:
            yield f'rtt = "{self.rtt_s * 1e3:.9g} ms"'
        if self.memory_limit_bytes is not None:
            yield f'memory_limit = "{self.memory_limit_bytes} B"'
        if is_shaped and self.ingress:
            yield "ingress = true"


def spelled_rate(rate_bps: float) -> str:
    """Return a rate as text of a scenario."""
    if rate_bps >= 1e6:
        return f"{rate_bps / 1e6:.9g} Mbps"
    return f"{rate_bps / 1e3:.9g} kbps"


def read_words(words: str | Sequence[str], where: str = "", cake: Cake | None = None) -> Cake:
    """Return the settings that `tc` sets from these words.

    A word that `tc` refuses, and a value that is no quantity, give a warning and are left out.

    Parameters
    ----------
    words : str or sequence of str
        Arguments of `tc` after ``cake``, such as ``bandwidth 18mbit nat``.
    where : str
        Text before each warning, such as ``eqdisc_opts``.
    cake : Cake, optional
        Settings by earlier words, which are changed. By default, those of a CAKE without words.
    """
    rest = words.split() if isinstance(words, str) else list(words)
    cake = cake or Cake()
    reader = Reader(cake, f"{where}: " if where else "")
    while rest:
        reader.take(rest.pop(0), rest)
    return cake


class Reader:
    """Reader of words in the order of the command line."""

    def __init__(self, cake: Cake, where: str) -> None:
        self.cake = cake
        self.where = where

    def warn(self, message: str) -> None:
        """Add a warning."""
        self.cake.notes.append(Note(f"{self.where}{message}", True))

    def take(self, word: str, rest: list[str]) -> None:
        """Apply a word. A word with a value also removes the value from `rest`."""
        cake = self.cake
        if word in DIFFSERVS:
            cake.diffserv = DIFFSERVS[word]
        elif word in ISOLATIONS:
            cake.isolation = word
        elif word in ACK_FILTERS:
            cake.ack_filter = ACK_FILTERS[word]
        elif word in ("nat", "nonat"):
            cake.nat = word == "nat"
        elif word in RTTS:
            self.set_rtt(RTTS[word], word)
        elif word in FRAMINGS:
            self.frame(word)
        elif word in LINK_LAYERS:
            cake.link_layer = LINK_LAYERS[word]
        elif word == "raw":
            cake.link_layer, cake.overhead_bytes = "none", None
        elif word == "conservative":
            cake.link_layer, cake.overhead_bytes = "atm", 48
        elif word == "unlimited":
            cake.bandwidth_bps = None
        elif word in ("ingress", "egress"):
            cake.ingress = word == "ingress"
        elif word in ("bandwidth", "rtt", "overhead", "mpu", "memlimit", "fwmark"):
            self.value(word, rest.pop(0) if rest else "")
        elif word in WITHOUT_EFFECT:
            self.warn(f"the word {word} has no effect: {WITHOUT_EFFECT[word]}")
        elif word not in DEFAULTS:
            self.warn(
                f'"{word[:30]}" is no word of tc-cake(8), and is left out; tc would refuse all '
                "words, so that the interface would have no CAKE"
            )

    def frame(self, word: str) -> None:
        """Add the overhead of a framing."""
        cake = self.cake
        overhead, link_layer, mpu = FRAMINGS[word]
        cake.overhead_bytes = min((cake.overhead_bytes or 0) + overhead, MAX_BYTES)
        cake.link_layer = link_layer or cake.link_layer
        cake.mpu_bytes = cake.mpu_bytes if mpu is None else mpu

    def value(self, word: str, text: str) -> None:
        """Apply a word that has a value."""
        cake = self.cake
        match word:
            case "bandwidth":
                if rate_bps := self.quantity(word, text, RATES):
                    cake.bandwidth_bps = rate_bps
            case "rtt":
                if (rtt_s := self.quantity(word, text, TIMES)) is not None:
                    self.set_rtt(rtt_s, f"{word} {text}")
            case "memlimit":
                if size := self.quantity(word, text, SIZES):
                    cake.memory_limit_bytes = round(size)
            case "fwmark":
                self.warn(
                    f"the words fwmark {text[:20]} have no effect: the mark of a packet would "
                    "select its tin; here its DSCP does"
                )
            case _:
                self.length(word, text)

    def length(self, word: str, text: str) -> None:
        """Set the overhead or the minimum length."""
        cake = self.cake
        if not re.fullmatch(r"-?\d{1,4}", text) or int(text) > MAX_BYTES:
            self.warn(f'{word} "{text[:20]}": expected at most {MAX_BYTES} bytes; left out')
        elif word == "mpu":
            cake.mpu_bytes = max(int(text), 0)
        else:
            if int(text) < 0:
                self.warn(f"overhead {text}: a negative overhead is simulated as 0 B")
            cake.overhead_bytes = max(int(text), 0)

    def set_rtt(self, rtt_s: float, text: str) -> None:
        """Set the round-trip time, within the accepted range."""
        self.cake.rtt_s = min(max(rtt_s, MIN_RTT_S), MAX_RTT_S)
        if self.cake.rtt_s != rtt_s:
            nearest = "20 us" if rtt_s < MIN_RTT_S else "100 s"
            self.warn(f"{text}: the nearest supported RTT is {nearest}")

    def quantity(self, word: str, text: str, units: dict[str, float]) -> float | None:
        """Return a value with its unit; None, and a warning, if `tc` would refuse it."""
        match = QUANTITY.fullmatch(text)
        if match is None or match[2].lower() not in units:
            self.warn(f'{word} "{text[:20]}" is no quantity of tc; left out')
            return None
        return float(match[1]) * units[match[2].lower()]
