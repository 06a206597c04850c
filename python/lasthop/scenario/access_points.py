"""Facts about real access points, each with its source.

`lasthop init`, `lasthop import`, `lasthop check`, the examples and the guide use these facts.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

__all__ = [
    "BURST_S",
    "EDCA",
    "FACTS",
    "KINDS",
    "AccessPoint",
    "Edca",
    "Fact",
    "burst",
    "queue",
    "table",
]

LINE = 100


@dataclass(frozen=True)
class Fact:
    """A fact about access points, as a key and value of the table ``[cell]``.

    Attributes
    ----------
    key, value : str
        Key and value in the notation of a scenario file.
    short : str
        Short form of the fact, for the comment after a value.
    source : str
        Sentences that name the page or file from which the fact was taken.
    hops : tuple of str
        Physical layers to which the fact applies; empty for all.
    """

    key: str
    value: str
    short: str
    source: str
    hops: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Line of a scenario file that sets the key to the value."""
        return f"{self.key} = {self.value}"


@dataclass(frozen=True)
class Edca:
    """EDCA parameters of one access category.

    Attributes
    ----------
    aifsn : int
        AIFSN. [slots]
    cwmin, cwmax : int
        Contention windows. [slots]
    txop_s : float
        Limit of a transmission opportunity; 0 allows one frame exchange. [s]
    """

    aifsn: int
    cwmin: int
    cwmax: int
    txop_s: float


EDCA: Mapping[str, Mapping[str, Edca]] = {
    "access point": {
        "voice": Edca(1, 3, 7, 1.504e-3),
        "video": Edca(1, 7, 15, 3.008e-3),
        "best-effort": Edca(3, 15, 63, 0.0),
        "background": Edca(7, 15, 1023, 0.0),
    },
    "station": {
        "voice": Edca(2, 3, 7, 1.504e-3),
        "video": Edca(2, 7, 15, 3.008e-3),
        "best-effort": Edca(3, 15, 1023, 0.0),
        "background": Edca(7, 15, 1023, 0.0),
    },
}
"""Default EDCA parameters of hostapd, for the access point's queues and for the stations. Beacons
announce the parameters of the stations. Source: ``txq_be`` and ``ac_be`` in
hostapd_config_defaults, src/ap/ap_config.c. The setting ``edca = "hostapd"`` selects these
parameters. hostapd rounds TXOP limits of 1.5 and 3 ms to units of 32 us before it passes them to
the driver (i802_set_tx_queue_params, src/drivers/driver_nl80211.c).
"""

BURST_S = 2e-3
"""TXOP limit of best effort in the fact ``"openwrt-burst"``. [s]"""

FACTS: Mapping[str, Fact] = {
    "hostapd-edca": Fact(
        "edca",
        '"hostapd"',
        "hostapd's defaults",
        "Access parameters: hostapd has, for best effort, 15, 63, 3 at the access point and "
        "15, 1023, 3 for stations (CWmin, CWmax, AIFSN), without a TXOP limit: src/ap/ap_config.c, "
        "hostapd_config_defaults; hostapd.conf has the same.",
    ),
    "openwrt-edca": Fact(
        "edca",
        '"hostapd"',
        "hostapd's defaults",
        "Access parameters: scripts of OpenWrt set none, and hostapd has, for best "
        "effort, 15, 63, 3 at the access point and 15, 1023, 3 for stations (CWmin, "
        "CWmax, AIFSN): src/ap/ap_config.c, hostapd_config_defaults; hostapd.conf has the"
        " same.",
    ),
    "broadcom-edca": Fact(
        "edca",
        '"hostapd"',
        "hostapd's defaults",
        "Access parameters: wl_wme_ap_be = 15 63 3 0 0 and wl_wme_sta_be = 15 1023 3 0 0,"
        " and so on, of a closed Broadcom driver in the sources of ASUS's firmware "
        "(asuswrt-merlin.ng, release/src/router/shared/defaults.c, commit 0034310): "
        "hostapd's.",
    ),
    "huawei-edca": Fact(
        "edca",
        '"hostapd"',
        "hostapd's defaults",
        "Access parameters: ECWmin 4, ECWmax 6, AIFSN 3, TXOPLimit 0 for best effort at "
        "the access point, 4, 10, 3, 0 for stations, and so on: Huawei's WLAN command "
        "reference, `wmm edca-ap` and `wmm edca-client`; they are hostapd's.",
    ),
    "any-edca": Fact(
        "edca",
        '"hostapd"',
        "hostapd's defaults",
        "Access parameters: hostapd (src/ap/ap_config.c), a closed Broadcom driver (defaults.c of "
        "asuswrt-merlin.ng) and Huawei's controllers (WLAN command reference) have the same: for "
        "best effort 15, 63, 3 at the access point and 15, 1023, 3 for stations (CWmin, CWmax, "
        "AIFSN), without a TXOP limit.",
    ),
    "openwrt-burst": Fact(
        "ap.txop_limit",
        '"2 ms"',
        "OpenWrt's burst",
        "Bursts of best effort: tx_queue_data2_burst = 2.0 at 5 GHz with 802.11ac and ax,"
        " in OpenWrt's package/network/config/wifi-scripts, hostapd.uc (commit 009a9e0).",
        ("802.11ac", "802.11ax"),
    ),
    "mac80211-queue": Fact(
        "ap_queue",
        "{ mac80211 = {} }",
        "mac80211's queue",
        "The queue: mac80211 with its limits, air time and CoDel, as in Linux 6.18 "
        "(net/mac80211/tx.c, include/net/fq_impl.h). It needs a driver that leaves the "
        "queue to it, as mt76 and ath9k do.",
        ("802.11n", "802.11ac", "802.11ax"),
    ),
    "mac80211-queue-older": Fact(
        "ap_queue",
        "{ fq_codel = {} }",
        "mac80211's flow queues",
        "The queue: mac80211 has its flow queues and CoDel above every driver (Linux 6.18, "
        "net/mac80211/tx.c). In a cell without aggregates, fq_codel is the closest discipline: it "
        "does not schedule stations by air time.",
        ("802.11b", "802.11g", "802.11a"),
    ),
    "interface-queue": Fact(
        "ap_queue",
        "1000",
        "the interface's queue",
        "The queue: one FIFO, of as many packets as Linux gives an interface "
        "(DEFAULT_TX_QUEUE_LEN in include/net/pkt_sched.h). No source states how many packets the "
        "closed driver holds in addition. Its airtime fairness is off, wl_atf = 0 in the same "
        "file; NETGEAR's RAXE500 has it on in the same driver.",
    ),
    "unknown-queue": Fact(
        "ap_queue",
        "1000",
        "the interface's queue",
        "The queue: the access point's queue is unknown. One FIFO is assumed, of as many packets "
        "as Linux gives an interface (DEFAULT_TX_QUEUE_LEN in include/net/pkt_sched.h).",
    ),
    "turns-queue": Fact(
        "ap_queue",
        '{ limit = 1000, mac80211 = { flows = 1, aql = false, target = "10 s", '
        'interval = "100 s" } }',
        "stations in turns by air time",
        "The queue: the station with the least air time is served next, which Huawei "
        "calls `airtime-fair-schedule` and Aruba `shaping-policy fair-access`; both are "
        "off by default. No source states where packets wait: here there is a FIFO for "
        "each station (one flow queue, and a target that CoDel never reaches), and two "
        "aggregates in the device.",
    ),
    "ns-3-txop": Fact(
        "txop_limit",
        '"none"',
        "ns-3's default",
        "ns-3 has no TXOP limit for best effort and background by default: WifiMac::ConfigureDcf "
        'in src/wifi/model/wifi-mac.cc, "TODO should be MicroSeconds (2528)". Its example '
        "wifi-aggregation.cc verifies 59 to 60 Mb/s.",
    ),
}
"""All facts, by name."""


def burst(band: str, generation: str | None) -> Fact | None:
    """Return the fact about the TXOP limit that OpenWrt sets for best effort; None if it sets none.

    Parameters
    ----------
    band : str
        ``"2.4 GHz"``, ``"5 GHz"`` or ``"6 GHz"``.
    generation : str or None
        ``"802.11n"`` or later; None for older physical layers.
    """
    fact = FACTS["openwrt-burst"]
    later = generation in (*fact.hops, "802.11be")
    return fact if later and band == "5 GHz" else None


def queue(phy: str, *, of_mac80211: bool) -> Fact:
    """Return the fact about the queue of an access point.

    Parameters
    ----------
    phy : str
        Physical layer of the cell.
    of_mac80211 : bool
        Whether the driver of the access point uses Linux's mac80211.
    """
    if not of_mac80211:
        return FACTS["unknown-queue"]
    total = FACTS["mac80211-queue"]
    return total if phy in total.hops else FACTS["mac80211-queue-older"]


@dataclass(frozen=True)
class AccessPoint:
    """A kind of access point, such as a provider's router, with the facts about it.

    Attributes
    ----------
    what : str
        Name of the kind for titles.
    facts : tuple of Fact
        Facts about the kind of access point.
    width_mhz : mapping of str to int
        Channel widths by physical layer, if they differ from the usual widths. [MHz]
    width_source : str
        Page that states the width.
    """

    what: str
    facts: tuple[Fact, ...]
    width_mhz: Mapping[str, int] = field(default_factory=dict)
    width_source: str = "no page gives it; what the standard asks of stations"

    @property
    def is_fifo(self) -> bool:
        """Whether the access point's queue is a FIFO: the value of ``ap_queue`` is a number of
        packets.
        """
        return any(fact.key == "ap_queue" and fact.value.isdigit() for fact in self.facts)

    def lines(self, hop: str) -> Iterator[str]:
        """Yield lines for the table ``[cell]``. A comment with the source precedes each line."""
        for fact in self.facts:
            if not fact.hops or hop in fact.hops:
                parts = textwrap.wrap(fact.source, LINE - 2, break_on_hyphens=False)
                yield from (f"# {part}" for part in parts)
                yield fact.line


def _of(*names: str) -> tuple[Fact, ...]:
    return tuple(FACTS[name] for name in names)


KINDS: Mapping[str, AccessPoint] = {
    "openwrt": AccessPoint(
        "a router with OpenWrt", _of("openwrt-edca", "openwrt-burst", "mac80211-queue")
    ),
    "isp": AccessPoint("a provider's router", _of("broadcom-edca", "interface-queue")),
    "office": AccessPoint(
        "an access point of an office",
        _of("huawei-edca", "turns-queue"),
        {"802.11n": 20, "802.11ac": 20, "802.11ax": 20},
        "Cisco's default at 5 GHz (WLC configuration guide OL-17037-01, 11-14)",
    ),
}
"""Kinds of access points, by their names in `lasthop init`. With all these kinds, aggregates have
the maximum length that the standard allows. Huawei's `ht` and `vht a-mpdu max-length-exponent` also
set this length (65,535 and 1,048,575 B).
"""


def table() -> str:
    """Return all facts as a Markdown table."""
    rows: Sequence[tuple[str, Fact]] = tuple(FACTS.items())
    head = ["| fact | as a scenario has it | source |", "|---|---|---|"]
    body = [f"| {name} | `{fact.line}` | {fact.source} |" for name, fact in rows]
    return "\n".join([*head, *body]) + "\n"
