"""Access points as they are sold: what each kind says of a cell, and the page of each value."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["KINDS", "AccessPoint", "Value"]

LINE = 100


@dataclass(frozen=True)
class Value:
    """A line of the table ``[cell]``.

    Attributes
    ----------
    line : str
        Key and value.
    source : str
        The page that was read, or that none gives it, and what it is then.
    of : tuple of str
        Hops that have it; all if it is empty.
    """

    line: str
    source: str
    of: tuple[str, ...] = ()


@dataclass(frozen=True)
class AccessPoint:
    """A kind of access point.

    Attributes
    ----------
    what : str
        What it is, as a title has it.
    values : tuple of Value
        What it says of a cell.
    width_mhz : mapping of str to int
        Widths of its channel by hop, where they are not the usual ones. [MHz]
    width_source : str
        The page that gives the width.
    """

    what: str
    values: tuple[Value, ...]
    width_mhz: Mapping[str, int] = field(default_factory=dict)
    width_source: str = "no page gives it; what the standard asks of stations"

    @property
    def is_fifo(self) -> bool:
        """Whether its queue is a number of packets, without a discipline."""
        return any(value.line.removeprefix("ap_queue = ").isdigit() for value in self.values)

    def lines(self, hop: str) -> Iterator[str]:
        """Its lines of the table ``[cell]``, each behind the comment that says where it is from."""
        for value in self.values:
            if not value.of or hop in value.of:
                said = textwrap.wrap(value.source, LINE - 2, break_on_hyphens=False)
                yield from (f"# {part}" for part in said)
                yield value.line


HOSTAPD = 'edca = "hostapd"'

KINDS: Mapping[str, AccessPoint] = {
    "openwrt": AccessPoint(
        "a router with OpenWrt",
        (
            Value(
                HOSTAPD,
                "Access parameters: OpenWrt's scripts give hostapd none, whose own are, for best "
                "effort, 15, 63, 3 at the access point and 15, 1023, 3 for stations (CWmin, "
                "CWmax, AIFSN): src/ap/ap_config.c, hostapd_config_defaults; hostapd.conf has the"
                " same.",
            ),
            Value(
                'ap.txop_limit = "2 ms"',
                "Bursts of best effort: tx_queue_data2_burst = 2.0 at 5 GHz with 802.11ac and ax,"
                " in OpenWrt's package/network/config/wifi-scripts, hostapd.uc (commit 009a9e0).",
                ("802.11ac", "802.11ax"),
            ),
            Value(
                "ap_queue = { mac80211 = {} }",
                "The queue: mac80211 with its limits, air time and CoDel, as in Linux 6.18 "
                "(net/mac80211/tx.c, include/net/fq_impl.h). It needs a driver that leaves the "
                "queue to it, as mt76 and ath9k do.",
            ),
        ),
    ),
    "isp": AccessPoint(
        "a provider's router",
        (
            Value(
                HOSTAPD,
                "Access parameters: wl_wme_ap_be = 15 63 3 0 0 and wl_wme_sta_be = 15 1023 3 0 0,"
                " and so on, of a closed Broadcom driver in the sources of ASUS's firmware "
                "(asuswrt-merlin.ng, release/src/router/shared/defaults.c, commit 0034310): "
                "hostapd's.",
            ),
            Value(
                "ap_queue = 1000",
                "The queue: one FIFO, of as many packets as Linux gives an interface "
                "(DEFAULT_TX_QUEUE_LEN in include/net/pkt_sched.h). No page says how many the "
                "closed driver holds besides. Its airtime fairness is off, wl_atf = 0 in the same"
                " file; NETGEAR's RAXE500 has it on in the same driver.",
            ),
        ),
    ),
    "office": AccessPoint(
        "an access point of an office",
        (
            Value(
                HOSTAPD,
                "Access parameters: ECWmin 4, ECWmax 6, AIFSN 3, TXOPLimit 0 for best effort at "
                "the access point, 4, 10, 3, 0 for stations, and so on: Huawei's WLAN command "
                "reference, `wmm edca-ap` and `wmm edca-client`; they are hostapd's.",
            ),
            Value(
                "ap_queue = { limit = 1000, mac80211 = { flows = 1, aql = false, "
                'target = "10 s", interval = "100 s" } }',
                "The queue: next is the station that has had the least air time, which Huawei "
                "calls `airtime-fair-schedule` and Aruba `shaping-policy fair-access`; both are "
                "off until somebody switches them on. No page says what waits where: here a FIFO "
                "for each station (one flow queue, and a target that CoDel never reaches), two "
                "aggregates in the device.",
            ),
        ),
        {"802.11n": 20, "802.11ac": 20, "802.11ax": 20},
        "Cisco's default at 5 GHz (WLC configuration guide OL-17037-01, 11-14)",
    ),
}
"""The kinds, by the word that an answer has for each. Aggregates are as long as the standard has
them; so they are by Huawei's `ht` and `vht a-mpdu max-length-exponent` (65,535 and 1,048,575 B)."""
